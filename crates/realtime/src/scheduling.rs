use serde::Serialize;

/// The CPU time after which the scheduler may prefer another thread, in ns: the shortest that Linux grants.
///
/// A short slice gives a thread that sleeps often an early virtual deadline, so it is picked soon after it wakes
/// (EEVDF, Linux 6.12). It needs no privilege.
const SLICE_NS: u64 = 100_000;

/// How the emulator's thread is scheduled.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scheduling {
    /// As the process was started: -20 with privilege, else 0.
    pub nice: i32,
    /// The slice that the kernel granted, 0 if it knows none.
    pub slice_ns: u64,
}

/// Get the calling thread onto a CPU as soon as it wakes.
///
/// Not SCHED_FIFO: a FIFO thread that spins runs into the real-time throttle and stalls for 50 ms each second.
pub fn urgent() -> Scheduling {
    // SAFETY: plain system calls on the calling thread; the structs are valid and of their own size.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let me = libc::gettid() as libc::id_t;
        let nice = libc::getpriority(libc::PRIO_PROCESS, me);
        let mut attributes: libc::sched_attr = std::mem::zeroed();
        let size = size_of::<libc::sched_attr>() as u32;
        attributes.size = size;
        attributes.sched_policy = libc::SCHED_OTHER as u32;
        attributes.sched_nice = nice;
        attributes.sched_runtime = SLICE_NS;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
        Scheduling { nice, slice_ns: attributes.sched_runtime }
    }
}

/// What the calling thread has had of a CPU so far.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTimes {
    /// Seconds of CPU time.
    pub cpu_s: f64,
    /// Seconds that it was ready to run and waited for a CPU; unknown to a kernel without CONFIG_SCHED_INFO.
    pub run_delay_s: Option<f64>,
}

impl ThreadTimes {
    /// Up to now.
    pub fn now() -> ThreadTimes {
        // Second number: nanoseconds on a run queue (Documentation/scheduler/sched-stats.rst).
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
        let delay = schedstat.and_then(|text| text.split_whitespace().nth(1)?.parse::<f64>().ok());
        ThreadTimes { cpu_s: thread_cpu_ns() as f64 / 1e9, run_delay_s: delay.map(|nanos| nanos / 1e9) }
    }
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    crate::clock::read(libc::CLOCK_THREAD_CPUTIME_ID)
}
