use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use messages::Failure;
use realtime::thread_cpu_ns;
use sim::Options;

use super::Batch;
use super::plans::Plans;
use super::recorder::Recorder;
use super::screen::{Judged, Verdict};
use super::summary::Summary;
use crate::accounts::observe_while;

/// The outcome of a run.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// The summary, or the failure.
    pub result: Result<Summary, String>,
    /// The judgement of a run that has come to its end.
    pub judged: Option<Judged>,
    /// The CPU time of the run.
    pub cpu_ns: i64,
}

/// Carry out a run; `None` if it was stopped.
pub(super) fn simulate_one(batch: &Batch<'_>, plans: &Plans<'_>, index: usize, stop: &AtomicBool) -> Option<Outcome> {
    let began = thread_cpu_ns();
    // A bug in one run is that run's error: the others are as good as before.
    let result = catch_unwind(AssertUnwindSafe(|| simulate(batch, plans, index, stop))).unwrap_or_else(|panic| {
        if let Some(failure) = panic.downcast_ref::<Failure>() {
            return Err(failure.clone().into());
        }
        let what = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(anyhow::anyhow!("a bug in dumbbell: {}", what.unwrap_or("it panicked")))
    });
    let cpu_ns = thread_cpu_ns() - began;
    match result {
        Ok(None) => None,
        Ok(Some(summary)) => Some(Outcome { result: Ok(summary), judged: None, cpu_ns }),
        Err(error) => Some(Outcome { result: Err(format!("{error:#}")), judged: None, cpu_ns }),
    }
}

fn simulate(batch: &Batch<'_>, plans: &Plans<'_>, index: usize, stop: &AtomicBool) -> Result<Option<Summary>> {
    let run = &batch.runs[index];
    let plan = plans.plan(run.plan, run.seed)?;
    let goes_on = || !stop.load(Ordering::Relaxed);
    let options = Options { tso: plan.simulate.tso, objects: batch.objects, quic: batch.quic, ..Options::default() };
    let observed = observe_while(&plan, options, Recorder::new(&plan)?, goes_on)?;
    Ok(observed.map(|(accounts, recorder)| {
        let question = batch.screen.and_then(|screen| screen.question(&plan, &accounts, &recorder));
        Summary { question, ..Summary::of(&plan, accounts, recorder) }
    }))
}

impl Outcome {
    /// Have it judged. The figures of what is invalid are not kept.
    pub(super) fn settle(&mut self, judge: impl FnOnce(&str) -> Result<Judged>) -> Result<()> {
        let Ok(summary) = &self.result else { return Ok(()) };
        let judged = summary.question.as_deref().map_or_else(|| Ok(Judged::default()), judge)?;
        if judged.verdict == Verdict::Invalid {
            self.result = Err(format!("invalid: {}", judged.reasons.as_deref().unwrap_or("for no reason")));
        }
        self.judged = Some(judged);
        Ok(())
    }
}
