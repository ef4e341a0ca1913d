//! Many runs on many threads, of which only summaries are kept, in shards of many runs.
//!
//! A run is one of some plans, with a separate seed. Its number gives the place of its rows: tables have the same
//! bytes however many threads there are. A shard is on disk as a whole or not at all, so a batch that was cut short
//! goes on where it was.

mod alike;
mod gate;
mod pending;
mod plans;
mod recorder;
mod run;
mod screen;
mod shard;
mod summary;
mod tables;

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;
use sim::{Objects, QuicStacks};

pub use screen::{Judged, Screen, Verdict};

use alike::Alike;
use gate::Gate;
use pending::PendingShards;
use plans::Plans;
use run::Outcome;
pub use shard::missing;

/// Runs to carry out.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Plans, as JSON.
    pub plans: &'a [String],
    /// The compiled programs of the plans.
    pub objects: &'a Objects,
    /// The runs, in the order of their numbers.
    pub runs: &'a [Run],
    /// The first one's number: of a part of a study, carried out by itself.
    pub first: usize,
    /// Marks runs to carry out; another program carries out the rest. `None`: all runs.
    pub own: Option<&'a [bool]>,
    /// The directory of the shards.
    pub directory: &'a Path,
    /// Runs in a shard.
    pub shard_runs: usize,
    /// Runs at a time.
    pub threads: usize,
    /// Stacks of QUIC flows; `None`: such flows are refused.
    pub quic: Option<&'a dyn QuicStacks>,
    /// The runs that need no question; `None`: no run is asked about.
    pub screen: Option<Screen>,
}

/// One of a batch's runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The cell, which has one of the studied settings.
    pub cell: u32,
    /// Index of its plan: the cell's, or a separate one if seeds decide more than the simulator's random numbers.
    pub plan: u32,
    /// The run's number in the cell.
    pub repetition: u32,
    /// The seed, in place of the plan's.
    pub seed: u64,
    /// Hash of all that determines it.
    pub id: String,
}

/// The progress of a batch. Counts are of this call's runs, except `runs`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Finished, those of earlier calls included.
    pub runs: usize,
    /// The number of all runs.
    pub of: usize,
    /// Finished by an earlier call.
    pub found: usize,
    /// Ended with an error.
    pub failed: usize,
    /// Packets that hosts have sent; as time, not counted again for a run that is equal to another of its shard.
    pub packets: u64,
    /// Virtual time of all runs, s.
    pub simulated_s: f64,
    /// CPU time of all runs, s, without writing.
    pub cpu_s: f64,
    /// Since the call, s.
    pub wall_s: f64,
}

/// The interval of progress reports.
const TICK: Duration = Duration::from_millis(100);

/// Shards' worth of runs that may be ahead of the oldest unfinished one: their rows are in memory.
const AHEAD: usize = 4;

/// Carry out what is not on disk yet. Returns true if `on_progress` said false, which ends it: what is finished is kept.
///
/// `judge` is asked about runs that don't pass the batch's screen: it gets the plan's index, and the run's evidence of
/// its fidelity as JSON.
///
/// A run that fails, or is invalid, is a row with its error. Errors here are those of the directory, and of `judge`.
pub fn simulate_many(
    batch: &Batch<'_>,
    mut judge: impl FnMut(u32, &str) -> Result<Judged>,
    mut on_progress: impl FnMut(&Progress) -> bool,
) -> Result<bool> {
    ensure!(batch.shard_runs > 0 && batch.threads > 0, "a batch needs at least one thread, and one run in a shard");
    ensure!(
        batch.runs.iter().all(|run| (run.plan as usize) < batch.plans.len()),
        "a run of the batch names a plan that the batch lacks"
    );
    ensure!(batch.own.is_none_or(|own| own.len() == batch.runs.len()), "a batch marks each of its runs");
    let numbers = batch.first..batch.first + batch.runs.len();
    let indices = |shard: Range<usize>| shard.start - batch.first..shard.end - batch.first;
    let is_own = |index: usize| batch.own.is_none_or(|own| own[index]);
    let shards: Vec<Range<usize>> = missing(batch.directory, numbers, batch.shard_runs)?
        .into_iter()
        .flat_map(|shard| stretches(indices(shard), is_own))
        .collect();
    let own = (0..batch.runs.len()).filter(|&index| is_own(index)).count();
    let found = own - shards.iter().map(ExactSizeIterator::len).sum::<usize>();
    let alike = Alike::new(batch.runs, &shards);
    let order = alike.order();
    let (stop, gate, next) = (AtomicBool::new(false), Gate::new(AHEAD * batch.shard_runs), AtomicUsize::new(0));
    let plans = Plans::new(batch.plans, batch.runs);
    let (sender, receiver) = channel();
    let progress = Progress { runs: found, of: own, found, ..Progress::default() };
    thread::scope(|scope| {
        for _ in 0..batch.threads.min(order.len()) {
            let sender = sender.clone();
            scope.spawn(|| work(batch, &plans, order, &next, &gate, &stop, sender));
        }
        drop(sender);
        let mut settle = |index: usize, outcome: &mut Outcome| {
            let plan = batch.runs[index].plan;
            outcome.settle(|question| judge(plan, question))
        };
        let ended = collect(
            PendingShards::new(batch, shards),
            &alike,
            &receiver,
            progress,
            (&gate, &stop),
            &mut settle,
            &mut on_progress,
        );
        stop.store(true, Ordering::Relaxed);
        drop(receiver);
        ended
    })
}

