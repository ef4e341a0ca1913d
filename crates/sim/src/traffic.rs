//! The plan's flows: when they begin and end, and what they achieve.

use datagrams::EchoCounts;
use link::Ecn;
use rows::kinds::KindRow;
use units::{Duration, Time};

use crate::kinds::{Datagrams, Ends, Kind, Outbox, each};
use crate::quic::QuicAccount;
use crate::segment::Segment;
use crate::tcp::{AckReport, Sender};

/// A flow of the plan, both of its ends.
#[derive(Debug)]
pub(crate) struct Traffic {
    start: Time,
    stop: Time,
    phase: Phase,
    kind: Kind,
    milestones: Milestones,
    /// The time at which a message of ICMP ends the connection that has yet to open.
    refused: Time,
}

/// Records of a flow in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Milestones {
    start: Option<Time>,
    first_byte: Option<Time>,
    end: Option<Time>,
    completed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Active,
    Over,
}

/// The outcome of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowReport {
    /// The time at which it began; `None`: it never did.
    pub start: Option<Time>,
    /// The times at which its first and its last payload arrived so far.
    pub first_byte: Option<Time>,
    /// See [`first_byte`](FlowReport::first_byte).
    pub end: Option<Time>,
    /// TCP with a size: all of it arrived. UDP with a size: all of it was sent. One without: it was active until its stop.
    pub completed: bool,
    /// TCP: the handshake was done.
    pub is_connected: bool,
    /// TCP: a router told that its SYN cannot reach the receiver.
    pub is_unreachable: bool,
    /// Payload sent for the first time.
    pub sent_bytes: u64,
    /// Payload that the receiver's application has read; of a flow that pings, payload that came back.
    pub received_bytes: u64,
    /// Segments sent again, SYNs included.
    pub retransmitted_segments: u64,
    /// The outcome of UDP datagrams.
    pub datagrams: Option<Datagrams>,
    /// The echo requests of a flow that pings.
    pub echoes: Option<EchoCounts>,
    /// TCP: time with data outstanding, us.
    pub busy_us: u64,
    /// Part of [`busy_us`](FlowReport::busy_us) in which the receive window was the limit, us.
    pub rwnd_limited_us: u64,
    /// Part of it in which the memory for sending was, us.
    pub sndbuf_limited_us: u64,
}

impl Traffic {
    /// The traffic of the plan's flow, which has not begun.
    pub(crate) fn new(flow: &plan::Flow, kind: Kind) -> Traffic {
        let (phase, milestones) = (Phase::Waiting, Milestones::default());
        Traffic { start: flow.start_ns, stop: flow.stop_ns, phase, kind, milestones, refused: Time::NEVER }
    }

    /// The time at which the sending end wants [`on_sender_timer`](Traffic::on_sender_timer) to be called.
    #[inline]
    pub(crate) fn next_of_sender(&self) -> Time {
        match self.phase {
            Phase::Waiting => self.start,
            Phase::Active => self.stop.min(self.refused).min(each!(&self.kind, ends => ends.next())),
            Phase::Over => Time::NEVER,
        }
    }

