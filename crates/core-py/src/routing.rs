use std::path::PathBuf;

use pyo3::prelude::*;

/// The path of a daemon of FRRouting, such as `bgpd`; `None` if this machine lacks it.
#[pyfunction]
pub(crate) fn routing_daemon(name: &str) -> Option<PathBuf> {
    routers::daemon(name)
}
