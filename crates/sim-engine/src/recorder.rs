//! Writes a run's tables while it is simulated.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use plan::Plan;
use records::acks::Ack;
use records::frames::Frames;
use records::kinds::{KindRow, KindTables};
use records::packets::PacketRow;
use records::samples::Sample;
use records::{Files, Names, Row, Writer, WriterStats};
use sim::{Observer, Resent, rows};

use crate::frames::Headers;

/// Rows come faster than they can be written: so many chunks of 8192 may wait for each table, some 30 MB.
const BACKLOG_CHUNKS: usize = 16;

/// Turns the events of a simulation into rows of the tables. Rows that are not to be recorded are not even compiled.
pub struct Recorder<const PACKETS: bool, const ACKS: bool> {
    samples: Writer<Sample>,
    links: Writer<records::links::LinkRow>,
    packets: Option<Writer<PacketRow>>,
    kinds: KindTables<Files>,
    acks: Option<Writer<Ack>>,
    capture: Option<(Headers, Frames)>,
}

impl<const PACKETS: bool, const ACKS: bool> Recorder<PACKETS, ACKS> {
    /// Begin the tables in `directory`.
    ///
    /// # Errors
    /// A file can't be created.
    pub fn create(plan: &Plan, directory: &Path) -> Result<Self> {
        let (names, backlog_limit) = (Names::of(plan), BACKLOG_CHUNKS);
        Ok(Recorder {
            samples: table(directory, "samples", &names)?,
            links: table(directory, "links", &names)?,
            packets: plan.record.packets.then(|| table(directory, "packets", &names)).transpose()?,
            acks: ACKS.then(|| table(directory, "acks", &names)).transpose()?,
            capture: plan.record.capture.then(|| capture(plan, directory)).transpose()?,
            kinds: KindTables::create(plan, &Files { directory: directory.to_owned(), names, backlog_limit })?,
        })
    }

    /// Why rows are lost, if they are: the disk is full, for example.
    pub fn failure(&self) -> Option<String> {
        let rare = || self.samples.failure().or_else(|| self.links.failure());
        let frequent = || self.packets.as_ref()?.failure();
        let capture = || self.capture.as_ref()?.1.failure();
        rare().or_else(frequent).or_else(|| self.acks.as_ref()?.failure()).or_else(capture)
    }

    /// Write all down. Returns what it cost, by table.
    ///
    /// # Errors
    /// A table could not be written; the others are complete.
    pub fn finish(mut self) -> Result<BTreeMap<&'static str, WriterStats>> {
        self.capture.map(|(_, frames)| frames.finish()).transpose()?;
        let finished = [
            Some(("samples", self.samples.finish())),
            Some(("links", self.links.finish())),
            self.packets.map(|table| ("packets", table.finish())),
            self.acks.map(|table| ("acks", table.finish())),
        ];
        finished.into_iter().flatten().chain(self.kinds.end()).map(|(name, stats)| Ok((name, stats?))).collect()
    }
}

fn table<R: Row>(directory: &Path, name: &str, names: &Names) -> Result<Writer<R>> {
    let path = directory.join(name).with_extension("parquet");
    Ok(Writer::create(&path, names.clone())?.waiting(BACKLOG_CHUNKS))
}

/// Returns the cause of a retransmission, which no header says.
fn note(resent: Resent) -> &'static str {
    match resent {
        Resent::No => "",
        Resent::Fast => "sent again: fast",
        Resent::Probe => "sent again: tail-loss-probe",
        Resent::Timeout => "sent again: timeout",
        Resent::AfterTimeout => "sent again: after-timeout",
    }
}

fn capture(plan: &Plan, directory: &Path) -> Result<(Headers, Frames)> {
    Ok((Headers::of(plan)?, Frames::create(plan, directory, BACKLOG_CHUNKS)?))
}

impl<const PACKETS: bool, const ACKS: bool> Observer for Recorder<PACKETS, ACKS> {
    const ACKS: bool = ACKS;
    const PACKETS: bool = PACKETS;
    const SAMPLES: bool = true;

    fn ack(&mut self, row: &sim::AckRow<'_>) {
        if let Some(table) = &mut self.acks {
            table.push(rows::ack(row));
        }
    }

    fn packet(&mut self, row: &sim::PacketRow<'_>) {
        if let Some((headers, frames)) = &mut self.capture {
            frames.passed(row.link, row.passage, headers.write(row.segment, row.passage), note(row.segment.resent));
        }
        if let Some(table) = &mut self.packets {
            table.push(rows::packet(row));
        }
    }

    fn kind(&mut self, row: &KindRow) {
        self.kinds.push(*row);
    }

    fn flow(&mut self, row: &sim::FlowRow<'_>) {
        if let Some(sample) = rows::sample(row) {
            self.samples.push(sample);
        }
    }

    fn link(&mut self, row: &sim::LinkRow) {
        self.links.push(rows::link(row));
    }
}
