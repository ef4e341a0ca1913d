//! Packet captures.

use std::path::PathBuf;

use capture::DecodeAs;
use connections::{Analysis, At, Every, Limits, Part, Progress, Wanted, analyse, detail};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Analyse the captures `paths` as one, and write the tables `connections`, `directions`, `intervals`, `rtt`, `events` and
/// `gaps` to `directory`; `-` is standard input. If `interfaces` names some, only their packets count. Intervals are `interval_ns` long; at most `connections` are followed at once.
///
/// `packets` says of which connections each packet becomes a row of `segments`, and each SACK block one of `sacks`: `none`,
/// `top` of the `most` with the most payload in a direction, or `all`.
///
/// `at` says where the capture was taken: at the `sender`, the `receiver`, or in the `middle`; `None`: it is found out.
///
/// Calls `on_progress` with the frames and connections so far about every 262,144 TCP segments; what it raises ends it.
/// Returns JSON: `origin_ns` (since 1970; times in tables count from it), `end_ns`, `segments`, `connections`, `evicted`,
/// `interval_ns`, `interfaces`, `notes`, and `kept` if there are rows of packets: their number, `connections`, and whether
/// these are `incomplete`, for lack of memory.
///
/// `decode_as` says of ports and link types what is in their packets: `udp:PORT=vxlan`, `=geneve`, `=gtp`, `link=TYPE` and
/// `link:TYPE=TYPE`.
///
/// Raises ValueError: what of `decode_as` is malformed. Raises RuntimeError: what failed, and why, as that no TCP packet can
/// be read.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn analyse_captures(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    interfaces: Vec<String>,
    decode_as: Vec<String>,
    directory: PathBuf,
    interval_ns: i64,
    connections: usize,
    packets: &str,
    most: usize,
    at: Option<&str>,
    on_progress: Py<PyAny>,
) -> PyResult<String> {
    let every = match packets {
        "all" => Every::All,
        "top" => Every::Top(most),
        _ => Every::None,
    };
    let at = at.map(|at| match at {
        "sender" => At::Sender,
        "receiver" => At::Receiver,
        _ => At::Middle,
    });
    let as_said = parsed(&decode_as)?;
    let limits = Limits { interval_ns: interval_ns.max(1), ..Limits::of(connections) };
    let analysis = || {
        let (captures, interfaces, as_said, directory) = (&paths, &interfaces, &as_said, &directory);
        let analysis = Analysis { captures, interfaces, as_said, directory, limits, every, at };
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
    decode_as: Vec<String>,
    directory: PathBuf,
    connections: usize,
    parts: Vec<(u64, i64, i64)>,
    most: u64,
    on_progress: Py<PyAny>,
) -> PyResult<String> {
    let as_said = parsed(&decode_as)?;
    let parts: Vec<Part> =
        parts.into_iter().map(|(connection, from_ns, to_ns)| Part { connection, from_ns, to_ns }).collect();
    let limits = Limits::of(connections);
    let again = || {
        let (captures, interfaces, as_said, directory) = (&paths, &interfaces, &as_said, &directory);
        let wanted = Wanted { captures, interfaces, as_said, directory, limits, parts: &parts, most };
        detail(&wanted, |so_far| tell(&on_progress, so_far))
    };
    let found = py.detach(again).map_err(crate::simulate::raised)?;
    Ok(serde_json::to_string(&found).expect("counts are plain data"))
}

fn parsed(decode_as: &[String]) -> PyResult<DecodeAs> {
    DecodeAs::parse(decode_as).map_err(|error| PyValueError::new_err(format!("{error:#}")))
}

/// Tell Python how far an analysis is, and let Ctrl-C end it.
fn tell(on_progress: &Py<PyAny>, so_far: Progress) -> anyhow::Result<()> {
    Python::attach(|py| {
        py.check_signals()?;
        on_progress.call1(py, (so_far.frames, so_far.connections))
    })?;
    Ok(())
}
