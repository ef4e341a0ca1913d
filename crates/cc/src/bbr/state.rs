use crate::state::{bbr_ack_phase, bbr_state};

/// A state of BBRv2's and v3's state machine (spec section 6).
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
    /// The number of the state in records.
    pub(super) const fn published(self) -> u32 {
        match self {
            State::Startup => bbr_state::STARTUP,
            State::Drain => bbr_state::DRAIN,
            State::Down => bbr_state::PROBE_BW_DOWN,
            State::Cruise => bbr_state::PROBE_BW_CRUISE,
            State::Refill => bbr_state::PROBE_BW_REFILL,
            State::Up => bbr_state::PROBE_BW_UP,
            State::ProbeRtt => bbr_state::PROBE_RTT,
        }
    }

    /// The specification's name of the state.
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
    pub(super) const fn published(self) -> u32 {
        match self {
            AckPhase::Init => bbr_ack_phase::INIT,
            AckPhase::Refilling => bbr_ack_phase::REFILLING,
            AckPhase::ProbeStarting => bbr_ack_phase::PROBE_STARTING,
            AckPhase::ProbeFeedback => bbr_ack_phase::PROBE_FEEDBACK,
            AckPhase::ProbeStopping => bbr_ack_phase::PROBE_STOPPING,
        }
    }

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
