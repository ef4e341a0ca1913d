//! Runs in directories of their own, and their tables.

#![allow(dead_code)] // Not every test needs all of this module.

#[path = "../../../sim/tests/common/mod.rs"]
mod plans;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use messages::Event;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use plan::Plan;
use sim::Options;
use tempfile::TempDir;

#[allow(unused_imports)]
pub use plans::{Dumbbell, bulk, mixed, sized};

/// The tables of a run that records everything.
pub const TABLES: [&str; 4] = ["samples", "links", "packets", "acks"];

/// A run that is over.
pub struct Run {
    pub directory: TempDir,
    pub interrupted: bool,
}

/// Carry out `plan`.
pub fn run(plan: &Plan) -> Run {
    run_with(plan, &mut |_| Ok(true)).unwrap()
}

/// Carry out `plan`, and tell `on_event`.
pub fn run_with(plan: &Plan, on_event: &mut sim_engine::OnEvent<'_>) -> anyhow::Result<Run> {
    let directory = directory(plan);
    let interrupted = sim_engine::simulate(directory.path(), Options::default(), on_event)?;
    Ok(Run { directory, interrupted })
}

/// A directory with a plan in it.
pub fn directory(plan: &Plan) -> TempDir {
    let directory = TempDir::new().unwrap();
    std::fs::write(directory.path().join("plan.json"), serde_json::to_vec(plan).unwrap()).unwrap();
    directory
}

impl Run {
    pub fn table(&self, name: &str) -> Table {
        Table::read(&self.directory.path().join(format!("{name}.parquet")))
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.directory.path().join(format!("{name}.parquet"))).unwrap()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.directory.path().join(format!("{name}.json"))).unwrap()).unwrap()
    }
}

/// Time of an event, ns.
pub fn time_of(event: &Event) -> i64 {
    match event {
        Event::Progress { time_ns, .. } => *time_ns,
        other => panic!("{other:?}"),
    }
}

/// A value of any column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Number(i128),
    Float(f32),
    Flag(bool),
    Text(String),
}

impl Cell {
    pub fn number(&self) -> i128 {
        match self {
            Cell::Number(number) => *number,
            other => panic!("{other:?} is no number"),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Cell::Text(text) => text,
            other => panic!("{other:?} is no text"),
        }
    }
}

/// A table, column by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub columns: BTreeMap<String, Vec<Cell>>,
}

/// A row of a table.
#[derive(Clone, Copy)]
pub struct Row<'a>(&'a Table, usize);

impl<'a> Row<'a> {
    pub fn get(self, column: &str) -> &'a Cell {
        &self.0.columns[column][self.1]
    }

    pub fn number(self, column: &str) -> i128 {
        self.get(column).number()
    }

    pub fn text(self, column: &str) -> &'a str {
        self.get(column).text()
    }
}

impl Table {
    pub fn read(path: &Path) -> Table {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap().build().unwrap();
        let mut columns: BTreeMap<String, Vec<Cell>> = BTreeMap::new();
        for batch in reader {
            let batch = batch.unwrap();
            for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
                columns.entry(field.name().clone()).or_default().extend(cells(array));
            }
        }
        Table { columns }
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let count = self.columns.values().next().map_or(0, Vec::len);
        (0..count).map(move |at| Row(self, at))
    }

    /// Rows in which a column has this text.
    pub fn of<'a>(&'a self, column: &'a str, text: &'a str) -> impl Iterator<Item = Row<'a>> {
        self.rows().filter(move |row| row.text(column) == text)
    }
}

fn cells(array: &ArrayRef) -> Vec<Cell> {
    let value = |at: usize| match array.data_type() {
        _ if array.is_null(at) => Cell::Null,
        DataType::Int64 => Cell::Number(array.as_primitive::<Int64Type>().value(at).into()),
        DataType::UInt16 => Cell::Number(array.as_primitive::<UInt16Type>().value(at).into()),
        DataType::UInt32 => Cell::Number(array.as_primitive::<UInt32Type>().value(at).into()),
        DataType::UInt64 => Cell::Number(array.as_primitive::<UInt64Type>().value(at).into()),
        DataType::Float32 => Cell::Float(array.as_primitive::<Float32Type>().value(at)),
        DataType::Boolean => Cell::Flag(array.as_boolean().value(at)),
        DataType::Dictionary(..) => {
            let words = array.as_dictionary::<UInt16Type>();
            let key = usize::from(words.keys().value(at));
            Cell::Text(words.values().as_string::<i32>().value(key).to_owned())
        }
        other => panic!("no table has {other}"),
    };
    (0..array.len()).map(value).collect()
}
