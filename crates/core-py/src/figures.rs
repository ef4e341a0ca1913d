//! The figures of a run on disk.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;

use anyhow::{Context, Result};
use figures::{directory, tables};
use plan::Plan;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use records::reader::Open;
use serde_json::{Value, json};
use units::Time;

/// Bytes of a plan. That of 10,000 flows has a twentieth of that.
const LARGEST: u64 = 256 << 20;

/// Checks that the file at `path` is a Parquet table, and not far larger than any that dumbbell writes.
///
/// Raises OSError.
#[pyfunction]
pub(crate) fn check_table(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| records::bounds::check(&File::open(path)?)).map_err(|error| PyOSError::new_err(error.to_string()))
}

/// The figures of the run in `directory`, whose engine accounts for links in the file `network` there. `opened` takes a file's
/// name, and returns a descriptor, which is closed here. Writes `flows.parquet`, and returns JSON: `flows`, `links`, `jain_index`, `jain_window_s`, `responsiveness` and `rerouting` of
/// `summary.json`.
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn figures_of(py: Python<'_>, directory: PathBuf, network: &str, opened: Py<PyAny>) -> PyResult<String> {
    let found = || -> Result<String> {
        let open = |name: &str| open(&opened, name);
        let plan = plan_of(&open)?;
        let run = directory::read(&open, &plan, network, &uninterrupted)?;
        tables::flows(&run.flows).write(&directory.join("flows.parquet"))?;
        Ok(run.summary(&plan)?.to_string())
    };
    py.detach(found).map_err(crate::simulate::raised)
}

/// Summarises a run between two times. `opened` takes a file's name, and returns a descriptor, which is closed here. Returns JSON: `received_bytes` (by flow), `jain_index` (of
/// bulk TCP flows), `utilisation` (by link).
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn figures_between(py: Python<'_>, opened: Py<PyAny>, start_ns: i64, end_ns: i64) -> PyResult<String> {
    let found = || -> Result<String> {
        let open = |name: &str| open(&opened, name);
        let plan = plan_of(&open)?;
        Ok(directory::between(&open, &plan, Time(start_ns), Time(end_ns), &uninterrupted)?.summary(&plan).to_string())
    };
    py.detach(found).map_err(crate::simulate::raised)
}

/// Finds the bottleneck of each path of a run over time. `opened` is as above. Returns JSON: for each different path `links`, the
/// names of the links at which packets can wait, `flows`, the ids of its flows, and `course`: pairs of a time in ns and of
/// the link that is the bottleneck from then on, or null.
///
/// Raises RuntimeError: what failed, and why. Ctrl-C ends it.
#[pyfunction]
pub(crate) fn bottlenecks_of(py: Python<'_>, opened: Py<PyAny>) -> PyResult<String> {
    let found = || -> Result<String> {
        let open = |name: &str| open(&opened, name);
        let plan = plan_of(&open)?;
        let found = directory::bottlenecks(&open, &plan, &uninterrupted)?;
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

fn plan_of(open: Open) -> Result<Plan> {
    let text = open("plan.json").and_then(|file| io::read_to_string(file.take(LARGEST)));
    Plan::parse(&text.context("reading plan.json")?).context("in plan.json")
}

/// Opens a file by `opened`, a function of Python.
fn open(opened: &Py<PyAny>, name: &str) -> io::Result<File> {
    let asked = |py: Python<'_>| -> PyResult<i32> { opened.call1(py, (name,))?.extract(py) };
    let descriptor = Python::attach(|py| {
        asked(py).map_err(|error| match error.is_instance_of::<PyFileNotFoundError>(py) {
            true => io::Error::new(io::ErrorKind::NotFound, error),
            false => io::Error::other(error),
        })
    })?;
    // SAFETY: the function has opened it for us alone.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}
