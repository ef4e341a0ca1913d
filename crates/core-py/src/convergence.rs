//! A figure that simulated studies reckon as they go, for the tables of a run.

use pyo3::prelude::*;
use sim_engine::convergence::{Received, STEP, times};
use units::{Duration, Time};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(convergence_s, module)?)
}

/// After how long each of some flows has come to its fair share, in s: counted from `start_ns`, None if it has not. None
/// instead of a list if that can't be told. See `sim_engine::convergence`.
///
/// `flows`: of each the times of its samples, ascending, in ns, and the bytes that it had received by then, about every
/// `interval_ns`.
#[pyfunction]
fn convergence_s(
    flows: Vec<(Vec<i64>, Vec<u64>)>,
    start_ns: i64,
    end_ns: i64,
    interval_ns: i64,
) -> Option<Vec<Option<f64>>> {
    if Duration(interval_ns) > STEP {
        return None;
    }
    let by_step = |(at, bytes): (Vec<i64>, Vec<u64>)| {
        let mut received = Received::between(Time(start_ns), Time(end_ns));
        at.into_iter().zip(bytes).for_each(|(at, bytes)| received.is(Time(at), bytes));
        received.bytes()
    };
    let found = times(&flows.into_iter().map(by_step).collect::<Vec<_>>())?;
    Some(found.into_iter().map(|time| Some(time?.as_nanos() as f64 / 1e9)).collect())
}
