//! All that Rust declares and other languages take over: `make generate` writes their files from it.

use connections::rows::{ConnectionRow, DirectionRow};
use pyo3::prelude::*;
use records::{Column, Row};
use serde_json::json;

/// All declarations (JSON), a section each: `plan` is the JSON Schema of plan.json, `messages` that of a run's events and of
/// orders to it, `algorithms` is {declared: a list of what
/// each manifest says, kernel: names that mean the kernel's own}, `tables` are a run's tables, `studies` those of a study,
/// `captures` those of a capture of which Python reads rows, `figures` those of flows and links.
#[pyfunction]
pub(crate) fn declarations() -> String {
    json!({
        "plan": plan::schema(),
        "messages": messages::schema(),
        "algorithms": { "declared": cc::DECLARED.iter().map(algorithm).collect::<Vec<_>>(), "kernel": cc::KERNEL },
        "tables": ([records::tables(), vec![figures::tables::of_run()]].concat()),
        "studies": figures::study::declared(),
        "captures": [captured::<ConnectionRow>(), captured::<DirectionRow>()],
        "figures": {"flow": figures::tables::flow_figures(), "link": figures::tables::link_figures()},
    })
    .to_string()
}

fn captured<R: Row>() -> serde_json::Value {
    json!({"name": R::TABLE, "columns": R::COLUMNS.iter().map(Column::described).collect::<Vec<_>>()})
}

fn algorithm(declared: &cc::Declared) -> serde_json::Value {
    json!({
        "name": declared.name,
        "label": declared.label,
        "sentence": declared.sentence,
        "needs_ecn": declared.needs_ecn,
        "simulated": declared.simulated,
        "parameters": crate::simulate::parameters(declared.parameters),
    })
}

/// The version of the Rust side.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