    /// Its start, its stop, or what the sender waits for.
    pub(crate) fn on_sender_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Waiting if now < self.start => {}
            Phase::Waiting => self.begin(now, out),
            Phase::Active if now >= self.stop.min(self.refused) => self.stop(),
            Phase::Active => {
                let is_over = each!(&mut self.kind, ends => {
                    ends.on_timer(now, out);
                    ends.is_over()
                });
                if is_over {
                    self.phase = Phase::Over;
                }
            }
            Phase::Over => {}
        }
    }

    #[inline]
    pub(crate) fn next_of_receiver(&self) -> Time {
        if self.is_active() { each!(&self.kind, ends => ends.next_of_receiver()) } else { Time::NEVER }
    }

    /// The receiver's application has read what an ACK waits for.
    pub(crate) fn has_read(&self, now: Time) -> bool {
        each!(&self.kind, ends => ends.has_read(now))
    }

    pub(crate) fn on_receiver_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.is_active() {
            each!(&mut self.kind, ends => ends.on_receiver_timer(now, out));
        }
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.phase = Phase::Active;
        self.milestones.start = Some(now);
        each!(&mut self.kind, ends => ends.begin(now, out));
    }

    fn stop(&mut self) {
        self.phase = Phase::Over;
        self.milestones.completed |= each!(&mut self.kind, ends => ends.stop());
    }

    /// The connection has yet to open, and ends at `at`: ICMP says that the TTL of its SYN has run out (`tcp_v4_err`).
    pub(crate) fn refuse(&mut self, at: Time) {
        self.refused = self.refused.min(at);
    }

    /// The same of the answer to its SYN: the receiver listens as before.
    pub(crate) fn forget_syn(&mut self) {
        each!(&mut self.kind, ends => ends.forget_syn());
    }

    /// A segment arrives at the sending end, with the codepoint `ecn`.
    #[inline]
    pub(crate) fn at_sender(
        &mut self,
        segment: &Segment,
        ecn: Ecn,
        now: Time,
        outbox: &mut Outbox,
    ) -> Option<AckReport> {
        let is_active = self.is_active();
        let rows = outbox.rows.len();
        let (report, is_over) = each!(&mut self.kind, ends => {
            if !is_active && !ends.outlives_its_stop() {
                return None;
            }
            (ends.at_sender(segment, ecn, now, outbox), ends.is_over())
        });
        if outbox.rows.len() > rows {
            self.milestones.first_byte.get_or_insert(now);
            self.milestones.end = Some(now);
        }
        if is_over {
            self.phase = Phase::Over;
        }
        report
    }

    /// Adds rows of what is open at `end`.
    pub(crate) fn finish(&self, end: Time, rows: &mut Vec<KindRow>) {
        each!(&self.kind, ends => ends.finish(end, rows));
    }

    /// A segment arrives at the receiving end, with the codepoint `ecn`. It returns the time under way of a datagram
    /// that arrives for the first time.
    #[inline]
    pub(crate) fn at_receiver(
        &mut self,
        segment: &Segment,
        ecn: Ecn,
        now: Time,
        out: &mut Vec<Segment>,
    ) -> Option<Duration> {
        let is_active = self.is_active();
        let arrived = each!(&mut self.kind, ends => {
            if !is_active && !ends.outlives_its_stop() {
                return None;
            }
            ends.at_receiver(segment, ecn, now, out)
        });
        self.milestones.completed |= arrived.is_complete;
        if arrived.is_news {
            self.milestones.first_byte.get_or_insert(now);
            self.milestones.end = Some(now);
        }
        arrived.delay
    }

    /// Data that arrives at the receiving end may let the sending end's application continue.
    #[inline]
    pub(crate) fn is_driven_by_receiver(&self) -> bool {
        each!(&self.kind, ends => ends.is_driven_by_receiver())
    }

    /// Returns true if the flow is active, and goes on beyond `now`.
    pub(crate) fn lasts(&self, now: Time) -> bool {
        self.is_active() && now < self.stop
    }

    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.phase == Phase::Active
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    #[inline]
    pub(crate) fn sender(&self) -> Option<&Sender> {
        each!(&self.kind, ends => ends.sender())
    }

    /// The account of a QUIC flow, as it was read last.
    pub(crate) fn last_quic(&self) -> Option<&QuicAccount> {
        each!(&self.kind, ends => ends.last_quic())
    }

    /// Reads the account of a QUIC flow.
    pub(crate) fn read_quic(&mut self) {
        each!(&mut self.kind, ends => { ends.quic(); });
    }

    /// A link has made a copy of a segment of this flow.
    pub(crate) fn is_copied(&mut self, segment: &Segment) {
        each!(&mut self.kind, ends => ends.is_copied(segment));
    }

    /// A segment of this flow is not under way any more.
    pub(crate) fn is_gone(&mut self, segment: &Segment) {
        each!(&mut self.kind, ends => ends.is_gone(segment));
    }

    /// Returns the bytes that TCP's application has written.
    #[inline]
    pub(crate) fn written_bytes(&self) -> u64 {
        self.sender().map_or(0, Sender::written_bytes)
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        each!(&self.kind, ends => ends.received_bytes())
    }

    /// Payload sent, retransmissions included.
    pub(crate) fn sent_bytes(&self) -> u64 {
        each!(&self.kind, ends => ends.sent_bytes())
    }

    pub(crate) fn gaps(&self) -> u64 {
        each!(&self.kind, ends => ends.gaps())
    }

    /// The report of the flow at `now`.
    pub(crate) fn report(&self, now: Time) -> FlowReport {
        let Milestones { start, first_byte, end, completed } = self.milestones;
        let (sent_bytes, received_bytes) = (self.sent_bytes(), self.received_bytes());
        let report =
            FlowReport { start, first_byte, end, completed, sent_bytes, received_bytes, ..FlowReport::default() };
        let report = each!(&self.kind, ends => ends.report(now, report));
        let is_unreachable = self.sender().is_some_and(|sender| self.refused <= now && !sender.has_connected());
        FlowReport { is_unreachable, ..report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Algorithms, Objects};
    use crate::kinds::Tcp;
    use crate::tcp::Settings;

    #[test]
    fn an_idle_flow_costs_less_than_two_kilobytes() {
        for name in cc::NAMES {
            let flow: plan::Flow = serde_json::from_value(serde_json::json!({
                "id": "f", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": 1,
                "workload": {"kind": "tcp", "cc": name, "bytes": null, "ecn": false},
            }))
            .unwrap();
            let (objects, host) = (Objects::new(), Settings::default());
            let kind = Kind::new(0, &flow, host, host, &Algorithms::new(&[], &objects), 1, None).unwrap();
            let traffic = Traffic::new(&flow, kind);
            let algorithm = size_of_val(traffic.sender().unwrap().congestion_control());
            // DCTCP's receiver has an algorithm, too, and the socket that it looks at.
            let observer = if name == "dctcp" { size_of::<cc::Socket>() + algorithm + 16 } else { 0 };
            let bytes = size_of::<Traffic>() + size_of::<Tcp>() + algorithm + observer;
            assert!(bytes < 2048, "{name}: {bytes} bytes");
        }
    }
}
