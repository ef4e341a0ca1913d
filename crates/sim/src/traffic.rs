//! The plan's flows: when they begin and end, and what they achieve.

use anyhow::Result;
use datagrams::{Echo, EchoCounts};
use link::{Ecn, Stream};
use messages::Failure;
use plan::{Bursts, On, OnOff};
use units::{Duration, Time};

use crate::algorithm;
use crate::ping::Ping;
use crate::segment::Segment;
use crate::tcp::{AckReport, Receiver, Sender, Settings};
use crate::udp::{Datagrams, Udp};

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

#[derive(Debug)]
enum Kind {
    Tcp(Box<Tcp>),
    Udp(Box<Udp>),
    Ping(Ping),
}

#[derive(Debug)]
struct Tcp {
    sender: Sender,
    receiver: Receiver,
    bytes: Option<u64>,
    bursts: Option<Box<Bursts>>,
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

/// A flow without a size has this much to say: an exabyte.
const ENDLESS: u64 = 1 << 60;

impl Traffic {
    /// The traffic of the plan's flow between hosts with these settings; `algorithms` and `seed` are the plan's.
    pub(crate) fn new(
        flow: &plan::Flow,
        from: Settings,
        to: Settings,
        algorithms: &[plan::Algorithm],
        seed: u64,
    ) -> Result<Traffic> {
        let kind = match &flow.workload {
            plan::Workload::Tcp { cc, bytes, ecn, on_off } => {
                let create = || algorithm::create(algorithms, cc);
                let algorithm = create()?;
                let seed = Stream::new(seed, &format!("flow/{}/cc", flow.id)).at(0);
                let observer = if algorithm.needs_ecn() { Some(create()?) } else { None };
                let receiver = Receiver::new(to, observer);
                let bursts = on_off.map(|pattern| Box::new(Bursts::new(pattern, flow.start_ns)));
                let mut sender = Sender::new(from, algorithm, seed, *ecn);
                match on_off.map(|pattern| pattern.on) {
                    None => sender.write_ahead(plan::BULK_WRITE_BYTES, u32::MAX),
                    Some(On::Bytes(_)) => sender.write_ahead(OnOff::WRITE_BYTES, u32::MAX),
                    Some(On::Ns(_)) => sender.write_ahead(OnOff::WRITE_BYTES, OnOff::AHEAD_BYTES),
                }
                Kind::Tcp(Box::new(Tcp { sender, receiver, bytes: *bytes, bursts }))
            }
            plan::Workload::Udp { rate_bps, payload_bytes, bytes, ecn, on_off } => {
                let udp = Udp::new(flow, from.mtu, *rate_bps, *payload_bytes, *bytes, *ecn, *on_off)?;
                Kind::Udp(Box::new(udp))
            }
            plan::Workload::Ping { interval_ns, payload_bytes, .. } => {
                Kind::Ping(Ping::new(flow, *interval_ns, *payload_bytes))
            }
            plan::Workload::Command { .. } => {
                let why = "the simulator can't run programs";
                return Err(Failure::new("a command", why).hint(algorithm::KERNEL).into());
            }
        };
        let (phase, milestones) = (Phase::Waiting, Milestones::default());
        Ok(Traffic { start: flow.start_ns, stop: flow.stop_ns, phase, kind, milestones, refused: Time::NEVER })
    }

    /// The time at which the sending end wants [`on_sender_timer`](Traffic::on_sender_timer) to be called.
    #[inline]
    pub(crate) fn next_of_sender(&self) -> Time {
        match self.phase {
            Phase::Waiting => self.start,
            Phase::Active => self.stop.min(self.refused).min(match &self.kind {
                Kind::Tcp(tcp) => tcp.next(),
                Kind::Udp(udp) => udp.next(),
                Kind::Ping(ping) => ping.next(),
            }),
            Phase::Over => Time::NEVER,
        }
    }

