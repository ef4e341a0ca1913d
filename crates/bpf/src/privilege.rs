//! The privileges for loading congestion controls.

use std::fs;
use std::os::unix::fs::MetadataExt;

use messages::Failure;

/// Inode of the initial user namespace in nsfs, the same on every machine.
const INITIAL_USER_NAMESPACE: u64 = 0xEFFF_FFFD;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// The facts that decide whether this process may load programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Privilege {
    capabilities: u64,
    initial: bool,
}

impl Privilege {
    /// The privileges of the calling thread.
    pub fn now() -> Privilege {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let capabilities = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
        // A kernel without user namespaces has no such file, and nothing to be outside of.
        let initial = fs::metadata("/proc/self/ns/user").map_or(true, |file| file.ino() == INITIAL_USER_NAMESPACE);
        Privilege { capabilities, initial }
    }

    /// The capabilities that are missing. Capabilities in a user namespace are worth nothing here, not even root's.
    pub fn missing(self) -> Vec<&'static str> {
        let has = |capability: u32| self.initial && self.capabilities & (1 << capability) != 0;
        if has(CAP_SYS_ADMIN) {
            return Vec::new();
        }
        let needed = [(CAP_BPF, "CAP_BPF"), (CAP_PERFMON, "CAP_PERFMON")];
        needed.into_iter().filter(|(capability, _)| !has(*capability)).map(|(_, name)| name).collect()
    }

    /// Why this process may not load `label`, and what to do; nothing if it may.
    pub fn refusal(self, label: &str, what: impl Into<String>) -> Option<Failure> {
        let missing = self.missing();
        if missing.is_empty() {
            return None;
        }
        let among = if self.initial { "this process lacks" } else { "a process in a user namespace cannot have" };
        let why = format!("{among} {}, which the kernel demands for BPF programs", missing.join(" and "));
        // A label is not always what the command line takes: of a file it wants the path.
        let hint = format!("run as root; or load {label} once as root by `dumbbell cc load`, and everybody can use it");
        Some(Failure::new(what, why).hint(hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_named() {
        let with = |capabilities, initial| Privilege { capabilities, initial };
        assert!(with(u64::MAX, true).missing().is_empty());
        assert!(with(1 << CAP_BPF | 1 << CAP_PERFMON, true).missing().is_empty());
        assert_eq!(with(1 << CAP_BPF, true).missing(), ["CAP_PERFMON"]);
        assert_eq!(with(u64::MAX, false).missing(), ["CAP_BPF", "CAP_PERFMON"]);
        let refusal = with(0, true).refusal("bbr3", "loading bbr3").unwrap().to_string();
        assert!(refusal.contains("lacks CAP_BPF and CAP_PERFMON") && refusal.contains("load bbr3 once as root"));
        assert!(with(0, false).refusal("bbr3", "").unwrap().why.starts_with("a process in a user namespace"));
    }
}
