use std::collections::BTreeMap;
use std::fs::{File, remove_file};
use std::io::{Read, stdin, stdout};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lab::{HostSpec, Lab};
use messages::{Event, Failure, Process};
use nix::sys::stat::fstat;
use plan::{Acks, EmulatePath, Plan};
use probe::{Emitters, Wanted};
use realtime::{Part, allowed, keep_to, monotonic_ns};
use serde::Serialize;

use crate::child::Child;
use crate::loaded::Loaded;
use crate::machine::{Cpu, Machine};

/// Between "all are ready" and time 0: long enough for both processes to have read the origin and to be asleep.
const LEAD_NS: i64 = 20_000_000;
/// A process that isn't ready by then won't be.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// A process that hasn't written its records so long after its end won't.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(60);

/// `lab.json`: the evidence of how the hosts were set up.
#[derive(Serialize)]
struct LabReport {
    build_ms: f64,
    rootless: bool,
    fresh_proc: bool,
    /// By host: what the kernel held at the end.
    sysctls: BTreeMap<String, BTreeMap<String, String>>,
    offloads: BTreeMap<String, BTreeMap<String, bool>>,
    interfaces: Vec<lab::Counters>,
    /// Over the run, of the whole machine.
    softnet_dropped: u64,
    cpu: Cpu,
    /// How many CPUs the lab's processes could use.
    cpus: usize,
    /// Whether `acks.parquet` was written.
    acks: Recorded,
    /// What the kernel knows of the plan's `algorithms`, in the plan's order.
    algorithms: Vec<bpf::Fact>,
}

#[derive(Serialize)]
struct Recorded {
    recorded: bool,
    /// If not, why.
    why: Option<String>,
}

impl Recorded {
    fn by(wanted: &Wanted, failed: Option<Failure>) -> Recorded {
        let why = match (wanted, failed) {
            (Wanted::Yes(_), None) => None,
            (Wanted::Yes(_), Some(Failure { what, why, .. })) => Some(format!("{what}: {why}")),
            (Wanted::No(why), _) => Some(why.clone()),
        };
        Recorded { recorded: why.is_none(), why }
    }
}

/// Pid 1 of the lab. Returns its exit code.
pub(crate) fn main(plan: &Plan, dir: &Path, loaded: &Loaded, rootless: bool, started: Instant) -> i32 {
    // SAFETY: plain system calls. If the helper dies, so does the lab.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"db-init".as_ptr());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    match supervise(plan, dir, loaded, rootless, started) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let _ = Event::failed(Process::Init, &error).emit(&mut stdout());
            1
        }
    }
}

fn supervise(plan: &Plan, dir: &Path, loaded: &Loaded, rootless: bool, started: Instant) -> Result<bool> {
    let mounts = lab::sandbox::mounts()?;
    let spec = |(name, address, sysctl): (&str, _, &BTreeMap<String, String>)| HostSpec {
        sysctl: sysctl.clone(),
        ..HostSpec::new(name, address)
    };
    let offloads = plan.emulate.path == EmulatePath::Gso;
    let lab = Lab::build(&plan.hosts().map(spec).collect::<Vec<_>>(), offloads)?;
    let build_ms = started.elapsed().as_secs_f64() * 1e3;
    Event::Lab { build_ms }.emit(&mut stdout())?;

    let before = Machine::now();
    // In bursts go the rates at which the emulator needs a CPU of its own.
    let part = |part: Part| {
        if offloads {
            keep_to(part)
        }
    };
    let netns = |name: &str| {
        let host = lab.hosts().iter().find(|host| host.name == name);
        host.map(|host| host.netns.as_fd()).with_context(|| format!("no host {name} in the lab"))
    };
    let probe = loaded.acks.probe().map(|probe| {
        let inode = |name: &str| Ok(fstat(netns(name)?)?.st_ino as u32);
        Child::start(Process::Probe, c"db-probe", -5, &[], |control, events| {
            part(Part::AllButLast);
            probe::run(plan, probe, &Emitters::of(&loaded.session), &inode, dir, control, events).map(drop)
        })
    });
    let probe = probe.transpose()?;
    let mut siblings: Vec<&Child> = probe.iter().collect();
    let emulator = Child::start(Process::Emulator, c"db-emulator", -20, &siblings, |control, events| {
        part(Part::Last);
        emu::run(plan, &ports(&lab), dir, control, events).map(drop)
    })?;
    siblings.push(&emulator);
    let traffic = Child::start(Process::Traffic, c"db-traffic", -10, &siblings, |control, events| {
        part(Part::AllButLast);
        traffic::run(plan, &netns, loaded.session.names(), dir, control, events).map(drop)
    })?;
    let needs_probe = plan.record.acks == Acks::On;
    let mut watch = Watch { emulator, traffic, probe, needs_probe, stopping: None, failed: false };
    watch.watch(plan)?;
    let unrecorded = watch.probe.as_mut().and_then(|probe| probe.failed.take());
    if unrecorded.is_some() {
        // Cut off, the table cannot be read.
        for name in ["acks.parquet", "probe.json"] {
            let _ = remove_file(dir.join(name));
        }
    }

    let (cpu, softnet_dropped) = Machine::now().since(before);
    let report = LabReport {
        build_ms,
        rootless,
        fresh_proc: mounts.proc,
        sysctls: lab.sysctls()?,
        offloads: lab.offloads()?,
        interfaces: lab.counters()?,
        softnet_dropped,
        cpu,
        cpus: allowed().len(),
        acks: Recorded::by(&loaded.acks, unrecorded),
        algorithms: loaded.session.facts()?,
    };
    let file = File::create(dir.join("lab.json")).context("creating lab.json")?;
    serde_json::to_writer_pretty(file, &report).context("writing lab.json")?;
    Ok(!watch.failed)
}

