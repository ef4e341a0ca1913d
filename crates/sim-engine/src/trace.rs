//! Calls of users' programs, for those who look for what a program does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use plan::Plan;
use serde::{Deserialize, Serialize};
use sim::{Call, Options, Simulation, Tracer};
use units::Duration;

use crate::run::stopped;

/// The calls that are wanted.
#[derive(Clone, Debug, Deserialize)]
pub struct Wanted {
    /// Ids of flows, or of groups of them; empty: all.
    pub flows: Vec<String>,
    /// Names of callbacks; empty: all.
    pub callbacks: Vec<String>,
    /// The first moment, ns.
    pub from_ns: u64,
    /// The moment after the last, ns.
    pub to_ns: u64,
    /// Only calls that set a field to another value.
    pub changes: bool,
    /// The most calls; the simulation ends with them.
    pub most: usize,
}

/// The calls that were found.
#[derive(Debug, Default, Serialize)]
pub struct Traced {
    /// In the order of time.
    pub calls: Vec<TracedCall>,
    /// True if there were more.
    pub more: bool,
    /// Why the simulation stopped before its end.
    pub failure: Option<String>,
}

/// A call as programs read it.
#[derive(Debug, Serialize)]
pub struct TracedCall {
    time_ns: u64,
    flow: String,
    call: &'static str,
    arguments: Vec<(&'static str, u64)>,
    read: Vec<(String, i64)>,
    set: Vec<(String, i64, i64)>,
    returns: Option<u32>,
    fault: Option<String>,
}

impl From<Call> for TracedCall {
    fn from(call: Call) -> TracedCall {
        let Call { flow, time_ns, callback, arguments, read, set, returns, fault } = call;
        TracedCall { time_ns, flow: flow.to_string(), call: callback, arguments, read, set, returns, fault }
    }
}

impl Wanted {
    fn takes(&self, call: &Call) -> bool {
        let is_of = |name: &String| {
            *name == *call.flow || call.flow.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        };
        let has_changed = call.set.iter().any(|(_, before, after)| before != after);
        (self.flows.is_empty() || self.flows.iter().any(is_of))
            && (self.callbacks.is_empty() || self.callbacks.iter().any(|name| name == call.callback))
            && (self.from_ns..self.to_ns).contains(&call.time_ns)
            && (!self.changes || has_changed || call.fault.is_some())
    }
}

/// The time that is simulated between two looks at what was found.
const STRIDE: Duration = Duration::from_millis(20);

/// Simulates a plan, without records, and returns the `wanted` calls of its users' programs. `goes_on` is asked between two
/// steps.
///
/// # Errors
/// The plan can't be simulated, or a bug in the simulator. A program that does what no kernel would let it do is no error: its
/// last call has the `fault`.
pub fn trace(plan: &Plan, options: Options<'_>, wanted: &Wanted, mut goes_on: impl FnMut() -> bool) -> Result<Traced> {
    let found = Arc::new(Mutex::new(Traced::default()));
    let (own, filter) = (found.clone(), wanted.clone());
    let tracer = Tracer::new(move |call: Call| {
        if filter.takes(&call) {
            let mut found = own.lock().unwrap_or_else(PoisonError::into_inner);
            if found.calls.len() < filter.most {
                found.calls.push(call.into());
            } else {
                found.more = true;
            }
        }
    });
    let mut simulation = Simulation::new(plan, Options { tracer: Some(&tracer), ..options }, ())?;
    let is_full = || found.lock().unwrap_or_else(PoisonError::into_inner).more;
    let ended = catch_unwind(AssertUnwindSafe(|| {
        while simulation.now() < simulation.end()
            && (simulation.now().as_nanos() as u64) < wanted.to_ns
            && !is_full()
            && goes_on()
        {
            simulation.run_until(simulation.now() + STRIDE);
        }
    }));
    let mut found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    if let Err(panic) = ended {
        let error = stopped(panic);
        let Some(failure) = error.downcast_ref::<messages::Failure>() else { return Err(error) };
        found.failure = Some(format!("{}: {}", failure.what, failure.why));
    }
    Ok(found)
}