/// Splits a shard into its longest stretches of runs that are wanted. A stretch becomes a shard of its own.
fn stretches(shard: Range<usize>, is_wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for index in shard.filter(|&index| is_wanted(index)) {
        match found.last_mut() {
            Some(last) if last.end == index => last.end += 1,
            _ => found.push(index..index + 1),
        }
    }
    found
}

/// The work of a thread: the next run, until there is none.
fn work(
    batch: &Batch<'_>,
    plans: &Plans<'_>,
    order: &[(usize, usize)],
    next: &AtomicUsize,
    gate: &Gate,
    stop: &AtomicBool,
    sender: Sender<(usize, Outcome)>,
) {
    loop {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let Some(&(place, index)) = order.get(place) else { return };
        gate.wait(place, stop);
        let simulate = || run::simulate_one(batch, plans, index, stop);
        // Stacks of others keep state by thread: random numbers, for example. Each run has its own.
        let outcome = match batch.quic {
            None => simulate(),
            Some(_) => thread::scope(|scope| scope.spawn(simulate).join()).unwrap_or_else(|panic| resume_unwind(panic)),
        };
        let Some(outcome) = outcome else { return };
        if sender.send((index, outcome)).is_err() {
            return;
        }
    }
}

fn collect(
    mut pending: PendingShards<'_>,
    alike: &Alike,
    receiver: &Receiver<(usize, Outcome)>,
    mut progress: Progress,
    (gate, stop): (&Gate, &AtomicBool),
    settle: &mut impl FnMut(usize, &mut Outcome) -> Result<()>,
    on_progress: &mut impl FnMut(&Progress) -> bool,
) -> Result<bool> {
    let began = Instant::now();
    let mut told = began;
    let mut go_on = on_progress(&progress);
    loop {
        if !go_on {
            stop.store(true, Ordering::Relaxed);
        }
        match receiver.recv_timeout(TICK) {
            Ok((index, mut outcome)) => {
                settle(index, &mut outcome)?;
                progress.count(&outcome);
                for &other in alike.others(index) {
                    progress.count_equal(&outcome);
                    pending.put(other, outcome.clone())?;
                }
                gate.raise(pending.put(index, outcome)?);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if told.elapsed() >= TICK {
            told = Instant::now();
            progress.wall_s = began.elapsed().as_secs_f64();
            go_on &= on_progress(&progress);
        }
    }
    pending.finish()?;
    progress.wall_s = began.elapsed().as_secs_f64();
    on_progress(&progress);
    Ok(progress.runs < progress.of)
}

impl Progress {
    fn count(&mut self, outcome: &Outcome) {
        self.count_equal(outcome);
        self.cpu_s += outcome.cpu_ns as f64 / 1e9;
        if let Ok(summary) = &outcome.result {
            self.packets += summary.packets;
            self.simulated_s += summary.simulated.as_nanos() as f64 / 1e9;
        }
    }

    /// Count a run that has the outcome of an equal one.
    fn count_equal(&mut self, outcome: &Outcome) {
        self.runs += 1;
        self.failed += usize::from(outcome.result.is_err());
    }
}
