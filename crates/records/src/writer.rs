use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use anyhow::{Result, anyhow};
use parquet::basic::Encoding;
use parquet::file::properties::WriterPropertiesBuilder;
use realtime::thread_cpu_ns;
use serde::Serialize;

use crate::columns::{TableFile, compressed, fill};
use crate::flat::{self, Flat};
use crate::kinds::Keep;
use crate::{Column, Names, Row};

/// Rows that change hands at once: large enough to make a hand-over rare, small enough to stay in cache.
pub(crate) const CHUNK: usize = 8 * 1024;

/// The cost of writing.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct WriterStats {
    /// Rows written.
    pub rows: u64,
    /// CPU time of the writing thread, in seconds.
    pub cpu_s: f64,
    /// The most rows that waited to be written, in chunks of 8192.
    pub backlog_max_chunks: usize,
}

/// The encoding of columns for which dictionaries are not the best.
pub(crate) fn encoded<R: Row>(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
    R::DELTAS.iter().fold(properties, |properties, name| {
        properties
            .set_column_dictionary_enabled((*name).into(), false)
            .set_column_encoding((*name).into(), Encoding::DELTA_BINARY_PACKED)
    })
}

/// Begins a Parquet file.
pub(crate) fn create<R: Row>(path: &Path) -> Result<TableFile> {
    let columns: Vec<_> = R::COLUMNS.iter().map(Column::described).collect();
    TableFile::create(path, &columns, encoded::<R>(compressed()?))
}

/// Appends rows to a Parquet file.
pub(crate) fn write<R: Row>(table: &mut TableFile, rows: &[R], names: &Names) -> Result<()> {
    table.write(rows.len(), R::COLUMNS.iter().map(|column| fill(column, rows.iter(), names)))
}

/// Tables as files of a directory.
#[derive(Clone, Debug)]
pub struct Files {
    /// The run's directory.
    pub directory: PathBuf,
    /// The words behind numbers in rows.
    pub names: Names,
    /// Chunks that may wait before a push does.
    pub backlog_limit: usize,
}

impl Keep for Files {
    type Of<R: Row> = Writer<R>;
    type End = Result<WriterStats>;
    type Error = anyhow::Error;

    fn create<R: Row>(&self) -> Result<Writer<R>> {
        let path = self.directory.join(R::TABLE).with_extension("parquet");
        Ok(Writer::create(&path, self.names.clone())?.waiting(self.backlog_limit))
    }

    fn push<R: Row>(of: &mut Writer<R>, row: R) {
        of.push(row);
    }

    fn end<R: Row>(of: Writer<R>) -> Result<WriterStats> {
        of.finish()
    }
}

/// A table that is being written.
enum Rows<R: Row> {
    Parquet(Box<TableFile>),
    /// Its rows are left as they are.
    Flat(Flat<R>),
}

impl<R: Row> Rows<R> {
    fn write(self, rows: &[R], names: &Names) -> Result<Rows<R>> {
        match self {
            Rows::Parquet(mut table) => {
                write(&mut table, rows, names)?;
                Ok(Rows::Parquet(table))
            }
            Rows::Flat(mut flat) => match flat.write(rows)? {
                true => Ok(Rows::Parquet(flat.settle(names)?.into())),
                false => Ok(Rows::Flat(flat)),
            },
        }
    }
}

/// Writes rows to a Parquet file from a thread of the lowest priority.
///
/// [`Writer::push`] never waits, unless [`Writer::waiting`] says so, and, once warm, doesn't allocate: full chunks go to the
/// thread and come back empty. The same rows give the same bytes, whatever the thread's timing.
pub struct Writer<R: Row> {
    path: PathBuf,
    chunk: Vec<R>,
    full: Option<Sender<Vec<R>>>,
    empty: Receiver<Vec<R>>,
    waiting: Arc<AtomicUsize>,
    backlog_max: usize,
    /// Chunks that may wait before a push does.
    backlog_limit: usize,
    thread: Option<JoinHandle<Result<WriterStats>>>,
    failure: Arc<Mutex<Option<String>>>,
}

