mod contents;

use anyhow::{Result, bail};
use link::{Ecn, Stream};
use plan::Bursts;
use quic_lines::Writer;
use units::headers::UDP;
use units::{Duration, Mtu, Time};

use super::{Arrived, Ends, Outbox};
use crate::quic::{QuicAccount, QuicEnd, QuicEnds, QuicStacks, Turn};
use crate::segment::Segment;
use crate::tcp::AckReport;
use crate::traffic::FlowReport;
use contents::Contents;

/// A process that waits for a time may sleep for a thousandth of the wait longer, and for this time at least
/// (`select_estimate_accuracy`, `timer_slack_ns`).
const SLACK: Duration = Duration::from_micros(50);
const SLACK_SHARE: i64 = 1000;
/// Time that an end takes until it has its next turn if it is due at once: some looks at the clock.
const AT_ONCE: Duration = Duration::from_micros(1);

/// A QUIC flow: both of its ends, and what its datagrams carry.
#[derive(Debug)]
pub(crate) struct Quic {
    sender: Side,
    receiver: Side,
    writer: Writer,
    datagrams: Datagrams,
    account: QuicAccount,
}

/// One of both ends.
#[derive(Debug)]
struct Side {
    end: Box<dyn QuicEnd>,
    /// The time at which its program wakes.
    wakes: Time,
    is_over: bool,
    is_reply: bool,
}

/// The datagrams of both ends.
#[derive(Debug)]
struct Datagrams {
    /// The largest payload that passes the MTU of the path. Stacks send larger ones to find it (RFC 8899).
    most_bytes: u32,
    contents: Contents,
}

impl Datagrams {
    /// Returns the packet of a datagram; `None` if the datagram is too large.
    fn send(&mut self, ecn: Ecn, datagram: &[u8], is_reply: bool) -> Option<Segment> {
        let len = u32::try_from(datagram.len()).ok().filter(|len| *len <= self.most_bytes)?;
        Some(Segment { seq: self.contents.put(datagram), len, ecn, is_reply, ..Segment::default() })
    }
}

impl Quic {
    pub(crate) fn new(flow: &plan::Flow, mtu: Mtu, stacks: &dyn QuicStacks, seed: u64) -> Result<Quic> {
        let plan::Workload::Quic { stack, cc, bytes, rate_bps, on_off, .. } = &flow.workload else {
            bail!("not a QUIC flow")
        };
        let seed = Stream::new(seed, &format!("flow/{}/quic", flow.id)).at(0);
        let QuicEnds { sender, receiver, version } = stacks.create(flow, seed)?;
        let bursts = on_off.map(|pattern| Bursts::new(pattern, flow.start_ns));
        let side = |end, is_reply| Side { end, wakes: Time::NEVER, is_over: false, is_reply };
        Ok(Quic {
            sender: side(sender, false),
            receiver: side(receiver, true),
            writer: Writer::new(*bytes, *rate_bps, bursts),
            datagrams: Datagrams {
                most_bytes: mtu.bytes() - flow.ip.header_bytes() - UDP,
                contents: Contents::default(),
            },
            account: QuicAccount { version, algorithm: format!("{stack}/{cc}"), ..QuicAccount::default() },
        })
    }

    /// Orders both ends to write or pause, as the application has it from now on.
    fn order(&mut self) {
        let (write, awaited) = self.writer.orders();
        let ordered = self.sender.end.order(write);
        self.note(ordered, "sender");
        let ordered = awaited.map_or(Ok(()), |order| self.receiver.end.order(order));
        self.note(ordered, "receiver");
    }

    fn turn_sender(&mut self, now: Time, out: &mut Vec<Segment>) {
        let turn = self.sender.turn(now, &mut self.datagrams, out);
        if turn.as_ref().is_ok_and(|turn| turn.is_connected) {
            self.account.connected.get_or_insert(now);
        }
        self.note(turn.map(drop), "sender");
    }

