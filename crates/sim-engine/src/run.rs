//! One run, from its plan to its records.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use messages::Failure;
use plan::{Acks, Plan, Source};
use realtime::thread_cpu_ns;
use records::WriterStats;
use records::accounts::{FlowReport, LinkReport};
use serde::Serialize;
use sim::{Objects, Options, Simulation};

use crate::accounts::{Accounts, Ledger};
use crate::delays::Delays;
use crate::drive::{Ended, OnEvent, drive};
use crate::recorder::Recorder;

/// `traffic.json` of a simulated run.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    /// The virtual time until which it was simulated, in seconds.
    pub wall_s: f64,
    /// Ended before the plan's duration.
    pub interrupted: bool,
    /// The flows in the plan's order.
    pub flows: Vec<FlowReport>,
}

/// `simulator.json`.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatorReport {
    /// The balance of packets.
    #[serde(flatten)]
    pub ledger: Ledger,
    /// Packets that hosts sent.
    pub packets: u64,
    /// Link by link.
    pub links: Vec<LinkReport>,
    /// CPU time of the simulating thread. The writers' is in `writers`.
    pub cpu_s: f64,
    /// Wall-clock time of the computation, with its waiting for the writers.
    pub wall_s: f64,
    /// The virtual time until which it was simulated, in seconds.
    pub simulated_s: f64,
    /// Hosts sent trains of segments.
    pub tso: bool,
    /// The cost of writing, by table.
    pub writers: BTreeMap<&'static str, WriterStats>,
}

/// Carry out the plan in `directory/plan.json` and write its records there.
///
/// `on_event` gets the progress, at the start, about every 100 ms and at the end. If it answers stop, or fails, the
/// run ends there, and the simulated part is written. Returns whether the run was interrupted.
///
/// # Errors
/// The plan can't be read or simulated: then nothing is written. A file can't be written. `on_event` failed. A bug in the
/// simulator: its tables are complete until then.
pub fn simulate(directory: &Path, options: Options<'_>, on_event: &mut OnEvent<'_>) -> Result<bool> {
    let plan = Plan::read(&directory.join("plan.json"))?;
    let objects = objects(&plan, directory)?;
    let options = Options { objects: &objects, ..options };
    let check = || sim::check(&plan, options);
    // Stacks of QUIC flows keep state by thread, random numbers for example: those of this thread are the run's.
    let problems = match options.quic {
        None => check(),
        Some(_) => thread::scope(|scope| scope.spawn(check).join()).unwrap_or_else(|panic| resume_unwind(panic)),
    };
    if let Some(first) = problems.into_iter().next() {
        return Err(first.into());
    }
    match (plan.record.packets || plan.record.capture, plan.record.acks != Acks::Off) {
        (true, true) => simulate_with::<true, true>(&plan, directory, options, on_event),
        (true, false) => simulate_with::<true, false>(&plan, directory, options, on_event),
        (false, true) => simulate_with::<false, true>(&plan, directory, options, on_event),
        (false, false) => simulate_with::<false, false>(&plan, directory, options, on_event),
    }
}

/// The compiled programs of a run.
fn objects(plan: &Plan, directory: &Path) -> Result<Objects> {
    let mut objects = Objects::new();
    for algorithm in &plan.algorithms {
        if let (Source::Object { path }, Some(sha256)) = (&algorithm.source, &algorithm.sha256) {
            let read = || std::fs::read(directory.join(path)).with_context(|| format!("reading {}", path.display()));
            objects.insert(sha256.clone(), read()?);
        }
    }
    Ok(objects)
}

fn simulate_with<const PACKETS: bool, const ACKS: bool>(
    plan: &Plan,
    directory: &Path,
    options: Options<'_>,
    on_event: &mut OnEvent<'_>,
) -> Result<bool> {
    let recorder = Recorder::<PACKETS, ACKS>::create(plan, directory)?;
    let mut simulation = Simulation::new(plan, options, (Delays::of(plan), recorder))?;
    let (began, cpu_ns) = (Instant::now(), thread_cpu_ns());
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let ended = drive(&mut simulation, plan, |(_, recorder)| recorder.failure(), on_event);
        simulation.finish();
        (ended, Accounts::of(plan, &simulation, &simulation.observer().0))
    }));
    let (wall_s, cpu_s) = (began.elapsed().as_secs_f64(), (thread_cpu_ns() - cpu_ns) as f64 / 1e9);
    let writers = simulation.into_observer().1.finish();
    let (Ended { interrupted, error }, accounts) = ended.map_err(stopped)?;
    let Accounts { flows, links, ledger, simulated } = accounts;
    let simulated_s = simulated.as_nanos() as f64 / 1e9;
    write(directory, "traffic.json", &TrafficReport { wall_s: simulated_s, interrupted, flows })?;
    let packets = ledger.entered_packets;
    let (writers, tso) = (writers?, options.tso);
    let report = SimulatorReport { ledger, packets, links, cpu_s, wall_s, simulated_s, tso, writers };
    write(directory, "simulator.json", &report)?;
    match error {
        Some(error) => Err(error),
        None => Ok(interrupted),
    }
}

fn write(directory: &Path, name: &str, report: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec_pretty(report).with_context(|| format!("spelling {name}"))?;
    std::fs::write(directory.join(name), text).with_context(|| format!("writing {name}"))
}

/// The error of a simulation that ended by unwinding: a user's program stopped it, or a bug.
pub(crate) fn stopped(panic: Box<dyn Any + Send>) -> anyhow::Error {
    let panic = match panic.downcast::<Failure>() {
        Ok(failure) => return (*failure).into(),
        Err(panic) => panic,
    };
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no words".into());
    Failure::new("the simulation stopped", format!("a bug in the simulator: {said}"))
        .hint("report it with the run's plan.json; the tables hold what was simulated until then")
        .into()
}
