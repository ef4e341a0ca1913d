//! Takes a simulation's rows: the columns that somebody wants, and digests of all.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use plan::Plan;
use rows::acks::Ack;
use rows::kinds::{Keep, KindRow, KindTables};
use rows::links::LinkRow;
use rows::packets::PacketRow;
use rows::samples::Sample;
use rows::{Column, Digest, Names, Row};
use sim::Observer;

/// Some columns of a table, row after row.
pub(crate) struct Picked<R: Row> {
    columns: Vec<&'static Column<R>>,
    values: Vec<f64>,
}

impl<R: Row> Picked<R> {
    /// # Errors
    /// The table has no such column.
    pub(crate) fn new(names: &[String]) -> Result<Picked<R>> {
        let find = |name: &String| {
            let found = R::COLUMNS.iter().find(|column| column.name == name);
            found.with_context(|| format!("the table {} has no column {name}", R::TABLE))
        };
        Ok(Picked { columns: names.iter().map(find).collect::<Result<_>>()?, values: Vec::new() })
    }

    fn push(&mut self, row: &R) {
        self.values.extend(self.columns.iter().map(|column| column.number(row)));
    }

    /// Takes the rows that have come since the last call.
    pub(crate) fn take(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.values)
    }
}

/// Keeps the digests of tables with these names.
struct OfRows(Names);

impl Keep for OfRows {
    type Of<R: Row> = Digest<R>;
    type End = String;
    type Error = std::convert::Infallible;

    fn create<R: Row>(&self) -> Result<Digest<R>, Self::Error> {
        Ok(Digest::new(self.0.clone()))
    }

    fn push<R: Row>(of: &mut Digest<R>, row: R) {
        of.push(&row);
    }

    fn end<R: Row>(of: Digest<R>) -> String {
        of.hex()
    }
}

/// Digests of the tables that a run of the plan writes.
pub(crate) struct Digests {
    samples: Digest<Sample>,
    links: Digest<LinkRow>,
    packets: Option<Digest<PacketRow>>,
    acks: Option<Digest<Ack>>,
    kinds: KindTables<OfRows>,
}

impl Digests {
    fn of(plan: &Plan) -> Digests {
        let names = Names::of(plan);
        let Ok(tables) = KindTables::create(plan, &OfRows(names.clone()));
        Digests {
            samples: Digest::new(names.clone()),
            links: Digest::new(names.clone()),
            packets: plan.record.packets.then(|| Digest::new(names.clone())),
            acks: (plan.record.acks != plan::Acks::Off).then(|| Digest::new(names.clone())),
            kinds: tables,
        }
    }

    fn texts(&mut self) -> BTreeMap<&'static str, String> {
        let all = [
            Some((Sample::TABLE, self.samples.hex())),
            Some((LinkRow::TABLE, self.links.hex())),
            self.packets.as_ref().map(|digest| (PacketRow::TABLE, digest.hex())),
            self.acks.as_ref().map(|digest| (Ack::TABLE, digest.hex())),
        ];
        all.into_iter().flatten().chain(self.kinds.end()).collect()
    }
}

/// Rows that nobody asks for are not even compiled.
pub(crate) struct Recorder<const PACKETS: bool, const ACKS: bool> {
    pub samples: Picked<Sample>,
    pub links: Picked<LinkRow>,
    digests: Option<Digests>,
}

impl<const PACKETS: bool, const ACKS: bool> Recorder<PACKETS, ACKS> {
    pub(crate) fn new(samples: Picked<Sample>, links: Picked<LinkRow>, digests_of: Option<&Plan>) -> Self {
        Recorder { samples, links, digests: digests_of.map(Digests::of) }
    }

    /// By the tables' names; empty if nobody asked for them.
    pub(crate) fn digests(&mut self) -> BTreeMap<&'static str, String> {
        self.digests.as_mut().map(Digests::texts).unwrap_or_default()
    }
}

impl<const PACKETS: bool, const ACKS: bool> Observer for Recorder<PACKETS, ACKS> {
    const ACKS: bool = ACKS;
    const PACKETS: bool = PACKETS;
    const SAMPLES: bool = true;

    fn ack(&mut self, row: &sim::AckRow<'_>) {
        if let Some(Digests { acks: Some(digest), .. }) = &mut self.digests {
            digest.push(&sim::rows::ack(row));
        }
    }

    fn packet(&mut self, row: &sim::PacketRow<'_>) {
        if let Some(Digests { packets: Some(digest), .. }) = &mut self.digests {
            digest.push(&sim::rows::packet(row));
        }
    }

    fn kind(&mut self, row: &KindRow) {
        if let Some(digests) = &mut self.digests {
            digests.kinds.push(*row);
        }
    }

    fn flow(&mut self, row: &sim::FlowRow<'_>) {
        if let Some(sample) = sim::rows::sample(row) {
            self.samples.push(&sample);
            if let Some(digests) = &mut self.digests {
                digests.samples.push(&sample);
            }
        }
    }

    fn link(&mut self, row: &sim::LinkRow) {
        let row = sim::rows::link(row);
        self.links.push(&row);
        if let Some(digests) = &mut self.digests {
            digests.links.push(&row);
        }
    }
}
