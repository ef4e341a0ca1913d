//! The tables of a shard. Columns, units and meaning are in `docs/reference/records.md`.

use figures::study::{self, RunRow};
use records::Batch;

use super::Run;
use super::run::Outcome;

/// Name and rows of each table. `first` is the number of the first of `runs`.
pub(super) fn all(runs: &[Run], first: usize, outcomes: &[Outcome]) -> [(&'static str, Batch); 3] {
    let rows: Vec<RunRow> =
        (first as u64..).zip(runs).zip(outcomes).map(|((number, run), outcome)| row(number, run, outcome)).collect();
    let runs = || rows.iter().zip(outcomes).filter_map(|(row, outcome)| Some((row, outcome.result.as_ref().ok()?)));
    [
        ("runs", study::runs(&rows)),
        ("flows", study::flows(runs().map(|(row, summary)| (row, &summary.flows[..])))),
        ("links", study::links(runs().map(|(row, summary)| (row, &summary.links[..])))),
    ]
}

fn row(number: u64, run: &Run, outcome: &Outcome) -> RunRow {
    let summary = outcome.result.as_ref();
    RunRow {
        run: number,
        run_id: run.id.clone(),
        cell: run.cell,
        repetition: run.repetition,
        seed: run.seed,
        error: summary.err().cloned(),
        packets: summary.ok().map(|summary| summary.packets),
        jain_index: summary.ok().and_then(|summary| summary.jain_index),
        jain_window: summary.ok().and_then(|summary| summary.jain_window),
        rpm: summary.ok().and_then(|summary| summary.rpm),
        // A simulation has no routing daemons.
        reconvergence_s: None,
        outage_s: None,
        rerouting_lost: None,
        verdict: outcome.judged.as_ref().map(|judged| judged.verdict.name()),
        reasons: outcome.judged.as_ref().and_then(|judged| judged.reasons.clone()),
    }
}
