//! The receiving end of a connection, as Linux runs it: reassembly, and when to acknowledge.
//! Its application reads in-order data at once, and closes when the stream has ended.

mod acks;
mod ecn;
mod reassembly;
mod timestamps;
mod window;

use cc::{CongestionControl, Socket};
use link::Ecn;
use units::{Duration, Time};

use crate::segment::{Flags, Segment};
use crate::tcp::sender::{RTO_INITIAL_US, RTO_MAX_US, RTO_MIN_US, timestamp_ms};
use crate::tcp::{Settings, ticks};
use acks::Acks;
use reassembly::Reassembly;
pub(super) use timestamps::PAWS_WINDOW;
use window::Window;

/// The receiving end of a connection.
#[derive(Debug)]
pub struct Receiver {
    settings: Settings,
    phase: Phase,
    now: Time,
    /// The next byte expected, and the one that the last ACK announced.
    rcv_nxt: u64,
    rcv_wup: u64,
    /// Data received out of order.
    ahead: Reassembly,
    acks: Acks,
    window: Window,
    /// The timestamp to echo, ms (RFC 7323 section 4.3).
    ts_recent: u32,
    /// The RTT of the handshake, us; 0: none.
    rtt_us: u32,
    /// The time at which the SYN-ACK or the FIN was sent, and how often.
    control_sent: Time,
    control_attempts: u32,
    control_timer: Time,
    ecn: ecn::Ecn,
    /// A congestion control that wants to see marks as they come (DCTCP).
    observer: Option<Box<Observer>>,
    /// The FIN arrived: all has been received.
    is_complete: bool,
}

/// Smaller segments don't let the window grow.
const GROWING_BYTES: u32 = 128;

#[derive(Debug)]
struct Observer {
    sk: Socket,
    cc: Box<dyn CongestionControl>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Listening,
    SynReceived,
    Established,
    /// Our FIN is under way.
    LastAck,
    Closed,
}

impl Receiver {
    /// A listening receiver. `cc`: the same algorithm as the sender's, if it wants to see marks.
    pub fn new(settings: Settings, cc: Option<Box<dyn CongestionControl>>) -> Receiver {
        Receiver {
            phase: Phase::Listening,
            now: Time::ZERO,
            rcv_nxt: 0,
            rcv_wup: 0,
            ahead: Reassembly::default(),
            acks: Acks::default(),
            window: Window::new(&settings),
            ts_recent: 0,
            rtt_us: 0,
            control_sent: Time::ZERO,
            control_attempts: 0,
            control_timer: Time::NEVER,
            ecn: ecn::Ecn::default(),
            observer: cc.map(|cc| Box::new(Observer { sk: Socket::new(settings.mss(), 0), cc })),
            is_complete: false,
            settings,
        }
    }

    /// Payload received in order, and read.
    #[inline]
    pub fn received_bytes(&self) -> u64 {
        self.rcv_nxt.saturating_sub(1) - u64::from(self.is_complete)
    }

    /// The stream has come to its end.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The connection is open, and this end has opened it: `rtt_us` and `has_ecn` are the handshake's, `ts_recent` is
    /// the peer's latest timestamp.
    pub(crate) fn open(&mut self, rtt_us: u32, has_ecn: bool, ts_recent: u32, now: Time) {
        self.phase = Phase::Established;
        (self.rcv_nxt, self.rcv_wup, self.ts_recent) = (1, 1, ts_recent);
        (self.rtt_us, self.ecn.is_ok, self.now) = (rtt_us, has_ecn, now);
        self.init_observer();
    }

    /// The handshake's RTT in us, and whether it granted ECN; `None` before its end. An RTT of 0 is unknown.
    pub(crate) fn handshake(&self) -> Option<(u32, bool)> {
        (self.phase == Phase::Established).then_some((self.rtt_us, self.ecn.is_ok))
    }

    /// The latest timestamp of the peer, ms.
    pub(crate) fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// Lets a segment with data of this host acknowledge what came.
    pub(crate) fn piggyback(&mut self, now: Time, segment: &mut Segment) {
        self.now = now;
        let header = self.header();
        (segment.ack, segment.window, segment.ts_ecr) = (header.ack, header.window, header.ts_ecr);
        segment.flags.ece |= header.flags.ece;
        self.acknowledged();
    }

