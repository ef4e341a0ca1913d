use std::fs;

use serde::Serialize;

/// Seconds of CPU time of the whole machine, from `/proc/stat`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Cpu {
    pub user_s: f64,
    pub system_s: f64,
    /// Taken away by the hypervisor.
    pub steal_s: f64,
    pub idle_s: f64,
    pub cores: usize,
}

/// The counts of the whole machine so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Machine {
    cpu: Cpu,
    softnet_dropped: u64,
}

impl Machine {
    pub(crate) fn now() -> Machine {
        Machine { cpu: cpu().unwrap_or_default(), softnet_dropped: softnet_dropped() }
    }

    /// The counts since `earlier`: CPU time and packets dropped for want of a backlog.
    pub(crate) fn since(self, earlier: Machine) -> (Cpu, u64) {
        let (now, then) = (self.cpu, earlier.cpu);
        let cpu = Cpu {
            user_s: now.user_s - then.user_s,
            system_s: now.system_s - then.system_s,
            steal_s: now.steal_s - then.steal_s,
            idle_s: now.idle_s - then.idle_s,
            cores: now.cores,
        };
        (cpu, self.softnet_dropped - earlier.softnet_dropped)
    }
}

fn cpu() -> Option<Cpu> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    // SAFETY: asks for a constant.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    let all = text.lines().next()?.strip_prefix("cpu ")?;
    // user nice system idle iowait irq softirq steal (proc_stat(5))
    let ticks: Vec<f64> = all.split_whitespace().filter_map(|n| n.parse::<f64>().ok()).collect();
    let seconds = |of: &[usize]| of.iter().filter_map(|&i| ticks.get(i)).sum::<f64>() / per_second;
    let cores = text.lines().filter(|l| l.starts_with("cpu") && !l.starts_with("cpu ")).count();
    Some(Cpu {
        user_s: seconds(&[0, 1]),
        system_s: seconds(&[2, 5, 6]),
        steal_s: seconds(&[7]),
        idle_s: seconds(&[3, 4]),
        cores,
    })
}

/// Second column of `/proc/net/softnet_stat`, in hexadecimal, summed over CPUs.
fn softnet_dropped() -> u64 {
    let text = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    text.lines().filter_map(|line| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok()).sum()
}
