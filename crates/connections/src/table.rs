//! All connections of a capture.

use std::collections::{HashMap, VecDeque};

use capture::{Flags, Segment};
use foldhash::fast::RandomState;

use crate::connection::{Connection, Key};
use crate::rows::{ConnectionRow, DirectionRow, EventRow, IntervalRow, RttRow};

/// Takes the rows of a capture. Those of a connection come in the order of time for each direction.
#[allow(missing_docs)]
pub trait Sink {
    fn connection(&mut self, row: ConnectionRow);
    fn direction(&mut self, row: DirectionRow);
    fn interval(&mut self, row: IntervalRow);
    fn rtt(&mut self, row: RttRow);
    fn event(&mut self, row: EventRow);
}

/// Bounds of memory.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that are followed at once. With more, those idle for the longest are given up.
    pub connections: usize,
    /// Length of an interval in ns.
    pub interval_ns: i64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 1 << 20, interval_ns: 100_000_000 }
    }
}

/// A closed connection stays for late packets.
const LINGER_NS: i64 = 120_000_000_000;

/// Follows connections.
pub struct Table {
    limits: Limits,
    slots: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    index: HashMap<Key, u32, RandomState>,
    /// Closed connections: when they closed, slot, number.
    closing: VecDeque<(i64, u32, u64)>,
    last: Option<(Key, u32)>,
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
            slots: Vec::new(),
            free: Vec::new(),
            index: HashMap::default(),
            closing: VecDeque::new(),
            last: None,
            origin_ns: None,
            connections: 0,
            evicted: 0,
            segments: 0,
            last_ns: 0,
        }
    }

    /// Time of the first segment in ns since 1970: times in rows count from it.
    pub fn origin_ns(&self) -> Option<i64> {
        self.origin_ns
    }

    /// Take a segment.
    pub fn take(&mut self, mut segment: Segment, sink: &mut impl Sink) {
        let origin = *self.origin_ns.get_or_insert(segment.time_ns);
        segment.time_ns = segment.time_ns.saturating_sub(origin);
        // A century away from the first packet is damage: sums of times must not overflow.
        const CENTURY_NS: i64 = 3_155_760_000_000_000_000;
        if segment.time_ns.unsigned_abs() > CENTURY_NS as u64 {
            segment.time_ns = self.last_ns;
        }
        self.segments += 1;
        self.last_ns = segment.time_ns;
        let (key, is_second) = Key::of(&segment);
        let by = usize::from(is_second);
        let mut slot = match self.last {
            Some((last, slot)) if last == key => Some(slot),
            _ => self.index.get(&key).copied(),
        };
        if let Some(at) = slot
            && segment.flags.has(Flags::SYN)
            && self.slots[at as usize].as_ref().is_some_and(|one| one.is_succeeded_by(&segment, by))
        {
            self.leave(at, false, sink);
            slot = None;
        }
        let slot = slot.unwrap_or_else(|| self.begin(key, &segment, by, sink));
        self.last = Some((key, slot));
        let connection = self.slots[slot as usize].as_mut().expect("a slot of the index is taken");
        let was_closed = connection.is_closed;
        connection.take(&segment, by, self.limits.interval_ns, sink);
        if connection.is_closed && !was_closed {
            self.closing.push_back((segment.time_ns, slot, connection.number));
        }
        while let Some(&(closed_ns, slot, number)) = self.closing.front() {
            if segment.time_ns - closed_ns < LINGER_NS {
                break;
            }
            self.closing.pop_front();
            if self.slots[slot as usize].as_ref().is_some_and(|one| one.number == number) {
                self.leave(slot, false, sink);
            }
        }
    }

    fn begin(&mut self, key: Key, segment: &Segment, by: usize, sink: &mut impl Sink) -> u32 {
        if self.index.len() >= self.limits.connections {
            self.evict(sink);
        }
        self.connections += 1;
        let connection = Some(Box::new(Connection::new(key, self.connections, segment, by)));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = connection;
                slot
            }
            None => {
                self.slots.push(connection);
                self.slots.len() as u32 - 1
            }
        };
        self.index.insert(key, slot);
        slot
    }

    fn leave(&mut self, slot: u32, evicted: bool, sink: &mut impl Sink) {
        let Some(mut connection) = self.slots[slot as usize].take() else { return };
        connection.finish(evicted, sink);
        self.index.remove(&connection.key);
        self.free.push(slot);
        self.last = None;
    }

    /// Give up the eighth of all connections that has been idle for the longest.
    fn evict(&mut self, sink: &mut impl Sink) {
        let mut ends: Vec<(i64, u64, u32)> = self
            .slots
            .iter()
            .enumerate()
            .filter_map(|(slot, one)| one.as_ref().map(|one| (one.end_ns, one.number, slot as u32)))
            .collect();
        let count = (ends.len() / 8).max(1).min(ends.len());
        ends.select_nth_unstable(count - 1);
        let mut gone = ends[..count].to_vec();
        gone.sort_unstable_by_key(|&(_, number, _)| number);
        for (_, _, slot) in gone {
            let was_closed = self.slots[slot as usize].as_ref().is_some_and(|one| one.is_closed);
            self.evicted += u64::from(!was_closed);
            self.leave(slot, !was_closed, sink);
        }
    }

    /// Give all rows that are left, in the order of the connections.
    pub fn finish(&mut self, sink: &mut impl Sink) {
        let mut left: Vec<(u64, u32)> = self
            .slots
            .iter()
            .enumerate()
            .filter_map(|(slot, one)| one.as_ref().map(|one| (one.number, slot as u32)))
            .collect();
        left.sort_unstable();
        for (_, slot) in left {
            self.leave(slot, false, sink);
        }
    }
}
