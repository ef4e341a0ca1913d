use std::collections::BTreeMap;
use std::fs::{File, remove_file, write};
use std::io::stdout;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use lab::{Lab, Shortages, shortage};
use messages::{Event, Failure, Process};
use plan::Plan;
use probe::Wanted;
use realtime::allowed;
use records::flat::rows_of;
use serde::Serialize;

use crate::child::Child;
use crate::live::{Live, Ticker};
use crate::loaded::Loaded;
use crate::machine::{Cpu, Machine};
use crate::nat::hand_over;
use crate::rewire::Site;
use crate::services::{agent, services};
use crate::watch::{Beginning, Watch};

/// The options of a lab.
#[derive(Debug)]
pub(crate) struct Options {
    /// True inside a new user namespace.
    pub rootless: bool,
    /// The lab's purpose.
    pub purpose: Purpose,
    /// The choice of time 0.
    pub beginning: Beginning,
    /// The doors to the control groups of nodes whose programs have a share of a CPU.
    pub shares: Vec<(String, File)>,
    /// The carrier of frames to the machine's network, if the lab reaches it.
    pub outside: Option<OwnedFd>,
}

/// The purpose of a lab.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// The run of a plan.
    Run,
    /// The same, and events report the progress of flows and links.
    LiveRun,
    /// Lab that stays until somebody ends it. Users connect to this socket.
    Lab(OwnedFd),
}

impl Purpose {
    /// `live`: events report the progress.
    pub(crate) fn of_run(live: bool) -> Purpose {
        if live { Purpose::LiveRun } else { Purpose::Run }
    }
}

/// `lab.json`: the evidence of how the hosts were set up.
#[derive(Serialize)]
pub(crate) struct LabReport {
    build_ms: f64,
    rootless: bool,
    fresh_proc: bool,
    /// The kernel's values at the end, by host.
    sysctls: BTreeMap<String, BTreeMap<String, String>>,
    offloads: BTreeMap<String, BTreeMap<String, bool>>,
    #[serde(flatten)]
    counts: HostCounts,
    /// Over the run, of the whole machine.
    softnet_dropped: u64,
    cpu: Cpu,
    /// The number of CPUs that the lab's processes could use.
    cpus: usize,
    /// Records whether `acks.parquet` was written.
    pub acks: Recorded,
    /// The kernel's facts about the plan's `algorithms`, in the plan's order.
    algorithms: Vec<bpf::Fact>,
}

impl LabReport {
    /// The state of the lab now, and what has happened to the machine since `before`.
    pub(crate) fn of(lab: &Lab, built: Built, loaded: &Loaded, before: Machine, acks: Recorded) -> Result<LabReport> {
        let (cpu, softnet_dropped) = Machine::now().since(before);
        Ok(LabReport {
            build_ms: built.ms,
            rootless: built.rootless,
            fresh_proc: built.fresh_proc,
            sysctls: lab.sysctls()?,
            offloads: lab.offloads()?,
            counts: HostCounts::of(lab)?,
            softnet_dropped,
            cpu,
            cpus: allowed().len(),
            acks,
            algorithms: loaded.session.facts()?,
        })
    }

    /// Leave what hosts counted after `before`.
    pub(crate) fn since(&mut self, before: &HostCounts) {
        self.counts.subtract(before);
    }

    /// Write it as `lab.json` into `dir`.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).context("spelling lab.json")?;
        write(dir.join("lab.json"), text).context("writing lab.json")
    }
}

/// Counts of the hosts so far.
#[derive(Default, Serialize)]
pub(crate) struct HostCounts {
    interfaces: Vec<lab::Counters>,
    /// Shortages of memory for TCP, by host. Zeros are left out.
    shortages: BTreeMap<String, Shortages>,
}

impl HostCounts {
    pub(crate) fn of(lab: &Lab) -> Result<HostCounts> {
        Ok(HostCounts { interfaces: lab.counters()?, shortages: lab.shortages()? })
    }

    fn subtract(&mut self, earlier: &HostCounts) {
        self.interfaces.iter_mut().zip(&earlier.interfaces).for_each(|(now, then)| now.subtract(then));
        shortage::subtract(&mut self.shortages, &earlier.shortages);
    }
}

