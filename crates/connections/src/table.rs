//! All connections of a capture.

use std::collections::{HashMap, VecDeque};

use capture::{Flags, Segment};
use foldhash::fast::RandomState;

use crate::At;
use crate::connection::{Connection, Key};
use crate::rows::{ConnectionRow, DirectionRow, EventRow, GapRow, IntervalRow, RttRow, SackRow, SegmentRow};

/// Takes the rows of a capture. Those of a connection come in the order of time for each direction.
#[allow(missing_docs)]
pub trait Sink {
    fn connection(&mut self, row: ConnectionRow);
    fn direction(&mut self, row: DirectionRow);
    fn interval(&mut self, row: IntervalRow);
    fn rtt(&mut self, row: RttRow);
    fn event(&mut self, row: EventRow);
    fn gap(&mut self, _row: GapRow) {}
    /// Whether packets of a connection at a time are wanted one by one.
    fn wants(&self, _connection: u64, _time_ns: i64) -> bool {
        false
    }
    fn segment(&mut self, _row: SegmentRow) {}
    fn sack(&mut self, _row: SackRow) {}
    /// All rows of a connection were given.
    fn ended(&mut self, _connection: u64) {}
}

/// Bounds of memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that are followed at once. With more, those idle for the longest are given up.
    pub connections: usize,
    /// Connections that showed more than a SYN: they take ten times the memory, or more.
    pub answered: usize,
    /// Length of an interval in ns.
    pub interval_ns: i64,
}

impl Limits {
    /// Bounds for so many connections at once: a sixth of them may have more than a SYN, so that a million take less than 1 GB.
    pub fn of(connections: usize) -> Limits {
        Limits { connections: connections.max(1), answered: (connections / 6).max(1), interval_ns: 100_000_000 }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::of(1 << 20)
    }
}

/// A closed connection stays for late packets.
const LINGER_NS: i64 = 120_000_000_000;

/// The only segment of a connection.
struct Lone {
    segment: Segment,
    /// Twice the connection's number, and 1 if its second half sent it. In one word, as a scan makes a million of these.
    number_and_half: u64,
}

impl Lone {
    fn new(segment: Segment, number: u64, by: usize) -> Box<Lone> {
        Box::new(Lone { segment, number_and_half: number << 1 | by as u64 })
    }

    fn number(&self) -> u64 {
        self.number_and_half >> 1
    }

    fn by(&self) -> usize {
        (self.number_and_half & 1) as usize
    }
}

/// State of a connection.
enum Slot {
    Empty,
    /// Its SYN, which nothing followed yet, as in a scan.
    Lone(Box<Lone>),
    Whole(Box<Connection>),
}

impl Slot {
    /// Number of the connection, and when its last packet came.
    fn last(&self) -> Option<(u64, i64)> {
        match self {
            Slot::Empty => None,
            Slot::Lone(lone) => Some((lone.number(), lone.segment.time_ns)),
            Slot::Whole(one) => Some((one.number, one.end_ns)),
        }
    }

    fn is_closed(&self) -> bool {
        matches!(self, Slot::Whole(one) if one.is_closed)
    }
}

/// Follows connections.
pub struct Table {
    limits: Limits,
    at: Option<At>,
    slots: Vec<Slot>,
    /// Slots that are whole.
    whole: usize,
    free: Vec<u32>,
    index: HashMap<Key, u32, RandomState>,
    /// Closed connections: when they closed, slot, number.
    closing: VecDeque<(i64, u32, u64)>,
    last: Option<(Key, u32)>,
    /// Network of the first packet.
    network: Option<u64>,
    /// Slots by key without its network: empty before a second network is seen.
    by_ends: HashMap<Key, Vec<u32>, RandomState>,
    has_networks: bool,
    origin_ns: Option<i64>,
    /// Connections so far.
    pub connections: u64,
    /// Connections that were given up for lack of memory.
    pub evicted: u64,
    /// TCP segments so far.
    pub segments: u64,
    /// Time of the last segment, from the origin.
    pub last_ns: i64,
}

