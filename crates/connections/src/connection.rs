//! A connection: both directions, and what they tell of each other.

mod acknowledgement;
mod finish;
mod handshake;
mod single;

use std::hash::{Hash, Hasher};

use capture::{Flags, Layers, Segment};

use crate::half::{Doubled, Half, by_network};
use crate::place::away_ns;
use crate::rows::{Cause, Class, EventRow, Round};
use crate::state::Story;
use crate::stream::{Scope, Stream};
use crate::table::Sink;

/// A clock that goes back by more breaks what is measured.
const BREAK_NS: i64 = 1_000_000_000;
/// A sequence number this far from others belongs to another connection.
const FAR: i64 = 1 << 30;
/// Packets of a half after which it is measured anew how far it is; before so many, after each.
const OFTEN: u64 = 64;
/// Numbers of a packet in another network are this near to those of its connection: both are so by chance once in 65,536 times.
const NEAR: i64 = 1 << 23;

/// Addresses and ports of a connection: the first endpoint is the lower one. They are numbers, which compare and hash faster
/// than bytes.
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) struct Key {
    pub(crate) a: u128,
    pub(crate) b: u128,
    pub(crate) ports: (u16, u16),
    /// VLAN, VNI, label or key around its packets: 0 of none, and of packets whatever theirs.
    pub(crate) network: u64,
}

impl PartialEq for Key {
    /// By numbers at once: to compare field by field calls `memcmp`, for each packet.
    #[inline]
    fn eq(&self, other: &Key) -> bool {
        let ports = |key: &Key| u64::from(key.ports.0) << 16 | u64::from(key.ports.1);
        let others = (ports(self) ^ ports(other)) | (self.network ^ other.network);
        (self.a ^ other.a) | (self.b ^ other.b) | u128::from(others) == 0
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.a.hash(state);
        self.b.hash(state);
        (self.network << 32 | u64::from(self.ports.0) << 16 | u64::from(self.ports.1)).hash(state);
    }
}

impl Key {
    /// The key of a segment, and whether its sender is the second endpoint.
    pub(crate) fn of(segment: &Segment) -> (Key, bool) {
        let source = (u128::from_be_bytes(segment.source), segment.source_port);
        let destination = (u128::from_be_bytes(segment.destination), segment.destination_port);
        let network = segment.network;
        if source <= destination {
            (Key { a: source.0, b: destination.0, ports: (source.1, destination.1), network }, false)
        } else {
            (Key { a: destination.0, b: source.0, ports: (destination.1, source.1), network }, true)
        }
    }
}

/// A connection that is followed.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) key: Key,
    /// Other networks in which its packets were seen.
    pub(crate) others: Vec<u64>,
    pub(crate) number: u64,
    start_ns: i64,
    pub(crate) end_ns: i64,
    layers: Layers,
    halves: [Half; 2],
    streams: [Option<Box<Stream>>; 2],
    story: Story,
    /// Index of the client's half, and whether its SYN tells so.
    client: usize,
    client_is_sure: bool,
    /// The client's SYNs: first and last, each with time and TSval.
    syns: [Option<(i64, Option<u32>)>; 2],
    syn_ack_ns: Option<i64>,
    syn_ack_repeats: u32,
    handshake_server_ns: Option<i64>,
    handshake_client_ns: Option<i64>,
    clock_breaks: u32,
    /// Packets without their copies, and copies that came at once at the same place.
    singles: u64,
    copies: u64,
    pub(crate) is_closed: bool,
}

impl Connection {
    pub(crate) fn new(key: Key, number: u64, segment: &Segment, by: usize) -> Connection {
        let is_syn = segment.flags.has(Flags::SYN);
        let is_answer = segment.flags.has(Flags::ACK);
        let client = match (is_syn, is_answer) {
            (true, false) => by,
            (true, true) => 1 - by,
            // Ports of clients are the higher ones.
            _ => usize::from(key.ports.1 > key.ports.0),
        };
        Connection {
            key,
            others: Vec::new(),
            number,
            start_ns: segment.time_ns,
            end_ns: segment.time_ns,
            layers: segment.layers,
            halves: Default::default(),
            streams: Default::default(),
            story: Story::new(client != by),
            client,
            client_is_sure: is_syn,
            syns: [None; 2],
            syn_ack_ns: None,
            syn_ack_repeats: 0,
            handshake_server_ns: None,
            handshake_client_ns: None,
            clock_breaks: 0,
            singles: 0,
            copies: 0,
            is_closed: false,
        }
    }

