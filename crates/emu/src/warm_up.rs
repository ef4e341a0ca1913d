//! Before time 0: frames cross the network while routing converges. Nothing of it is recorded.

use std::fs::File;
use std::os::fd::AsFd;

use anyhow::{Context, Result};
use messages::Inbox;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::time::TimeSpec;
use realtime::monotonic_ns;
use units::{Duration, Time};

use crate::carrier::Carrier;
use crate::clock::StampClock;
use crate::earlier::Earlier;
use crate::outgoing::Transmit;
use crate::ring::Ring;

/// Time before the origin at which the run's thread becomes urgent: frames that come meanwhile wait in the ring.
const CHANGE_OVER_NS: i64 = 5_000_000;
/// The longest sleep.
const LOOK: Duration = Duration::from_millis(100);

/// Carries frames until the run is about to begin. Returns its origin, CLOCK_MONOTONIC in ns.
pub(crate) fn carry(carrier: &mut Carrier<impl Transmit>, ring: &mut Ring, inbox: &mut Inbox<File>) -> Result<i64> {
    let begin_ns = monotonic_ns();
    let mut clock = StampClock::new(begin_ns - Earlier::BEGIN.as_nanos());
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
            carrier.set_origin(Duration(origin - begin_ns));
            return Ok(origin);
        }
        let due = match carrier.next_event() {
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
