//! Rows of single packets, kept column by column: they are never rows in memory, as that would cost more than to find them.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::builder::BooleanBuilder;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray};
use records::dictionary;

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
    fn take(&mut self) -> Result<Vec<ArrayRef>>;
}

/// Rows of a connection of which many more are expected.
const LONG: usize = 1 << 14;

/// Values of a column, of which some rows may have none.
#[derive(Debug)]
struct Values<T: ArrowPrimitiveType> {
    values: Vec<T::Native>,
    /// Rows one after the other that have a value, or have none: mostly all of a connection do.
    runs: Vec<(bool, u32)>,
}

impl<T: ArrowPrimitiveType> Default for Values<T> {
    fn default() -> Self {
        Values { values: Vec::new(), runs: Vec::new() }
    }
}

impl<T: ArrowPrimitiveType> Values<T> {
    #[inline]
    fn push(&mut self, value: T::Native) {
        self.values.push(value);
    }

    #[inline]
    fn push_if(&mut self, value: Option<T::Native>) {
        self.values.push(value.unwrap_or_default());
        match self.runs.last_mut() {
            Some((is_there, count)) if *is_there == value.is_some() => *count += 1,
            _ => self.runs.push((value.is_some(), 1)),
        }
    }

    fn take(&mut self) -> PrimitiveArray<T> {
        // What was long will be so again.
        let next = Vec::with_capacity(if self.values.len() < LONG { 0 } else { self.values.len() });
        let values = std::mem::replace(&mut self.values, next);
        let runs = std::mem::take(&mut self.runs);
        if runs.iter().all(|&(is_there, _)| is_there) {
            return PrimitiveArray::new(values.into(), None);
        }
        let mut there = BooleanBuilder::with_capacity(values.len());
        runs.iter().for_each(|&(is_there, count)| there.append_n(count as usize, is_there));
        let there: BooleanArray = there.finish();
        PrimitiveArray::new(values.into(), Some(there.values().clone().into()))
    }
}

/// Columns of the table `segments`.
#[derive(Debug, Default)]
pub(crate) struct SegmentColumns {
    connection: Values<UInt64Type>,
    direction: Values<UInt16Type>,
    time_ns: Values<Int64Type>,
    seq: Values<Int64Type>,
    bytes: Values<UInt32Type>,
    ack: Values<Int64Type>,
    window_end: Values<Int64Type>,
    flags: Values<UInt16Type>,
    ce: BooleanBuilder,
    class: Values<UInt16Type>,
    cause: Values<UInt16Type>,
    in_flight_bytes: Values<UInt64Type>,
    tsval: Values<UInt32Type>,
    tsecr: Values<UInt32Type>,
    sack_blocks: Values<UInt32Type>,
    ip_id: Values<UInt32Type>,
}

impl Columns for SegmentColumns {
    type Row = SegmentRow;

    #[inline]
    fn push(&mut self, row: &SegmentRow) {
        self.connection.push(row.connection);
        self.direction.push(row.direction);
        self.time_ns.push(row.time_ns);
        self.seq.push(row.seq);
        self.bytes.push(row.bytes);
        self.ack.push_if(row.ack);
        self.window_end.push_if(row.window_end);
        self.flags.push(row.flags.0 & (SPELT.len() - 1) as u16);
        self.ce.append_value(row.ce);
        self.class.push_if(row.class.map(|class| class as u16));
        self.cause.push_if(row.cause.map(|cause| cause as u16));
        self.in_flight_bytes.push_if(row.in_flight_bytes);
        self.tsval.push_if(row.tsval);
        self.tsecr.push_if(row.tsecr);
        self.sack_blocks.push(row.sack_blocks.into());
        self.ip_id.push(row.ip_id.into());
    }

    fn len(&self) -> usize {
        self.connection.values.len()
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![
            Arc::new(self.connection.take()),
            words(&mut self.direction, &DIRECTIONS)?,
            Arc::new(self.time_ns.take()),
            Arc::new(self.seq.take()),
            Arc::new(self.bytes.take()),
            Arc::new(self.ack.take()),
            Arc::new(self.window_end.take()),
            words(&mut self.flags, &SPELT)?,
            Arc::new(self.ce.finish()),
            words(&mut self.class, &Class::NAMES)?,
            words(&mut self.cause, &Cause::NAMES)?,
            Arc::new(self.in_flight_bytes.take()),
            Arc::new(self.tsval.take()),
            Arc::new(self.tsecr.take()),
            Arc::new(self.sack_blocks.take()),
            Arc::new(self.ip_id.take()),
        ])
    }
}

/// Columns of the table `sacks`.
#[derive(Debug, Default)]
pub(crate) struct SackColumns {
    connection: Values<UInt64Type>,
    direction: Values<UInt16Type>,
    time_ns: Values<Int64Type>,
    start: Values<Int64Type>,
    end: Values<Int64Type>,
    block: Values<UInt32Type>,
}

impl Columns for SackColumns {
    type Row = SackRow;

    fn push(&mut self, row: &SackRow) {
        self.connection.push(row.connection);
        self.direction.push(row.direction);
        self.time_ns.push(row.time_ns);
        self.start.push(row.start);
        self.end.push(row.end);
        self.block.push(row.block);
    }

    fn len(&self) -> usize {
        self.connection.values.len()
    }

    fn take(&mut self) -> Result<Vec<ArrayRef>> {
        Ok(vec![
            Arc::new(self.connection.take()),
            words(&mut self.direction, &DIRECTIONS)?,
            Arc::new(self.time_ns.take()),
            Arc::new(self.start.take()),
            Arc::new(self.end.take()),
            Arc::new(self.block.take()),
        ])
    }
}

fn words<S: AsRef<str>>(keys: &mut Values<UInt16Type>, words: &[S]) -> Result<ArrayRef> {
    dictionary(Arc::new(keys.take()), words)
}

#[cfg(test)]
mod tests {
    use arrow_array::{Array, DictionaryArray, StringArray};
    use capture::Flags;
    use proptest::prelude::*;
    use records::{Names, Row, batch};

    use super::*;

    /// Texts are the same as words of a dictionary.
    fn spelt(array: &ArrayRef) -> Option<Vec<Option<String>>> {
        if let Some(words) = array.as_any().downcast_ref::<DictionaryArray<UInt16Type>>() {
            let words = words.downcast_dict::<StringArray>().expect("texts");
            return Some(words.into_iter().map(|word| word.map(str::to_owned)).collect());
        }
        let texts = array.as_any().downcast_ref::<StringArray>()?;
        Some(texts.iter().map(|text| text.map(str::to_owned)).collect())
    }

    fn are_as_declared<C: Columns>(rows: &[C::Row], mut columns: C)
    where
        C::Row: Row,
    {
        rows.iter().for_each(|row| columns.push(row));
        assert_eq!(columns.len(), rows.len());
        let found = columns.take().expect("all words are known");
        let declared = batch(C::Row::COLUMNS, rows, &Names::default()).expect("rows");
        assert_eq!(found.len(), declared.num_columns());
        for ((column, found), declared) in C::Row::COLUMNS.iter().zip(&found).zip(declared.columns()) {
            match spelt(found) {
                Some(words) => assert_eq!(Some(words), spelt(declared), "{}", column.name),
                None => assert_eq!(found, declared, "{}", column.name),
            }
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
