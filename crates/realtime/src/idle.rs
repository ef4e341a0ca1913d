use std::io::{Read, Seek};

use crate::affinity::allowed;

/// Measures the idle time of the CPUs that the calling thread may use.
#[derive(Debug)]
pub struct Idle {
    /// `None`: this system doesn't say.
    stat: Option<std::fs::File>,
    cpus: Vec<usize>,
    text: String,
    before: Ticks,
}

/// Idle time of all these CPUs together, in the kernel's unit (10 ms).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl Idle {
    /// Starts to measure the CPUs that the calling thread may use now.
    pub fn new() -> Idle {
        let stat = std::fs::File::open("/proc/stat").ok();
        let mut idle = Idle { stat, cpus: allowed(), text: String::new(), before: Ticks::default() };
        idle.share();
        idle
    }

    /// The share of time in which the CPUs had nothing to do since the last call; `None` if that is not known, or the
    /// time is too short to know the share to a tenth.
    pub fn share(&mut self) -> Option<f64> {
        let file = self.stat.as_mut()?;
        self.text.clear();
        file.rewind().and_then(|()| file.read_to_string(&mut self.text)).ok()?;
        let now = Ticks::of(&self.text, &self.cpus)?;
        let (idle, all) = (now.idle.saturating_sub(self.before.idle), now.all.saturating_sub(self.before.all));
        if all < 10 {
            return None;
        }
        self.before = now;
        Some(idle as f64 / all as f64)
    }
}

impl Default for Idle {
    fn default() -> Idle {
        Idle::new()
    }
}

impl Ticks {
    /// Lines `cpuN user nice system idle iowait irq softirq steal ...` (proc_stat(5)).
    fn of(text: &str, cpus: &[usize]) -> Option<Ticks> {
        let mut sum = Ticks::default();
        for line in text.lines() {
            let Some((cpu, fields)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else { continue };
            if !cpu.parse().is_ok_and(|cpu| cpus.contains(&cpu)) {
                continue;
            }
            let mut counts = fields.split_whitespace().take(8).map(|field| field.parse::<u64>().ok());
            let mut all = 0;
            for field in 0..8 {
                let count = counts.next()??;
                all += count;
                // Idle, and idle with a disk at work.
                if field == 3 || field == 4 {
                    sum.idle += count;
                }
            }
            sum.all += all;
        }
        (sum.all > 0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  40 0 40 800 20 0 0 100 0 0\ncpu0 10 0 20 300 20 0 0 50 7 0\ncpu1 30 0 20 500 0 0 0 50 0 0\n\
                        cpu10 1 1 1 1 1 1 1 1 0 0\nintr 12 0\n";

    #[test]
    fn adds_up_the_cpus_that_count() {
        assert_eq!(Ticks::of(STAT, &[0]), Some(Ticks { idle: 320, all: 400 }));
        assert_eq!(Ticks::of(STAT, &[0, 1]), Some(Ticks { idle: 820, all: 1000 }));
        assert_eq!(Ticks::of(STAT, &[10]), Some(Ticks { idle: 2, all: 8 }));
    }

    #[test]
    fn knows_nothing_where_nothing_is_told() {
        assert_eq!(Ticks::of(STAT, &[2]), None);
        assert_eq!(Ticks::of("cpu0 1 2 3\n", &[0]), None);
        assert_eq!(Ticks::of("", &[0]), None);
    }

    #[test]
    fn a_busy_thread_leaves_less_of_its_cpu() {
        // Affinity belongs to a thread, so the test has a separate one. The thread keeps its one CPU busy: there is
        // little idle time, whoever else is on it.
        let share = std::thread::spawn(|| {
            crate::keep_to_first(1);
            let mut idle = Idle::new();
            let began = std::time::Instant::now();
            while began.elapsed() < std::time::Duration::from_millis(300) {
                std::hint::spin_loop();
            }
            idle.share()
        });
        let share = share.join().unwrap();
        assert!(share.is_none_or(|share| share < 0.2), "{share:?}");
    }
}
