//! One declaration per column: its name, type and meaning, and how a row fills it. Files, the tables of
//! `docs/reference/records.md` and Python's schema all come from it.

use cc::State;
use cc::state::{Kind, StateColumn};
use serde::Serialize;

/// A column of a table whose rows are `R`. The unit is in the name: `_ns`, `_us`, `_ms`, `_s`, `_bytes`, `_packets`, `_bps`.
#[derive(Debug)]
pub struct Column<R: 'static> {
    /// The name in every file and frame.
    pub name: &'static str,
    /// Some rows may have no value.
    pub is_nullable: bool,
    /// One sentence for readers, in Markdown.
    pub meaning: &'static str,
    /// Type and content.
    pub values: Values<R>,
}

/// The source of a column's values, which determines its type. `None` occurs only if the column is nullable.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Values<R: 'static> {
    I64(fn(&R) -> Option<i64>),
    U16(fn(&R) -> Option<u16>),
    U32(fn(&R) -> Option<u32>),
    U64(fn(&R) -> Option<u64>),
    F32(fn(&R) -> Option<f32>),
    F64(fn(&R) -> Option<f64>),
    Bool(fn(&R) -> Option<bool>),
    Text(fn(&R) -> Option<&str>),
    /// Text of few values, as an index into them.
    Word(fn(&R) -> Option<u16>, &'static [&'static str]),
    /// The id of the flow with this index in the plan.
    Flow(fn(&R) -> u16),
    /// The name of the link with this index in the plan.
    Link(fn(&R) -> u16),
    /// A value of what the algorithm publishes of its state. A bandwidth needs the payload of a packet, bytes.
    Published(fn(&R) -> (&State, u32), &'static StateColumn),
}

// A copy needs no copy of a row.
impl<R> Clone for Column<R> {
    fn clone(&self) -> Column<R> {
        *self
    }
}

impl<R> Copy for Column<R> {}

impl<R> Clone for Values<R> {
    fn clone(&self) -> Values<R> {
        *self
    }
}

impl<R> Copy for Values<R> {}

/// A table, as documents and other languages need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The name of the file, without its ending.
    pub name: &'static str,
    /// The columns in order.
    pub columns: Vec<Described>,
}

/// A column, as documents and other languages need it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Described {
    /// The name in every file and frame.
    pub name: &'static str,
    /// `i64`, `u16`, `u32`, `u64`, `f32`, `f64`, `bool`, `str`, or `dict`: text of few values.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Some rows may have no value.
    pub nullable: bool,
    /// `ns`, `us`, `ms`, `s`, `bytes`, `packets`, `bps` (bits per second); `None` of what has no unit.
    pub unit: Option<&'static str>,
    /// One sentence for readers, in Markdown.
    pub meaning: &'static str,
}

const UNITS: [&str; 7] = ["ns", "us", "ms", "s", "bytes", "packets", "bps"];

impl<R> Column<R> {
    /// A column that every row has.
    pub const fn required(name: &'static str, values: Values<R>, meaning: &'static str) -> Column<R> {
        Column { name, is_nullable: false, meaning, values }
    }

    /// A column that some rows lack.
    pub const fn optional(name: &'static str, values: Values<R>, meaning: &'static str) -> Column<R> {
        Column { name, is_nullable: true, meaning, values }
    }

    /// The description for documents and other languages.
    pub fn described(&self) -> Described {
        let suffix = self.name.rsplit_once('_').map(|(_, suffix)| suffix);
        let unit = UNITS.into_iter().find(|&unit| suffix == Some(unit));
        Described { name: self.name, kind: self.kind(), nullable: self.is_nullable, unit, meaning: self.meaning }
    }

    /// The type, as [`Described::kind`] names it.
    pub fn kind(&self) -> &'static str {
        match self.values {
            Values::I64(_) => "i64",
            Values::U16(_) => "u16",
            Values::U32(_) => "u32",
            Values::U64(_) => "u64",
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
            Values::Bool(_) => "bool",
            Values::Text(_) => "str",
            Values::Word(..) | Values::Flow(_) | Values::Link(_) => "dict",
            Values::Published(_, column) => match column.kind {
                Kind::Number => "u32",
                Kind::Fixed(_) => "f32",
                Kind::Bandwidth(..) => "u64",
                Kind::Flag => "bool",
                Kind::Word(_) => "dict",
            },
        }
    }
}