    /// Its start, its stop, or what the sender waits for.
    pub(crate) fn on_sender_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Waiting if now < self.start => {}
            Phase::Waiting => self.begin(now, out),
            Phase::Active if now >= self.stop.min(self.refused) => self.stop(),
            Phase::Active => match &mut self.kind {
                Kind::Tcp(tcp) => tcp.on_timer(now, out),
                Kind::Udp(udp) if udp.next() <= now => udp.send(out),
                Kind::Ping(ping) if ping.next() <= now => ping.send(now, out),
                Kind::Udp(_) | Kind::Ping(_) => {}
            },
            Phase::Over => {}
        }
    }

    #[inline]
    pub(crate) fn next_of_receiver(&self) -> Time {
        match (&self.kind, self.phase) {
            (Kind::Tcp(tcp), Phase::Active) => tcp.receiver.next_timer(),
            _ => Time::NEVER,
        }
    }

    /// The receiver's application has read what an ACK waits for.
    pub(crate) fn has_read(&self, now: Time) -> bool {
        matches!(&self.kind, Kind::Tcp(tcp) if tcp.receiver.awaited_read() <= now)
    }

    pub(crate) fn on_receiver_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if let (Kind::Tcp(tcp), Phase::Active) = (&mut self.kind, self.phase) {
            tcp.receiver.on_timer(now, out);
        }
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.phase = Phase::Active;
        self.milestones.start = Some(now);
        match &mut self.kind {
            Kind::Tcp(tcp) => {
                tcp.sender.connect(now, out);
                tcp.write(now, out);
                if tcp.bytes.is_some() {
                    tcp.sender.close(now, out);
                }
            }
            Kind::Udp(udp) => udp.send(out),
            Kind::Ping(ping) => ping.send(now, out),
        }
    }

    fn stop(&mut self) {
        self.phase = Phase::Over;
        match &mut self.kind {
            Kind::Tcp(tcp) => {
                self.milestones.completed |= tcp.bytes.is_none() && tcp.sender.is_established();
                tcp.sender.abort();
                tcp.receiver.abort();
            }
            Kind::Udp(udp) => self.milestones.completed |= !udp.has_size(),
            Kind::Ping(_) => self.milestones.completed = true,
        }
    }

    /// The connection has yet to open, and ends at `at`: ICMP says that the TTL of its SYN has run out (`tcp_v4_err`).
    pub(crate) fn refuse(&mut self, at: Time) {
        self.refused = self.refused.min(at);
    }

    /// The same of the answer to its SYN: the receiver listens as before.
    pub(crate) fn forget_syn(&mut self) {
        if let Kind::Tcp(tcp) = &mut self.kind {
            tcp.receiver.forget_syn();
        }
    }

    /// A segment arrives at the sending end.
    #[inline]
    pub(crate) fn at_sender(&mut self, segment: &Segment, now: Time, out: &mut Vec<Segment>) -> Option<AckReport> {
        let (Kind::Tcp(tcp), Phase::Active) = (&mut self.kind, self.phase) else { return None };
        let report = tcp.sender.on_segment(segment, now, out);
        if tcp.sender.is_finished() {
            self.phase = Phase::Over;
        }
        report
    }

    /// An answer arrives at the end that pings. `None` if its request was answered before.
    pub(crate) fn answer(&mut self, segment: &Segment, now: Time) -> Option<Echo> {
        // An answer that was under way when the flow stopped arrives all the same.
        let Kind::Ping(ping) = &mut self.kind else { return None };
        let echo = ping.answer(segment, now)?;
        self.milestones.first_byte.get_or_insert(now);
        self.milestones.end = Some(now);
        Some(echo)
    }

    /// Requests that have no answer at `end`.
    pub(crate) fn unanswered(&self, end: Time) -> impl Iterator<Item = Echo> {
        let ping = if let Kind::Ping(ping) = &self.kind { Some(ping) } else { None };
        ping.into_iter().flat_map(move |ping| ping.unanswered(end))
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
        let (delay, is_news) = match &mut self.kind {
            Kind::Tcp(tcp) if self.phase == Phase::Active => {
                let before = tcp.receiver.received_bytes();
                tcp.receiver.on_segment(segment, ecn, now, out);
                let received = tcp.receiver.received_bytes();
                if let Some(bursts) = &mut tcp.bursts {
                    bursts.arrived(received, now);
                }
                self.milestones.completed |= tcp.bytes == Some(received);
                (None, received > before)
            }
            Kind::Tcp(_) => return None,
            // A datagram that was under way when the flow stopped arrives all the same.
            Kind::Udp(udp) => {
                let before = udp.received_bytes();
                let delay = udp.receive(segment, ecn, now);
                (delay, udp.received_bytes() > before)
            }
            Kind::Ping(_) => {
                Ping::reply(segment, out);
                return None;
            }
        };
        if is_news {
            self.milestones.first_byte.get_or_insert(now);
            self.milestones.end = Some(now);
        }
        delay
    }

    /// Data that arrives at the receiving end may let the sending end's application continue.
    #[inline]
    pub(crate) fn is_driven_by_receiver(&self) -> bool {
        matches!(&self.kind, Kind::Tcp(tcp) if tcp.bursts.as_ref().is_some_and(|bursts| bursts.are_of_bytes()))
    }

    /// Returns true if the flow is active, and goes on beyond `now`.
    pub(crate) fn lasts(&self, now: Time) -> bool {
        self.is_active() && now < self.stop
    }

    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.phase == Phase::Active
    }

    pub(crate) fn sender(&self) -> Option<&Sender> {
        match &self.kind {
            Kind::Tcp(tcp) => Some(&tcp.sender),
            Kind::Udp(_) | Kind::Ping(_) => None,
        }
    }

    /// Returns the bytes that TCP's application has written.
    #[inline]
    pub(crate) fn written_bytes(&self) -> u64 {
        self.sender().map_or(0, Sender::written_bytes)
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Tcp(tcp) => tcp.receiver.received_bytes(),
            Kind::Udp(udp) => udp.received_bytes(),
            Kind::Ping(ping) => ping.answered_bytes(),
        }
    }

    /// Payload sent, retransmissions included.
    pub(crate) fn sent_bytes(&self) -> u64 {
        match &self.kind {
            Kind::Tcp(tcp) => tcp.sender.counters().bytes_sent,
            Kind::Udp(udp) => udp.sent_bytes(),
            Kind::Ping(ping) => ping.sent_bytes(),
        }
    }

    pub(crate) fn gaps(&self) -> u64 {
        match &self.kind {
            Kind::Tcp(_) | Kind::Ping(_) => 0,
            Kind::Udp(udp) => udp.gaps(),
        }
    }

    /// The report of the flow at `now`.
    pub(crate) fn report(&self, now: Time) -> FlowReport {
        let Milestones { start, first_byte, end, completed } = self.milestones;
        let (sent_bytes, received_bytes) = (self.sent_bytes(), self.received_bytes());
        let report =
            FlowReport { start, first_byte, end, completed, sent_bytes, received_bytes, ..FlowReport::default() };
        let sender = match &self.kind {
            Kind::Tcp(tcp) => &tcp.sender,
            Kind::Udp(udp) => {
                let completed = report.completed || udp.has_sent_all();
                return FlowReport { completed, datagrams: Some(udp.datagrams()), ..report };
            }
            Kind::Ping(ping) => return FlowReport { echoes: Some(ping.counts(now)), ..report },
        };
        let counters = sender.counters();
        FlowReport {
            is_connected: sender.has_connected(),
            is_unreachable: self.refused <= now && !sender.has_connected(),
            sent_bytes: counters.bytes_sent - counters.bytes_retransmitted,
            retransmitted_segments: counters.segments_retransmitted,
            busy_us: counters.busy_us,
            rwnd_limited_us: counters.rwnd_limited_us,
            sndbuf_limited_us: counters.sndbuf_limited_us,
            ..report
        }
    }
}

