//! Figures as tables.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use records::{Names, Table};

use crate::figure::{Declared, Figure};
use crate::{flow, link};

/// The table `flows` of a run.
///
/// # Errors
/// None that a sound program makes.
pub fn flows(rows: &[flow::Flow]) -> Result<RecordBatch> {
    batch(flow::FIGURES.iter(), rows)
}

/// The flows of a run as a study that keeps no packets has them.
///
/// # Errors
/// None that a sound program makes.
pub fn flows_without_packets(rows: &[flow::Flow]) -> Result<RecordBatch> {
    batch(flow::FIGURES.iter().filter(|figure| !figure.takes_packets), rows)
}

/// The links of a run.
///
/// # Errors
/// None that a sound program makes.
pub fn links(rows: &[link::Link]) -> Result<RecordBatch> {
    batch(link::FIGURES.iter(), rows)
}

fn batch<R: 'static>(figures: impl Iterator<Item = &'static Figure<R>>, rows: &[R]) -> Result<RecordBatch> {
    let names = Names::default();
    let (mut fields, mut arrays): (Vec<Field>, Vec<_>) = (Vec::new(), Vec::new());
    for Figure { column, .. } in figures {
        fields.push(records::field(column));
        arrays.push(records::array(column, rows, &names)?);
    }
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}

/// Write a table, and make sure that it is on the disk.
///
/// # Errors
/// The file can't be written.
pub fn write(path: &Path, rows: &RecordBatch) -> Result<()> {
    let file = File::create(path).with_context(|| format!("creating the table {}", path.display()))?;
    let compression = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut table = ArrowWriter::try_new(file, rows.schema(), Some(properties))?;
    table.write(rows)?;
    Ok(table.into_inner()?.sync_all()?)
}

/// The table `flows` of a run, for documents and other languages.
pub fn of_run() -> Table {
    Table { name: "flows", columns: flow::FIGURES.iter().map(|figure| figure.column.described()).collect() }
}

/// The figures of a flow, for documents and other languages.
pub fn flow_figures() -> Vec<Declared> {
    flow::FIGURES.iter().map(Figure::declared).collect()
}

/// The figures of a link, for documents and other languages.
pub fn link_figures() -> Vec<Declared> {
    link::FIGURES.iter().map(Figure::declared).collect()
}