    /// `segment` of half `by` begins another connection with the same ports.
    pub(crate) fn is_succeeded_by(&self, segment: &Segment, by: usize) -> bool {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return false;
        }
        let half = &self.halves[by];
        match half.syn_seq {
            Some(seq) if seq == segment.seq => false,
            _ if self.is_closed => true,
            Some(_) => {
                let mut sequence = half.sequence;
                let place = sequence.place(segment.seq);
                // A SYN within the window is a stray one, and is answered by a challenge ACK (RFC 5961).
                let data = self.halves[0].nxt.max(self.halves[1].nxt);
                data == 0 || !(half.una - FAR..=half.nxt + FAR).contains(&place) || half.fin_end.is_some()
            }
            None => half.fin_end.is_some(),
        }
    }

    /// Whether a segment of half `by` in another network belongs to this connection: a hop was between it and the same packet, or
    /// it continues the connection's numbers, as labels and keys may differ by direction.
    pub(crate) fn goes_on_with(&self, segment: &Segment, by: usize) -> bool {
        let (half, other) = (&self.halves[by], &self.halves[1 - by]);
        if let Some(is_across) = half.is_across_a_hop(segment) {
            return is_across;
        }
        let is_answer = segment.flags.has(Flags::ACK);
        if segment.flags.has(Flags::SYN) && !is_answer {
            // It is sent again on another way, unless it begins a connection of its own.
            let is_bare = self.key.network == 0 || segment.network == 0;
            return is_bare && half.syn_seq == Some(segment.seq);
        }
        let fits = |half: &Half, number: u32, most: i64| {
            let mut sequence = half.sequence;
            let place = sequence.place(number);
            (half.una - most..=half.nxt + most).contains(&place)
        };
        let is_syn = segment.flags.has(Flags::SYN);
        match (half.sequence.is_known(), is_answer && other.sequence.is_known()) {
            (false, true) => fits(other, segment.ack, if is_syn { 0 } else { NEAR }),
            (true, has_ack) => fits(half, segment.seq, NEAR) && (!has_ack || fits(other, segment.ack, NEAR)),
            (false, false) => false,
        }
    }

    /// Take a segment that half `by` sent.
    pub(crate) fn take(&mut self, segment: &Segment, by: usize, interval_ns: i64, sink: &mut impl Sink) {
        if !sink.wants(self.number, segment.time_ns) {
            self.count(segment, by, interval_ns, sink);
            return;
        }
        let before = self.events_so_far(by);
        if self.count(segment, by, interval_ns, sink) {
            self.single(segment, by, before, sink);
        }
    }

    /// Count a segment. Returns false of one that was captured twice.
    fn count(&mut self, segment: &Segment, by: usize, interval_ns: i64, sink: &mut impl Sink) -> bool {
        let now = segment.time_ns;
        if now < self.end_ns.saturating_sub(BREAK_NS) {
            self.clock_breaks += 1;
            for half in &mut self.halves {
                half.stamps.clear();
            }
            for stream in self.streams.iter_mut().flatten() {
                stream.clock_breaks(now);
            }
            self.end_ns = now;
        }
        self.end_ns = self.end_ns.max(now);
        let doubled = self.doubled(segment, by);
        if doubled == Doubled::ByCapture {
            self.halves[by].counters.capture_duplicates += 1;
            return false;
        }
        let is_client = by == self.client;
        self.story.take(segment, is_client);
        self.halves[by].count(segment);
        if segment.flags.has(Flags::SYN) {
            self.syn(segment, by, sink);
        } else {
            self.third(segment, by);
        }
        if segment.flags.has(Flags::RST) {
            self.is_closed = true;
            return true;
        }
        let packets = self.halves[by].counters.packets;
        if packets <= OFTEN || packets.is_multiple_of(OFTEN) {
            self.measure();
        }
        self.times(segment, by, sink);
        if segment.flags.has(Flags::ACK) {
            self.acknowledge(segment, by, interval_ns, sink);
        }
        self.send(segment, by, doubled == Doubled::ByNetwork, interval_ns, sink);
        self.is_closed |= self.halves.iter().all(|half| half.fin_end.is_some() && half.fin_acked);
        true
    }

    /// How a segment compares with those just before it. A capture of all interfaces may hold each packet twice without a
    /// sign of where: then nearly all of a connection have a copy, of which a network makes a few.
    fn doubled(&mut self, segment: &Segment, by: usize) -> Doubled {
        let doubled = self.halves[by].doubled(segment);
        self.singles += u64::from(doubled == Doubled::No);
        if doubled != Doubled::AtOnce {
            return doubled;
        }
        self.copies += 1;
        let waiting: u64 = self.halves.iter().map(|half| half.waiting(segment.time_ns)).sum();
        let is_each = self.copies * 10 >= self.singles.saturating_sub(waiting) * 9;
        if is_each { Doubled::ByCapture } else { by_network(segment) }
    }

    /// Round trips by timestamps: `segment` echoes what the other side sent, and waits for its own echo.
    fn times(&mut self, segment: &Segment, by: usize, sink: &mut impl Sink) {
        let Some((value, echo)) = segment.timestamps else { return };
        if segment.flags.has(Flags::SYN) {
            return;
        }
        let now = segment.time_ns;
        if segment.flags.has(Flags::ACK)
            && let Some((sent_ns, had_data)) = self.halves[1 - by].echoed(echo)
        {
            if had_data {
                let other = &mut self.halves[1 - by];
                let mut sequence = other.sequence;
                let acked = sequence.place(segment.ack);
                if acked > other.una
                    && let Some(stream) = &mut self.streams[1 - by]
                {
                    stream.echoed(Round::Timestamp, sent_ns, now, acked, sink);
                }
            } else if segment.payload > 0
                && let Some(stream) = &mut self.streams[by]
            {
                let mut sequence = self.halves[by].sequence;
                let end = sequence.place(segment.seq) + i64::from(segment.payload);
                stream.echoed(Round::Back, sent_ns, now, end, sink);
            }
        }
        self.halves[by].has_stamps = true;
        self.halves[by].stamp(value, now, segment.payload > 0);
    }

    /// How far windows of half `by` are shifted; `None` if that is not known.
    fn shift(&self, by: usize) -> Option<u8> {
        match (self.halves[by].scale, self.halves[1 - by].scale) {
            // Both sides must offer it (RFC 7323).
            (Some(None), _) | (_, Some(None)) => Some(0),
            (scale, _) => scale.flatten(),
        }
    }

    /// The shift of the window that half `by` offers with `segment`, the least possible one if it is not known, and whether it
    /// is.
    fn shift_of(&self, segment: &Segment, by: usize) -> (u8, bool) {
        if segment.flags.has(Flags::SYN) {
            return (0, true);
        }
        let known = self.shift(by);
        (known.unwrap_or(self.halves[by].least_scale), known.is_some())
    }

    fn scope(&self, of: usize, now_ns: i64, interval_ns: i64) -> Scope {
        let (sender, receiver) = (&self.halves[of], &self.halves[1 - of]);
        let is_offered = sender.is_acked && receiver.has_window && receiver.syn_seq.is_some();
        let shift = if is_offered { self.shift(1 - of) } else { None };
        let window_end = shift.map(|shift| sender.una + (i64::from(receiver.window) << shift));
        Scope {
            now_ns,
            interval_ns,
            mss: self.mss(of),
            window_end,
            is_acked: sender.is_acked,
            window_is_zero: receiver.has_window && receiver.window == 0 && sender.is_acked,
            away_ns: sender.away_ns,
            is_doubled: false,
        }
    }

    /// From the capture to half `of` and back, and to the other half and back, as the handshake tells.
    fn halves_of_round_trip(&self, of: usize) -> (Option<i64>, Option<i64>) {
        match of == self.client {
            true => (self.handshake_client_ns, self.handshake_server_ns),
            false => (self.handshake_server_ns, self.handshake_client_ns),
        }
    }

    /// Find out how far both halves are: once in a while, as the least RTT of many packets changes rarely.
    #[inline(never)]
    fn measure(&mut self) {
        for of in 0..2 {
            let stream = self.streams[of].as_deref();
            let (back_ns, forward_ns) = self.halves_of_round_trip(of);
            let back_ns = least(back_ns, stream.and_then(|stream| stream.rtt_back.least_ns));
            let forward_ns = least(forward_ns, stream.and_then(|stream| stream.rtt.least_ns));
            self.halves[of].away_ns = away_ns(back_ns, forward_ns);
        }
    }

    /// The most payload that half `of` puts into a packet, as far as it is known: 0 if not.
    fn mss(&self, of: usize) -> u64 {
        let offered = self.halves[1 - of].counters.mss_bytes;
        let stamps = if self.halves[of].has_stamps { 12 } else { 0 };
        offered.saturating_sub(stamps)
    }

    fn send(&mut self, segment: &Segment, by: usize, is_doubled: bool, interval_ns: i64, sink: &mut impl Sink) {
        let now = segment.time_ns;
        let is_client = by == self.client;
        let is_syn = segment.flags.has(Flags::SYN);
        let scope = Scope { is_doubled, ..self.scope(by, now, interval_ns) };
        let half = &mut self.halves[by];
        let first = segment.seq.wrapping_add(u32::from(is_syn));
        if !half.sequence.is_known() {
            half.sequence.begin(first);
        }
        let start = half.sequence.place(first);
        let end = start + i64::from(segment.payload);
        let is_bare = segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0) == 0;
        // Nothing new is said below what was sent: it keeps the connection alive, or probes a window.
        if is_bare && segment.payload <= 1 && start + 1 == half.nxt.max(half.una) && half.nxt > 0 {
            let is_probe = scope.window_is_zero;
            let is_old = start < half.una;
            if is_probe || (is_old && segment.payload <= 1 && half.nxt <= half.una) {
                let class = if is_probe { Class::Probe } else { Class::Keepalive };
                *(if is_probe { &mut half.counters.probes } else { &mut half.counters.keepalives }) += 1;
                if let Some(stream) = &mut self.streams[by] {
                    stream.bare(class, None, start, now, sink);
                }
                return;
            }
        }
        if segment.flags.has(Flags::FIN) {
            let is_again = half.fin_end == Some(end) && segment.payload == 0;
            half.fin_end = Some(end);
            if is_again {
                match &mut self.streams[by] {
                    Some(stream) => stream.bare(Class::Repeat, Some(Cause::Fin), end, now, sink),
                    None => {
                        let toward = direction(by, self.client);
                        let bare = EventRow::bare(self.number, toward, Class::Repeat, end, now);
                        sink.event(EventRow { cause: Some(Cause::Fin), ..bare });
                    }
                }
            }
        }
        if segment.payload == 0 {
            return;
        }
        let (nxt, una) = (half.nxt, half.una);
        if (start - nxt).abs() > FAR {
            // Which lap of the numbers it belongs to cannot be told.
            return;
        }
        let number = self.number;
        let base = if half.syn_seq.is_some() { 0 } else { start.min(nxt) };
        let toward = direction(by, self.client);
        let stream = self.streams[by].get_or_insert_with(|| Box::new(Stream::new(number, toward, now, base.max(una))));
        let had = (stream.has_repeats(), stream.unseen_bytes());
        stream.data(segment, start, nxt, una, &scope, sink);
        if stream.has_repeats() && !had.0 {
            self.story.once(b't', is_client);
        }
        half.nxt = half.nxt.max(end);
        half.sequence.reached(half.nxt);
        let outstanding = half.nxt - half.una;
        let is_acked = half.is_acked;
        let mss = self.mss(by);
        self.halves[by].count_wire(segment, mss);
        if is_acked && self.shift(1 - by).is_none() {
            let receiver = &mut self.halves[1 - by];
            while receiver.window > 0
                && receiver.least_scale < 14
                && outstanding > i64::from(receiver.window) << receiver.least_scale
            {
                receiver.least_scale += 1;
            }
        }
    }
}

/// The less of two times that may be unknown.
fn least(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.into_iter().chain(b).min()
}

fn direction(by: usize, client: usize) -> u16 {
    u16::from(by != client)
}
