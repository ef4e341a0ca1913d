//! The probe's programs in the kernel, and the ring through which all rows come.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use bpf::{AckRing, Privilege, Session};
use libbpf_rs::{Link, Map, MapCore, MapFlags, Object, ObjectBuilder, OpenMapMut, OpenObject, ProgramMut, set_print};
use messages::Failure;
use nix::sys::socket::sockopt::TcpCongestion;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_getres};
use plan::{Acks, Plan};

use crate::device::Device;
use crate::programs::Programs;
use crate::senders::Sender;
use crate::source::Source;

/// Size of the ring. A row takes 176 bytes: this is a second of a sender at 1 Gbit/s whose receiver acknowledges each segment.
const RING_BYTES: u32 = 16 << 20;
/// Flows and algorithms of a run for which the programs can be loaded before it.
const MOST_FLOWS: usize = 1 << 12;
const MOST_ALGORITHMS: usize = 64;
/// Length of `struct name` of `bpf/probe/probe.bpf.c`: TCP_CA_NAME_MAX.
const NAME_BYTES: usize = 16;

/// The way in which a run records its acknowledgements, if it does.
#[derive(Debug)]
pub enum Wanted {
    /// Recorded, with this probe.
    Yes(Box<Probe>),
    /// Recorded by the kernel itself.
    Kernel(Device),
    /// Not recorded, for this reason, as a text for users.
    No(String),
}

impl Wanted {
    /// Loads the probe if the plan wants it and this process may. One that is `prepared` need not be loaded.
    ///
    /// # Errors
    /// The plan insists (`record.acks = true`), and the kernel refuses.
    pub fn by(plan: &Plan, prepared: Option<Prepared>) -> Result<Wanted> {
        if plan.record.acks == Acks::Off {
            return Ok(Wanted::No("the scenario has record.acks = false".into()));
        }
        if !plan.flows.iter().any(|flow| flow.workload.may_have_tcp()) {
            return Ok(Wanted::No("no flow uses TCP".into()));
        }
        if let Some(device) = Device::find()? {
            return Ok(Wanted::Kernel(device));
        }
        let missing = Privilege::now().missing().join(" and ");
        if !missing.is_empty() {
            let why = format!("it takes {missing}");
            if plan.record.acks != Acks::On {
                return Ok(Wanted::No(why));
            }
            let hint = "run as root, or set record.acks = false: samples are taken all the same";
            return Err(Failure::new("recording every ACK", why).hint(hint).into());
        }
        let probe = match prepared.filter(|prepared| prepared.fits(plan)) {
            Some(prepared) => prepared.attach(),
            None => Probe::load(plan, RING_BYTES),
        };
        match probe {
            Ok(probe) => Ok(Wanted::Yes(Box::new(probe))),
            Err(error) if plan.record.acks == Acks::On => Err(error),
            Err(error) => {
                let Failure { what, why, .. } = Failure::of(&error);
                Ok(Wanted::No(format!("{what}: {why}")))
            }
        }
    }

    /// The ring to which programs of the run write, if there is one.
    pub fn ring(&self) -> Option<&AckRing> {
        match self {
            Wanted::Yes(probe) => Some(probe.ring()),
            Wanted::Kernel(_) | Wanted::No(_) => None,
        }
    }

    /// The source of the rows, if there are any. `session`: the programs that the run has loaded.
    pub fn source<'a>(&'a self, session: &'a Session) -> Option<Source<'a>> {
        match self {
            Wanted::Yes(probe) => Some(Source::Programs(probe, Programs::of(session))),
            Wanted::Kernel(device) => Some(Source::Device(device)),
            Wanted::No(_) => None,
        }
    }
}

/// The probe's programs, loaded and attached. They are detached when it is dropped in all processes that have it.
#[derive(Debug)]
pub struct Probe {
    ring: AckRing,
    ring_bytes: u32,
    // The order matters: the links end before their programs do.
    _links: Vec<Link>,
    object: Object,
}

/// The probe's programs, loaded before anybody knows the run, but not attached: they cost nothing so far.
#[derive(Debug)]
pub struct Prepared {
    ring: AckRing,
    ring_bytes: u32,
    flows: usize,
    algorithms: usize,
    object: Object,
}

impl Prepared {
    /// Loads them, for runs of up to [`MOST_FLOWS`]. The modules of the kernel's algorithms must be there.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn load() -> Result<Prepared> {
        Prepared::of(RING_BYTES, MOST_FLOWS, MOST_ALGORITHMS)
    }

    /// Loads them with a ring of so many bytes, and tables of so many flows and algorithms.
    fn of(ring_bytes: u32, flows: usize, algorithms: usize) -> Result<Prepared> {
        let ring = AckRing::create(ring_bytes)?;
        let mut open = quietly(|| {
            let object = bpf::probe();
            ObjectBuilder::default().open_memory(object).context("opening the probe's object")
        })?;
        map_mut(&mut open, "db_acks")?.reuse_fd(ring.as_fd())?;
        let entries = |n: usize| u32::try_from(n.max(1)).unwrap_or(u32::MAX);
        map_mut(&mut open, "db_flows")?.set_max_entries(entries(flows))?;
        map_mut(&mut open, "db_programs")?.set_max_entries(entries(algorithms))?;
        set_jiffy(&mut open)?;
        let object = quietly(|| open.load().context("loading the probe into the kernel"))?;
        Ok(Prepared { ring, ring_bytes, flows, algorithms, object })
    }

    /// True if a run is not too large.
    pub fn fits(&self, plan: &Plan) -> bool {
        plan.flows.len() <= self.flows && plan.algorithms.len() <= self.algorithms
    }

    /// The ring of rows; algorithms also write to it.
    pub fn ring(&self) -> &AckRing {
        &self.ring
    }

    fn attach(self) -> Result<Probe> {
        let Prepared { ring, ring_bytes, object, .. } = self;
        let attach = |program: ProgramMut<'_>| {
            let name = program.name().to_string_lossy().into_owned();
            quietly(|| program.attach().with_context(|| format!("attaching the probe's program {name}")))
        };
        let links = object.progs_mut().map(attach).collect::<Result<_>>()?;
        Ok(Probe { ring, ring_bytes, _links: links, object })
    }
}