impl Table {
    /// An empty table.
    pub fn new(limits: Limits) -> Table {
        Table {
            limits,
            at: None,
            slots: Vec::new(),
            whole: 0,
            free: Vec::new(),
            index: HashMap::default(),
            closing: VecDeque::new(),
            last: None,
            network: None,
            by_ends: HashMap::default(),
            has_networks: false,
            origin_ns: None,
            connections: 0,
            evicted: 0,
            segments: 0,
            last_ns: 0,
        }
    }

    /// The same, and where the capture was taken, if somebody says so.
    pub fn seen_at(self, at: Option<At>) -> Table {
        Table { at, ..self }
    }

    /// Time of the first segment in ns since 1970: times in rows count from it.
    pub fn origin_ns(&self) -> Option<i64> {
        self.origin_ns
    }

    /// Take a segment, whose time becomes that from the origin.
    pub fn take(&mut self, segment: &mut Segment, sink: &mut impl Sink) {
        let origin = *self.origin_ns.get_or_insert(segment.time_ns);
        segment.time_ns = segment.time_ns.saturating_sub(origin);
        // A decade away from the first packet is damage: sums of times must not overflow.
        const DECADE_NS: u64 = 315_576_000_000_000_000;
        if segment.time_ns.unsigned_abs() > DECADE_NS {
            segment.time_ns = self.last_ns;
        }
        self.segments += 1;
        self.last_ns = segment.time_ns;
        let (key, is_second) = Key::of(segment);
        let by = usize::from(is_second);
        let mut slot = match self.last {
            Some((last, slot)) if last == key => Some(slot),
            _ => self.index.get(&key).copied().or_else(|| self.in_another_network(key, segment, by, sink)),
        };
        if let Some(at) = slot {
            if matches!(self.slots[at as usize], Slot::Lone(_)) {
                self.make_whole(at, sink);
            }
            let is_another = segment.flags.has(Flags::SYN)
                && matches!(&self.slots[at as usize], Slot::Whole(one) if one.is_succeeded_by(segment, by));
            if is_another {
                self.leave(at, false, sink);
                slot = None;
            }
        }
        match slot {
            Some(slot) => {
                self.last = Some((key, slot));
                self.give(slot, segment, by, sink);
            }
            None => self.begin(key, segment, by, sink),
        }
        while let Some(&(closed_ns, slot, number)) = self.closing.front() {
            if segment.time_ns - closed_ns < LINGER_NS {
                break;
            }
            self.closing.pop_front();
            if self.slots[slot as usize].last().is_some_and(|(there, _)| there == number) {
                self.leave(slot, false, sink);
            }
        }
    }

    /// The slot of a connection between the same ends in another network to which a segment belongs, if there is one.
    #[cold]
    #[inline(never)]
    fn in_another_network(&mut self, key: Key, segment: &Segment, by: usize, sink: &mut impl Sink) -> Option<u32> {
        if *self.network.get_or_insert(key.network) != key.network && !self.has_networks {
            self.has_networks = true;
            for (&key, &slot) in &self.index {
                self.by_ends.entry(Key { network: 0, ..key }).or_default().push(slot);
            }
        }
        let slots = self.by_ends.get(&Key { network: 0, ..key })?.clone();
        for slot in slots.into_iter().rev() {
            if matches!(self.slots[slot as usize], Slot::Lone(_)) {
                self.make_whole(slot, sink);
            }
            if let Slot::Whole(connection) = &mut self.slots[slot as usize]
                && connection.goes_on_with(segment, by)
            {
                connection.others.push(key.network);
                self.index.insert(key, slot);
                return Some(slot);
            }
        }
        None
    }

    /// A slot is free, whose connection had this key and was seen in other networks.
    fn forget(&mut self, key: Key, others: &[u64], slot: u32) {
        self.index.remove(&key);
        for &network in others {
            self.index.remove(&Key { network, ..key });
        }
        if self.has_networks {
            let ends = Key { network: 0, ..key };
            if let Some(slots) = self.by_ends.get_mut(&ends) {
                slots.retain(|&one| one != slot);
                if slots.is_empty() {
                    self.by_ends.remove(&ends);
                }
            }
        }
        self.free.push(slot);
        self.last = None;
    }

