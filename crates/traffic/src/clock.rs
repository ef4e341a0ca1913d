use units::Time;

/// CLOCK_MONOTONIC, counted from the run's origin.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin_ns: i64,
}

impl Clock {
    /// `origin_ns` is a reading of CLOCK_MONOTONIC.
    pub fn new(origin_ns: i64) -> Clock {
        Clock { origin_ns }
    }

    pub fn now(self) -> Time {
        Time(monotonic_ns() - self.origin_ns)
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to write to; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}
