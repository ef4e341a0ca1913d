//! Packet captures.

use std::path::PathBuf;

use connections::{Analysis, Limits, analyse};
use pyo3::prelude::*;

/// Analyse the captures `paths` as one, and write the tables `connections`, `directions`, `intervals`, `rtt` and `events` to
/// `directory`; `-` is standard input. If `interfaces` names some, only their packets count. Intervals are `interval_ns` long; at most `connections` are followed at once.
///
/// Calls `on_progress` with the frames and connections so far about every 262,144 TCP segments; what it raises ends it.
/// Returns JSON: `origin_ns` (since 1970; times in tables count from it), `end_ns`, `segments`, `connections`, `evicted`,
/// `interval_ns`, `interfaces` and `notes`.
///
/// Raises RuntimeError: what failed, and why, as that no TCP packet can be read.
#[pyfunction]
pub(crate) fn analyse_captures(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    interfaces: Vec<String>,
    directory: PathBuf,
    interval_ns: i64,
    connections: usize,
    on_progress: Py<PyAny>,
) -> PyResult<String> {
    let limits = Limits { connections: connections.max(1), interval_ns: interval_ns.max(1) };
    let analysis = || {
        let analysis = Analysis { captures: &paths, interfaces: &interfaces, directory: &directory, limits };
        analyse(&analysis, |so_far| {
            Python::attach(|py| {
                py.check_signals()?;
                on_progress.call1(py, (so_far.frames, so_far.connections))
            })?;
            Ok(())
        })
    };
    let summary = py.detach(analysis).map_err(crate::simulate::raised)?;
    Ok(serde_json::to_string(&summary).expect("a summary is plain data"))
}
