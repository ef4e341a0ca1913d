//! `dumbbell._core`: the Rust side as Python sees it. Coarse on purpose: a run's directory goes in, files come out.

mod batch;
mod cc;
mod declarations;
mod figures;
mod simulate;

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Run the plan in `directory/plan.json` in a lab, and write its records there. Returns an exit code.
///
/// Reads its orders from standard input and writes events to standard output: to be called by a process of its own,
/// which must have one thread. `live`: ten times a second an event says where flows and links stand.
#[pyfunction]
fn emulate(directory: PathBuf, live: bool) -> i32 {
    supervisor::emulate(&directory, live)
}

/// Try what a lab needs of this machine. Returns JSON: a list of {name, ok, detail, fix}.
#[pyfunction]
fn check_namespaces() -> PyResult<String> {
    let facts = lab::sandbox::check().map_err(|error| PyRuntimeError::new_err(format!("{error:#}")))?;
    Ok(serde_json::to_string(&facts).expect("facts are plain data"))
}

/// The version of the Rust side.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(emulate, module)?)?;
    module.add_function(wrap_pyfunction!(check_namespaces, module)?)?;
    batch::register(module)?;
    cc::register(module)?;
    declarations::register(module)?;
    figures::register(module)?;
    simulate::register(module)?;
    module.add_function(wrap_pyfunction!(version, module)?)
}
