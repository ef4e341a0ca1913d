//! The simulation engine.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use messages::{Event, Failure};
use plan::Plan;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use serde::Serialize;
use sim::{Objects, Options, Problem};
use sim_engine::Wanted;

/// Simulate the plan in `directory/plan.json`, and write its records there. `tso`: hosts send trains of segments.
///
/// Calls `on_event` with JSON, an event `progress` of the crate `messages`, at the start, about every 100 ms and at the end. If it returns False or raises, the run stops there, what was simulated until then is
/// written, and True is returned (interrupted), or the exception raised. Other threads of Python run meanwhile.
///
/// Raises RuntimeError: what failed, and why.
#[pyfunction]
pub(crate) fn simulate(py: Python<'_>, directory: PathBuf, tso: bool, on_event: Py<PyAny>) -> PyResult<bool> {
    let simulated = py.detach(|| {
        let mut tell = |event: &Event| -> Result<bool> {
            let text = serde_json::to_string(event)?;
            Ok(Python::attach(|py| on_event.call1(py, (text,))?.extract::<bool>(py))?)
        };
        sim_engine::simulate(&directory, Options { tso, ..Options::default() }, &mut tell)
    });
    simulated.map_err(raised)
}

/// Lists the obstacles to simulating a plan (JSON): {flow, host, what, why, hint} each, none if it can be simulated. `flow` is
/// the id of the flow that it is about, `host` the name of the host, or null. `objects`: compiled programs by the hash of their source.
///
/// Raises RuntimeError if it is no plan.
#[pyfunction]
#[pyo3(signature = (plan, tso, objects = BTreeMap::new()))]
pub(crate) fn simulate_check(
    py: Python<'_>,
    plan: &str,
    tso: bool,
    objects: BTreeMap<String, PyBackedBytes>,
) -> PyResult<String> {
    #[derive(Serialize)]
    struct Shown {
        flow: Option<String>,
        host: Option<String>,
        #[serde(flatten)]
        failure: Failure,
    }
    let told = |Problem { flow, host, failure }| Shown { flow, host, failure };
    let objects = owned(objects);
    let options = Options { tso, objects: &objects, ..Options::default() };
    let found = py.detach(|| Plan::parse(plan).map(|plan| sim::check(&plan, options)));
    let problems: Vec<Shown> = found.map_err(raised)?.into_iter().map(told).collect();
    Ok(serde_json::to_string(&problems).expect("problems are plain data"))
}

/// Simulates a plan without records, and returns the calls of users' programs (JSON): {calls, more, failure}. Each call is {time_ns,
/// flow, call, arguments, read, set, returns, fault}: lists of [name, value], of [name, value] and of [name, before, after].
///
/// `wanted` is {flows, callbacks, from_ns, to_ns, changes, most} (JSON). `objects`: compiled programs by the hash of their source.
///
/// Raises RuntimeError: what failed, and why. A signal ends it.
#[pyfunction]
pub(crate) fn simulate_traced(
    py: Python<'_>,
    plan: &str,
    tso: bool,
    objects: BTreeMap<String, PyBackedBytes>,
    wanted: &str,
) -> PyResult<String> {
    let objects = owned(objects);
    let options = Options { tso, objects: &objects, ..Options::default() };
    let mut signal = None;
    let traced = py.detach(|| {
        let wanted: Wanted = serde_json::from_str(wanted)?;
        sim_engine::trace(&Plan::parse(plan)?, options, &wanted, || {
            signal = Python::attach(|py| py.check_signals()).err();
            signal.is_none()
        })
    });
    match signal {
        Some(error) => Err(error),
        None => Ok(serde_json::to_string(&traced.map_err(raised)?).expect("calls are plain data")),
    }
}

/// Each is {name, default, limits, meaning}, `limits` being the least and the most, or null of a flag.
pub(crate) fn parameters(declared: &[cc::Parameter]) -> Vec<serde_json::Value> {
    let one = |parameter: &cc::Parameter| {
        let default = match parameter.default {
            cc::Setting::Flag(flag) => serde_json::json!(flag),
            cc::Setting::Number(number) => serde_json::json!(number),
        };
        let cc::Parameter { name, limits, meaning, .. } = parameter;
        serde_json::json!({ "name": name, "default": default, "limits": limits, "meaning": meaning })
    };
    declared.iter().map(one).collect()
}

/// Lists the parameters of the simulator's algorithm `name` (JSON): {name, default, limits, meaning} each; null if there is
/// no such algorithm.
#[pyfunction]
pub(crate) fn simulate_parameters(name: &str) -> String {
    serde_json::to_string(&cc::parameters(name).map(parameters)).expect("parameters are plain data")
}

/// Compiled programs that Python hands over.
pub(crate) fn owned(objects: BTreeMap<String, PyBackedBytes>) -> Objects {
    objects.into_iter().map(|(hash, object)| (hash, object.to_vec())).collect()
}

/// An exception of Python's own comes back as it was.
pub(crate) fn raised(error: anyhow::Error) -> PyErr {
    error.downcast::<PyErr>().unwrap_or_else(|error| PyRuntimeError::new_err(format!("{error:#}")))
}
