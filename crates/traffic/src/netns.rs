use std::fs::File;
use std::os::fd::BorrowedFd;

use anyhow::{Context, Result};
use nix::sched::{CloneFlags, setns};
use nix::sys::stat::fstat;

/// Does `work` with the calling thread in the network namespace `target`, then goes back.
///
/// A namespace that the thread is in already is not entered: that would need CAP_SYS_ADMIN for nothing.
pub fn within<T>(target: BorrowedFd, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if is_ours(target)? {
        return work();
    }
    let home = ours()?;
    setns(target, CloneFlags::CLONE_NEWNET).context("entering a host's network namespace")?;
    let done = work();
    setns(&home, CloneFlags::CLONE_NEWNET).context("leaving a host's network namespace")?;
    done
}

/// True if the calling thread is in `netns`.
pub fn is_ours(netns: BorrowedFd) -> Result<bool> {
    let (ours, other) = (fstat(ours()?)?, fstat(netns)?);
    Ok((ours.st_dev, ours.st_ino) == (other.st_dev, other.st_ino))
}

fn ours() -> Result<File> {
    File::open("/proc/thread-self/ns/net").context("opening this thread's network namespace")
}