impl Tcp {
    #[inline]
    fn next(&self) -> Time {
        let turn = self.bursts.as_ref().map_or(Time::NEVER, |bursts| bursts.next());
        self.sender.next_timer().min(turn)
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.on_timer(now, out);
        let Some(bursts) = self.bursts.as_mut().filter(|bursts| bursts.next() <= now) else { return };
        bursts.turn();
        if bursts.is_on() {
            self.write(now, out);
        } else {
            self.sender.pause();
        }
    }

    /// The application writes all that it has to say now.
    fn write(&mut self, now: Time, out: &mut Vec<Segment>) {
        let said = self.sender.said_bytes();
        let burst = self.bursts.as_ref().and_then(|bursts| bursts.may_write(said));
        self.sender.write(self.bytes.or(burst).unwrap_or(ENDLESS), now, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_flow_costs_less_than_two_kilobytes() {
        for name in cc::NAMES {
            let flow: plan::Flow = serde_json::from_value(serde_json::json!({
                "id": "f", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": 1,
                "workload": {"kind": "tcp", "cc": name, "bytes": null, "ecn": false},
            }))
            .unwrap();
            let traffic = Traffic::new(&flow, Settings::default(), Settings::default(), &[], 1).unwrap();
            let algorithm = size_of_val(traffic.sender().unwrap().congestion_control());
            // DCTCP's receiver has an algorithm, too, and the socket that it looks at.
            let observer = if name == "dctcp" { size_of::<cc::Socket>() + algorithm + 16 } else { 0 };
            let bytes = size_of::<Traffic>() + size_of::<Tcp>() + algorithm + observer;
            assert!(bytes < 2048, "{name}: {bytes} bytes");
        }
    }
}