    /// Cease at once.
    pub fn abort(&mut self) {
        self.phase = Phase::Closed;
        self.acks = Acks::default();
        self.control_timer = Time::NEVER;
    }

    /// ICMP says that the answer to a SYN cannot arrive: the request is dropped (`tcp_req_err`).
    pub(crate) fn forget_syn(&mut self) {
        if self.phase == Phase::SynReceived {
            self.phase = Phase::Listening;
            (self.control_attempts, self.control_timer) = (0, Time::NEVER);
        }
    }

    /// The time at which [`on_timer`](Receiver::on_timer) wants to be called; [`Time::NEVER`]: not at all.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.acks.next_timer().min(self.awaited_read()).min(self.control_timer)
    }

    /// Carries out what is due by `now`.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.now = now;
        self.acks_on_timer(out);
        if self.control_timer <= now {
            self.control_timer = Time::NEVER;
            match self.phase {
                Phase::SynReceived => self.send_syn_ack(out),
                Phase::LastAck => self.send_fin(out),
                _ => {}
            }
        }
    }

    /// A segment of the peer arrives, with the codepoint `ecn` in its header.
    pub fn on_segment(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) {
        self.now = now;
        if segment.flags.syn {
            return self.on_syn(segment, out);
        }
        self.advance_phase(segment);
        if matches!(self.phase, Phase::Listening | Phase::SynReceived) {
            return;
        }
        if self.is_refused(segment) {
            return self.refuse(segment, out);
        }
        self.take_timestamp(segment);
        self.accept_cwr(segment);
        if segment.len > 0 || segment.flags.fin {
            self.on_data(segment, ecn, out);
        } else if segment.seq < self.rcv_nxt {
            // A window probe.
            self.send_ack(out);
        }
        if self.is_complete && self.phase == Phase::Established {
            self.phase = Phase::LastAck;
            self.control_attempts = 0;
            self.send_fin(out);
        }
    }

    #[cold]
    fn on_syn(&mut self, segment: &Segment, out: &mut Vec<Segment>) {
        match self.phase {
            Phase::Listening => {
                self.phase = Phase::SynReceived;
                (self.rcv_nxt, self.rcv_wup) = (1, 1);
                self.ecn.is_ok = segment.flags.ece && segment.flags.cwr;
                self.init_observer();
            }
            Phase::SynReceived => {}
            _ => return,
        }
        self.ts_recent = segment.ts_val;
        self.send_syn_ack(out);
    }

    fn send_syn_ack(&mut self, out: &mut Vec<Segment>) {
        self.start_control_timer();
        let flags = Flags { syn: true, ece: self.ecn.is_ok, ..Flags::default() };
        out.push(Segment { seq: 0, flags, ..self.header() });
    }

    #[cold]
    fn send_fin(&mut self, out: &mut Vec<Segment>) {
        self.start_control_timer();
        self.acknowledged();
        let mut fin = self.header();
        fin.flags.fin = true;
        out.push(fin);
    }

    /// SYN-ACK and FIN are sent again until they are acknowledged.
    fn start_control_timer(&mut self) {
        let rto = if self.rtt_us == 0 { RTO_INITIAL_US } else { u64::from(self.rtt_us + self.rtt_us.max(RTO_MIN_US)) };
        let rto = (rto << self.control_attempts.min(16)).min(RTO_MAX_US);
        (self.control_sent, self.control_attempts) = (self.now, self.control_attempts + 1);
        self.control_timer = ticks::fires(self.now, Duration::from_micros(rto as i64), &self.settings);
    }

    fn advance_phase(&mut self, segment: &Segment) {
        match self.phase {
            Phase::SynReceived if segment.ack >= 1 => {
                self.phase = Phase::Established;
                if self.control_attempts == 1 {
                    self.rtt_us = ((self.now - self.control_sent).as_nanos() / 1000).max(1) as u32;
                }
            }
            Phase::LastAck if segment.ack >= 2 => self.phase = Phase::Closed,
            _ => return,
        }
        self.control_timer = Time::NEVER;
    }

    fn on_data(&mut self, segment: &Segment, ecn: Ecn, out: &mut Vec<Segment>) {
        let end = segment.end();
        self.acks.unread = self.unread();
        self.measure_rtt(segment);
        if end <= self.rcv_nxt {
            // It came before: the sender should know at once (RFC 2883).
            self.acks.duplicate((segment.seq, end));
            self.acks.be_quick(self.quickacks(acks::MAX_QUICKACKS));
            return self.send_ack(out);
        }
        if segment.seq > self.rcv_nxt {
            self.see_codepoint(ecn, out);
            self.tell_before(segment.seq, end, out);
            let before = self.ahead.count();
            let is_new = self.ahead.insert(segment.seq, end, segment.flags.fin);
            if !is_new {
                self.acks.duplicate((segment.seq, end));
            } else {
                // A segment that joins no other takes its room afterwards (`tcp_data_queue_ofo`).
                let own = if self.ahead.count() > before { segment.len } else { 0 };
                self.grow_window(segment.len, self.held() - u64::from(own));
            }
            self.acks.is_pending = true;
        } else {
            self.take_in_order(segment, end);
            self.see_codepoint(ecn, out);
        }
        self.decide(out);
    }

    fn take_in_order(&mut self, segment: &Segment, end: u64) {
        let had_gap = !self.ahead.is_empty();
        self.acks.unread += (end - self.rcv_nxt) as u32;
        self.on_data_time();
        self.grow_window(segment.len, self.held());
        self.rcv_nxt = end;
        let mut is_end = segment.flags.fin;
        if had_gap {
            let (next, has_fin) = self.ahead.take_up_to(end);
            self.acks.unread += (next - end) as u32;
            self.rcv_nxt = next;
            is_end |= has_fin;
            // RFC 5681 section 4.2: the gap is filled.
            self.acks.is_immediate |= self.ahead.is_empty();
        }
        self.is_complete |= is_end;
        // A small segment, or the end of a train, may be all that comes for a while: once the application has read it, and
        // nothing waits behind a hole, an ACK goes (`tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`).
        let is_pushed = segment.flags.psh || segment.len < self.window.mss();
        self.acks.awaits_read |= is_pushed && self.ahead.is_empty();
        self.acks.is_pending = true;
    }

    /// Each segment is acknowledged as long as the window grows, beside `held` bytes: the sender may be waiting for it to.
    #[inline]
    fn grow_window(&mut self, len: u32, held: u64) {
        if len < GROWING_BYTES || self.window.is_grown(&self.settings) {
            return;
        }
        // The application of a host that is modelled by the time until its ACKs has read before.
        let held = if self.settings.reads_late { held } else { 0 };
        if self.window.grow(len, held, &self.settings) {
            self.acks.be_quick_once();
        }
    }

    /// Returns the bytes that came in order and the application has yet to read.
    fn unread(&self) -> u32 {
        if self.now < self.read_at() { self.acks.unread } else { 0 }
    }

    /// All that takes room in the receive buffer, bytes.
    fn held(&self) -> u64 {
        u64::from(self.acks.unread) + self.ahead.bytes()
    }

    fn header(&mut self) -> Segment {
        Segment {
            seq: 1 - u64::from(matches!(self.phase, Phase::SynReceived)) + u64::from(self.phase == Phase::Closed),
            ack: self.rcv_nxt,
            window: self.window.advertise(self.rcv_nxt, u64::from(self.unread()) + self.ahead.bytes()),
            ts_val: timestamp_ms(self.now.as_nanos() as u64 / 1000),
            ts_ecr: self.ts_recent,
            flags: Flags { ece: self.ecn.demands_cwr && self.ecn.is_ok, ..Flags::default() },
            ecn: if self.ecn.is_ok && self.observer.is_some() { Ecn::Ect0 } else { Ecn::NotEct },
            is_reply: true,
            ..Segment::default()
        }
    }
}
