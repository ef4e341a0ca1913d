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

    /// The time now.
    pub fn now(self) -> Time {
        self.at(monotonic_ns())
    }

    /// Run time as CLOCK_MONOTONIC would have it.
    pub fn monotonic_ns(self, time: Time) -> i64 {
        time.as_nanos() + self.origin_ns
    }

    /// A reading of CLOCK_MONOTONIC as run time.
    pub fn at(self, monotonic_ns: i64) -> Time {
        Time(monotonic_ns - self.origin_ns)
    }
}

/// CLOCK_MONOTONIC in nanoseconds.
pub fn monotonic_ns() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_REALTIME in nanoseconds: what the kernel stamps packets with.
pub fn wall_clock_ns() -> i64 {
    read(libc::CLOCK_REALTIME)
}

pub(crate) fn read(clock: libc::clockid_t) -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid timespec to write to; the clocks that are asked for always exist.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}
