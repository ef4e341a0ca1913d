//! Rows of single packets, kept column by column: they are never rows in memory, as that would cost more than to find them.

use records::{Data, Filled, words};

use super::segment::SPELT;
use super::{Cause, Class, DIRECTIONS, SackRow, SegmentRow};

/// Columns that grow by rows.
pub(crate) trait Columns: Default {
    type Row;

    /// Append a row.
    fn push(&mut self, row: &Self::Row);

    /// Rows so far.
    fn len(&self) -> usize;

    /// The columns in the order of their declaration. There are no rows left.
    fn take(&mut self) -> Vec<Filled>;
}

/// Rows of a connection of which many more are expected.
const LONG: usize = 1 << 14;

/// Values of a column that all rows have.
#[derive(Debug, Default)]
struct Required<T>(Vec<T>);

impl<T> Required<T> {
    #[inline]
    fn push(&mut self, value: T) {
        self.0.push(value);
    }

    fn take(&mut self, data: impl FnOnce(Vec<T>) -> Data) -> Filled {
        // What was long will be so again.
        let next = Vec::with_capacity(if self.0.len() < LONG { 0 } else { self.0.len() });
        Filled { data: data(std::mem::replace(&mut self.0, next)), levels: None }
    }
}

/// Values of a column that some rows lack.
#[derive(Debug, Default)]
struct Optional<T> {
    values: Required<T>,
    /// Rows one after the other that have a value, or have none: mostly all of a connection do.
    runs: Vec<(bool, u32)>,
}

impl<T> Optional<T> {
    #[inline]
    fn push(&mut self, value: Option<T>) {
        match self.runs.last_mut() {
            Some((is_there, count)) if *is_there == value.is_some() => *count += 1,
            _ => self.runs.push((value.is_some(), 1)),
        }
        if let Some(value) = value {
            self.values.push(value);
        }
    }

    fn take(&mut self, data: impl FnOnce(Vec<T>) -> Data) -> Filled {
        let mut levels = Vec::new();
        for (is_there, count) in std::mem::take(&mut self.runs) {
            levels.resize(levels.len() + count as usize, i16::from(is_there));
        }
        Filled { levels: Some(levels), ..self.values.take(data) }
    }
}

/// Columns of the table `segments`.
#[derive(Debug, Default)]
pub(crate) struct SegmentColumns {
    connection: Required<i64>,
    direction: Required<u16>,
    time_ns: Required<i64>,
    seq: Required<i64>,
    bytes: Required<i32>,
    ack: Optional<i64>,
    window_end: Optional<i64>,
    flags: Required<u16>,
    ce: Required<bool>,
    class: Optional<u16>,
    cause: Optional<u16>,
    in_flight_bytes: Optional<i64>,
    tsval: Optional<i32>,
    tsecr: Optional<i32>,
    sack_blocks: Required<i32>,
    ip_id: Required<i32>,
}

impl Columns for SegmentColumns {
    type Row = SegmentRow;

    #[inline]
    fn push(&mut self, row: &SegmentRow) {
        self.connection.push(row.connection as i64);
        self.direction.push(row.direction);
        self.time_ns.push(row.time_ns);
        self.seq.push(row.seq);
        self.bytes.push(row.bytes as i32);
        self.ack.push(row.ack);
        self.window_end.push(row.window_end);
        self.flags.push(row.flags.0 & (SPELT.len() - 1) as u16);
        self.ce.push(row.ce);
        self.class.push(row.class.map(|class| class as u16));
        self.cause.push(row.cause.map(|cause| cause as u16));
        self.in_flight_bytes.push(row.in_flight_bytes.map(|bytes| bytes as i64));
        self.tsval.push(row.tsval.map(|value| value as i32));
        self.tsecr.push(row.tsecr.map(|value| value as i32));
        self.sack_blocks.push(row.sack_blocks.into());
        self.ip_id.push(row.ip_id.into());
    }

    fn len(&self) -> usize {
        self.connection.0.len()
    }

