//! The mounts and the hostname of a lab network's node.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use anyhow::Result;
use messages::Failure;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{chroot, fchdir, sethostname};

/// The mount and UTS namespaces of a node.
#[derive(Debug)]
pub struct Own {
    /// Its mount namespace, for `setns`.
    pub mounts: OwnedFd,
    /// Its UTS namespace, for `setns`.
    pub uts: OwnedFd,
    /// Its root directory: entering a mount namespace leads to the topmost one, outside of a chroot.
    pub root: OwnedFd,
}

/// The namespaces of the process that makes others, to come back to.
pub(crate) struct Home {
    own: Own,
    directory: OwnedFd,
}

impl Home {
    /// The calling thread's.
    pub(crate) fn here() -> Result<Home> {
        Ok(Home { own: Own::here()?, directory: open(".")? })
    }
}

impl Own {
    /// Makes namespaces with this hostname and the mounts of now, and with empty directories of its own in these places;
    /// comes back `home`. The process has one thread.
    pub(crate) fn create(home: &Home, hostname: &str, private: &[String]) -> Result<Own> {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS).map_err(|why| {
            let error = Failure::new("making mount and UTS namespaces", why.desc());
            let limits =
                "raise the limits, as root: `sysctl -w user.max_mnt_namespaces=65536 user.max_uts_namespaces=65536`";
            if why == nix::Error::ENOSPC { error.hint(limits) } else { error }
        })?;
        let named =
            sethostname(hostname).map_err(|why| Failure::new(format!("setting the hostname {hostname}"), why.desc()));
        let emptied = named.map_err(anyhow::Error::from).and_then(|()| private.iter().try_for_each(|path| empty(path)));
        let made = emptied.and_then(|()| Own::here());
        home.own.enter()?;
        fchdir(&home.directory).map_err(|why| Failure::new("returning to the working directory", why.desc()))?;
        made
    }

    /// Moves the calling thread there. Its working directory is the root.
    pub(crate) fn enter(&self) -> Result<()> {
        let failed = |why: nix::Error| Failure::new("entering mount and UTS namespaces", why.desc());
        setns(self.mounts.as_fd(), CloneFlags::CLONE_NEWNS).map_err(failed)?;
        setns(self.uts.as_fd(), CloneFlags::CLONE_NEWUTS).map_err(failed)?;
        fchdir(&self.root).and_then(|()| chroot(".")).map_err(|why| failed(why).into())
    }

    fn here() -> Result<Own> {
        let [mounts, uts, root] = ["/proc/thread-self/ns/mnt", "/proc/thread-self/ns/uts", "/"].map(open);
        Ok(Own { mounts: mounts?, uts: uts?, root: root? })
    }
}

/// Puts an empty directory in the place of another one, for this mount namespace.
fn empty(path: &str) -> Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), path, Some("tmpfs"), flags, None::<&str>).map_err(|why| {
        let error = Failure::new(format!("making the private directory {path}"), why.desc());
        let missing = matches!(why, nix::Error::ENOENT | nix::Error::ENOTDIR);
        if missing { error.hint(format!("it takes the place of a directory: `mkdir -p {path}`")) } else { error }.into()
    })
}

fn open(path: &str) -> Result<OwnedFd> {
    let hint = "raise the limit of open files: `ulimit -n 65536`";
    let opened = File::open(path).map_err(|why| Failure::new(format!("opening {path}"), why).hint(hint))?;
    Ok(opened.into())
}
