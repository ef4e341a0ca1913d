//! The core's arithmetic, function by function. The functions that both versions share are those of v3.

use crate::ffi::V3;

/// The delivery rate of a sample, packets per us << 24.
pub fn delivery_rate(delivered: i32, interval_us: i64) -> u64 {
    // SAFETY: here and below: numbers in, a number out.
    unsafe { (V3.delivery_rate)(delivered, interval_us) }
}

/// `gain * bw * min_rtt`, packets.
pub fn volume(bw: u64, min_rtt_us: u32, gain: u32) -> u32 {
    unsafe { (V3.volume)(bw, min_rtt_us, gain) }
}

/// `gain * bw` less 1 %, bytes per second.
pub fn rate(bw: u64, mss: u32, gain: u32) -> u64 {
    unsafe { (V3.rate)(bw, mss, gain) }
}

/// `volume * fraction / 256`.
pub fn scale(volume: u32, fraction: u32) -> u32 {
    unsafe { (V3.scale)(volume, fraction) }
}

/// `a * b`, saturating.
pub fn multiply(a: u64, b: u32) -> u64 {
    unsafe { (V3.multiply)(a, b) }
}

/// The logarithm to base 2, rounded down.
pub fn log2(value: u32) -> u32 {
    unsafe { (V3.log2)(value) }
}

/// inflight_hi less the room for others, packets.
pub fn headroomed(inflight_hi: u32) -> u32 {
    unsafe { (V3.headroomed)(inflight_hi) }
}

/// ACKed packets per packet of growth, in the `up_rounds`-th round of UP.
pub fn slope(cwnd: u32, up_rounds: u32) -> u32 {
    unsafe { (V3.slope)(cwnd, up_rounds) }
}

/// The part of `tx_in_flight` packets that fitted before the share of losses was too high; `None`: it is not too high.
pub fn inflight_at_loss(tx_in_flight: u32, lost: u32, segments: u32) -> Option<u32> {
    let inflight = unsafe { (V3.inflight_at_loss)(tx_in_flight, lost, segments) };
    Some(inflight).filter(|&inflight| inflight > 0)
}

/// The average share of marks after a round, of 256.
pub fn average_alpha(alpha: u32, share: u32) -> u32 {
    unsafe { (V3.average_alpha)(alpha, share) }
}

/// The rest after a cut by ECN, of 256.
pub fn ecn_keep(alpha: u32) -> u32 {
    unsafe { (V3.ecn_keep)(alpha) }
}

/// Segments of 1448 bytes in a train.
pub fn train(pacing_rate: u64, min_rtt_us: u32) -> u32 {
    unsafe { (V3.train)(pacing_rate, min_rtt_us) }
}