impl<R: Row> Writer<R> {
    /// Start a table at `path`.
    pub fn create(path: &Path, names: Names) -> Result<Self> {
        let table = match flat::is_deferred::<R>() {
            true => Rows::Flat(Flat::create(path)?),
            false => Rows::Parquet(create::<R>(path)?.into()),
        };
        let (full, full_rx) = channel();
        let (empty_tx, empty) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let failure = Arc::new(Mutex::new(None));
        let thread = std::thread::Builder::new().name("db-writer".into()).spawn({
            let (waiting, failure) = (waiting.clone(), failure.clone());
            move || {
                let written = write_all(table, full_rx, empty_tx, &names, &waiting);
                if let Err(error) = &written {
                    *failure.lock().expect("no writer panics with the lock held") = Some(format!("{error:#}"));
                }
                written
            }
        })?;
        Ok(Writer {
            path: path.to_path_buf(),
            chunk: Vec::with_capacity(CHUNK),
            full: Some(full),
            empty,
            waiting,
            backlog_max: 0,
            backlog_limit: usize::MAX,
            thread: Some(thread),
            failure,
        })
    }

    /// [`Writer::push`] waits while `chunks` chunks of 8192 rows are waiting: for those who make rows faster than they can be
    /// written, and have the time.
    pub fn waiting(self, chunks: usize) -> Self {
        Writer { backlog_limit: chunks, ..self }
    }

    /// Why nothing is written any more, if so: what is pushed is lost, and [`Writer::finish`] will fail.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().expect("no writer panics with the lock held").clone()
    }

    /// Append a row.
    pub fn push(&mut self, row: R) {
        self.chunk.push(row);
        if self.chunk.len() == CHUNK {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let is_far_behind = self.waiting.load(Ordering::Relaxed) >= self.backlog_limit;
        // A thread that has ended with an error returns nothing.
        let empty = if is_far_behind { self.empty.recv().ok() } else { self.empty.try_recv().ok() };
        let next = empty.unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let chunk = std::mem::replace(&mut self.chunk, next);
        self.backlog_max = self.backlog_max.max(1 + self.waiting.fetch_add(1, Ordering::Relaxed));
        // A send fails only if the thread has ended with an error, which `finish` reports.
        let _ = self.full.as_ref().expect("open until finish").send(chunk);
    }

    /// Write what is left, close the file and say what it cost.
    pub fn finish(mut self) -> Result<WriterStats> {
        if !self.chunk.is_empty() {
            self.hand_over();
        }
        self.full = None;
        let thread = self.thread.take().expect("finish is called once");
        let written = thread.join().map_err(|_| anyhow!("the writing thread panicked"))?;
        if let Some(why) = self.failure.lock().expect("the thread has ended").take() {
            return Err(anyhow!("writing {}: {why}", self.path.display()));
        }
        let mut stats = written?;
        stats.backlog_max_chunks = self.backlog_max;
        Ok(stats)
    }
}

fn write_all<R: Row>(
    mut table: Rows<R>,
    full: Receiver<Vec<R>>,
    empty: Sender<Vec<R>>,
    names: &Names,
    waiting: &AtomicUsize,
) -> Result<WriterStats> {
    // Records are less urgent than packets, whatever priority the creating thread has.
    // SAFETY: plain system calls on the calling thread.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t, 19) };
    let mut rows = 0;
    for mut chunk in full {
        waiting.fetch_sub(1, Ordering::Relaxed);
        rows += chunk.len() as u64;
        table = table.write(&chunk, names)?;
        chunk.clear();
        let _ = empty.send(chunk);
    }
    if let Rows::Parquet(mut table) = table {
        table.finish_on_disk()?;
    }
    Ok(WriterStats { rows, cpu_s: thread_cpu_ns() as f64 / 1e9, backlog_max_chunks: 0 })
}
