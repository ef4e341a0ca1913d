//! Single packets of parts of a capture.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use capture::{Capture, DecodeAs};
use records::{Names, Row, Writer};
use serde::Serialize;

use crate::analysis::{BACKLOG, Progress, take_all};
use crate::rows::{ConnectionRow, DirectionRow, EventRow, IntervalRow, RttRow, SackRow, SegmentRow};
use crate::{Limits, Sink, Table};

/// A part of a connection's time.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Number of the connection.
    pub connection: u64,
    /// Its first and last ns.
    pub from_ns: i64,
    #[allow(missing_docs)]
    pub to_ns: i64,
}

/// The packets of which rows are wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'a> {
    /// The files, as they were analysed.
    pub captures: &'a [PathBuf],
    /// Names of the interfaces whose packets count; empty: all.
    pub interfaces: &'a [String],
    /// How frames are read that do not say it themselves.
    pub as_said: &'a DecodeAs,
    /// Where the tables `segments` and `sacks` are written.
    pub directory: &'a Path,
    /// The bounds of memory with which the files were analysed.
    pub limits: Limits,
    /// Which packets.
    pub parts: &'a [Part],
    /// Rows of `segments` at most: those beyond are counted.
    pub most: u64,
}

/// Tables that were written.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Detail {
    /// TCP segments of the whole capture.
    pub all: u64,
    /// Rows of `segments`.
    pub rows: u64,
    /// Packets of the parts that are no rows: they were too many.
    pub left_out: u64,
}

struct Rows {
    parts: HashMap<u64, Vec<(i64, i64)>>,
    segments: Writer<SegmentRow>,
    sacks: Writer<SackRow>,
    most: u64,
    rows: u64,
    left_out: u64,
}

impl Sink for Rows {
    fn connection(&mut self, _: ConnectionRow) {}
    fn direction(&mut self, _: DirectionRow) {}
    fn interval(&mut self, _: IntervalRow) {}
    fn rtt(&mut self, _: RttRow) {}
    fn event(&mut self, _: EventRow) {}

    fn wants(&self, connection: u64, time_ns: i64) -> bool {
        let of = self.parts.get(&connection);
        of.is_some_and(|parts| parts.iter().any(|&(from, to)| (from..=to).contains(&time_ns)))
    }

    fn segment(&mut self, row: SegmentRow) {
        if self.rows < self.most {
            self.rows += 1;
            self.segments.push(row);
        } else {
            self.left_out += 1;
        }
    }

    fn sack(&mut self, row: SackRow) {
        if self.left_out == 0 {
            self.sacks.push(row);
        }
    }
}

/// Read captures again, and write rows of the packets that are wanted. `on_progress` is called as by [`crate::analyse`].
///
/// # Errors
/// A file cannot be read, a table cannot be written, or `on_progress` says so.
pub fn detail(wanted: &Wanted<'_>, mut on_progress: impl FnMut(Progress) -> Result<()>) -> Result<Detail> {
    fn writer<R: Row>(directory: &Path) -> Result<Writer<R>> {
        let path = directory.join(format!("{}.parquet", R::TABLE));
        Ok(Writer::create(&path, Names::default())?.waiting(BACKLOG))
    }
    let mut parts: HashMap<u64, Vec<(i64, i64)>> = HashMap::new();
    for part in wanted.parts {
        parts.entry(part.connection).or_default().push((part.from_ns, part.to_ns));
    }
    let capture = Capture::open(wanted.captures, wanted.interfaces)?.decoding(wanted.as_said.clone());
    let mut rows = Rows {
        parts,
        segments: writer(wanted.directory)?,
        sacks: writer(wanted.directory)?,
        most: wanted.most,
        rows: 0,
        left_out: 0,
    };
    let mut table = Table::new(wanted.limits);
    take_all(capture, &mut table, &mut rows, &mut on_progress)?;
    table.finish(&mut rows);
    let Rows { segments, sacks, rows, left_out, .. } = rows;
    segments.finish()?;
    sacks.finish()?;
    Ok(Detail { all: table.segments, rows, left_out })
}
