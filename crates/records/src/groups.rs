//! Parquet files whose row groups are chosen at the end.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result, anyhow};
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::properties::EnabledStatistics;

use crate::columns::{Filled, TableFile, compressed};
use crate::writer::encoded;
use crate::{Column, Row};

/// Row groups that may wait to be written.
const WAITING: usize = 2;

/// Writes columns as row groups from a thread of its own. [`Groups::finish`] keeps those that are wanted: they are copied as
/// they are, without being decoded.
pub struct Groups<R: Row> {
    path: PathBuf,
    groups: Option<SyncSender<(usize, Vec<Filled>)>>,
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
        let mut table = table::<R>(path)?;
        let (groups, taken) = sync_channel::<(usize, Vec<Filled>)>(WAITING);
        let thread = std::thread::Builder::new().name("db-groups".into()).spawn(move || {
            for (rows, columns) in taken {
                table.write(rows, columns)?;
                table.end_group()?;
            }
            table.finish()
        })?;
        Ok(Groups {
            path: path.to_owned(),
            groups: Some(groups),
            thread: Some(thread),
            count: 0,
            rows: std::marker::PhantomData,
        })
    }

    /// Write a row group of so many rows, of which there is at least one: a column for each of `R::COLUMNS`, of its type.
    /// Returns the number of the row group.
    pub fn write(&mut self, rows: usize, columns: Vec<Filled>) -> usize {
        // A send fails only if the thread has ended with an error, which `finish` reports.
        let _ = self.groups.as_ref().expect("open until finish").send((rows, columns));
        self.count += 1;
        self.count - 1
    }

    /// Close the file. Only row groups of which `is_wanted` says so, by number, stay in it. Returns their rows.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, is_wanted: impl Fn(usize) -> bool) -> Result<u64> {
        self.groups = None;
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
        let mut to = table::<R>(&chosen)?.file;
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

/// Begins such a file: readers look for packets by connection and time.
fn table<R: Row>(path: &Path) -> Result<TableFile> {
    let mut properties = compressed()?.set_statistics_enabled(EnabledStatistics::None).set_offset_index_disabled(true);
    for name in R::DELTAS {
        // What is packed is small enough: to compress it would take longer than to find it.
        properties = properties.set_column_compression((*name).into(), Compression::UNCOMPRESSED);
    }
    for name in ["connection", "time_ns"] {
        properties = properties.set_column_statistics_enabled(name.into(), EnabledStatistics::Chunk);
    }
    let columns: Vec<_> = R::COLUMNS.iter().map(Column::described).collect();
    TableFile::create(path, &columns, encoded::<R>(properties))
}
