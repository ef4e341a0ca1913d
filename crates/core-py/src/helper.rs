//! Programs that help.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Run a program and its arguments in `directory`, within limits of time, memory and output: its text may be a stranger's.
/// Returns whether it did what it was asked for, and its output, or the limit that has ended it. `environment` replaces
/// this process's.
///
/// Raises OSError if it cannot be started.
#[pyfunction]
#[pyo3(signature = (command, directory, environment = None))]
pub(crate) fn run_helper(
    py: Python<'_>,
    command: Vec<OsString>,
    directory: PathBuf,
    environment: Option<HashMap<OsString, OsString>>,
) -> PyResult<(bool, String)> {
    let (program, arguments) = command.split_first().ok_or_else(|| PyValueError::new_err("no program"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    let ended = py.detach(|| bpf::run_helper(&mut command))?;
    Ok((ended.ok, ended.said))
}