    fn take(&mut self) -> Vec<Filled> {
        vec![
            self.connection.take(Data::I64),
            self.direction.take(words(&DIRECTIONS)),
            self.time_ns.take(Data::I64),
            self.seq.take(Data::I64),
            self.bytes.take(Data::I32),
            self.ack.take(Data::I64),
            self.window_end.take(Data::I64),
            self.flags.take(words(&SPELT)),
            self.ce.take(Data::Bool),
            self.class.take(words(&Class::NAMES)),
            self.cause.take(words(&Cause::NAMES)),
            self.in_flight_bytes.take(Data::I64),
            self.tsval.take(Data::I32),
            self.tsecr.take(Data::I32),
            self.sack_blocks.take(Data::I32),
            self.ip_id.take(Data::I32),
        ]
    }
}

/// Columns of the table `sacks`.
#[derive(Debug, Default)]
pub(crate) struct SackColumns {
    connection: Required<i64>,
    direction: Required<u16>,
    time_ns: Required<i64>,
    start: Required<i64>,
    end: Required<i64>,
    block: Required<i32>,
}

impl Columns for SackColumns {
    type Row = SackRow;

    fn push(&mut self, row: &SackRow) {
        self.connection.push(row.connection as i64);
        self.direction.push(row.direction);
        self.time_ns.push(row.time_ns);
        self.start.push(row.start);
        self.end.push(row.end);
        self.block.push(row.block as i32);
    }

    fn len(&self) -> usize {
        self.connection.0.len()
    }

    fn take(&mut self) -> Vec<Filled> {
        vec![
            self.connection.take(Data::I64),
            self.direction.take(words(&DIRECTIONS)),
            self.time_ns.take(Data::I64),
            self.start.take(Data::I64),
            self.end.take(Data::I64),
            self.block.take(Data::I32),
        ]
    }
}

#[cfg(test)]
mod tests {
    use capture::Flags;
    use proptest::prelude::*;
    use records::{Names, Row, fill};

    use super::*;

    /// Texts are the same as words.
    fn spelt(column: Filled) -> Filled {
        let data = match column.data {
            Data::Words(keys, words) => Data::Text(keys.iter().map(|&key| words[usize::from(key)].clone()).collect()),
            other => other,
        };
        Filled { data, ..column }
    }

    fn are_as_declared<C: Columns>(rows: &[C::Row], mut columns: C)
    where
        C::Row: Row,
    {
        rows.iter().for_each(|row| columns.push(row));
        assert_eq!(columns.len(), rows.len());
        let found = columns.take();
        assert_eq!(found.len(), C::Row::COLUMNS.len());
        for (column, found) in C::Row::COLUMNS.iter().zip(found) {
            let declared = fill(column, rows.iter(), &Names::default());
            assert_eq!(spelt(found), spelt(declared), "{}", column.name);
        }
        assert_eq!(columns.len(), 0);
    }

    fn some_row() -> impl Strategy<Value = SegmentRow> {
        let ways = (any::<u64>(), 0_u16..2, any::<i64>(), any::<i64>(), any::<u32>());
        let acks = (any::<Option<i64>>(), any::<Option<i64>>(), 0_u16..512, any::<bool>());
        let seen = (any::<Option<u64>>(), any::<Option<u32>>(), any::<Option<u32>>(), any::<u16>(), any::<bool>());
        (ways, acks, seen).prop_map(|(ways, acks, seen)| SegmentRow {
            connection: ways.0,
            direction: ways.1,
            time_ns: ways.2,
            seq: ways.3,
            bytes: ways.4,
            ack: acks.0,
            window_end: acks.1,
            flags: Flags(acks.2),
            ce: acks.3,
            class: seen.4.then_some(Class::Fill),
            cause: (!seen.4).then_some(Cause::Fast),
            in_flight_bytes: seen.0,
            tsval: seen.1,
            tsecr: seen.2,
            sack_blocks: seen.3 as u8,
            ip_id: seen.3,
        })
    }

    proptest! {
        #[test]
        fn columns_are_those_that_rows_declare(rows in prop::collection::vec(some_row(), 0..40)) {
            are_as_declared(&rows, SegmentColumns::default());
            let sacks: Vec<SackRow> = rows.iter().map(|row| SackRow {
                connection: row.connection,
                direction: row.direction,
                time_ns: row.time_ns,
                start: row.seq,
                end: row.seq.wrapping_add(i64::from(row.bytes)),
                block: row.bytes,
            }).collect();
            are_as_declared(&sacks, SackColumns::default());
        }
    }
}
