//! All that Rust declares and other languages take over: `make generate` writes their files from it.

use pyo3::prelude::*;
use serde_json::json;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(declarations, module)?)
}

/// All declarations (JSON), a section each: `plan` is the JSON Schema of plan.json.
#[pyfunction]
fn declarations() -> String {
    json!({
        "plan": plan::schema(),
    })
    .to_string()
}
