/// Where the state machine of BBRv2 and v3 stands (spec section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Exponential growth until the pipe is full.
    Startup,
    /// The queue that STARTUP built drains.
    Drain,
    /// PROBE_BW: less than the path delivers, so that the queue drains.
    Down,
    /// PROBE_BW: what the path delivers, with room for others.
    Cruise,
    /// PROBE_BW: the pipe is filled without a queue.
    Refill,
    /// PROBE_BW: looks for more bandwidth.
    Up,
    /// Half a BDP for 200 ms, to see the path without a queue.
    ProbeRtt,
}

impl State {
    /// As records name it.
    pub const fn name(self) -> &'static str {
        match self {
            State::Startup => "STARTUP",
            State::Drain => "DRAIN",
            State::Down => "PROBE_BW_DOWN",
            State::Cruise => "PROBE_BW_CRUISE",
            State::Refill => "PROBE_BW_REFILL",
            State::Up => "PROBE_BW_UP",
            State::ProbeRtt => "PROBE_RTT",
        }
    }

    /// True in each of PROBE_BW's phases.
    pub const fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Is more sent than was known to fit? Then losses don't lower the short-term bounds (spec section 8.2).
    pub const fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }
}

/// The meaning of the ACKs that come now (spec section 4, `ack_phase`): a probe is seen a round after it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

impl AckPhase {
    pub(super) const fn name(self) -> &'static str {
        match self {
            AckPhase::Init => "INIT",
            AckPhase::Refilling => "REFILLING",
            AckPhase::ProbeStarting => "PROBE_STARTING",
            AckPhase::ProbeFeedback => "PROBE_FEEDBACK",
            AckPhase::ProbeStopping => "PROBE_STOPPING",
        }
    }
}