impl Probe {
    /// Loads the programs, makes the ring, and attaches the programs to their tracepoints: inside the lab, the process
    /// may no longer be allowed to. They record nothing until they get the run's senders.
    pub fn load(plan: &Plan, ring_bytes: u32) -> Result<Probe> {
        load_modules(plan);
        Prepared::of(ring_bytes, plan.flows.len(), plan.algorithms.len())?.attach()
    }

    /// The ring of rows; algorithms also write to it.
    pub fn ring(&self) -> &AckRing {
        &self.ring
    }

    pub(crate) fn ring_bytes(&self) -> u64 {
        self.ring_bytes.into()
    }

    /// Starts to record `senders`, except those that use a program that writes rows itself.
    pub(crate) fn watch<'a>(&self, senders: impl Iterator<Item = &'a Sender>, programs: &Programs<'_>) -> Result<()> {
        let names = self.map("db_programs")?;
        for (program, publishes) in programs.known() {
            let mut name = [0; NAME_BYTES];
            let length = program.len().min(NAME_BYTES - 1);
            name[..length].copy_from_slice(&program.as_bytes()[..length]);
            names.update(&name, &[publishes], MapFlags::ANY).context("telling the probe the run's algorithms")?;
        }
        watch(&self.object, senders)
    }

    /// Rows of the probe's own that found the ring full.
    pub(crate) fn lost(&self) -> Result<u64> {
        lost(&self.object)
    }

    /// Cost of its programs so far, if the kernel counts it.
    pub(crate) fn cost(&self) -> Result<Vec<bpf::ProgramStatistics>> {
        bpf::statistics(&self.object)
    }

    fn map(&self, name: &str) -> Result<Map<'_>> {
        let found = self.object.maps().find(|map| map.name() == OsStr::new(name));
        found.with_context(|| format!("the probe has no map {name}"))
    }
}

/// Gives the run's senders to the programs of `object`. A user's program that filters nothing has no map for them.
pub(crate) fn watch<'a>(object: &Object, senders: impl Iterator<Item = &'a Sender>) -> Result<()> {
    let Some(flows) = object.maps().find(|map| map.name() == OsStr::new("db_flows")) else { return Ok(()) };
    for sender in senders {
        flows.update(&sender.key(), &[1], MapFlags::ANY).context("telling the kernel's side the run's senders")?;
    }
    Ok(())
}

/// Rows that programs of `object` lost; 0 if it never writes any.
pub(crate) fn lost(object: &Object) -> Result<u64> {
    let Some(map) = object.maps().find(|map| map.name() == OsStr::new("db_acks_lost")) else { return Ok(0) };
    let count = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).context("reading the count of lost rows")?;
    let count = count.and_then(|bytes| Some(u64::from_ne_bytes(bytes.try_into().ok()?)));
    count.context("the count of lost rows is no number")
}

fn map_mut<'a>(open: &'a mut OpenObject, name: &str) -> Result<OpenMapMut<'a>> {
    let found = open.maps_mut().find(|map| map.name() == OsStr::new(name));
    found.with_context(|| format!("the probe has no map {name}"))
}

/// The kernel's own algorithms keep times in jiffies, whose length depends on the kernel's build. The coarse clock advances
/// once a jiffy.
fn set_jiffy(open: &mut OpenObject) -> Result<()> {
    let jiffy = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).context("asking for the coarse clock's resolution")?;
    let ns = u32::try_from(jiffy.num_nanoseconds()).context("a jiffy is shorter than 4 s")?;
    let mut data = map_mut(open, ".rodata.jiffy")?;
    let value = data.initial_value_mut().context("the length of a jiffy has no place")?;
    value.get_mut(..4).context("the length of a jiffy has 32 bits")?.copy_from_slice(&ns.to_ne_bytes());
    Ok(())
}

/// The state of the kernel's own algorithms is read by their type information, which a module brings along: it must be there
/// first.
fn load_modules(plan: &Plan) {
    let names: BTreeSet<&str> = plan.flows.iter().filter_map(|flow| flow.workload.cc()).collect();
    for name in names.into_iter().filter(|name| cc::KERNEL.contains(name)) {
        if let Ok(fd) = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None) {
            // Choosing it loads it. If that fails, the flow reports it.
            let _ = setsockopt(&fd, TcpCongestion, &OsString::from(name));
        }
    }
}

/// libbpf prints to standard error by default; our errors suffice.
fn quietly<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = set_print(None);
    let result = f();
    set_print(before);
    result
}
