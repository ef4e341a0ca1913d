//! Parquet files whose row groups are chosen at the end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;

use crate::writer::{encoded, zstd};
use crate::{Row, schema};

/// Row groups that may wait to be written.
const WAITING: usize = 2;

/// Writes columns as row groups from a thread of its own. [`Groups::finish`] keeps those that are wanted: they are copied as
/// they are, without being decoded.
pub struct Groups<R: Row> {
    path: PathBuf,
    columns: Option<SyncSender<Vec<ArrayRef>>>,
    thread: Option<JoinHandle<Result<ParquetMetaData>>>,
    /// Row groups so far.
    count: usize,
    rows: std::marker::PhantomData<R>,
}

impl<R: Row> Groups<R> {
    /// Start the table at `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> Result<Groups<R>> {
        let file = File::create(path).with_context(|| format!("creating the table {}", path.display()))?;
        let properties = properties::<R>()?;
        let mut table = ArrowWriter::try_new(file, schema(R::COLUMNS), Some(properties))?;
        let (columns, taken) = sync_channel::<Vec<ArrayRef>>(WAITING);
        let thread = std::thread::Builder::new().name("db-groups".into()).spawn(move || {
            for arrays in taken {
                table.write(&named::<R>(arrays)?)?;
                table.flush()?;
            }
            Ok(table.close()?)
        })?;
        Ok(Groups {
            path: path.to_owned(),
            columns: Some(columns),
            thread: Some(thread),
            count: 0,
            rows: std::marker::PhantomData,
        })
    }

    /// Write a row group, which has a row at least: a column of values for each of `R::COLUMNS`, of its type; words may be
    /// indices into a dictionary. Returns the number of the row group.
    pub fn write(&mut self, arrays: Vec<ArrayRef>) -> usize {
        // A send fails only if the thread has ended with an error, which `finish` reports.
        let _ = self.columns.as_ref().expect("open until finish").send(arrays);
        self.count += 1;
        self.count - 1
    }

    /// Close the file. Only row groups of which `is_wanted` says so, by number, stay in it. Returns their rows.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, is_wanted: impl Fn(usize) -> bool) -> Result<u64> {
        self.columns = None;
        let thread = self.thread.take().expect("finish is called once");
        let written = thread.join().map_err(|_| anyhow!("the thread that writes packets panicked"))?;
        let failed = || format!("writing {}", self.path.display());
        let all = written.with_context(failed)?;
        if !(0..self.count).all(&is_wanted) {
            self.leave_out(&all, &is_wanted).with_context(failed)?;
        }
        let kept = all.row_groups().iter().enumerate().filter(|&(number, _)| is_wanted(number));
        Ok(kept.map(|(_, group)| group.num_rows() as u64).sum())
    }

    fn leave_out(&self, all: &ParquetMetaData, is_wanted: &impl Fn(usize) -> bool) -> Result<()> {
        let chosen = self.path.with_extension("chosen");
        let from = File::open(&self.path)?;
        let mut properties = properties::<R>()?;
        parquet::arrow::add_encoded_arrow_schema_to_metadata(&schema(R::COLUMNS), &mut properties);
        let root = all.file_metadata().schema_descr().root_schema_ptr();
        let mut to = SerializedFileWriter::new(File::create(&chosen)?, root, Arc::new(properties))?;
        for (_, group) in all.row_groups().iter().enumerate().filter(|&(number, _)| is_wanted(number)) {
            let mut copy = to.next_row_group()?;
            for column in group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: column.compressed_size() as u64,
                    rows_written: group.num_rows() as u64,
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                copy.append_column(&from, close)?;
            }
            copy.close()?;
        }
        to.close()?;
        Ok(std::fs::rename(&chosen, &self.path)?)
    }
}

/// Properties of such files: readers look for packets by connection and time.
fn properties<R: Row>() -> Result<WriterProperties> {
    let mut properties = WriterProperties::builder()
        .set_compression(zstd()?)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true);
    for name in R::DELTAS {
        // What is packed is small enough: to compress it would take longer than to find it.
        properties = properties.set_column_compression((*name).into(), Compression::UNCOMPRESSED);
    }
    for name in ["connection", "time_ns"] {
        properties = properties.set_column_statistics_enabled(name.into(), EnabledStatistics::Chunk);
    }
    Ok(encoded::<R>(properties).build())
}

/// Columns with the names of a row. Texts may be a dictionary of them: in a file they are the same.
fn named<R: Row>(arrays: Vec<ArrayRef>) -> Result<RecordBatch> {
    let field = |(column, array): (&crate::Column<R>, &ArrayRef)| {
        Field::new(column.name, array.data_type().clone(), column.is_nullable)
    };
    let fields: Vec<Field> = R::COLUMNS.iter().zip(&arrays).map(field).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?)
}
