//! The programs of a node that is removed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use lab::Host;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::fstat;
use nix::unistd::Pid;

/// Kills all processes in a node's network, also those that nobody waits for, until there is none.
pub(crate) fn end_processes(node: &Host) {
    let Ok(network) = fstat(&node.netns) else { return };
    // Where a container allows no fresh procfs, its numbers of processes are those of another namespace.
    let is_ours = fs::read_link("/proc/self").is_ok_and(|own| own == Path::new(&std::process::id().to_string()));
    let mut left = is_ours;
    // The next round finds what was forked meanwhile.
    for _ in 0..TRIES {
        if !left {
            break;
        }
        left = false;
        for pid in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = pid.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let own = fs::metadata(format!("/proc/{pid}/ns/net"));
            if own.is_ok_and(|own| own.ino() == network.st_ino && own.dev() == network.st_dev) {
                left |= kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok();
            }
        }
    }
}

const TRIES: usize = 20;
