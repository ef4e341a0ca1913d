use core::fmt::Debug;

use crate::{AckSample, CaEvent, CaState, Column, LostPacket, RateSample, Socket, State};

/// A congestion control: the callbacks of Linux's `tcp_congestion_ops`, with its names, called where Linux calls them.
///
/// Per ACK the stack calls [`pkts_acked`](Self::pkts_acked) and [`in_ack_event`](Self::in_ack_event), marks losses, runs
/// recovery ([`set_state`](Self::set_state), [`ssthresh`](Self::ssthresh), [`undo_cwnd`](Self::undo_cwnd)), and then either
/// [`cong_control`](Self::cong_control) or, if there is none, PRR or [`cong_avoid`](Self::cong_avoid).
pub trait CongestionControl: Debug + Send {
    /// The name by which it is asked for, e.g. `cubic`.
    fn name(&self) -> &'static str;

    /// The flow begins: private state is new, the initial window is set.
    fn init(&mut self, _sk: &mut Socket) {}

    /// The slow-start threshold after a loss or an ECN mark, packets.
    fn ssthresh(&mut self, sk: &mut Socket) -> u32;

    /// Grow the window: `acked` packets were acknowledged in state Open, up to sequence number `ack`.
    fn cong_avoid(&mut self, _sk: &mut Socket, _ack: u32, _acked: u32) {}

    /// True if [`cong_control`](Self::cong_control) sets window and pacing rate. Then neither PRR nor `cong_avoid` run.
    fn has_cong_control(&self) -> bool {
        false
    }

    /// An ACK was processed: set window and pacing rate.
    fn cong_control(&mut self, _sk: &mut Socket, _rs: &RateSample) {}

    /// Recovery is about to enter `state`: [`Socket::ca_state`] is still the old one.
    fn set_state(&mut self, _sk: &mut Socket, _state: CaState) {}

    /// Something happened that is not an ACK.
    fn cwnd_event(&mut self, _sk: &mut Socket, _event: CaEvent) {}

    /// An ACK arrived, and what it delivers is counted; `flags` of [`ack_event`](crate::ack_event). Linux before 6.16, but
    /// for later releases of 6.1 and 6.12, called it when only what was delivered out of order had been counted.
    fn in_ack_event(&mut self, _sk: &mut Socket, _flags: u32) {}

    /// The window after a reduction that proved wrong, packets.
    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        sk.reno_undo_cwnd()
    }

    /// Packets were acknowledged, with this RTT.
    fn pkts_acked(&mut self, _sk: &mut Socket, _sample: &AckSample) {}

    /// A packet was marked lost, by an ACK or by a timer. Mainline Linux does not have it.
    fn skb_marked_lost(&mut self, _sk: &mut Socket, _packet: &LostPacket) {}

    /// The fewest segments of a TSO train; 2 is the sysctl `tcp_min_tso_segs`.
    fn min_tso_segs(&self, _sk: &Socket) -> u32 {
        2
    }

    /// The send buffer in windows: 2, except for BBR.
    fn sndbuf_expand(&self) -> u32 {
        2
    }

    /// True if it wants ECT on all that it sends, and CE events as a receiver (`TCP_CONG_NEEDS_ECN`).
    fn needs_ecn(&self) -> bool {
        false
    }

    /// The part of the private state that records show.
    fn state(&self) -> State {
        State::EMPTY
    }

    /// All of the private state, for tests that look inside: always the same columns, in the same order.
    fn publish(&self, _column: &mut dyn FnMut(Column)) {}
}
