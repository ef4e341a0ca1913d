//! A path for tests: one flow, a bottleneck with a rate, a buffer, a delay and losses, and an ACK for each packet.
//!
//! It is not a TCP: every transmission is a separate packet (lost data is sent again as a new one), a packet is lost
//! when three later ones were ACKed, and the application's data has no bytes. These parts behave like the kernel's: the
//! delivery-rate sample, the order of the callbacks, pacing, the windows of recovery, the timeout.

mod bottleneck;
mod sender;

use std::collections::VecDeque;

use cc::{CongestionControl, Socket};

pub use bottleneck::{Bottleneck, Policer};
use sender::Sent;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000 * MS;
/// Bytes of a packet: payload, and with headers on the wire.
pub const MSS: u32 = 1448;
pub const WIRE: u64 = 1514;

/// A path and the flow on it. Times are nanoseconds since the start.
pub struct Path {
    pub cc: Box<dyn CongestionControl>,
    pub sk: Socket,
    pub now: u64,
    pub bottleneck: Bottleneck,
    /// ACKs come only at multiples of this, in a lump; 0: at once.
    pub ack_lump: u64,
    /// The application's rate, packets per second; 0: without limit.
    pub app_rate: u64,
    /// Span in ns (from, until) in which the application hands over nothing.
    pub app_silence: Option<(u64, u64)>,
    /// Packets handed to the receiver, and lost.
    pub received: u64,
    pub dropped: u64,
    /// Transmissions in flight, oldest first.
    sent: VecDeque<Sent>,
    /// The transmissions that arrived, by the time of their ACK.
    acks: VecDeque<(u64, u64, bool)>,
    next_id: u64,
    app_sent: u64,
    app_origin: u64,
    next_departure: u64,
    last_progress: u64,
    first_tx_time: u64,
    delivered_time: u64,
    recovery_point: Option<u64>,
    round_end: u64,
    was_limited: bool,
}

impl Path {
    /// `mbps` Mbit/s, `rtt_ms`, a buffer of `buffer` packets.
    pub fn new(name: &str, mbps: u64, rtt_ms: u64, buffer: usize) -> Path {
        let cc = crate::create(name).unwrap_or_else(|| panic!("no algorithm {name}"));
        Path::with(cc, Bottleneck::new(mbps * 1_000_000, rtt_ms * MS, buffer))
    }

    pub fn with(mut cc: Box<dyn CongestionControl>, bottleneck: Bottleneck) -> Path {
        let mut sk = Socket::new(MSS, 1);
        sk.ecn_flags.ok = cc.needs_ecn();
        cc.init(&mut sk);
        Path {
            cc,
            sk,
            now: 0,
            bottleneck,
            ack_lump: 0,
            app_rate: 0,
            app_silence: None,
            received: 0,
            dropped: 0,
            sent: VecDeque::new(),
            acks: VecDeque::new(),
            next_id: 0,
            app_sent: 0,
            app_origin: 0,
            next_departure: 0,
            last_progress: 0,
            first_tx_time: 0,
            delivered_time: 0,
            recovery_point: None,
            round_end: 0,
            was_limited: false,
        }
    }

    /// Run for `span`.
    pub fn run(&mut self, span: u64) {
        let end = self.now + span;
        while self.step(end) {}
    }

    /// Run until `done` holds after an ACK, for `limit` at most. Did it?
    pub fn run_until(&mut self, limit: u64, mut done: impl FnMut(&Path) -> bool) -> bool {
        let end = self.now + limit;
        while self.step(end) {
            if done(self) {
                return true;
            }
        }
        false
    }

    /// The next thing that happens; false: nothing does before `end`.
    fn step(&mut self, end: u64) -> bool {
        self.send_all();
        let ack = self.acks.front().map(|ack| ack.0);
        let next = [ack, self.departure(), self.timeout(), self.app_wakeup()].into_iter().flatten().min();
        let Some(at) = next.filter(|&at| at <= end) else {
            self.advance(end);
            return false;
        };
        self.advance(at.max(self.now));
        if ack == Some(at) {
            self.receive_acks();
        } else if self.timeout() == Some(at) {
            self.time_out();
        }
        true
    }

    fn advance(&mut self, now: u64) {
        self.now = now;
        self.sk.tcp_clock_cache = now;
        self.sk.tcp_mstamp = now / 1000;
    }

    /// The state that the algorithm publishes, e.g. `bbr.state`.
    pub fn text(&self, name: &str) -> &'static str {
        match self.column(name) {
            cc::Value::Text(text) => text,
            other => panic!("{name} is {other:?}"),
        }
    }

    /// A number that it publishes; `None`: no bound, not known.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.column(name) {
            cc::Value::U32(value) => value.map(u64::from),
            cc::Value::U64(value) => value,
            other => panic!("{name} is {other:?}"),
        }
    }

    fn column(&self, name: &str) -> cc::Value {
        let mut found = None;
        self.cc.publish(&mut |column| {
            if column.name == name {
                found = Some(column.value);
            }
        });
        found.unwrap_or_else(|| panic!("no column {name}"))
    }

    pub fn state(&self) -> &'static str {
        self.text("bbr.state")
    }

    /// Payload that arrived since the start, of what the rate allows, percent.
    pub fn utilisation_since(&self, received: u64, since: u64) -> u64 {
        (self.received - received) * WIRE * 8 * 100 * 1000 / ((self.now - since) / 1_000_000) / self.bottleneck.rate
    }

    /// The path's bandwidth in the units of `bbr.bw`.
    pub fn path_bw(&self) -> u64 {
        (self.bottleneck.rate << 24) / (WIRE * 8 * 1_000_000)
    }

    /// The path's bandwidth-delay product, packets.
    pub fn path_bdp(&self) -> u64 {
        self.bottleneck.rate * (self.bottleneck.rtt / 1000) / (WIRE * 8 * 1_000_000)
    }
}
