//! The figures of a run on disk.

use std::path::{Path, PathBuf};

use anyhow::Result;
use figures::{directory, tables};
use plan::Plan;
use pyo3::prelude::*;
use units::Time;

/// The figures of the run in `directory`, whose engine accounts for links in the file `network` there. Writes
/// `flows.parquet`, and returns JSON: `flows`, `links`, `jain_index`, `jain_window_s` and `responsiveness` of `summary.json`.
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn figures_of(py: Python<'_>, directory: PathBuf, network: &str) -> PyResult<String> {
    let found = || -> Result<String> {
        let plan = plan_of(&directory)?;
        let run = directory::read(&directory, &plan, network, &uninterrupted)?;
        tables::write(&directory.join("flows.parquet"), &tables::flows(&run.flows)?)?;
        Ok(run.summary(&plan)?.to_string())
    };
    py.detach(found).map_err(crate::simulate::raised)
}

/// Summarises the run in `directory` between two times. Returns JSON: `received_bytes` (by flow), `jain_index` (of
/// bulk TCP flows), `utilisation` (by link).
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn figures_between(py: Python<'_>, directory: PathBuf, start_ns: i64, end_ns: i64) -> PyResult<String> {
    let found = || -> Result<String> {
        let plan = plan_of(&directory)?;
        Ok(directory::between(&directory, &plan, Time(start_ns), Time(end_ns), &uninterrupted)?
            .summary(&plan)
            .to_string())
    };
    py.detach(found).map_err(crate::simulate::raised)
}

/// Says whether each connection of a flow carried its data, by the bytes that it delivered.
#[pyfunction]
pub(crate) fn carrying(delivered: Vec<u64>) -> Vec<bool> {
    figures::carrying(&delivered)
}

/// An error if Ctrl-C was pressed. Python looks for signals in its main thread only.
fn uninterrupted() -> Result<()> {
    Ok(Python::attach(|py| py.check_signals())?)
}

fn plan_of(directory: &Path) -> Result<Plan> {
    Plan::read(&directory.join("plan.json"))
}