fn ports(lab: &Lab) -> Vec<emu::Port> {
    let port = |host: &lab::Host| emu::Port {
        host: host.name.clone(),
        address: host.address,
        mac: host.mac,
        gateway_mac: host.gateway_mac,
        ifindex: host.core_ifindex,
    };
    lab.hosts().iter().map(port).collect()
}

struct Watch {
    emulator: Child,
    traffic: Child,
    /// Where every ACK is recorded.
    probe: Option<Child>,
    /// The plan insists on that record. If it doesn't, the run goes on without the probe.
    needs_probe: bool,
    /// Since when everything comes to an end.
    stopping: Option<Instant>,
    failed: bool,
}

impl Watch {
    /// Relay events, start the run when all processes are ready, stop the others when the traffic is over.
    fn watch(&mut self, plan: &Plan) -> Result<()> {
        let started = Instant::now();
        let mut running = false;
        while !self.children().all(|child| child.gone) {
            self.relay()?;
            let needs_probe = self.needs_probe;
            let is_needed = |child: &Child| needs_probe || child.process != Process::Probe;
            let ready = self.children().all(|child| child.ready || child.gone && !is_needed(child));
            if ready && !running && self.stopping.is_none() {
                running = true;
                let origin_ns = monotonic_ns() + LEAD_NS;
                for child in self.children() {
                    let told = child.tell_origin(origin_ns);
                    if is_needed(child) {
                        told?;
                    }
                }
                Event::Started { origin_ns }.emit(&mut stdout())?;
            }
            if self.traffic.done || self.traffic.gone {
                self.emulator.stop();
                self.stopping.get_or_insert_with(Instant::now);
            }
            // Only then are all sockets closed, and their last rows written.
            if let Some(probe) = self.probe.as_mut().filter(|_| self.traffic.gone) {
                probe.stop();
            }
            if self.emulator.gone || needs_probe && self.probe.as_ref().is_some_and(|probe| probe.gone) {
                self.traffic.stop();
                self.stopping.get_or_insert_with(Instant::now);
            }
            let duration = Duration::from_nanos(plan.duration_ns.as_nanos() as u64);
            let late = match self.stopping {
                Some(since) => since.elapsed() > FLUSH_TIMEOUT,
                None if running => started.elapsed() > READY_TIMEOUT + duration + FLUSH_TIMEOUT,
                None => started.elapsed() > READY_TIMEOUT,
            };
            if late {
                let doing = if running { "ended in time" } else { "became ready" };
                return Err(Failure::new("the run hangs", format!("not every process {doing}"))
                    .hint("run it again on a machine with less load; logs are in the run's directory")
                    .into());
            }
        }
        Ok(())
    }

    fn children(&mut self) -> impl Iterator<Item = &mut Child> {
        [&mut self.emulator, &mut self.traffic].into_iter().chain(&mut self.probe)
    }

    /// Wait for words from above or below, and pass them on.
    fn relay(&mut self) -> Result<()> {
        let fd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // Standard input first.
        let mut fds = vec![fd(0)];
        fds.extend(self.children().map(|child| fd(child.poll_fd())));
        // SAFETY: valid descriptors. A second at most: the loop looks at the clock.
        unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 1000) };
        if fds[0].revents != 0 {
            self.obey();
        }
        let mut failed = false;
        let needs_probe = self.needs_probe;
        for (child, fd) in self.children().zip(&fds[1..]) {
            if fd.revents == 0 {
                continue;
            }
            let mut events = child.read_events()?;
            if child.gone
                && let Some(failure) = child.silent_end()?
            {
                events.push(Event::Failed { process: child.process, failure });
            }
            for event in events {
                if matches!(event, Event::Failed { .. }) {
                    if child.process == Process::Probe && !needs_probe {
                        // For lab.json.
                        continue;
                    }
                    failed = true;
                }
                event.emit(&mut stdout())?;
            }
        }
        self.failed |= failed;
        Ok(())
    }

    /// The command said stop, or is gone.
    fn obey(&mut self) {
        let mut words = [0; 64];
        match stdin().read(&mut words) {
            // Nobody is left to read the records: end at once, and everything inside with us.
            // SAFETY: ends the process.
            Ok(0) | Err(_) => unsafe { libc::_exit(1) },
            Ok(_) => {
                self.traffic.stop();
                self.stopping.get_or_insert_with(Instant::now);
            }
        }
    }
}
