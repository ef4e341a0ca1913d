//! Namespaces around a whole lab: whatever happens inside ends with the sandbox's pid 1.

mod check;
mod ids;

use std::fs;
use std::io;
use std::path::Path;

use anyhow::Result;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};
use serde::Serialize;

use crate::namespace;
use messages::Failure;

pub use check::{Fact, check};
use ids::Lender;

/// True if this process may not make namespaces by itself, and needs a user namespace in which it may.
pub fn is_unprivileged() -> bool {
    const CAP_NET_ADMIN: u64 = 12;
    const CAP_SYS_ADMIN: u64 = 21;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    let needed = 1 << CAP_NET_ADMIN | 1 << CAP_SYS_ADMIN;
    capabilities & needed != needed
}

/// Moves the calling process into new mount, network, IPC and UTS namespaces, and its next child into a new PID
/// namespace; with `rootless` into a user namespace first, where it is root. The process must have one thread.
pub fn enter(rootless: bool) -> Result<()> {
    if fs::read_dir("/proc/self/task")?.count() > 1 {
        return Err(Failure::new("entering a sandbox", "this process has several threads")
            .hint("enter it before anything starts a thread, e.g. in a process of its own")
            .into());
    }
    if rootless {
        let (user, group) = (geteuid(), getegid());
        let lender = Lender::start(user, group);
        unshare(CloneFlags::CLONE_NEWUSER).map_err(|why| refusal("making a user namespace", why.into(), rootless))?;
        ids::map_caller(lender, user, group)
            .map_err(|(file, why)| refusal(&format!("writing {file}"), why, rootless))?;
    }
    let all = CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    unshare(all).map_err(|why| refusal("making mount, network, PID, IPC and UTS namespaces", why.into(), rootless))?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(|why| refusal("making the sandbox's mounts private", why.into(), rootless))?;
    Ok(())
}

/// The mounts that [`mounts`] could make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mounts {
    /// `/proc` shows the sandbox's processes. Some containers refuse this; the lab works without.
    pub proc: bool,
}

/// Mounts a fresh `/proc` and an empty `/run` with `/run/netns`. The sandbox's pid 1 must call this.
pub fn mounts() -> Result<Mounts> {
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    let proc = mount(Some("proc"), "/proc", Some("proc"), safe | MsFlags::MS_NOEXEC, None::<&str>).is_ok();
    let run = || -> io::Result<()> {
        mount(Some("tmpfs"), "/run", Some("tmpfs"), safe, Some("mode=755"))?;
        fs::create_dir(namespace::NAMES)
    };
    run().map_err(|why| {
        Failure::new("mounting an empty /run in the sandbox", why)
            .hint("the directory /run must exist; `dumbbell doctor` tells what this machine allows")
    })?;
    Ok(Mounts { proc })
}

fn refusal(what: &str, why: io::Error, rootless: bool) -> Failure {
    let hint = advice(&why, rootless);
    Failure::new(what, why).hint(hint)
}

/// Why a machine refuses namespaces, most specific first. Each switch is one that a distribution or container sets.
fn advice(why: &io::Error, rootless: bool) -> &'static str {
    let holds = |file: &str, value: &str| fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
    let code = why.raw_os_error();
    if rootless && holds("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "this system lets only root make user namespaces; as root: `sysctl -w kernel.unprivileged_userns_clone=1`"
    } else if rootless && holds("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor takes the rights away in user namespaces (Ubuntu 24.04); as root: \
         `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`"
    } else if rootless && holds("/proc/sys/user/max_user_namespaces", "0") {
        "user namespaces are limited to none; as root: `sysctl -w user.max_user_namespaces=65536`"
    } else if code == Some(libc::ENOSPC) {
        "too many namespaces; as root, raise `user.max_net_namespaces` and its neighbours by `sysctl -w`"
    } else if rootless && !Path::new("/proc/self/ns/user").exists() {
        "this kernel has no user namespaces (CONFIG_USER_NS): run as root"
    } else if code == Some(libc::EINVAL) {
        "the root directory is no mount point, as in a chroot: `mount --rbind DIR DIR` before `chroot DIR`"
    } else if matches!(code, Some(libc::EPERM | libc::EACCES)) {
        "this container or service forbids namespaces (seccomp): start it with `--privileged`, \
         or with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`"
    } else {
        "`dumbbell doctor` tells what this machine allows"
    }
}
