use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// A part of the CPUs that a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// One CPU.
    Last,
    /// The others.
    AllButLast,
}

/// Keep the calling thread, and the threads that it starts, to a part of its CPUs, if there are at least two.
///
/// At high rates two busy processes that meet on a CPU delay each other until the scheduler has moved one away. That
/// costs more than either gains by being free to move.
pub fn keep_to(part: Part) {
    let cpus = allowed();
    let [others @ .., last] = cpus.as_slice() else { return };
    if others.is_empty() {
        return;
    }
    let mut set = CpuSet::new();
    for &cpu in if part == Part::Last { std::slice::from_ref(last) } else { others } {
        let _ = set.set(cpu);
    }
    // Refused only for a set without a CPU that may be used, and these may be.
    let _ = sched_setaffinity(Pid::from_raw(0), &set);
}

/// Keep the calling thread, and what it starts, to the first `count` of its CPUs. `false` if it has fewer.
pub fn keep_to_first(count: usize) -> bool {
    let cpus = allowed();
    if cpus.len() < count {
        return false;
    }
    let mut set = CpuSet::new();
    for &cpu in &cpus[..count] {
        let _ = set.set(cpu);
    }
    sched_setaffinity(Pid::from_raw(0), &set).is_ok()
}

/// The CPUs that the calling thread may use, in order.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else { return Vec::new() };
    (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_to_the_first_and_to_no_more_than_there_are() {
        let kept = |count| std::thread::spawn(move || (keep_to_first(count), allowed())).join().unwrap();
        let all = allowed();
        assert_eq!(kept(1), (true, all[..1].to_vec()));
        assert_eq!(kept(all.len() + 1), (false, all));
    }

    #[test]
    fn the_parts_are_all_and_share_nothing() {
        let kept = |part| {
            // Affinity belongs to a thread, so the test has a separate one.
            std::thread::spawn(move || {
                keep_to(part);
                allowed()
            })
            .join()
            .unwrap()
        };
        let all = allowed();
        if all.len() == 1 {
            assert_eq!((kept(Part::Last), kept(Part::AllButLast)), (all.clone(), all));
            return;
        }
        assert_eq!(kept(Part::Last), all[all.len() - 1..]);
        assert_eq!(kept(Part::AllButLast), all[..all.len() - 1]);
    }
}
