//! Simulations whose flows are held from outside: environments in which policies are trained.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use messages::Event;
use plan::Plan;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sim::Options;
use sim::held::{Held, Interval, ONE, Setting};
use sim_engine::held::{FIELDS, HeldRun as Run, Terms};
use units::Duration;

use crate::simulate::{owned, raised};

/// A simulation of a plan (JSON) with this seed, whose `flows` are held. Nothing is written.
///
/// A decision is due after `interval_us`, or after `interval_rtts` smoothed RTTs if that is given; a step ends without one when no ACK
/// has come for `timeout_us`. With `paces`, actions have a second number. `objects`: compiled programs by the hash of their source.
///
/// Raises RuntimeError: what cannot be simulated, and why.
#[pyclass(frozen)]
pub(crate) struct HeldRun(Mutex<Run>);

impl HeldRun {
    fn run(&self) -> MutexGuard<'_, Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl HeldRun {
    #[new]
    #[pyo3(signature = (plan, seed, flows, *, interval_us, interval_rtts, timeout_us, paces, objects = BTreeMap::new()))]
    #[expect(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        plan: &str,
        seed: u64,
        flows: Vec<String>,
        interval_us: u64,
        interval_rtts: Option<f64>,
        timeout_us: i64,
        paces: bool,
        objects: BTreeMap<String, PyBackedBytes>,
    ) -> PyResult<HeldRun> {
        let share = interval_rtts.map(|rtts| Interval::SmoothedRtts((rtts * f64::from(ONE)).round() as u32));
        let interval = share.unwrap_or(Interval::Micros(interval_us));
        let terms = Terms { flows, interval, timeout: Duration::from_micros(timeout_us), paces };
        let objects = owned(objects);
        let made = py.detach(|| Run::new(&Plan { seed, ..Plan::parse(plan)? }, &objects, &terms));
        Ok(HeldRun(Mutex::new(made.map_err(raised)?)))
    }

    /// Held flows that have ended, in the order in which they were named.
    fn ended(&self) -> Vec<bool> {
        self.run().ended()
    }

    /// Payload that each held flow's receiver has got, bytes.
    fn received_bytes(&self) -> Vec<u64> {
        self.run().received_bytes()
    }

    /// The simulated time, ns.
    fn now_ns(&self) -> i64 {
        self.run().now().as_nanos()
    }

    /// The decisions of each held flow so far, for `simulate_held`: ACKs before it, window and pacing rate (in windows per smoothed
    /// RTT; None: not paced) in 1/1024.
    fn decisions(&self) -> Vec<Vec<(u64, u32, Option<u32>)>> {
        let flows = self.run().decisions();
        flows
            .into_iter()
            .map(|made| made.into_iter().map(|(acks, at)| (acks, at.window, at.pacing)).collect())
            .collect()
    }
}

/// Lets each of `runs` take its row of `actions`, simulates it until its next decision is due, on `threads` threads, and writes its
/// row of `observations`: both are buffers of doubles, with a row for each run, in which the flows follow each other. Without `actions`,
/// nothing changes. Returns for each whether its simulation is over.
///
/// Raises ValueError if a buffer has another size, or a run is there twice; RuntimeError if a user's program stopped the simulation.
#[pyfunction]
pub(crate) fn step_held(
    py: Python<'_>,
    runs: Vec<PyRef<'_, HeldRun>>,
    actions: Option<PyBuffer<f64>>,
    observations: PyBuffer<f64>,
    threads: usize,
) -> PyResult<Vec<bool>> {
    let mut held = Vec::with_capacity(runs.len());
    for run in &runs {
        let Ok(run) = run.0.try_lock() else { return Err(PyValueError::new_err("a run steps already")) };
        held.push(run);
    }
    let mut held: Vec<&mut Run> = held.iter_mut().map(|run| &mut **run).collect();
    let given = actions.map(|actions| actions.to_vec(py)).transpose()?;
    let width: usize = held.iter().map(|run| run.action_width()).sum();
    let actions = given.unwrap_or_else(|| vec![0.0; width]);
    let mut seen = vec![0.0; held.iter().map(|run| run.observation_width()).sum()];
    if actions.len() != width || observations.item_count() != seen.len() {
        let sizes = format!("expected {width} actions and room for {} numbers", seen.len());
        return Err(PyValueError::new_err(sizes));
    }
    let over = py.detach(|| sim_engine::held::step_many(&mut held, &actions, &mut seen, threads)).map_err(raised)?;
    observations.copy_from_slice(py, &seen)?;
    Ok(over)
}

/// The numbers of a flow's observation, in order: name, unit, largest value and meaning of each.
#[pyfunction]
pub(crate) fn held_fields() -> Vec<(&'static str, &'static str, f64, &'static str)> {
    FIELDS.to_vec()
}

/// Like `simulate`, but flows whose `decisions` are given, by id, replay them.
///
/// Raises RuntimeError: what failed, and why.
#[pyfunction]
pub(crate) fn simulate_held(
    py: Python<'_>,
    directory: PathBuf,
    tso: bool,
    decisions: BTreeMap<String, Vec<(u64, u32, Option<u32>)>>,
    on_event: Py<PyAny>,
) -> PyResult<bool> {
    let simulated = py.detach(|| {
        let mut held = Held::default();
        for (id, made) in decisions {
            held.replay(
                &id,
                made.into_iter().map(|(acks, window, pacing)| (acks, Setting { window, pacing })).collect(),
            );
        }
        let mut tell = |event: &Event| -> Result<bool> {
            let text = serde_json::to_string(event)?;
            Ok(Python::attach(|py| on_event.call1(py, (text,))?.extract::<bool>(py))?)
        };
        sim_engine::simulate(&directory, Options { tso, held: Some(&held), ..Options::default() }, &mut tell)
    });
    simulated.map_err(raised)
}
