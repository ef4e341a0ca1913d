//! The emulation engine.

use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Run the plan in `directory/plan.json` in a lab, and write its records there. Returns an exit code.
///
/// Reads its orders from standard input and writes events to standard output: to be called by a process of its own,
/// which must have one thread. `live`: ten times a second an event says where flows and links stand.
#[pyfunction]
pub(crate) fn emulate(py: Python<'_>, directory: PathBuf, live: bool) -> i32 {
    py.detach(|| supervisor::emulate(&directory, live))
}

/// Build the lab of the plan in `directory/plan.json`, and keep it until somebody asks it to end. Returns an exit code.
///
/// `listener` is a descriptor of a listening Unix socket, by which users ask for programs, traffic and changes; it becomes
/// the lab's. Standard input, output and threads are as in `emulate`: the end of standard input ends the lab.
#[pyfunction]
pub(crate) fn stay(py: Python<'_>, directory: PathBuf, listener: i32) -> i32 {
    // SAFETY: the caller hands it over.
    let listener = unsafe { OwnedFd::from_raw_fd(listener) };
    py.detach(|| supervisor::stay(&directory, listener))
}

/// Why programs of a node cannot be limited to a share of a CPU here: what is wrong, why, and what to do. None if they can.
#[pyfunction]
pub(crate) fn cpu_share_refusal(py: Python<'_>) -> Option<(String, String, String)> {
    py.detach(lab::shares::refusal).map(|failure| (failure.what, failure.why, failure.hint))
}

/// Try what a lab needs of this machine. Returns JSON: a list of {name, ok, detail, fix}.
#[pyfunction]
pub(crate) fn check_namespaces(py: Python<'_>) -> PyResult<String> {
    let facts = py.detach(lab::sandbox::check).map_err(|error| PyRuntimeError::new_err(format!("{error:#}")))?;
    Ok(serde_json::to_string(&facts).expect("facts are plain data"))
}