    /// A connection takes a segment.
    fn give(&mut self, slot: u32, segment: &Segment, by: usize, sink: &mut impl Sink) {
        let Slot::Whole(connection) = &mut self.slots[slot as usize] else { return };
        let was_closed = connection.is_closed;
        connection.take(segment, by, self.limits.interval_ns, sink);
        if connection.is_closed && !was_closed {
            self.closing.push_back((segment.time_ns, slot, connection.number));
        }
    }

    fn begin(&mut self, key: Key, segment: &Segment, by: usize, sink: &mut impl Sink) {
        if self.index.len() >= self.limits.connections {
            self.evict(false, sink);
        }
        self.connections += 1;
        let number = self.connections;
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::Empty);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Slot::Lone(Lone::new(*segment, number, by));
        self.index.insert(key, slot);
        if self.has_networks {
            self.by_ends.entry(Key { network: 0, ..key }).or_default().push(slot);
        }
        self.last = Some((key, slot));
        let is_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) && segment.payload == 0;
        if !is_syn {
            self.make_whole(slot, sink);
        }
    }

    /// A connection of which one segment was kept takes that segment.
    fn make_whole(&mut self, slot: u32, sink: &mut impl Sink) {
        if self.whole >= self.limits.answered {
            self.evict(true, sink);
        }
        let Slot::Lone(lone) = std::mem::replace(&mut self.slots[slot as usize], Slot::Empty) else { return };
        let (segment, by, number) = (lone.segment, lone.by(), lone.number());
        let (key, _) = Key::of(&segment);
        self.slots[slot as usize] = Slot::Whole(Box::new(Connection::new(key, number, &segment, by)));
        self.whole += 1;
        self.last = Some((key, slot));
        self.give(slot, &segment, by, sink);
    }

    fn leave(&mut self, slot: u32, evicted: bool, sink: &mut impl Sink) {
        if let Slot::Lone(lone) = &self.slots[slot as usize] {
            let (segment, by, number) = (lone.segment, lone.by(), lone.number());
            let (key, _) = Key::of(&segment);
            let mut connection = Connection::new(key, number, &segment, by);
            connection.take(&segment, by, self.limits.interval_ns, sink);
            self.slots[slot as usize] = Slot::Empty;
            connection.finish(evicted, self.at, sink);
            self.forget(key, &[], slot);
        } else {
            let Slot::Whole(mut connection) = std::mem::replace(&mut self.slots[slot as usize], Slot::Empty) else {
                return;
            };
            connection.finish(evicted, self.at, sink);
            self.whole -= 1;
            self.forget(connection.key, &connection.others, slot);
        }
    }

    /// Give up the eighth of all connections, or of those that are whole, that has been idle for the longest.
    fn evict(&mut self, only_whole: bool, sink: &mut impl Sink) {
        let counts = |slot: &Slot| !only_whole || matches!(slot, Slot::Whole(_));
        let mut ends: Vec<(i64, u64, u32)> = self
            .slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| counts(slot))
            .filter_map(|(at, slot)| slot.last().map(|(number, end_ns)| (end_ns, number, at as u32)))
            .collect();
        if ends.is_empty() {
            return;
        }
        let count = (ends.len() / 8).max(1);
        ends.select_nth_unstable(count - 1);
        let mut gone = ends[..count].to_vec();
        gone.sort_unstable_by_key(|&(_, number, _)| number);
        for (_, _, slot) in gone {
            let was_closed = self.slots[slot as usize].is_closed();
            self.evicted += u64::from(!was_closed);
            self.leave(slot, !was_closed, sink);
        }
    }

    /// Give all rows that are left, in the order of the connections.
    pub fn finish(&mut self, sink: &mut impl Sink) {
        let slots = self.slots.iter().enumerate();
        let mut left: Vec<(u64, u32)> =
            slots.filter_map(|(at, slot)| slot.last().map(|(number, _)| (number, at as u32))).collect();
        left.sort_unstable();
        for (_, slot) in left {
            self.leave(slot, false, sink);
        }
    }
}
