//! Programs that help.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Run a program and its arguments in `directory`, within limits of time, memory and output: its text may be a stranger's.
/// Returns whether it did what it was asked for, and its output, or the limit that has ended it. `environment` replaces
/// this process's. A `confined` program reads programs and libraries of the system and what is in `directory` alone, which
/// it may change, where the kernel has Landlock (Linux 5.13).
///
/// Raises OSError if it cannot be started.
#[pyfunction]
#[pyo3(signature = (command, directory, environment = None, confined = false))]
pub(crate) fn run_helper(
    py: Python<'_>,
    command: Vec<OsString>,
    directory: PathBuf,
    environment: Option<HashMap<OsString, OsString>>,
    confined: bool,
) -> PyResult<(bool, String)> {
    let (program, arguments) = command.split_first().ok_or_else(|| PyValueError::new_err("no program"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&directory);
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    if confined {
        bpf::confine(&mut command, &directory)?;
    }
    let ended = py.detach(|| bpf::run_helper(&mut command))?;
    Ok((ended.ok, ended.said))
}
