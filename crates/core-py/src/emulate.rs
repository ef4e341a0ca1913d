//! The emulation engine.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Run the plan in `directory/plan.json` in a lab, and write its records there. Returns an exit code.
///
/// Reads its orders from standard input and writes events to standard output: to be called by a process of its own,
/// which must have one thread. `live`: ten times a second an event says where flows and links stand.
#[pyfunction]
pub(crate) fn emulate(directory: PathBuf, live: bool) -> i32 {
    supervisor::emulate(&directory, live)
}

/// Try what a lab needs of this machine. Returns JSON: a list of {name, ok, detail, fix}.
#[pyfunction]
pub(crate) fn check_namespaces() -> PyResult<String> {
    let facts = lab::sandbox::check().map_err(|error| PyRuntimeError::new_err(format!("{error:#}")))?;
    Ok(serde_json::to_string(&facts).expect("facts are plain data"))
}