    fn turn_receiver(&mut self, now: Time, out: &mut Vec<Segment>) -> Arrived {
        let turn = self.receiver.turn(now, &mut self.datagrams, out);
        self.note(turn.map(drop), "receiver");
        let before = std::mem::replace(&mut self.account.received, self.receiver.end.received());
        self.writer.arrived(self.account.received.bytes, now);
        Arrived {
            delay: None,
            is_news: self.account.received.bytes > before.bytes,
            is_complete: self.account.received.complete,
        }
    }

    /// Keeps why an end has failed, unless all data have arrived by then.
    fn note(&mut self, result: Result<()>, end: &str) {
        if let Err(error) = result
            && !self.account.received.complete
        {
            self.account.failure.get_or_insert_with(|| format!("its QUIC {end} failed: {error:#}"));
        }
    }
}

impl Side {
    fn turn(&mut self, now: Time, datagrams: &mut Datagrams, out: &mut Vec<Segment>) -> Result<Turn> {
        let is_reply = self.is_reply;
        let send = &mut |ecn, datagram: &[u8]| out.extend(datagrams.send(ecn, datagram, is_reply));
        let turn = self.end.turn(now, send);
        self.is_over |= turn.as_ref().map_or(true, |turn| turn.is_closed);
        // An end that has failed never wakes again.
        self.wakes = Time::NEVER;
        let turn = turn?;
        self.wakes = match turn.next {
            _ if self.is_over => Time::NEVER,
            Time::NEVER => Time::NEVER,
            next if next <= now => now + AT_ONCE,
            next => next + SLACK.max(Duration((next - now).as_nanos() / SLACK_SHARE)),
        };
        Ok(turn)
    }
}

impl Ends for Quic {
    fn next(&self) -> Time {
        self.sender.wakes.min(self.writer.next_turn())
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        let begun = self.receiver.end.begin(now);
        self.note(begun, "receiver");
        let begun = self.sender.end.begin(now);
        self.note(begun, "sender");
        self.order();
        self.turn_sender(now, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.writer.next_turn() <= now {
            self.writer.turn();
            self.order();
        }
        self.turn_sender(now, out);
    }

    fn stop(&mut self) -> bool {
        self.quic();
        !self.writer.has_size() && self.account.connected.is_some() && self.account.failure.is_none()
    }

    fn is_over(&self) -> bool {
        self.sender.is_over
    }

    fn outlives_its_stop(&self) -> bool {
        false
    }

    fn at_sender(&mut self, segment: &Segment, ecn: Ecn, now: Time, outbox: &mut Outbox) -> Option<AckReport> {
        self.sender.end.receive(now, ecn, self.datagrams.contents.get(segment.seq));
        self.turn_sender(now, &mut outbox.segments);
        None
    }

    fn at_receiver(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Arrived {
        self.receiver.end.receive(now, ecn, self.datagrams.contents.get(segment.seq));
        self.turn_receiver(now, out)
    }

    fn next_of_receiver(&self) -> Time {
        self.receiver.wakes
    }

    fn on_receiver_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.turn_receiver(now, out);
    }

    fn is_driven_by_receiver(&self) -> bool {
        self.writer.needs_arrivals()
    }

    fn is_copied(&mut self, segment: &Segment) {
        self.datagrams.contents.copy(segment.seq);
    }

    fn is_gone(&mut self, segment: &Segment) {
        self.datagrams.contents.free(segment.seq);
    }

    fn quic(&mut self) -> Option<&QuicAccount> {
        self.account.sent = self.sender.end.sent();
        Some(&self.account)
    }

    fn last_quic(&self) -> Option<&QuicAccount> {
        Some(&self.account)
    }

    fn received_bytes(&self) -> u64 {
        self.account.received.bytes
    }

    #[expect(clippy::misnamed_getters, reason = "the account's `sent_bytes` are UDP payload")]
    fn sent_bytes(&self) -> u64 {
        self.account.sent.written_bytes
    }

    fn report(&self, _: Time, report: FlowReport) -> FlowReport {
        let is_complete = self.account.failure.is_none() && report.completed;
        FlowReport { completed: is_complete, is_connected: self.account.connected.is_some(), ..report }
    }
}
