//! What the plan's links are like, for those who read the plan in Python.

use plan::Queue;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(is_first_in_first_out, module)?)
}

/// Whether all packets wait in one queue and leave it in the order of arrival. `queue`: the discipline as in plan.json.
#[pyfunction]
fn is_first_in_first_out(queue: &str) -> PyResult<bool> {
    let queue: Queue = serde_json::from_str(queue)
        .map_err(|error| PyValueError::new_err(format!("no queue discipline: {error}; {queue}")))?;
    Ok(queue.is_first_in_first_out())
}
