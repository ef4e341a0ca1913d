//! The figures of a run on disk.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Result;
use figures::{directory, tables};
use plan::Plan;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use units::Time;

/// Checks that the file at `path` is a Parquet table, and not far larger than any that dumbbell writes.
///
/// Raises OSError.
#[pyfunction]
pub(crate) fn check_table(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| records::bounds::check(&File::open(path)?)).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// The figures of the run in `directory`, whose engine accounts for links in the file `network` there. Writes
/// `flows.parquet`, and returns JSON: `flows`, `links`, `jain_index`, `jain_window_s`, `responsiveness` and `rerouting` of
/// `summary.json`.
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn figures_of(py: Python<'_>, directory: PathBuf, network: &str) -> PyResult<String> {
    let found = || -> Result<String> {
        let plan = plan_of(&directory)?;
        let run = directory::read(&directory, &plan, network, &uninterrupted)?;
        tables::flows(&run.flows).write(&directory.join("flows.parquet"))?;
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

/// Finds the bottleneck of each path of the run in `directory` over time. Returns JSON: for each different path `links`, the
/// names of the links at which packets can wait, `flows`, the ids of its flows, and `course`: pairs of a time in ns and of
/// the link that is the bottleneck from then on, or null.
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn bottlenecks_of(py: Python<'_>, directory: PathBuf) -> PyResult<String> {
    let found = || -> Result<String> {
        let plan = plan_of(&directory)?;
        let found = directory::bottlenecks(&directory, &plan, &uninterrupted)?;
        let name = |link: u16| plan.links[usize::from(link)].name.as_str();
        let mut flows = vec![Vec::new(); found.paths().len()];
        for (at, flow) in plan.flows.iter().enumerate() {
            flows[found.path_of(at)].push(flow.id.as_str());
        }
        let path = |(path, flows): (&figures::bottleneck::Path, Vec<&str>)| {
            let links: Vec<&str> = path.links.iter().map(|&link| name(link)).collect();
            let course: Vec<_> = path.course.iter().map(|&(since, link)| (since, link.map(name))).collect();
            json!({"links": links, "flows": flows, "course": course})
        };
        Ok(found.paths().iter().zip(flows).map(path).collect::<Value>().to_string())
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
