//! Columns as Arrow has them.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use cc::State;
use cc::state::{Kind, StateColumn};
use rows::{Column, Names, Values, bandwidth_bps, fixed};

/// Name, type and nullability in a file.
pub fn field<R>(column: &Column<R>) -> Field {
    Field::new(column.name, data_type(column), column.is_nullable)
}

fn data_type<R>(column: &Column<R>) -> DataType {
    match column.kind() {
        "i64" => DataType::Int64,
        "u16" => DataType::UInt16,
        "u32" => DataType::UInt32,
        "u64" => DataType::UInt64,
        "f32" => DataType::Float32,
        "f64" => DataType::Float64,
        "bool" => DataType::Boolean,
        "str" => DataType::Utf8,
        _ => DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8)),
    }
}

/// The column of some rows.
///
/// # Errors
/// A row has an index without a word.
pub fn array<R>(column: &Column<R>, rows: &[R], names: &Names) -> Result<ArrayRef> {
    // A column that every row has is filled without a mask: this is done per packet.
    macro_rules! numbers {
        ($array:ty, $of:expr) => {
            if column.is_nullable {
                Arc::new(rows.iter().map($of).collect::<$array>()) as ArrayRef
            } else {
                Arc::new(<$array>::from_iter_values(rows.iter().map(|row| $of(row).expect("a required column"))))
            }
        };
    }
    Ok(match column.values {
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
        Values::Published(of, state) => published(rows, of, state)?,
    })
}

/// The fields of a table.
pub fn schema<R>(columns: &[Column<R>]) -> SchemaRef {
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// Some rows of a table.
///
/// # Errors
/// A row has an index without a word.
pub fn batch<R>(columns: &[Column<R>], rows: &[R], names: &Names) -> Result<RecordBatch> {
    let arrays = columns.iter().map(|column| array(column, rows, names)).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(schema(columns), arrays)?)
}

/// A column of the state that algorithms have published: null in rows of others.
fn published<R>(rows: &[R], of: fn(&R) -> (&State, u32), column: &StateColumn) -> Result<ArrayRef> {
    let values = rows.iter().map(|row| column.value(of(row).0));
    Ok(match column.kind {
        Kind::Number => Arc::new(values.collect::<UInt32Array>()),
        Kind::Fixed(one) => Arc::new(values.map(|v| Some(fixed(v?, one))).collect::<Float32Array>()),
        Kind::Bandwidth(times, per) => {
            let bps = |row: &R| {
                let (state, mss) = of(row);
                Some(bandwidth_bps(column.value(state)?, mss, times, per))
            };
            Arc::new(rows.iter().map(bps).collect::<UInt64Array>())
        }
        Kind::Flag => Arc::new(values.map(|v| Some(v? != 0)).collect::<BooleanArray>()),
        Kind::Word(words) => dictionary(Arc::new(values.map(|v| Some(v? as u16)).collect::<UInt16Array>()), words)?,
    })
}

/// A column of words by their indices, which are `UInt16`.
///
/// # Errors
/// There is an index without a word.
pub fn dictionary<S: AsRef<str>>(keys: ArrayRef, words: &[S]) -> Result<ArrayRef> {
    let keys: UInt16Array = keys.to_data().into();
    let words: StringArray = words.iter().map(|word| Some(word.as_ref())).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(words))?))
}
