//! The links inside a kernel's process: a user-mode kernel calls them for each frame and whenever something is due, by
//! its own clock.
//!
//! No process runs per packet, so a packet costs no stop of one. The kernel's half is `kernel/src/links.c`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use messages::LinkCounts;
use plan::Plan;
use realtime::{Scheduling, Spans, ThreadTimes};
use records::Names;
use serde::{Deserialize, Serialize};
use units::{Duration, Time};

use crate::arena::Arena;
use crate::carrier::{Carrier, Evidence, tables};
use crate::driver::Driver;
use crate::earlier::Earlier;
use crate::frame::slot_bytes;
use crate::gso::Vnet;
use crate::hops::Hops;
use crate::intake::{Captured, Intake};
use crate::outgoing::{Outgoing, Transmit};
use crate::store::Store;
use crate::{Hop, Port};

/// Chunks of rows that wait to be written before time stands still for them: this bounds memory.
const BACKLOG: usize = 16;

/// The requests of the process that runs the links.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Make the links of a plan; ports, and the interfaces of hops behind them, are numbered as they were attached.
    Open { plan: Box<Plan>, ports: Vec<Port>, hops: Vec<Hop> },
    /// Time 0 is this CLOCK_MONOTONIC.
    Start { origin_ns: i64 },
    /// A link is another from now on. Answered by the time.
    Change { link: u32, spec: Box<plan::Link> },
    /// The states of the links: answered by [`Counted`].
    Count,
    /// Write all records.
    Finish,
}

/// The state of a link, by its index among the plan's, as a gauge has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Counted {
    pub link: u16,
    pub words: [u64; LinkCounts::WORDS],
}

/// A frame that a host sends.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The port of its host.
    pub port: u32,
    /// Its bytes, cut off where there was no room for more.
    pub bytes: &'a [u8],
    /// Its length on the wire.
    pub length: u32,
    /// The sender left the checksum to hardware.
    pub checksum_missing: bool,
    /// `struct virtio_net_hdr`: what it lacks.
    pub vnet: [u8; 10],
}

/// Takes a frame to the host behind a port: its parts, and whether they begin with a `struct virtio_net_hdr`. A refusal is
/// an error of the kernel.
pub trait Outlet {
    /// Send it.
    fn send(&mut self, port: u16, parts: &[libc::iovec], vnet: bool) -> std::io::Result<()>;
}

struct Each<O>(O);

impl<O: Outlet> Transmit for Each<O> {
    fn send(&mut self, frames: &Outgoing, first: usize) -> (usize, Option<std::io::Error>) {
        let mut sent = 0;
        for (port, parts) in frames.frames(first) {
            if let Err(error) = self.0.send(port, parts, frames.vnet) {
                return (sent, Some(error));
            }
            sent += 1;
        }
        (sent, None)
    }
}

/// The links of a run, from the order to open them to the order to finish. All times are CLOCK_MONOTONIC in nanoseconds.
pub struct Hosted<O> {
    dir: PathBuf,
    outlet: O,
    running: Option<Running<O>>,
}

struct Running<O> {
    plan: Plan,
    carrier: Carrier<Each<O>>,
    /// When the links were opened.
    opened_ns: i64,
    /// Time 0. Before its order to start, a run whose time 0 waits for routing takes one that is far ahead: its links carry
    /// frames from the beginning.
    origin_ns: Option<i64>,
    /// Frames that came before time began, and when.
    early: Vec<(Early, i64)>,
    vnet: bool,
}

struct Early {
    port: u32,
    bytes: Vec<u8>,
    length: u32,
    checksum_missing: bool,
    vnet: [u8; 10],
}

impl<O: Outlet + Clone> Hosted<O> {
    /// No links yet. Their records will be in `dir`.
    pub fn new(dir: &Path, outlet: O) -> Hosted<O> {
        Hosted { dir: dir.to_owned(), outlet, running: None }
    }

    /// Carry out a request of the process that runs the links; the answer, both in JSON.
    ///
    /// Sends nothing: what is due by `now` must have been sent before.
    pub fn order(&mut self, request: &[u8], now: i64) -> Result<Vec<u8>> {
        let answer = match serde_json::from_slice(request).context("reading a request")? {
            Request::Open { plan, ports, hops } => {
                self.open(*plan, &ports, &hops, now).map(|()| serde_json::to_vec(&()))
            }
            Request::Finish => self.finish(now).map(|()| serde_json::to_vec(&())),
            Request::Start { origin_ns } => {
                self.running()?.start(origin_ns);
                Ok(serde_json::to_vec(&()))
            }
            Request::Change { link, spec } => {
                let running = self.running()?;
                let now = running.time(now);
                running.carrier.change_link(link, *spec, now);
                Ok(serde_json::to_vec(&now))
            }
            Request::Count => {
                let running = self.running()?;
                let now = running.time(now);
                let counted = |(link, counts): (u16, LinkCounts)| Counted { link, words: counts.words() };
                Ok(serde_json::to_vec(&running.carrier.counts(now).map(counted).collect::<Vec<_>>()))
            }
        };
        answer?.context("spelling an answer")
    }

