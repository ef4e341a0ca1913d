//! Many simulated runs at once, for studies.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sim_engine::batch::{Batch, Judged, Progress, Run, Screen, Verdict, missing, simulate_many as carry_out};

/// The runs, `runs` in all, that no shard below `directory` has, in pieces of one shard each: (first, behind the last).
/// Files that a killed command had begun to write are removed.
#[pyfunction]
pub(crate) fn missing_shards(
    py: Python<'_>,
    directory: PathBuf,
    runs: usize,
    shard_runs: usize,
) -> PyResult<Vec<(usize, usize)>> {
    let found = py.detach(|| missing(&directory, 0..runs, shard_runs)).map_err(crate::simulate::raised)?;
    Ok(found.into_iter().map(|shard| (shard.start, shard.end)).collect())
}

/// Simulate many runs on `threads` threads and write their figures to shards of `shard_runs` runs below `directory`; those
/// whose shards are there are left out. Returns whether it was stopped early.
///
/// `plans` are JSON; `objects` are compiled programs by the hash of their source; `runs` are (cell, index of the plan, repetition, seed in place of the plan's, run id), the first of
/// which has the number `first`. About every 100 ms
/// `on_event` gets `{"event": "progress", "runs", "of", "found", "failed", "packets", "simulated_s", "cpu_s", "wall_s"}` as
/// JSON; if it returns false or raises, that is the end, and what is finished is kept. A run that fails doesn't end the
/// others: it has an `error` in the table `runs`.
///
/// `judge`, if any, is asked about runs that are not sound by `screen`: the share of its busy time in which windows may hold a
/// flow back, and the largest window in packets. It gets the index of the plan and what the run tells of its own fidelity
/// (JSON: `network`, `traffic`, `min_rtt_us`, `largest_window`), and returns a verdict and the reasons. One that is invalid has
/// an `error`.
#[pyfunction]
#[pyo3(signature = (plans, runs, directory, on_event, *, shard_runs, threads, objects = BTreeMap::new(), first = 0, judge = None, screen = (0.0, 0)))]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn simulate_many(
    py: Python<'_>,
    plans: Vec<String>,
    runs: Vec<(u32, u32, u32, u64, String)>,
    directory: PathBuf,
    on_event: Py<PyAny>,
    shard_runs: usize,
    threads: usize,
    objects: BTreeMap<String, PyBackedBytes>,
    first: usize,
    judge: Option<Py<PyAny>>,
    screen: (f64, u32),
) -> PyResult<bool> {
    let objects = crate::simulate::owned(objects);
    let run = |(cell, plan, repetition, seed, id)| Run { cell, plan, repetition, seed, id };
    let runs: Vec<Run> = runs.into_iter().map(run).collect();
    let mut raised = None;
    let ended = py.detach(|| {
        let (limited_share, window_packets) = screen;
        let screen = judge.as_ref().map(|_| Screen { limited_share, window_packets });
        let batch = Batch {
            plans: &plans,
            objects: &objects,
            runs: &runs,
            first,
            own: None,
            directory: &directory,
            shard_runs,
            threads,
            quic: None,
            screen,
        };
        let ask = |plan, evidence: &str| ask(judge.as_ref().context("nobody judges")?, plan, evidence);
        carry_out(&batch, ask, |progress| {
            raised.is_none()
                && tell(&on_event, progress).unwrap_or_else(|error| {
                    raised = Some(error);
                    false
                })
        })
    });
    match (raised, ended) {
        (Some(error), _) => Err(error),
        (None, ended) => ended.map_err(crate::simulate::raised),
    }
}

fn ask(judge: &Py<PyAny>, plan: u32, evidence: &str) -> Result<Judged> {
    let (verdict, reasons): (String, Option<String>) =
        Python::attach(|py| judge.call1(py, (plan, evidence))?.extract(py))?;
    let verdict = Verdict::of(&verdict).with_context(|| format!("no verdict: {verdict}"))?;
    Ok(Judged { verdict, reasons })
}

fn tell(on_event: &Py<PyAny>, progress: &Progress) -> PyResult<bool> {
    let mut event = serde_json::to_value(progress).expect("progress is plain data");
    event["event"] = "progress".into();
    Python::attach(|py| on_event.call1(py, (event.to_string(),))?.is_truthy(py))
}
