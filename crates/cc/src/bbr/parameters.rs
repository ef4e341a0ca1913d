/// The differences between BBRv2 and BBRv3 beyond numbers (spec section 14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// The version that google/bbr v2alpha deploys.
    V2,
    /// The version that google/bbr v3 deploys.
    #[default]
    V3,
}

/// The way in which STARTUP and v3's PROBE_BW UP notice that the bandwidth has stopped growing (spec section 8.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plateau {
    /// The maximum is compared once a round \[v2\].
    MaxEachRound,
    /// Each sample is compared, rounds are counted \[v3\].
    #[default]
    EachSample,
    /// Only samples that start a round are compared \[v3 draft\].
    RoundStart,
}

/// The sign that PROBE_BW UP has filled the pipe (spec section 8.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpExit {
    /// 1.25 BDP in flight after a min_rtt \[v2\].
    Queue,
    /// The bandwidth has stopped growing \[v3\].
    #[default]
    Plateau,
}

/// The parameters of BBRv2 and v3: spec section 3, and the choices of section 15. Gains and fractions are of 256.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// The version.
    pub version: Version,
    /// Name of the algorithm in records.
    pub name: &'static str,

    /// STARTUP: pacing gain.
    pub startup_pacing_gain: u32,
    /// STARTUP: window gain.
    pub startup_cwnd_gain: u32,
    /// DRAIN: pacing gain.
    pub drain_pacing_gain: u32,
    /// DRAIN: window gain.
    pub drain_cwnd_gain: u32,
    /// PROBE_BW: pacing gain in UP.
    pub up_pacing_gain: u32,
    /// PROBE_BW: pacing gain in DOWN.
    pub down_pacing_gain: u32,
    /// PROBE_BW: window gain, but in UP.
    pub probe_bw_cwnd_gain: u32,
    /// PROBE_BW: window gain in UP.
    pub up_cwnd_gain: u32,
    /// PROBE_RTT: window gain; besides it the window is capped at half a BDP.
    pub probe_rtt_cwnd_gain: u32,

    /// Ratio of bandwidths that counts as growth.
    pub full_bw_threshold: u32,
    /// Rounds without such growth that make a plateau.
    pub full_bw_rounds: u32,
    /// The way in which a plateau is found.
    pub plateau: Plateau,
    /// The way in which UP ends.
    pub up_exit: UpExit,
    /// Losses in a round that end STARTUP, if their share is too high.
    pub startup_loss_events: u32,
    /// DRAIN ends after more rounds than this; `None`: only when the queue is drained.
    pub drain_max_rounds: Option<u32>,
    /// DRAIN's window is bounded by inflight_hi too.
    pub drain_obeys_inflight_hi: bool,

    /// Share of losses that is too high.
    pub loss_threshold: u32,
    /// The share of the bounds that remains after a round with losses (1 - beta).
    pub beta_keep: u32,
    /// Share of inflight_hi that CRUISE leaves to others.
    pub headroom: u32,
    /// True: a high loss share cuts inflight_hi at ACKs, too. False: only where a packet is marked lost.
    pub cut_on_ack: bool,

    /// The window of PROBE_RTT, of a BDP.
    pub probe_rtt_bdp: u32,
    /// Time between two PROBE_RTT, us.
    pub probe_rtt_interval_us: u64,
    /// Length of PROBE_RTT, us.
    pub probe_rtt_hold_us: u64,
    /// Window of the minimum RTT, us.
    pub min_rtt_window_us: u64,
    /// A minimum that is too old is replaced even by the RTT of a delayed ACK.
    pub trust_delayed_acks: bool,

    /// Least time between two probes of bandwidth, us.
    pub probe_wait_us: u32,
    /// Upper bound of the random time that is added to `probe_wait_us`, us, exclusive.
    pub probe_wait_random_us: u32,
    /// The most rounds between two probes of bandwidth.
    pub probe_max_rounds: u32,

    /// Answer ECN marks (shallow-threshold marks only, never RFC 3168 AQMs). v3 does it too where the route says so.
    pub ecn: bool,
    /// The largest min_rtt at which ECN is answered, us.
    pub ecn_max_rtt_us: u32,
    /// Gain of the average share of marks.
    pub ecn_alpha_gain: u32,
    /// Share of the bounds that a round cuts, as a part of the average share of marks.
    pub ecn_factor: u32,
    /// Share of marks in a round that is too high.
    pub ecn_threshold: u32,
    /// Consecutive rounds with too many marks that end STARTUP; 0: they don't.
    pub ecn_startup_rounds: u32,
    /// Slope at which the next probe begins if marks, and no losses, ended the last one, as a part of inflight_hi; 0: off.
    pub ecn_reprobe_gain: u32,

    /// Compute the data in flight for the earliest departure time, not for now.
    pub edt_inflight: bool,
    /// At first the window grows without bound. True: until `init_cwnd` is delivered (draft). False: until `2 * init_cwnd` (deployed).
    pub grow_until_delivered: bool,
    /// extra_acked is a windowed maximum of 10 rounds, not two slots of 5.
    pub windowed_extra_acked: bool,
    /// An undo also goes back to STARTUP or REFILL, if it was the loss that ended STARTUP or UP.
    pub undo_state: bool,
    /// The values that an undo restores are saved at the first loss of a round, not when recovery begins.
    pub undo_from_first_loss: bool,
}

impl Parameters {
    /// BBRv2 as deployed: column "v2 code" of spec section 3.
    pub fn v2() -> Parameters {
        let (version, plateau, up_exit) = (Version::V2, Plateau::MaxEachRound, UpExit::Queue);
        Parameters { version, name: "bbr2", plateau, up_exit, ..Parameters::default() }.declared()
    }

    /// BBRv3 as deployed: column "v3 code" of spec section 3, column "K3" of section 15.
    pub fn v3() -> Parameters {
        Parameters { name: "bbr3", ..Parameters::default() }.declared()
    }

    /// BBRv3 as the draft has it: column "D3" of spec section 15.
    pub fn v3_draft() -> Parameters {
        Parameters { name: "bbr3-draft", ..Parameters::default() }.declared()
    }
}