    fn running(&mut self) -> Result<&mut Running<O>> {
        self.running.as_mut().context("the links are not open")
    }

    fn open(&mut self, plan: Plan, ports: &[Port], hops: &[Hop], now: i64) -> Result<()> {
        let tables = tables(&plan, Names::of(&plan), &self.dir, BACKLOG)?.waiting(BACKLOG);
        let store = Store::new(Arena::new(plan.emulate.arena_bytes, slot_bytes(plan.largest_mtu()), 0)?);
        let driver = Driver::new(&plan, ports, store, Each(self.outlet.clone()));
        // Frames come with the number of their port.
        let numbered: Vec<_> = (0..).zip(ports).map(|(i, port)| Port { ifindex: i, ..port.clone() }).collect();
        let mut carrier = Carrier::new(&plan, Intake::new(&plan, &numbered), driver, tables)?;
        let qdiscs = plan.qdiscs().map_err(|what| anyhow!("the kernel's links don't have {what}"))?;
        carrier.network.hand_out(&qdiscs);
        // Interfaces are numbered as they were attached: behind the hosts', into the first hop, out of it, and so on.
        let place = |hop: usize| ports.len() + 2 * hop;
        let numbered: Vec<_> =
            hops.iter().enumerate().map(|(i, hop)| Hop { out_of: place(i) as i32 + 1, ..*hop }).collect();
        carrier.driver.hops = Hops::new(plan.links.len(), &numbered, place);
        let vnet = plan.emulate.path == plan::EmulatePath::Gso;
        let origin_ns = plan.wait.map(|_| now - Earlier::BEGIN.as_nanos());
        self.running = Some(Running { plan, carrier, opened_ns: now, origin_ns, early: Vec::new(), vnet });
        Ok(())
    }

    /// A host sends a frame.
    pub fn arrived(&mut self, frame: &Frame<'_>, now: i64) {
        if let Some(running) = &mut self.running {
            running.arrived(frame, now);
        }
    }

    /// Send the first few frames that are due by `now`.
    pub fn due(&mut self, now: i64) {
        let Some(running) = &mut self.running else { return };
        if running.origin_ns.is_some() {
            running.take_early();
            let now = running.time(now);
            running.carrier.advance(now);
            running.carrier.driver.hand_over(|| now);
        }
    }

    /// The time at which [`due`](Hosted::due) is to be called next; `None` if nothing will be due unless a frame arrives.
    pub fn next_due(&mut self) -> Option<i64> {
        let running = self.running.as_mut()?;
        let origin_ns = running.origin_ns?;
        if let Some((_, at)) = running.early.first() {
            return Some(*at);
        }
        let carrier = &mut running.carrier;
        let next = carrier.next_event().min(carrier.driver.next_handover(Duration::ZERO));
        (next != Time::NEVER).then(|| origin_ns + next.as_nanos())
    }

    fn finish(&mut self, now: i64) -> Result<()> {
        let Running { plan, mut carrier, origin_ns, .. } = self.running.take().context("the links are not open")?;
        let now = Time(now - origin_ns.unwrap_or(now));
        carrier.advance(now);
        let evidence = Evidence {
            // An arrival is read as it comes.
            read_lag: Spans::default(),
            ring_drops: 0,
            times: ThreadTimes { cpu_s: 0.0, run_delay_s: None, scheduled: None },
            wall: now - Time::ZERO,
            clock_steps: Vec::new(),
            scheduling: Scheduling { real_time: false, stepped_back: 0, nice: 0, slice_ns: 0, cpus: 1, awake: false },
            spun: Duration::ZERO,
            spin: Duration::ZERO,
        };
        carrier.finish(&plan, &self.dir, evidence).map(drop)
    }
}

impl<O: Outlet> Running<O> {
    /// Before the start there is no time.
    fn time(&self, now: i64) -> Time {
        Time(now - self.origin_ns.unwrap_or(now))
    }

    fn start(&mut self, origin_ns: i64) {
        self.carrier.set_origin(Duration(origin_ns - self.opened_ns));
        self.origin_ns = Some(origin_ns);
        // An order sends nothing, but frames go to the kernel's links as they come.
        if self.plan.emulate.links.is_none() {
            self.take_early();
        }
    }

    fn take_early(&mut self) {
        for (Early { port, bytes, length, checksum_missing, vnet }, at) in std::mem::take(&mut self.early) {
            self.arrived(&Frame { port, bytes: &bytes, length, checksum_missing, vnet }, at);
        }
    }

    fn arrived(&mut self, frame: &Frame<'_>, now: i64) {
        let &Frame { port, bytes, length, checksum_missing, vnet } = frame;
        if let Some(left) = self.carrier.driver.hops.returned(port as i32, bytes) {
            let now = self.time(now);
            return self.carrier.left(left, now);
        }
        if self.origin_ns.is_none() {
            self.early.push((Early { port, bytes: bytes.to_vec(), length, checksum_missing, vnet }, now));
            return;
        }
        let vnet = if self.vnet { Vnet::from_bytes(vnet) } else { Vnet::default() };
        let captured = Captured { frame: bytes, len: length, ifindex: port as i32, checksum_missing, vnet };
        self.carrier.enter(&captured, self.time(now));
    }
}
