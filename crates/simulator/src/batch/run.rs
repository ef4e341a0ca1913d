use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use realtime::thread_cpu_ns;
use sim::Options;

use super::Batch;
use super::plans::Plans;
use super::recorder::Recorder;
use super::summary::Summary;
use crate::accounts::observe_while;

/// What became of a run.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Or what went wrong.
    pub result: Result<Summary, String>,
    /// What it cost.
    pub cpu_ns: i64,
}

/// Carry out a run; `None` if it was stopped.
pub(super) fn carry_out(batch: &Batch<'_>, plans: &Plans<'_>, index: usize, stop: &AtomicBool) -> Option<Outcome> {
    let began = thread_cpu_ns();
    // A bug in one run is that run's error: the others are as good as before.
    let result = catch_unwind(AssertUnwindSafe(|| simulate(batch, plans, index, stop))).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(anyhow::anyhow!("a bug in dumbbell: {}", what.unwrap_or("it panicked")))
    });
    let cpu_ns = thread_cpu_ns() - began;
    match result {
        Ok(None) => None,
        Ok(Some(summary)) => Some(Outcome { result: Ok(summary), cpu_ns }),
        Err(error) => Some(Outcome { result: Err(format!("{error:#}")), cpu_ns }),
    }
}

fn simulate(batch: &Batch<'_>, plans: &Plans<'_>, index: usize, stop: &AtomicBool) -> Result<Option<Summary>> {
    let run = &batch.runs[index];
    let plan = plans.plan(run.plan, run.seed)?;
    let goes_on = || !stop.load(Ordering::Relaxed);
    let options = Options { tso: plan.simulate.tso, ..Options::default() };
    let observed = observe_while(&plan, options, Recorder::new(&plan), goes_on)?;
    Ok(observed.map(|(accounts, recorder)| Summary::of(&plan, accounts, recorder)))
}
