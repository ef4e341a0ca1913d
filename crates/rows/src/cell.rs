//! A value of a row, whatever its column's type.

use cc::State;
use cc::state::{Kind, StateColumn};

use crate::{Column, Names, Values};

/// Value of a row in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Null,
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer of any width.
    Unsigned(u64),
    /// A number of 32 or 64 bits.
    Float(f64),
    /// Yes or no.
    Flag(bool),
    /// A text, or a word out of a few.
    Text(&'a str),
}

impl<R> Column<R> {
    /// The column's value in a row as a number; NaN: it has none. Flows and links are their indices in the plan, and words theirs.
    pub fn number(&self, row: &R) -> f64 {
        let number = match self.values {
            Values::I64(of) => of(row).map(|value| value as f64),
            Values::U16(of) | Values::Word(of, _) => of(row).map(f64::from),
            Values::U32(of) => of(row).map(f64::from),
            Values::U64(of) => of(row).map(|value| value as f64),
            Values::F32(of) => of(row).map(f64::from),
            Values::F64(of) => of(row),
            Values::Bool(of) => of(row).map(|is_true| f64::from(u8::from(is_true))),
            Values::Flow(of) | Values::Link(of) => Some(of(row).into()),
            Values::Published(of, column) => column.value(of(row).0).map(f64::from),
            Values::Text(_) => None,
        };
        number.unwrap_or(f64::NAN)
    }

    /// The column's value in a row.
    ///
    /// # Panics
    /// The row has an index without a word.
    pub fn cell<'a>(&self, row: &'a R, names: &'a Names) -> Cell<'a> {
        let unsigned = |value: Option<u64>| value.map_or(Cell::Null, Cell::Unsigned);
        let float = |value: Option<f64>| value.map_or(Cell::Null, Cell::Float);
        match self.values {
            Values::I64(of) => of(row).map_or(Cell::Null, Cell::Signed),
            Values::U16(of) => unsigned(of(row).map(u64::from)),
            Values::U32(of) => unsigned(of(row).map(u64::from)),
            Values::U64(of) => unsigned(of(row)),
            Values::F32(of) => float(of(row).map(f64::from)),
            Values::F64(of) => float(of(row)),
            Values::Bool(of) => of(row).map_or(Cell::Null, Cell::Flag),
            Values::Text(of) => of(row).map_or(Cell::Null, Cell::Text),
            Values::Word(of, words) => of(row).map_or(Cell::Null, |at| Cell::Text(words[usize::from(at)])),
            Values::Flow(of) => Cell::Text(&names.flows[usize::from(of(row))]),
            Values::Link(of) => Cell::Text(&names.links[usize::from(of(row))]),
            Values::Published(of, column) => {
                let (state, mss) = of(row);
                published(state, mss, column)
            }
        }
    }
}

/// A value of the state that an algorithm has published.
fn published(state: &State, mss: u32, column: &'static StateColumn) -> Cell<'static> {
    let Some(value) = column.value(state) else { return Cell::Null };
    match column.kind {
        Kind::Number => Cell::Unsigned(value.into()),
        Kind::Fixed(one) => Cell::Float(f64::from(fixed(value, one))),
        Kind::Bandwidth(times, per) => Cell::Unsigned(bandwidth_bps(value, mss, times, per)),
        Kind::Flag => Cell::Flag(value != 0),
        Kind::Word(words) => Cell::Text(words[value as usize]),
    }
}

/// A published number in fixed point.
pub fn fixed(value: u32, scale: u32) -> f32 {
    value as f32 / scale as f32
}

/// A published bandwidth, of packets with `mss` bytes of payload, in bits per second.
pub fn bandwidth_bps(value: u32, mss: u32, times: u32, per: u32) -> u64 {
    // 32 bits, a packet's payload and 16 bits are less than 64 bits.
    u64::from(value) * u64::from(mss) * u64::from(times) / u64::from(per)
}
