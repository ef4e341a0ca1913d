//! Time of a run, and the stacks' instants: both are `CLOCK_MONOTONIC`.

use std::time::{Duration, Instant};

use anyhow::Result;
use nix::time::{ClockId, clock_gettime};

/// Nanoseconds since a run's time 0.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// An instant, and its time of the run.
    known: (Instant, i64),
}

impl Clock {
    /// The clock of a run whose time 0 is this moment of `CLOCK_MONOTONIC`.
    pub fn new(zero_monotonic_ns: i64) -> Result<Clock> {
        let time = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
        let monotonic_ns = time.tv_sec() * 1_000_000_000 + time.tv_nsec();
        Ok(Clock { known: (Instant::now(), monotonic_ns - zero_monotonic_ns) })
    }

    /// Time of an instant.
    pub fn ns(self, at: Instant) -> i64 {
        let (instant, ns) = self.known;
        match at.checked_duration_since(instant) {
            Some(since) => ns + since.as_nanos() as i64,
            None => ns - instant.duration_since(at).as_nanos() as i64,
        }
    }

    /// Instant of a time; of one long ago, the first instant that is known.
    pub fn instant(self, ns: i64) -> Instant {
        let (instant, known) = self.known;
        instant + Duration::from_nanos((ns - known).max(0) as u64)
    }
}

/// Multiples of an interval. A late one does not shift those after it.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    interval_ns: i64,
    next_ns: i64,
}

impl Grid {
    /// The points from `now_ns` on.
    pub fn new(interval_ns: i64, now_ns: i64) -> Grid {
        Grid { interval_ns, next_ns: now_ns }.after(now_ns - 1)
    }

    /// Time of the next point.
    pub fn next_ns(self) -> i64 {
        self.next_ns
    }

    /// The grid whose next point is later than `now_ns`.
    pub fn after(self, now_ns: i64) -> Grid {
        Grid { next_ns: (now_ns.div_euclid(self.interval_ns) + 1) * self.interval_ns, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_multiples_of_the_interval() {
        let grid = Grid::new(10, 20);
        assert_eq!(grid.next_ns(), 20);
        assert_eq!(grid.after(20).next_ns(), 30);
        assert_eq!(grid.after(47).next_ns(), 50, "30 and 40 are over");
        assert_eq!(Grid::new(10, -15).next_ns(), -10);
    }

    #[test]
    fn a_time_is_its_instants_time() {
        let clock = Clock::new(0).unwrap();
        let at = clock.ns(Instant::now()) + 5_000_000;
        assert_eq!(clock.ns(clock.instant(at)), at);
    }
}
