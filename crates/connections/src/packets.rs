//! Rows of the packets of the largest connections, written while the capture is read for the first time. Which connections
//! these are is known at its end: until then packets of others are kept, too.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::Result;
use foldhash::fast::RandomState;
use records::{Groups, Row};
use serde::Serialize;

use crate::rows::{Columns, DirectionRow, SackColumns, SackRow, SegmentColumns, SegmentRow};

/// Connections whose packets become rows of `segments`, one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// No connection.
    None,
    /// The given number of connections with the most payload in a direction.
    Top(usize),
    /// All connections.
    All,
}

/// Rows of single packets that were kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Rows of `segments`.
    pub rows: u64,
    /// Their connections by number, the largest first; not said of all.
    pub connections: Vec<u64>,
    /// True if memory ran short and packets of connections that became large late are missing.
    pub incomplete: bool,
}

/// Rows that are written at once.
const GROUP: usize = 32 * 1024;
/// Rows that are worth a row group of their own, if memory is short.
const WORTH: usize = 1_000;
/// Bytes of a connection's columns, before it has rows.
const EMPTY_BYTES: usize = 2_500;
/// Bytes of a row.
const ROW_BYTES: usize = 84;

/// The packets of a connection.
#[derive(Default)]
struct Part {
    segments: SegmentColumns,
    sacks: SackColumns,
    /// Payload of each direction so far.
    payload: [u64; 2],
    /// Row groups that were written of both tables.
    written: [Vec<usize>; 2],
}

impl Part {
    fn bytes(&self) -> usize {
        EMPTY_BYTES + ROW_BYTES * (self.segments.len() + self.sacks.len())
    }
}

/// Rank of a connection: payload of its larger direction, and with equal ones the first.
type Rank = (u64, Reverse<u64>);

/// Takes rows of single packets.
pub(crate) struct Packets {
    every: Every,
    segments: Groups<SegmentRow>,
    sacks: Groups<SackRow>,
    /// Each in a place of its own: a table that grows has two of all places for a while.
    parts: HashMap<u64, Box<Part>, RandomState>,
    /// Bytes that the columns of all parts may take.
    most_bytes: usize,
    /// Packets of these were given up.
    lost: HashSet<u64, RandomState>,
    /// The largest of the connections that have ended, with what is kept of them.
    best: BTreeSet<(Rank, bool)>,
    bytes: usize,
}

impl Packets {
    /// Write the tables to `directory`; columns of packets that wait take at most `most_bytes`.
    pub(crate) fn create(directory: &Path, every: Every, most_bytes: usize) -> Result<Packets> {
        let path = |name: &str| directory.join(format!("{name}.parquet"));
        Ok(Packets {
            every,
            segments: Groups::create(&path(SegmentRow::TABLE))?,
            sacks: Groups::create(&path(SackRow::TABLE))?,
            parts: HashMap::default(),
            most_bytes,
            lost: HashSet::default(),
            best: BTreeSet::new(),
            bytes: 0,
        })
    }

    /// Rows of all connections are one part.
    fn part_of(&self, connection: u64) -> u64 {
        if self.every == Every::All { 0 } else { connection }
    }

    fn part(&mut self, connection: u64) -> Option<&mut Part> {
        let number = self.part_of(connection);
        if !self.lost.is_empty() && self.lost.contains(&number) {
            return None;
        }
        let bytes = &mut self.bytes;
        Some(self.parts.entry(number).or_insert_with(|| {
            *bytes += EMPTY_BYTES;
            Box::default()
        }))
    }

    pub(crate) fn segment(&mut self, row: &SegmentRow) {
        let Some(part) = self.part(row.connection) else { return };
        part.payload[usize::from(row.direction)] += u64::from(row.bytes);
        part.segments.push(row);
        let is_full = part.segments.len() == GROUP;
        self.grown(row.connection, is_full);
    }

    pub(crate) fn sack(&mut self, row: &SackRow) {
        let Some(part) = self.part(row.connection) else { return };
        part.sacks.push(row);
        let is_full = part.sacks.len() == GROUP;
        self.grown(row.connection, is_full);
    }

    fn grown(&mut self, connection: u64, is_full: bool) {
        self.bytes += ROW_BYTES;
        if is_full {
            self.write_part(self.part_of(connection));
        }
        if self.bytes > self.most_bytes {
            self.make_room();
        }
    }

    fn write_part(&mut self, number: u64) {
        if let Some(mut part) = self.parts.remove(&number) {
            self.write(&mut part);
            self.parts.insert(number, part);
        }
    }

    /// Write the rows that a part has.
    fn write(&mut self, part: &mut Part) {
        fn all<C: Columns, R: Row>(from: &mut C, to: &mut Groups<R>, written: &mut Vec<usize>) {
            if from.len() > 0 {
                written.push(to.write(from.len(), from.take()));
            }
        }
        self.bytes -= part.bytes() - EMPTY_BYTES;
        all(&mut part.segments, &mut self.segments, &mut part.written[0]);
        all(&mut part.sacks, &mut self.sacks, &mut part.written[1]);
    }

