//! The core's arithmetic, function by function. The functions that both versions share are those of v3.

// SAFETY: each takes numbers and returns one, and has no effect.
unsafe extern "C" {
    /// The delivery rate of a sample, packets per us << 24.
    #[link_name = "bbr3_delivery_rate"]
    pub safe fn delivery_rate(delivered: i32, interval_us: i64) -> u64;

    /// `gain * bw * min_rtt`, packets.
    #[link_name = "bbr3_volume"]
    pub safe fn volume(bw: u64, min_rtt_us: u32, gain: u32) -> u32;

    /// `gain * bw` less 1 %, bytes per second.
    #[link_name = "bbr3_rate"]
    pub safe fn rate(bw: u64, mss: u32, gain: u32) -> u64;

    /// `volume * fraction / 256`.
    #[link_name = "bbr3_scale"]
    pub safe fn scale(volume: u32, fraction: u32) -> u32;

    /// `a * b`, saturating.
    #[link_name = "bbr3_multiply"]
    pub safe fn multiply(a: u64, b: u32) -> u64;

    /// The logarithm to base 2, rounded down.
    #[link_name = "bbr3_log2"]
    pub safe fn log2(value: u32) -> u32;

    /// inflight_hi less the room for others, packets.
    #[link_name = "bbr3_headroomed"]
    pub safe fn headroomed(inflight_hi: u32) -> u32;

    /// ACKed packets per packet of growth, in the `up_rounds`-th round of UP.
    #[link_name = "bbr3_slope"]
    pub safe fn slope(cwnd: u32, up_rounds: u32) -> u32;

    #[link_name = "bbr3_inflight_at_loss"]
    safe fn fitted(tx_in_flight: u32, lost: u32, segments: u32) -> u32;

    /// The average share of marks after a round, of 256.
    #[link_name = "bbr3_average_alpha"]
    pub safe fn average_alpha(alpha: u32, share: u32) -> u32;

    /// The rest after a cut by ECN, of 256.
    #[link_name = "bbr3_ecn_keep"]
    pub safe fn ecn_keep(alpha: u32) -> u32;

    /// Segments of 1448 bytes in a train.
    #[link_name = "bbr3_train"]
    pub safe fn train(pacing_rate: u64, min_rtt_us: u32) -> u32;
}

/// The part of `tx_in_flight` packets that fitted before the share of losses was too high; `None`: it is not too high.
pub fn inflight_at_loss(tx_in_flight: u32, lost: u32, segments: u32) -> Option<u32> {
    Some(fitted(tx_in_flight, lost, segments)).filter(|&inflight| inflight > 0)
}
