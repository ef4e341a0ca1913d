//! The kinds of flow, one a module: a line in [`Kind`], `each!` and [`Kind::new`] for each.

mod ping;
mod quic;
mod rpc;
mod tcp;
mod udp;

use anyhow::Result;
use link::Ecn;
use messages::Failure;
use rows::kinds::KindRow;
use units::{Duration, Time};

use crate::algorithm::{self, Algorithms};
use crate::quic::QuicAccount;
use crate::segment::Segment;
use crate::tcp::{AckReport, Sender, Settings};
use crate::traffic::FlowReport;
use ping::Ping;
use quic::Quic;
use rpc::Rpc;
use udp::Udp;

pub(crate) use tcp::Tcp;
pub use udp::Datagrams;

/// Both ends of a flow in virtual time. `out` takes the packets that they send.
pub(crate) trait Ends {
    /// The time at which the sending end wants [`on_timer`](Ends::on_timer) to be called.
    fn next(&self) -> Time;

    /// The sending end begins.
    fn begin(&mut self, now: Time, out: &mut Vec<Segment>);

    /// The time that the sending end waited for.
    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>);

    /// Ends both. Returns true if the flow is complete by that.
    fn stop(&mut self) -> bool;

    /// True if the sending end has ended by itself.
    fn is_over(&self) -> bool {
        false
    }

    /// True if packets that were under way when the flow stopped arrive all the same.
    fn outlives_its_stop(&self) -> bool {
        true
    }

    /// A segment arrives at the sending end, with the codepoint `ecn`. `outbox` takes what follows from it.
    fn at_sender(&mut self, _segment: &Segment, _ecn: Ecn, _now: Time, _outbox: &mut Outbox) -> Option<AckReport> {
        None
    }

    /// Adds rows of what is open at `end`.
    fn finish(&self, _end: Time, _rows: &mut Vec<KindRow>) {}

    /// A segment arrives at the receiving end, with the codepoint `ecn`.
    fn at_receiver(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Arrived;

    /// The time at which the receiving end wants [`on_receiver_timer`](Ends::on_receiver_timer) to be called.
    fn next_of_receiver(&self) -> Time {
        Time::NEVER
    }

    /// The time that the receiving end waited for.
    fn on_receiver_timer(&mut self, _now: Time, _out: &mut Vec<Segment>) {}

    /// True if the receiver's application has read what an ACK waits for.
    fn has_read(&self, _now: Time) -> bool {
        false
    }

    /// The answer to its SYN was refused: the receiver listens as before.
    fn forget_syn(&mut self) {}

    /// True if data that arrives may let the sending end's application continue.
    fn is_driven_by_receiver(&self) -> bool {
        false
    }

    /// The sender of a flow that is one TCP connection.
    fn sender(&self) -> Option<&Sender> {
        None
    }

    /// A link has made a copy of a segment that is under way.
    fn is_copied(&mut self, _segment: &Segment) {}

    /// A segment that was under way is gone.
    fn is_gone(&mut self, _segment: &Segment) {}

    /// The account of a QUIC connection, of now.
    fn quic(&mut self) -> Option<&QuicAccount> {
        None
    }

    /// The account of a QUIC connection, as it was read last.
    fn last_quic(&self) -> Option<&QuicAccount> {
        None
    }

    /// Payload that arrived.
    fn received_bytes(&self) -> u64;

    /// Payload sent, retransmissions included.
    fn sent_bytes(&self) -> u64;

    /// Datagrams that are missing below the greatest number received.
    fn gaps(&self) -> u64 {
        0
    }

    /// Adds what only this kind reports.
    fn report(&self, now: Time, report: FlowReport) -> FlowReport;
}

/// The packets that an end sends, and the rows of its kind's own table.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub segments: Vec<Segment>,
    pub rows: Vec<KindRow>,
}

/// The outcome of a segment's arrival at the receiving end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    /// Time under way, of a datagram that arrives for the first time.
    pub delay: Option<Duration>,
    /// Payload arrived for the first time.
    pub is_news: bool,
    /// All of the flow's payload has arrived.
    pub is_complete: bool,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Tcp(Box<Tcp>),
    Udp(Box<Udp>),
    Ping(Ping),
    Rpc(Box<Rpc>),
    Quic(Box<Quic>),
}

/// Calls a method of [`Ends`]. The compiler knows the type in each arm: flows are the simulator's innermost loop.
macro_rules! each {
    ($kind:expr, $ends:ident => $call:expr) => {
        match $kind {
            $crate::kinds::Kind::Tcp($ends) => $call,
            $crate::kinds::Kind::Udp($ends) => $call,
            $crate::kinds::Kind::Ping($ends) => $call,
            $crate::kinds::Kind::Rpc($ends) => $call,
            $crate::kinds::Kind::Quic($ends) => $call,
        }
    };
}
pub(crate) use each;

impl Kind {
    /// The ends of the plan's flow with this index between hosts with these settings; `algorithms` and `seed` are the
    /// plan's,
    /// `ideal` is the unloaded path of a TCP flow, if it is known.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        index: u16,
        flow: &plan::Flow,
        from: Settings,
        to: Settings,
        algorithms: &Algorithms<'_>,
        seed: u64,
        ideal: Option<plan::Ideal>,
    ) -> Result<Kind> {
        Ok(match &flow.workload {
            plan::Workload::Tcp { cc, bytes, ecn, on_off } => {
                Kind::Tcp(Box::new(Tcp::new(flow, (from, to), algorithms, seed, cc, *bytes, *ecn, *on_off)?))
            }
            plan::Workload::Udp { rate_bps, payload_bytes, bytes, ecn, on_off } => {
                Kind::Udp(Box::new(Udp::new(flow, from.mtu, *rate_bps, *payload_bytes, *bytes, *ecn, *on_off)?))
            }
            plan::Workload::Ping { interval_ns, payload_bytes, .. } => {
                Kind::Ping(Ping::new(index, flow, *interval_ns, *payload_bytes))
            }
            plan::Workload::Rpc { .. } => {
                Kind::Rpc(Box::new(Rpc::new(index, flow, (from, to), algorithms, seed, ideal)?))
            }
            plan::Workload::Quic { .. } => {
                let Some(stacks) = algorithms.quic else {
                    let why = "its stack is a program of others, which is not part of this one";
                    let hint = "run it with dumbbell run, whose engines start that program";
                    return Err(Failure::new("a QUIC flow", why).hint(hint).into());
                };
                Kind::Quic(Box::new(Quic::new(flow, from.mtu, stacks, seed)?))
            }
            plan::Workload::Command { .. } => {
                let why = "the simulator can't run programs";
                return Err(Failure::new("a command", why).hint(algorithm::KERNEL).into());
            }
        })
    }
}
