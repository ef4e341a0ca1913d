//! One declaration per column: its name, type and meaning, and how a row fills it. Files, the tables of
//! `docs/reference/records.md` and Python's schema all come from it.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cc::State;
use cc::state::{Kind, StateColumn};
use serde::Serialize;

use crate::Names;

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
        let kind = match self.data_type() {
            DataType::Int64 => "i64",
            DataType::UInt16 => "u16",
            DataType::UInt32 => "u32",
            DataType::UInt64 => "u64",
            DataType::Float32 => "f32",
            DataType::Float64 => "f64",
            DataType::Boolean => "bool",
            DataType::Utf8 => "str",
            _ => "dict",
        };
        let suffix = self.name.rsplit_once('_').map(|(_, suffix)| suffix);
        let unit = UNITS.into_iter().find(|&unit| suffix == Some(unit));
        Described { name: self.name, kind, nullable: self.is_nullable, unit, meaning: self.meaning }
    }

    /// Name, type and nullability in a file.
    pub fn field(&self) -> Field {
        Field::new(self.name, self.data_type(), self.is_nullable)
    }

    fn data_type(&self) -> DataType {
        let word = || DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        match self.values {
            Values::I64(_) => DataType::Int64,
            Values::U16(_) => DataType::UInt16,
            Values::U32(_) => DataType::UInt32,
            Values::U64(_) => DataType::UInt64,
            Values::F32(_) => DataType::Float32,
            Values::F64(_) => DataType::Float64,
            Values::Bool(_) => DataType::Boolean,
            Values::Text(_) => DataType::Utf8,
            Values::Word(..) | Values::Flow(_) | Values::Link(_) => word(),
            Values::Published(_, column) => match column.kind {
                Kind::Number => DataType::UInt32,
                Kind::Fixed(_) => DataType::Float32,
                Kind::Bandwidth(..) => DataType::UInt64,
                Kind::Flag => DataType::Boolean,
                Kind::Word(_) => word(),
            },
        }
    }

    /// The column of some rows.
    pub fn array(&self, rows: &[R], names: &Names) -> Result<ArrayRef> {
        // A column that every row has is filled without a mask: this is done per packet.
        macro_rules! numbers {
            ($array:ty, $of:expr) => {
                if self.is_nullable {
                    Arc::new(rows.iter().map($of).collect::<$array>()) as ArrayRef
                } else {
                    Arc::new(<$array>::from_iter_values(rows.iter().map(|row| $of(row).expect("a required column"))))
                }
            };
        }
        Ok(match self.values {
            Values::I64(of) => numbers!(Int64Array, of),
            Values::U16(of) => numbers!(UInt16Array, of),
            Values::U32(of) => numbers!(UInt32Array, of),
            Values::U64(of) => numbers!(UInt64Array, of),
            Values::F32(of) => numbers!(Float32Array, of),
            Values::F64(of) => numbers!(Float64Array, of),
            Values::Bool(of) => Arc::new(rows.iter().map(of).collect::<BooleanArray>()),
            Values::Text(of) => Arc::new(rows.iter().map(of).collect::<StringArray>()),
            Values::Word(of, words) => dictionary(numbers!(UInt16Array, of), words)?,
            Values::Flow(of) => dictionary(numbers!(UInt16Array, |row| Some(of(row))), &names.flows)?,
            Values::Link(of) => dictionary(numbers!(UInt16Array, |row| Some(of(row))), &names.links)?,
            Values::Published(of, column) => published(rows, of, column)?,
        })
    }
}

/// The fields of a table.
pub fn schema<R>(columns: &[Column<R>]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<_>>()))
}

/// Some rows of a table.
///
/// # Errors
/// A row has an index without a word.
pub fn batch<R>(columns: &[Column<R>], rows: &[R], names: &Names) -> Result<RecordBatch> {
    let arrays = columns.iter().map(|column| column.array(rows, names)).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(schema(columns), arrays)?)
}

/// A column of the state that algorithms have published: null in rows of others.
fn published<R>(rows: &[R], of: fn(&R) -> (&State, u32), column: &StateColumn) -> Result<ArrayRef> {
    let values = rows.iter().map(|row| column.value(of(row).0));
    Ok(match column.kind {
        Kind::Number => Arc::new(values.collect::<UInt32Array>()),
        Kind::Fixed(one) => Arc::new(values.map(|v| Some(v? as f32 / one as f32)).collect::<Float32Array>()),
        Kind::Bandwidth(times, per) => {
            // 32 bits, a packet's payload and 16 bits are less than 64 bits.
            let bps = |row: &R| {
                let (state, mss) = of(row);
                Some(u64::from(column.value(state)?) * u64::from(mss) * u64::from(times) / u64::from(per))
            };
            Arc::new(rows.iter().map(bps).collect::<UInt64Array>())
        }
        Kind::Flag => Arc::new(values.map(|v| Some(v? != 0)).collect::<BooleanArray>()),
        Kind::Word(words) => dictionary(Arc::new(values.map(|v| Some(v? as u16)).collect::<UInt16Array>()), words)?,
    })
}

fn dictionary<S: AsRef<str>>(keys: ArrayRef, words: &[S]) -> Result<ArrayRef> {
    let keys: UInt16Array = keys.to_data().into();
    let words: StringArray = words.iter().map(|word| Some(word.as_ref())).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(words))?))
}
