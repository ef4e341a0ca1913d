use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, stdin, stdout};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bpf::Session;
use events::{Event, Failure, Process};
use lab::{HostSpec, Lab};
use plan::{EmulatePath, Plan};
use realtime::{Part, keep_to, monotonic_ns};
use serde::Serialize;

use crate::child::Child;
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
    /// What the kernel knows of the plan's `algorithms`, in the plan's order.
    algorithms: Vec<bpf::Fact>,
}

/// Pid 1 of the lab. Returns its exit code.
pub(crate) fn main(plan: &Plan, dir: &Path, algorithms: &Session, rootless: bool, started: Instant) -> i32 {
    // SAFETY: plain system calls. If the helper dies, so does the lab.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"db-init".as_ptr());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    match supervise(plan, dir, algorithms, rootless, started) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let _ = Event::failed(Process::Init, &error).emit(&mut stdout());
            1
        }
    }
}

fn supervise(plan: &Plan, dir: &Path, algorithms: &Session, rootless: bool, started: Instant) -> Result<bool> {
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
    let emulator = Child::start(Process::Emulator, c"db-emulator", -20, |control, events| {
        part(Part::Last);
        emu::run(plan, &ports(&lab), dir, control, events).map(drop)
    })?;
    let traffic = Child::start(Process::Traffic, c"db-traffic", -10, |control, events| {
        part(Part::AllButLast);
        let netns = |name: &str| {
            let host = lab.hosts().iter().find(|host| host.name == name);
            host.map(|host| host.netns.as_fd()).with_context(|| format!("no host {name} in the lab"))
        };
        traffic::run(plan, &netns, algorithms.names(), dir, control, events).map(drop)
    })?;
    let well = Watch { emulator, traffic, stopping: None, failed: false }.watch(plan)?;

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
        algorithms: algorithms.facts()?,
    };
    let file = File::create(dir.join("lab.json")).context("creating lab.json")?;
    serde_json::to_writer_pretty(file, &report).context("writing lab.json")?;
    Ok(well)
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
    /// Since when everything comes to an end.
    stopping: Option<Instant>,
    failed: bool,
}

impl Watch {
    /// Relay events, start the run when both processes are ready, stop the emulator when the traffic is over.
    fn watch(mut self, plan: &Plan) -> Result<bool> {
        let started = Instant::now();
        let mut running = false;
        while !(self.emulator.gone && self.traffic.gone) {
            self.relay()?;
            let ready = self.emulator.ready && self.traffic.ready;
            if ready && !running && self.stopping.is_none() {
                running = true;
                let origin_ns = monotonic_ns() + LEAD_NS;
                self.emulator.tell_origin(origin_ns)?;
                self.traffic.tell_origin(origin_ns)?;
                Event::Started { origin_ns }.emit(&mut stdout())?;
            }
            if self.traffic.done || self.traffic.gone {
                self.emulator.stop();
                self.stopping.get_or_insert_with(Instant::now);
            }
            if self.emulator.gone {
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
        Ok(!self.failed)
    }

    /// Wait for words from above or below, and pass them on.
    fn relay(&mut self) -> Result<()> {
        let fd = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut fds = [fd(0), fd(self.emulator.poll_fd()), fd(self.traffic.poll_fd())];
        // SAFETY: valid descriptors. A second at most: the loop looks at the clock.
        unsafe { libc::poll(fds.as_mut_ptr(), 3, 1000) };
        if fds[0].revents != 0 {
            self.obey();
        }
        for (child, ready) in [(&mut self.emulator, fds[1].revents), (&mut self.traffic, fds[2].revents)] {
            if ready == 0 {
                continue;
            }
            for event in child.read_events()? {
                self.failed |= matches!(event, Event::Failed { .. });
                event.emit(&mut stdout())?;
            }
            if child.gone
                && let Some(failure) = child.silent_end()?
            {
                self.failed = true;
                Event::Failed { process: child.process, failure }.emit(&mut stdout())?;
            }
        }
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
