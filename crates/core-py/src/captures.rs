//! Packet captures.

use std::path::PathBuf;

use connections::{Analysis, Limits, Part, Progress, Wanted, analyse, detail};
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
    let limits = Limits { interval_ns: interval_ns.max(1), ..Limits::of(connections) };
    let analysis = || {
        let analysis = Analysis { captures: &paths, interfaces: &interfaces, directory: &directory, limits };
        analyse(&analysis, |so_far| tell(&on_progress, so_far))
    };
    let summary = py.detach(analysis).map_err(crate::simulate::raised)?;
    Ok(serde_json::to_string(&summary).expect("a summary is plain data"))
}

/// Read the captures `paths` again as `analyse_captures` did, and write the tables `segments` and `sacks` to `directory`: a
/// row for each packet of `parts`, which are connections by number, each with its first and last time in ns, and for each of
/// its SACK blocks. At most `most` packets are written.
///
/// Calls `on_progress` as `analyse_captures` does. Returns JSON: `all`, the TCP segments of the capture, `rows` of `segments`,
/// and `left_out`, packets of the parts that are none.
///
/// Raises RuntimeError: what failed, and why.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn capture_segments(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    interfaces: Vec<String>,
    directory: PathBuf,
    connections: usize,
    parts: Vec<(u64, i64, i64)>,
    most: u64,
    on_progress: Py<PyAny>,
) -> PyResult<String> {
    let parts: Vec<Part> =
        parts.into_iter().map(|(connection, from_ns, to_ns)| Part { connection, from_ns, to_ns }).collect();
    let limits = Limits::of(connections);
    let again = || {
        let wanted =
            Wanted { captures: &paths, interfaces: &interfaces, directory: &directory, limits, parts: &parts, most };
        detail(&wanted, |so_far| tell(&on_progress, so_far))
    };
    let found = py.detach(again).map_err(crate::simulate::raised)?;
    Ok(serde_json::to_string(&found).expect("counts are plain data"))
}

/// Tell Python how far an analysis is, and let Ctrl-C end it.
fn tell(on_progress: &Py<PyAny>, so_far: Progress) -> anyhow::Result<()> {
    Python::attach(|py| {
        py.check_signals()?;
        on_progress.call1(py, (so_far.frames, so_far.connections))
    })?;
    Ok(())
}
