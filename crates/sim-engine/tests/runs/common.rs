//! Runs in directories of their own, and their tables.

#![allow(dead_code)] // Not every test needs all of this module.

#[path = "../../../sim/tests/common/mod.rs"]
mod plans;

use std::collections::BTreeMap;
use std::path::Path;

use messages::Event;
use plan::Plan;
use records::reader::{self, Rows, Value};
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
        let (names, kinds): (Vec<String>, Vec<String>) = reader::columns(path).unwrap().into_iter().unzip();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut columns: BTreeMap<String, Vec<Cell>> = BTreeMap::new();
        reader::read(path, &names, |rows| {
            for (at, (name, kind)) in names.iter().zip(&kinds).enumerate() {
                columns.entry((*name).to_owned()).or_default().extend(cells(rows, at, kind));
            }
            Ok(())
        })
        .unwrap();
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

fn cells(rows: &Rows, at: usize, kind: &str) -> Vec<Cell> {
    fn all<T: Value>(rows: &Rows, at: usize, of: impl Fn(T) -> Cell) -> Vec<Cell> {
        let values = rows.values(at).unwrap();
        (0..rows.len()).map(|row| values.get(row).map_or(Cell::Null, &of)).collect()
    }
    match kind {
        "i64" => all(rows, at, |value: i64| Cell::Number(value.into())),
        "u16" => all(rows, at, |value: u16| Cell::Number(value.into())),
        "u32" => all(rows, at, |value: u32| Cell::Number(value.into())),
        "u64" => all(rows, at, |value: u64| Cell::Number(value.into())),
        "f32" => all(rows, at, Cell::Float),
        "bool" => all(rows, at, Cell::Flag),
        "str" => {
            let texts = rows.texts(at).unwrap();
            (0..rows.len()).map(|row| texts.get(row).map_or(Cell::Null, |text| Cell::Text(text.to_owned()))).collect()
        }
        other => panic!("no table has {other}"),
    }
}
