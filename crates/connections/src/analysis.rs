//! From capture files to Parquet tables.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use capture::{Capture, DecodeAs, Notes};
use records::{Names, Row, Writer};
use serde::Serialize;

use crate::packets::{Every, Kept, Larger, Packets};
use crate::rows::{ConnectionRow, DirectionRow, EventRow, GapRow, IntervalRow, RttRow, SackRow, SegmentRow};
use crate::{At, Limits, Sink, Table, ahead};

/// Settings of an analysis.
#[derive(Clone, Debug)]
pub struct Analysis<'a> {
    /// The files, in any order; `-` is standard input.
    pub captures: &'a [PathBuf],
    /// Names of the interfaces whose packets count; empty: all.
    pub interfaces: &'a [String],
    /// How frames are read that do not say it themselves.
    pub as_said: &'a DecodeAs,
    /// Where the tables are written.
    pub directory: &'a Path,
    /// Bounds of memory, and the length of intervals.
    pub limits: Limits,
    /// Connections whose packets become rows, one each.
    pub every: Every,
    /// Where the capture was taken, if somebody says so.
    pub at: Option<At>,
}

/// How far an analysis is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Progress {
    /// Frames so far.
    pub frames: u64,
    /// Connections so far.
    pub connections: u64,
}

/// Result of an analysis, beside its tables.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Time of the first TCP segment in ns since 1970: times in tables count from it.
    pub origin_ns: i64,
    /// Time of the last one, from the origin, in ns.
    pub end_ns: i64,
    /// TCP segments.
    pub segments: u64,
    /// Connections.
    pub connections: u64,
    /// Connections that were given up for lack of memory.
    pub evicted: u64,
    /// Length of the intervals in ns.
    pub interval_ns: i64,
    /// Names of the interfaces, where the files have them.
    pub interfaces: Vec<Option<String>>,
    /// Rows of single packets, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// Notes on the files.
    pub notes: Notes,
}

/// Chunks of rows that may wait to be written.
pub(crate) const BACKLOG: usize = 16;
/// The same of rows of connections and directions, which take 1 kB each.
const LARGE_BACKLOG: usize = 2;
/// Bytes that packets take before they are written.
const MOST_PACKET_BYTES: usize = 32 << 20;
/// Segments between two reports.
const STEP: u64 = 1 << 18;

struct Tables {
    connections: Writer<ConnectionRow>,
    directions: Writer<DirectionRow>,
    intervals: Writer<IntervalRow>,
    rtt: Writer<RttRow>,
    events: Writer<EventRow>,
    gaps: Writer<GapRow>,
    packets: Option<Packets>,
    larger: Larger,
}

impl Tables {
    fn create(directory: &Path, every: Every) -> Result<Tables> {
        fn table<R: Row>(directory: &Path, backlog: usize) -> Result<Writer<R>> {
            let path = directory.join(format!("{}.parquet", R::TABLE));
            Ok(Writer::create(&path, Names::default())?.waiting(backlog))
        }
        Ok(Tables {
            connections: table(directory, LARGE_BACKLOG)?,
            directions: table(directory, LARGE_BACKLOG)?,
            intervals: table(directory, BACKLOG)?,
            rtt: table(directory, BACKLOG)?,
            events: table(directory, BACKLOG)?,
            gaps: table(directory, BACKLOG)?,
            packets: match every {
                Every::None => None,
                _ => Some(Packets::create(directory, every, MOST_PACKET_BYTES)?),
            },
            larger: Larger::default(),
        })
    }

    fn finish(self) -> Result<Option<Kept>> {
        self.connections.finish()?;
        self.directions.finish()?;
        self.intervals.finish()?;
        self.rtt.finish()?;
        self.events.finish()?;
        self.gaps.finish()?;
        self.packets.map(Packets::finish).transpose()
    }
}

impl Sink for Tables {
    fn connection(&mut self, row: ConnectionRow) {
        self.connections.push(row);
    }
    fn direction(&mut self, row: DirectionRow) {
        self.larger.direction(&row);
        self.directions.push(row);
    }
    fn interval(&mut self, row: IntervalRow) {
        self.intervals.push(row);
    }
    fn rtt(&mut self, row: RttRow) {
        self.rtt.push(row);
    }
    fn event(&mut self, row: EventRow) {
        self.events.push(row);
    }
    fn gap(&mut self, row: GapRow) {
        self.gaps.push(row);
    }

