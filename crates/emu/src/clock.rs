use realtime::{Clock, monotonic_ns, wall_clock_ns};
use units::{Duration, Time};

/// Smaller moves of the wall clock are its ordinary discipline, and the error of reading two clocks one after the other.
const STEP: i64 = 1_000_000;

/// One clock for everything: CLOCK_MONOTONIC since the run's origin.
///
/// The kernel stamps packets with CLOCK_REALTIME. The offset between the two is measured again and again; a jump in it
/// means that somebody set the wall clock, and that stamps around it are wrong.
pub(crate) struct StampClock {
    clock: Clock,
    /// CLOCK_REALTIME - CLOCK_MONOTONIC.
    offset: i64,
    steps: Vec<(Time, Duration)>,
}

impl StampClock {
    pub(crate) fn new(origin_monotonic_ns: i64) -> StampClock {
        StampClock { clock: Clock::new(origin_monotonic_ns), offset: realtime_offset(), steps: Vec::new() }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// A reading of CLOCK_MONOTONIC as run time.
    pub(crate) fn at(&self, monotonic_ns: i64) -> Time {
        self.clock.at(monotonic_ns)
    }

    /// A kernel packet stamp, in seconds and nanoseconds, as run time.
    pub(crate) fn of_stamp(&self, (seconds, nanoseconds): (u32, u32)) -> Time {
        self.clock.at(i64::from(seconds) * 1_000_000_000 + i64::from(nanoseconds) - self.offset)
    }

    /// Measure the offset again.
    pub(crate) fn resync(&mut self) {
        self.adopt(realtime_offset());
    }

    fn adopt(&mut self, offset: i64) {
        let step = offset - self.offset;
        if step.abs() > STEP {
            self.steps.push((self.now(), Duration(step)));
        }
        self.offset = offset;
    }

    /// The times at which the wall clock jumped, and how far.
    pub(crate) fn steps(&self) -> &[(Time, Duration)] {
        &self.steps
    }
}

/// The tightest of a few bracketed readings: a reading that was interrupted is off by the interruption.
fn realtime_offset() -> i64 {
    (0..5)
        .map(|_| {
            let before = monotonic_ns();
            let wall = wall_clock_ns();
            let after = monotonic_ns();
            (after - before, wall - before - (after - before) / 2)
        })
        .min()
        .expect("five readings")
        .1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_and_now_agree() {
        let clock = StampClock::new(monotonic_ns());
        let before = clock.now();
        let wall = wall_clock_ns();
        let after = clock.now();
        let stamp = clock.of_stamp(((wall / 1_000_000_000) as u32, (wall % 1_000_000_000) as u32));
        // The offset is known to within one reading's bracket; 50 us covers a slow virtual machine's.
        let slack = Duration::from_micros(50);
        assert!(stamp >= before - slack && stamp <= after + slack, "{before} {stamp} {after}");
    }

    #[test]
    fn a_step_is_seen_and_a_slew_is_not() {
        let mut clock = StampClock::new(0);
        clock.adopt(clock.offset + 250_000);
        assert!(clock.steps().is_empty());
        clock.adopt(clock.offset - 5_000_000);
        assert_eq!(clock.steps().len(), 1);
        assert_eq!(clock.steps()[0].1, Duration(-5_000_000));
    }
}
