//! Before time 0: frames cross the network while routing converges. Nothing of it is recorded.

use std::fs::File;
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use messages::Inbox;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::time::TimeSpec;
use plan::Plan;
use realtime::monotonic_ns;
use units::{Duration, Time};

use crate::Port;
use crate::arena::Arena;
use crate::carrier::Carrier;
use crate::clock::StampClock;
use crate::driver::Driver;
use crate::frame::slot_bytes;
use crate::intake::Intake;
use crate::ring::Ring;
use crate::store::Store;
use crate::transmit::PacketSocket;

/// What is left before the origin for whoever carries frames then: those that come meanwhile wait in the ring.
const CHANGE_OVER_NS: i64 = 5_000_000;
/// The longest sleep.
const LOOK: Duration = Duration::from_millis(100);
/// Arena memory touched before.
const PREFAULT: u64 = 1 << 20;

/// Carries frames until the run begins. Returns its origin, CLOCK_MONOTONIC in ns, and how many frames it
/// handed to nodes.
///
/// What is on the wires then is lost, as on links that were cut and joined again: hellos are sent again.
pub(crate) fn carry(plan: &Plan, ports: &[Port], ring: &mut Ring, inbox: &mut Inbox<File>) -> Result<(i64, u64)> {
    // Its events belong to the run.
    let plan = Plan { events: Vec::new(), ..plan.clone() };
    let store = Store::new(Arena::new(plan.emulate.arena_bytes, slot_bytes(plan.largest_mtu()), PREFAULT)?);
    let driver = Driver::new(&plan, ports, store, PacketSocket::open(ports, plan.emulate.path)?, None);
    let mut carrier = Carrier::new(&plan, Intake::new(&plan, ports), driver, None)?;
    let mut clock = StampClock::new(monotonic_ns());
    let mut origin = None;
    loop {
        let now = clock.now();
        while let Some((_, captured)) = ring.peek() {
            carrier.enter(&captured, now);
            ring.release();
        }
        carrier.advance(now);
        carrier.driver.flush(|| clock.now(), Duration::ZERO);
        clock.resync();
        let left = origin.map_or(i64::MAX, |origin: i64| origin - CHANGE_OVER_NS - monotonic_ns());
        if let (Some(origin), true) = (origin, left <= 0) {
            return Ok((origin, carrier.driver.bursts_out));
        }
        let due = match carrier.network.next_event() {
            Time::NEVER => LOOK,
            event => event - clock.now(),
        };
        let wait = due.as_nanos().clamp(0, LOOK.as_nanos()).min(left);
        let watch = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = vec![watch(ring.as_fd())];
        // Later orders are the run's.
        fds.extend(origin.is_none().then(|| watch(inbox.pipe().as_fd())));
        match nix::poll::ppoll(&mut fds, Some(TimeSpec::new(0, wait)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno).context("waiting for frames"),
        }
        if fds.get(1).is_some_and(|fd| fd.any() == Some(true)) {
            origin = Some(inbox.wait_for_start()?);
        }
    }
}
