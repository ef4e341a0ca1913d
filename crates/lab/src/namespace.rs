//! Network namespaces, and threads that visit them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::Result;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, setns, unshare};

use messages::Failure;

use crate::files;

/// Folder in which `ip netns` looks for names.
pub const NAMES: &str = "/run/netns";
const OWN: &str = "/proc/thread-self/ns/net";

/// The calling thread's network namespace.
pub fn current() -> Result<OwnedFd> {
    let open = |why: io::Error| {
        let error = Failure::new(format!("opening {OWN}"), &why);
        if why.raw_os_error() == Some(libc::EMFILE) { error.hint(files::HINT) } else { error }
    };
    Ok(File::open(OWN).map_err(open)?.into())
}

/// Moves the calling thread into a new network namespace.
pub fn create() -> Result<OwnedFd> {
    unshare(CloneFlags::CLONE_NEWNET).map_err(|why| {
        let error = Failure::new("making a network namespace", why.desc());
        match why {
            nix::Error::ENOSPC => error.hint("raise the limit, as root: `sysctl -w user.max_net_namespaces=65536`"),
            nix::Error::EPERM => error.hint("a lab is built inside a sandbox; `dumbbell doctor` tells what is missing"),
            _ => error,
        }
    })?;
    current()
}

/// Names the calling thread's network namespace for `ip netns exec`. [`crate::sandbox::mounts`] made the directory.
pub fn name(name: &str) -> Result<()> {
    let path = Path::new(NAMES).join(name);
    let bind = || -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(&path)?;
        mount(Some(OWN), &path, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        Ok(())
    };
    bind().map_err(|why| Failure::new(format!("naming a network namespace at {}", path.display()), why).into())
}

/// Takes a name away. The namespace stays as long as anything else holds it.
pub fn forget(name: &str) {
    let path = Path::new(NAMES).join(name);
    // Copies of the mount in nodes that were made later go with the file.
    let _ = umount2(&path, MntFlags::MNT_DETACH);
    let _ = std::fs::remove_file(path);
}

/// Moves the calling thread into a network namespace.
pub fn enter(there: &OwnedFd) -> Result<()> {
    let entered = setns(there.as_fd(), CloneFlags::CLONE_NEWNET);
    entered.map_err(|why| Failure::new("entering a network namespace", why.desc()).into())
}

/// Moves the calling thread; moves it back when dropped.
pub struct Visit<'a> {
    home: &'a OwnedFd,
}

impl<'a> Visit<'a> {
    /// This only remembers the thread's namespace: the caller moves the thread by [`create`].
    pub fn from(home: &'a OwnedFd) -> Visit<'a> {
        Visit { home }
    }

    /// Moves the thread into `there`.
    pub fn to(there: &OwnedFd, home: &'a OwnedFd) -> Result<Visit<'a>> {
        enter(there)?;
        Ok(Visit { home })
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        // A thread in the wrong namespace would use the wrong network, which is worse than a panic.
        setns(self.home.as_fd(), CloneFlags::CLONE_NEWNET).expect("returning to the core's network namespace");
    }
}
