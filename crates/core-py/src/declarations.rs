//! All that Rust declares and other languages take over: `make generate` writes their files from it.

use pyo3::prelude::*;
use serde_json::json;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(declarations, module)?)
}

/// All declarations (JSON), a section each: `plan` is the JSON Schema of plan.json, `tables` are a run's tables, `studies`
/// those of a study, `figures` those of flows and links.
#[pyfunction]
fn declarations() -> String {
    json!({
        "plan": plan::schema(),
        "tables": ([records::tables(), vec![figures::tables::of_run()]].concat()),
        "studies": figures::study::declared(),
        "figures": {"flow": figures::tables::flow_figures(), "link": figures::tables::link_figures()},
    })
    .to_string()
}