    fn wants(&self, _: u64, _: i64) -> bool {
        self.packets.is_some()
    }
    fn segment(&mut self, row: SegmentRow) {
        if let Some(packets) = &mut self.packets {
            packets.segment(&row);
        }
    }
    fn sack(&mut self, row: SackRow) {
        if let Some(packets) = &mut self.packets {
            packets.sack(&row);
        }
    }
    fn ended(&mut self, connection: u64) {
        let payload = self.larger.take();
        if let Some(packets) = &mut self.packets {
            packets.ended(connection, payload);
        }
    }
}

/// Analyse captures, and write their tables. `on_progress` is called every 262,144 segments.
///
/// # Errors
/// A file cannot be read, none has a TCP segment that can be read, a table cannot be written, or `on_progress` says so.
pub fn analyse(analysis: &Analysis<'_>, mut on_progress: impl FnMut(Progress) -> Result<()>) -> Result<Summary> {
    let capture = Capture::open(analysis.captures, analysis.interfaces)?.decoding(analysis.as_said.clone());
    let mut tables = Tables::create(analysis.directory, analysis.every)?;
    let mut table = Table::new(analysis.limits).seen_at(analysis.at);
    let capture = take_all(capture, &mut table, &mut tables, &mut on_progress)?;
    table.finish(&mut tables);
    let kept = tables.finish()?;
    let notes = capture.notes().clone();
    let Some(origin_ns) = table.origin_ns() else { bail!("{}", nothing(&notes)) };
    Ok(Summary {
        origin_ns,
        end_ns: table.last_ns,
        segments: table.segments,
        connections: table.connections,
        evicted: table.evicted,
        interval_ns: analysis.limits.interval_ns,
        interfaces: capture.interfaces().iter().map(|interface| interface.name.clone()).collect(),
        kept,
        notes,
    })
}

/// A table takes all segments of a capture, which is returned, read to its end.
pub(crate) fn take_all(
    capture: Capture,
    table: &mut Table,
    sink: &mut impl Sink,
    on_progress: &mut impl FnMut(Progress) -> Result<()>,
) -> Result<Capture> {
    ahead::each(capture, |segments, frames| {
        let steps = table.segments / STEP;
        for segment in segments {
            table.take(segment, sink);
        }
        if table.segments / STEP > steps {
            on_progress(Progress { frames, connections: table.connections })?;
        }
        Ok(())
    })
}

/// Link types that are named.
const MOST_LINKS: usize = 4;

/// Why there is no TCP segment.
fn nothing(notes: &Notes) -> String {
    let mut reasons = Vec::new();
    if notes.frames == 0 {
        reasons.push("there is no packet in it".to_owned());
    }
    for (link, count) in notes.unknown_links.iter().take(MOST_LINKS) {
        reasons.push(format!("{count} packets are of link type {link}, which dumbbell does not read"));
    }
    if let Some(others @ [_, ..]) = notes.unknown_links.get(MOST_LINKS..) {
        let packets: u64 = others.iter().map(|one| one.1).sum();
        reasons.push(format!("{packets} packets are of {} further link types", others.len()));
    }
    if notes.headless_frames > 0 {
        let cut = notes.headless_frames;
        reasons
            .push(format!("{cut} packets were cut before the end of their headers: capture 96 bytes of each or more"));
    }
    if notes.malformed_frames > 0 {
        reasons.push(format!("{} packets have headers that contradict each other", notes.malformed_frames));
    }
    if notes.timeless_frames > 0 {
        reasons.push(format!("{} packets have no time", notes.timeless_frames));
    }
    if notes.open_datagrams > 0 {
        reasons.push(format!("of {} fragmented packets some fragments are missing", notes.open_datagrams));
    }
    for other in &notes.others {
        reasons.push(format!("{} packets are {}", other.packets, other.name));
    }
    if notes.damages > 0 {
        reasons.push("the file is damaged".to_owned());
    }
    format!("no TCP packet can be read: {}", reasons.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_alone_is_a_reason() {
        let notes = Notes { frames: 1, open_datagrams: 1, ..Notes::default() };
        assert_eq!(nothing(&notes), "no TCP packet can be read: of 1 fragmented packets some fragments are missing");
    }
}