/// How the lab was built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Built {
    pub ms: f64,
    pub rootless: bool,
    pub fresh_proc: bool,
}

#[derive(Serialize)]
pub(crate) struct Recorded {
    recorded: bool,
    /// If not, why.
    why: Option<String>,
}

impl Recorded {
    /// ACKs were not recorded.
    pub(crate) fn not(why: &str) -> Recorded {
        Recorded { recorded: false, why: Some(why.into()) }
    }

    fn by(wanted: &Wanted, failed: Option<Failure>) -> Recorded {
        let why = match (wanted, failed) {
            (Wanted::Yes(_) | Wanted::Kernel(_), None) => None,
            (Wanted::Yes(_) | Wanted::Kernel(_), Some(Failure { what, why, .. })) => Some(format!("{what}: {why}")),
            (Wanted::No(why), _) => Some(why.clone()),
        };
        Recorded { recorded: why.is_none(), why }
    }
}

/// Pid 1 of the lab. Returns its exit code.
pub(crate) fn main(plan: &Plan, dir: &Path, loaded: &Loaded, options: Options, started: Instant) -> i32 {
    // SAFETY: plain system calls. If the helper dies, so does the lab.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"db-init".as_ptr());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    match supervise(plan, dir, loaded, options, started) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let _ = Event::failed(Process::Init, &error).emit(&mut stdout());
            1
        }
    }
}

fn supervise(plan: &Plan, dir: &Path, loaded: &Loaded, options: Options, started: Instant) -> Result<bool> {
    let mounts = lab::sandbox::mounts()?;
    let mut lab = Lab::build(plan)?;
    lab.add_hops(plan)?;
    lab.share_cpus(options.shares);
    if let (Some(carrier), Some(interface)) = (options.outside, lab.open_outside(plan)?) {
        hand_over(&carrier, &interface)?;
    }
    let build_ms = started.elapsed().as_secs_f64() * 1e3;
    let built = Built { ms: build_ms, rootless: options.rootless, fresh_proc: mounts.proc };
    Event::Lab { build_ms }.emit(&mut stdout())?;

    let before = Machine::now();
    let stays = matches!(options.purpose, Purpose::Lab(_));
    let live = (!matches!(options.purpose, Purpose::Run)).then(|| Live::of(plan)).transpose()?;
    let (listener, ticks) = match options.purpose {
        Purpose::Run => (None, false),
        Purpose::LiveRun => (None, true),
        // Users ask for the progress when they want it.
        Purpose::Lab(listener) => (Some(listener), false),
    };
    let mut children: Vec<Child> = Vec::new();
    let (to_routers, of_routers) = UnixStream::pair().context("making a pair of sockets")?;
    let of_routers = stays.then(|| of_routers.into());
    for (service, work) in services(plan, &lab, built, loaded, dir, live.as_ref(), of_routers) {
        let child = Child::start(service, work, &children)?;
        children.push(child);
    }
    let mut ferry = None;
    if let Some(listener) = listener {
        let (ours, its) = UnixStream::pair().context("making a pair of sockets")?;
        let (service, work) = agent(plan, &mut lab, loaded, dir, live.as_ref(), listener, its.into());
        let child = Child::start(service, work, &children)?;
        children.push(child);
        ferry = Some(ours);
    }
    let ticker = live.as_ref().filter(|_| ticks).map(|live| Ticker::new(plan, live));
    let site = ferry.zip(live.as_ref());
    let site = site.map(|(ferry, live)| Site::new(&mut lab, built, loaded, dir, live, ferry, to_routers));
    let (children, well) = Watch::new(children, plan, ticker, options.beginning, site)?.watch()?;
    let mut unrecorded = None;
    for Child { service, failed, .. } in children.into_iter().filter(|child| !child.service.needed) {
        if failed.is_some() {
            let tables = service.records.iter().map(|name| dir.join(name));
            tables.flat_map(|table| [rows_of(&table), table]).for_each(|file| drop(remove_file(file)));
        }
        if service.process == Process::Probe {
            unrecorded = failed;
        }
    }

    // Nobody asks what became of a lab that stayed: its recordings have reports of their own.
    if !stays {
        LabReport::of(&lab, built, loaded, before, Recorded::by(&loaded.acks, unrecorded))?.write(dir)?;
    }
    Ok(well)
}
