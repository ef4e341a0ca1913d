use std::io::Write;

use serde::Serialize;
use units::{Duration, Time};

use crate::affinity::allowed;

/// The CPU time after which the scheduler may prefer another thread, in ns: the shortest that Linux grants.
///
/// A short slice gives a thread that sleeps often an early virtual deadline, so it is picked soon after it wakes
/// (EEVDF, Linux 6.12). It needs no privilege.
const SLICE_NS: u64 = 100_000;

/// Any real-time priority precedes every ordinary thread.
const FIFO_PRIORITY: i32 = 1;

/// Window in which the share of a CPU that a thread uses is measured.
const WINDOW: Duration = Duration::from_millis(100);
/// Above the first share a thread stops being real-time; below the second it is real-time again.
///
/// The kernel stops real-time threads for 50 ms of each second in which they use more than 95 % of a CPU
/// (sched_rt_runtime_us), and lets ordinary threads that starve behind them run as long. A window at full speed is a
/// tenth of that second: time enough to step back.
const STEP_BACK: f64 = 0.85;
const RETURN: f64 = 0.6;

/// Keeps the calling thread ahead of others for as long as that is safe, and the CPUs awake.
#[derive(Debug)]
pub struct Urgency {
    scheduling: Scheduling,
    /// Open while no CPU may sleep.
    _awake: Option<std::fs::File>,
    /// True if the thread is SCHED_FIFO now.
    fifo: bool,
    window_began: Time,
    cpu_began_ns: i64,
}

/// The scheduling of a thread.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Scheduling {
    /// The kernel grants SCHED_FIFO.
    pub real_time: bool,
    /// Number of times that it stepped back to an ordinary thread because it was busy.
    pub stepped_back: u32,
    /// Nice value as an ordinary thread: that of the process, -20 with privilege, else 0.
    pub nice: i32,
    /// Slice that the kernel granted as an ordinary thread; 0 if the kernel has none.
    pub slice_ns: u64,
    /// Number of CPUs that it may use.
    pub cpus: usize,
    /// Idle CPUs were kept from sleeping.
    pub awake: bool,
}

impl Urgency {
    /// Uses the available privilege: SCHED_FIFO, or an ordinary thread that is picked soon after it wakes.
    pub fn new(now: Time) -> Urgency {
        // SAFETY: plain system calls on the calling thread.
        let nice = unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
            libc::getpriority(libc::PRIO_PROCESS, libc::gettid() as libc::id_t)
        };
        let slice_ns = ordinary(nice);
        let real_time = fifo();
        let awake = stay_awake();
        let cpus = allowed().len();
        let scheduling = Scheduling { real_time, stepped_back: 0, nice, slice_ns, cpus, awake: awake.is_some() };
        Urgency { scheduling, _awake: awake, fifo: real_time, window_began: now, cpu_began_ns: thread_cpu_ns() }
    }

    /// Time begins anew at `now`.
    pub fn restart(&mut self, now: Time) {
        self.scheduling.stepped_back = 0;
        (self.window_began, self.cpu_began_ns) = (now, thread_cpu_ns());
    }

    /// Stays below the kernel's limit on real-time threads. Call it every few milliseconds.
    pub fn adapt(&mut self, now: Time) {
        let window = now - self.window_began;
        if !self.scheduling.real_time || window < WINDOW {
            return;
        }
        let cpu_ns = thread_cpu_ns();
        let share = (cpu_ns - self.cpu_began_ns) as f64 / window.as_nanos() as f64;
        (self.window_began, self.cpu_began_ns) = (now, cpu_ns);
        if self.fifo && share > STEP_BACK {
            ordinary(self.scheduling.nice);
            self.fifo = false;
            self.scheduling.stepped_back += 1;
        } else if !self.fifo && share < RETURN {
            self.fifo = fifo();
        }
    }

    /// Summary of the scheduling.
    pub fn scheduling(&self) -> Scheduling {
        self.scheduling
    }
}

/// Opens the file that, with privilege, keeps CPUs from sleeping.
///
/// An idle CPU sleeps, and takes microseconds to wake up; in a virtual machine it takes tens of microseconds, because
/// another system may have the CPU by then. A request for a latency of 0 makes it poll for work instead
/// (Documentation/power/pm_qos_interface.rst).
fn stay_awake() -> Option<std::fs::File> {
    let mut file = std::fs::File::options().write(true).open("/dev/cpu_dma_latency").ok()?;
    file.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// `true` if the kernel grants it.
fn fifo() -> bool {
    let parameters = libc::sched_param { sched_priority: FIFO_PRIORITY };
    // SAFETY: plain system call on the calling thread; a valid struct.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
}

/// An ordinary thread with a short slice; returns the slice that was granted.
fn ordinary(nice: i32) -> u64 {
    // SAFETY: plain system calls on the calling thread; the struct is valid, and its size is right.
    unsafe {
        let mut attributes: libc::sched_attr = std::mem::zeroed();
        let size = size_of::<libc::sched_attr>() as u32;
        attributes.size = size;
        attributes.sched_policy = libc::SCHED_OTHER as u32;
        attributes.sched_nice = nice;
        attributes.sched_runtime = SLICE_NS;
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0);
        attributes.sched_runtime
    }
}

/// CPU time of the calling thread so far, and its waits.
#[derive(Clone, Copy, Debug)]
pub struct ThreadTimes {
    /// Seconds of CPU time.
    pub cpu_s: f64,
    /// Seconds that it was ready to run and waited for a CPU; unknown to a kernel without CONFIG_SCHED_INFO.
    pub run_delay_s: Option<f64>,
    /// Number of times that it got a CPU; unknown to the same kernels.
    pub scheduled: Option<u64>,
}

impl ThreadTimes {
    /// The difference since `before`.
    pub fn since(self, before: ThreadTimes) -> ThreadTimes {
        let run_delay_s = self.run_delay_s.zip(before.run_delay_s).map(|(now, then)| now - then);
        let scheduled = self.scheduled.zip(before.scheduled).map(|(now, then)| now - then);
        ThreadTimes { cpu_s: self.cpu_s - before.cpu_s, run_delay_s, scheduled }
    }

    /// The values up to now.
    pub fn now() -> ThreadTimes {
        // CPU time and time on a run queue in nanoseconds, and number of time slices (Documentation/scheduler/sched-stats.rst).
        let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let number = |at| schedstat.split_whitespace().nth(at)?.parse::<u64>().ok();
        let run_delay_s = number(1).map(|nanos| nanos as f64 / 1e9);
        ThreadTimes { cpu_s: thread_cpu_ns() as f64 / 1e9, run_delay_s, scheduled: number(2) }
    }
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> i64 {
    crate::clock::read(libc::CLOCK_THREAD_CPUTIME_ID)
}