    /// Memory is short: long parts are written early. If that is not enough, the smaller half of the connections loses its
    /// packets.
    fn make_room(&mut self) {
        let mut long: Vec<u64> =
            self.parts.iter().filter(|(_, part)| part.segments.len() >= WORTH).map(|(&number, _)| number).collect();
        long.sort_unstable();
        long.into_iter().for_each(|number| self.write_part(number));
        if self.bytes <= self.most_bytes / 2 {
            return;
        }
        let mut ranked: Vec<(u64, u64)> =
            self.parts.iter().map(|(&number, part)| (part.payload[0].max(part.payload[1]), number)).collect();
        ranked.sort_unstable();
        for &(_, number) in &ranked[..ranked.len().div_ceil(2)] {
            self.drop_part(number);
            self.lost.insert(number);
        }
    }

    fn drop_part(&mut self, number: u64) {
        if let Some(part) = self.parts.remove(&number) {
            self.bytes -= part.bytes();
        }
    }

    /// A connection has ended, with so much payload in its larger direction.
    pub(crate) fn ended(&mut self, connection: u64, payload: u64) {
        let Every::Top(most) = self.every else { return };
        let was_lost = self.lost.remove(&connection);
        if payload == 0 {
            self.drop_part(connection);
            return;
        }
        self.best.insert(((payload, Reverse(connection)), was_lost));
        if self.best.len() > most
            && let Some(((_, Reverse(smallest)), _)) = self.best.pop_first()
        {
            self.drop_part(smallest);
        }
    }

    /// Write what is left, and close the tables.
    pub(crate) fn finish(mut self) -> Result<Kept> {
        let connections: Vec<u64> = self.best.iter().rev().map(|((_, Reverse(number)), _)| *number).collect();
        let wanted: Vec<u64> = if self.every == Every::All { vec![0] } else { connections.clone() };
        let mut written: [HashSet<usize, RandomState>; 2] = Default::default();
        for number in wanted {
            let Some(mut part) = self.parts.remove(&number) else { continue };
            self.write(&mut part);
            for (all, of) in written.iter_mut().zip(&part.written) {
                all.extend(of);
            }
        }
        let rows = self.segments.finish(|number| written[0].contains(&number))?;
        self.sacks.finish(|number| written[1].contains(&number))?;
        Ok(Kept { rows, connections, incomplete: self.best.iter().any(|&(_, was_lost)| was_lost) })
    }
}

/// The payload of the larger of a connection's directions, which come one after the other.
#[derive(Default)]
pub(crate) struct Larger(u64);

impl Larger {
    pub(crate) fn direction(&mut self, row: &DirectionRow) {
        self.0 = self.0.max(row.counters.payload_bytes);
    }

    pub(crate) fn take(&mut self) -> u64 {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(connection: u64, bytes: u32) -> SegmentRow {
        SegmentRow {
            connection,
            direction: 0,
            time_ns: 0,
            seq: 0,
            bytes,
            ack: None,
            window_end: None,
            flags: capture::Flags::ACK,
            ce: false,
            class: None,
            cause: None,
            in_flight_bytes: None,
            tsval: None,
            tsecr: None,
            sack_blocks: 0,
            ip_id: 0,
        }
    }

    /// `packets` of each connection by turns, with so many bytes each; those that end do so in this order.
    fn kept(every: Every, most_bytes: usize, connections: &[(u64, u32, u32)]) -> Kept {
        let folder = tempfile::tempdir().expect("a folder");
        let mut packets = Packets::create(folder.path(), every, most_bytes).expect("tables");
        let longest = connections.iter().map(|&(_, count, _)| count).max().unwrap_or(0);
        for at in 0..longest {
            for &(number, _, bytes) in connections.iter().filter(|&&(_, count, _)| at < count) {
                packets.segment(&row(number, bytes));
            }
        }
        for &(number, count, bytes) in connections {
            packets.ended(number, u64::from(count) * u64::from(bytes));
        }
        packets.finish().expect("tables")
    }

    #[test]
    fn the_largest_connections_are_kept_whole() {
        let group = GROUP as u32;
        let connections = [(1, group + 5, 1), (2, 7, 1_000_000), (3, 2 * group, 2), (4, 9, 0)];
        let found = kept(Every::Top(2), usize::MAX, &connections);
        assert_eq!(found.connections, [2, 3]);
        assert_eq!((found.rows, found.incomplete), (7 + 2 * GROUP as u64, false));
        assert_eq!(kept(Every::Top(12), usize::MAX, &connections).rows, 3 * GROUP as u64 + 12);
        assert_eq!(kept(Every::All, usize::MAX, &connections).rows, 3 * GROUP as u64 + 21);
    }

    #[test]
    fn what_was_given_up_for_lack_of_memory_is_said() {
        // The last connection begins when memory is short, and grows late: nobody can know.
        let small: Vec<(u64, u32, u32)> = (1..=20).map(|number| (number, 10, 10)).collect();
        let late = [(21, 11, 1_000)];
        let most = 20 * EMPTY_BYTES;
        let found = kept(Every::Top(1), most, &[&small[..], &late].concat());
        assert_eq!((found.connections, found.incomplete), (vec![21], false));
        let found = kept(Every::Top(1), most, &[&small[..], &[(21, 10, 1), (22, 2_000, 1)]].concat());
        assert_eq!((found.connections, found.incomplete), (vec![22], true));
    }
}
