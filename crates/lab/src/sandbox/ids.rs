//! Users and groups of a sandbox in a user namespace: the caller is root there, and others are there if the machine lends some.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Gid, Pid, Uid, User, fork, getpid, pipe2};

/// The fewest ids of a range that is of use: `nobody` is 65534.
const FEWEST: u32 = 65_535;

/// A child outside of the new namespace, which maps ids into it by `newuidmap` and `newgidmap` (package uidmap): only they may
/// map further ids than the caller's own (user_namespaces(7)).
pub(super) struct Lender {
    child: Pid,
    go: OwnedFd,
}

/// The ids that a lender has mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mapped {
    Nothing,
    Users,
    All,
}

impl Lender {
    /// Starts it if this machine lends ids to the user. The calling process must have one thread.
    pub(super) fn start(user: Uid, group: Gid) -> Option<Lender> {
        let users = lent("/etc/subuid", user)?;
        let groups = lent("/etc/subgid", user)?;
        let target = getpid();
        let (read, go) = pipe2(OFlag::O_CLOEXEC).ok()?;
        // SAFETY: this process has one thread, so the child may do whatever a process may.
        match unsafe { fork() }.ok()? {
            ForkResult::Parent { child } => Some(Lender { child, go }),
            ForkResult::Child => {
                drop(go);
                // Without the byte the parent has gone, or does without.
                let is_wanted = fs::File::from(read).read_exact(&mut [0]).is_ok();
                let mapped = match is_wanted && map("newuidmap", target, user.as_raw(), users) {
                    false => Mapped::Nothing,
                    true if map("newgidmap", target, group.as_raw(), groups) => Mapped::All,
                    true => Mapped::Users,
                };
                // SAFETY: ends this copy of the caller without running the caller's exit handlers.
                unsafe { libc::_exit(mapped as i32) }
            }
        }
    }

    /// Maps the ids into the caller's new user namespace.
    pub(super) fn map(self) -> Mapped {
        let asked = fs::File::from(self.go).write_all(&[1]);
        match (asked, waitpid(self.child, None)) {
            (Ok(()), Ok(WaitStatus::Exited(_, code))) if code == Mapped::All as i32 => Mapped::All,
            (Ok(()), Ok(WaitStatus::Exited(_, code))) if code == Mapped::Users as i32 => Mapped::Users,
            _ => Mapped::Nothing,
        }
    }
}

/// Makes the caller root in the user namespace that it has entered; further ids are those that `lender` maps.
pub(super) fn map_caller(lender: Option<Lender>, user: Uid, group: Gid) -> Result<(), (&'static str, io::Error)> {
    let write = |file: &'static str, line: &str| fs::write(file, line).map_err(|why| (file, why));
    let mapped = lender.map_or(Mapped::Nothing, Lender::map);
    if mapped == Mapped::Nothing {
        write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    }
    if mapped != Mapped::All {
        // The kernel lets nobody map a group without this (user_namespaces(7)).
        write("/proc/self/setgroups", "deny")?;
        write("/proc/self/gid_map", &format!("0 {group} 1"))?;
    }
    Ok(())
}

/// The first range of ids that a file such as /etc/subuid lends to a user: its first id, and how many (subuid(5)).
fn lent(file: &str, user: Uid) -> Option<(u32, u32)> {
    let name = User::from_uid(user).ok()??.name;
    first(&fs::read_to_string(file).ok()?, &name, user)
}

fn first(text: &str, name: &str, user: Uid) -> Option<(u32, u32)> {
    let range = |line: &str| {
        let [of, start, count] = line.trim().split(':').collect::<Vec<_>>().try_into().ok()?;
        let range = (start.parse().ok()?, count.parse().ok()?);
        ((of == name || of == user.to_string()) && range.1 >= FEWEST).then_some(range)
    };
    text.lines().find_map(range)
}

/// Maps id 0 inside to `own`, and those from 1 on to a range.
fn map(program: impl AsRef<OsStr>, target: Pid, own: u32, (start, count): (u32, u32)) -> bool {
    let words = [target.as_raw() as u32, 0, own, 1, 1, start, count].map(|number| number.to_string());
    let done =
        Command::new(program).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_range_of_the_user_is_taken_that_is_long_enough() {
        let text = "# none\nother:1:65536\nmine:500:10\n1000:100000:65536\nmine:200000:65536\n";
        assert_eq!(first(text, "mine", Uid::from_raw(1000)), Some((100_000, 65_536)));
        assert_eq!(first(text, "mine", Uid::from_raw(7)), Some((200_000, 65_536)));
        assert_eq!(first("mine:x:65536\nmine:1:2:3\nmine\n", "mine", Uid::from_raw(7)), None);
    }
}
