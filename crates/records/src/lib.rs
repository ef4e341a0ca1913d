//! Record types and their Parquet tables: one schema for every engine.
//!
//! A [`Writer`] takes rows from a thread that must not wait, and writes them in the background. Columns, units and
//! meaning of each table are in `docs/reference/records.md`.

pub mod accounts;
pub mod acks;
pub mod links;
pub mod packets;
pub mod samples;
mod writer;

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, StringArray, UInt16Array};
use arrow_schema::{DataType, Field, SchemaRef};
use parquet::file::properties::WriterPropertiesBuilder;

pub use writer::{Writer, WriterStats};

/// The words behind the numbers in rows.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Flow ids in the plan's order.
    pub flows: Vec<String>,
    /// Link names in the plan's order.
    pub links: Vec<String>,
}

impl Names {
    /// The names of a plan. The flow after the last one is [`packets::OTHER_FLOW`].
    pub fn of(plan: &plan::Plan) -> Names {
        let other = packets::OTHER_FLOW.to_string();
        Names {
            flows: plan.flows.iter().map(|f| f.id.clone()).chain([other]).collect(),
            links: plan.links.iter().map(|l| l.name.clone()).collect(),
        }
    }

    /// The index in `flows` of packets that belong to no flow of the plan.
    pub fn other_flow(&self) -> u16 {
        self.flows.len() as u16 - 1
    }
}

/// A row of a table.
pub trait Row: Send + Sized + 'static {
    /// Columns, in order.
    fn schema() -> SchemaRef;
    /// How columns are encoded, where dictionaries are not the best.
    fn encoding(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        properties
    }

    /// The same columns, filled.
    fn batch(rows: &[Self], names: &Names) -> Result<RecordBatch>;
}

/// Type of a categorical column.
pub(crate) fn categorical() -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8))
}

/// A categorical field.
pub(crate) fn categorical_field(name: &str, nullable: bool) -> Field {
    Field::new(name, categorical(), nullable)
}

/// A categorical column from indices into `words`.
pub(crate) fn categorical_column<S: AsRef<str>>(keys: UInt16Array, words: &[S]) -> Result<ArrayRef> {
    let words: StringArray = words.iter().map(|w| Some(w.as_ref())).collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(words))?))
}
