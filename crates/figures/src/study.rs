//! The tables of a study: `runs`, `flows` and `links`, a row each for every run that there is.

use records::Values::{F64, Text, U32, U64};
use records::{Batch, Column, Described, Table};
use units::Time;

use crate::flow::{Flow, seconds};
use crate::link::{self, Link};
use crate::tables;

/// A run of a study.
#[derive(Clone, Debug, Default)]
pub struct RunRow {
    /// Its number.
    pub run: u64,
    /// Hash of all that determines it.
    pub run_id: String,
    /// The cell, which has one of the studied settings.
    pub cell: u32,
    /// The run's number in the cell.
    pub repetition: u32,
    /// The seed of its random streams.
    pub seed: u64,
    /// Why it can't be used.
    pub error: Option<String>,
    /// Sent by hosts.
    pub packets: Option<u64>,
    /// Fairness of the bulk flows.
    pub jain_index: Option<f64>,
    /// The time in which it was measured.
    pub jain_window: Option<(Time, Time)>,
    /// Round trips per minute under load.
    pub rpm: Option<f64>,
    /// The longest time for which routers' tables changed after an event.
    pub reconvergence_s: Option<f64>,
    /// The longest time in which nothing of a flow arrived after an event.
    pub outage_s: Option<f64>,
    /// The packets that were lost while tables changed.
    pub rerouting_lost: Option<u64>,
    /// `valid`, `suspect` or `invalid`.
    pub verdict: Option<&'static str>,
    /// The checks that are not valid.
    pub reasons: Option<String>,
}

/// The columns of `runs`. The other tables begin with the first two.
static RUNS: &[Column<RunRow>] = &[
    Column::required("run", U64(|r| Some(r.run)), "number of the run"),
    Column::required("run_id", Text(|r| Some(r.run_id.as_str())), "hash of all that determines the run"),
    Column::required("cell", U32(|r| Some(r.cell)), "index in `cells` of `study.json`"),
    Column::required("repetition", U32(|r| Some(r.repetition)), "which of the cell's runs"),
    Column::required("seed", U64(|r| Some(r.seed)), "its seed: the scenario's + `repetition`"),
    Column::optional(
        "error",
        Text(|r| r.error.as_deref()),
        "why the run is unusable; such a run has no rows in the other tables; null for a run that is usable",
    ),
    Column::optional("packets", U64(|r| r.packets), "packets that hosts have sent"),
    Column::optional("jain_index", F64(|r| r.jain_index), "fairness of the bulk TCP flows"),
    Column::optional(
        "jain_start_s",
        F64(|r| Some(seconds(r.jain_window?.0 - Time::ZERO))),
        "start of the window in which it was measured",
    ),
    Column::optional("jain_stop_s", F64(|r| Some(seconds(r.jain_window?.1 - Time::ZERO))), "end of that window"),
    Column::optional(
        "rpm",
        F64(|r| r.rpm),
        "[responsiveness](metrics.md) under load, round trips per minute; null for a run without pings beside bulk TCP flows",
    ),
    Column::optional(
        "reconvergence_s",
        F64(|r| r.reconvergence_s),
        "the longest time from an [event](metrics.md#of-routing) to the last change of a router's routes; null if none changed",
    ),
    Column::optional(
        "outage_s",
        F64(|r| r.outage_s),
        "the longest time around such an event in which nothing of a flow arrived; null without routing daemons",
    ),
    Column::optional(
        "rerouting_lost",
        U64(|r| r.rerouting_lost),
        "packets that were lost while routes changed; null without routing daemons",
    ),
    Column::optional(
        "verdict",
        Text(|r| r.verdict),
        "[the verdict](verdict.md): `valid`, `suspect` or `invalid`; null for a run that failed",
    ),
    Column::optional(
        "reasons",
        Text(|r| r.reasons.as_deref()),
        "the checks that are not valid, such as `window-limits, flow-errors`",
    ),
];

/// Returns `runs`.
pub fn runs(rows: &[RunRow]) -> Batch {
    Batch::of(RUNS, rows.iter())
}

/// Returns `flows`.
pub fn flows<'a>(runs: impl IntoIterator<Item = (&'a RunRow, &'a [Flow])>) -> Batch {
    of_runs(tables::without_packets(), runs)
}

/// Returns `links`.
pub fn links<'a>(runs: impl IntoIterator<Item = (&'a RunRow, &'a [Link])>) -> Batch {
    of_runs(link::FIGURES.iter().map(|figure| &figure.column), runs)
}

/// Returns the rows of some runs, with their numbers and ids.
fn of_runs<'a, R: 'static>(
    columns: impl Iterator<Item = &'static Column<R>>,
    runs: impl IntoIterator<Item = (&'a RunRow, &'a [R])>,
) -> Batch {
    let of_run = |(run, rows): (&'a RunRow, &'a [R])| rows.iter().map(move |row| (run, row));
    let (runs, rows): (Vec<&RunRow>, Vec<&R>) = runs.into_iter().flat_map(of_run).unzip();
    Batch::of(&RUNS[..2], runs.iter().copied()).beside(Batch::of(columns, rows.iter().copied()))
}

/// The tables of a study, for documents and other languages.
pub fn declared() -> Vec<Table> {
    let runs: Vec<Described> = RUNS.iter().map(Column::described).collect();
    let with_run = |name, columns: Vec<Described>| Table { name, columns: [&runs[..2], &columns].concat() };
    let links = crate::link::FIGURES.iter().map(|figure| figure.column.described()).collect();
    vec![
        Table { name: "runs", columns: runs.clone() },
        with_run("flows", tables::of_run().columns),
        with_run("links", links),
    ]
}
