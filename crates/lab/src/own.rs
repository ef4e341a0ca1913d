//! The mounts, the hostname and the network of a node.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use anyhow::{Context, Result};
use messages::Failure;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{fchdir, sethostname};

use crate::{files, namespace};

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
struct Home {
    own: Own,
    directory: OwnedFd,
}

impl Home {
    /// The calling thread's.
    fn here() -> Result<Home> {
        Ok(Home { own: Own::here()?, directory: open(".")? })
    }
}

/// Makes the namespaces of nodes, each with its hostname and its private directories, and a network namespace for each.
/// Leaves the calling thread, its process's only one, in the network namespace of one of them. Call this before network
/// namespaces have names: each name is a mount, and each mount namespace would get a copy of it.
pub(crate) fn create<'a>(nodes: impl Iterator<Item = (&'a str, &'a [String])>) -> Result<Vec<(Own, OwnedFd)>> {
    let home = Home::here()?;
    nodes.map(|(name, private)| Own::create(&home, name, private).with_context(|| format!("building {name}"))).collect()
}

impl Own {
    /// Makes namespaces with this hostname and the mounts of now, and with empty directories of its own in these places,
    /// and a network namespace, whose interfaces `/sys` shows there. Comes back `home`, but for the network namespace.
    ///
    /// The directory of names is empty, too: names of other nodes are mounts of `home`, and here only files that lead
    /// nowhere, for each of which ip-address(8) prints an error.
    fn create(home: &Home, hostname: &str, private: &[String]) -> Result<(Own, OwnedFd)> {
        let netns = namespace::create()?;
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWUTS).map_err(|why| {
            let error = Failure::new("making mount and UTS namespaces", why.desc());
            let limits =
                "raise the limits, as root: `sysctl -w user.max_mnt_namespaces=65536 user.max_uts_namespaces=65536`";
            if why == nix::Error::ENOSPC { error.hint(limits) } else { error }
        })?;
        let named =
            sethostname(hostname).map_err(|why| Failure::new(format!("setting the hostname {hostname}"), why.desc()));
        let mut own = std::iter::once(namespace::NAMES).chain(private.iter().map(String::as_str));
        let emptied = named.map_err(anyhow::Error::from).and_then(|()| own.try_for_each(empty));
        let made = emptied.and_then(|()| {
            show_interfaces();
            Own::here()
        });
        home.own.enter()?;
        fchdir(&home.directory).map_err(|why| Failure::new("returning to the working directory", why.desc()))?;
        Ok((made?, netns))
    }

    /// Moves the calling thread there. Its working directory is the root.
    fn enter(&self) -> Result<()> {
        let failed = |why: nix::Error| Failure::new("entering mount and UTS namespaces", why.desc());
        enter(self.descriptors()).map_err(|why| failed(why).into())
    }

    /// Its descriptors, for [`enter`].
    pub(crate) fn descriptors(&self) -> [RawFd; 3] {
        [&self.uts, &self.mounts, &self.root].map(AsRawFd::as_raw_fd)
    }

    fn here() -> Result<Own> {
        let [mounts, uts, root] = ["/proc/thread-self/ns/mnt", "/proc/thread-self/ns/uts", "/"].map(open);
        Ok(Own { mounts: mounts?, uts: uts?, root: root? })
    }
}

/// Moves the calling thread into the namespaces of open descriptors, by system calls only.
pub(crate) fn enter([uts, mounts, root]: [RawFd; 3]) -> nix::Result<()> {
    // SAFETY: plain system calls; a descriptor that is closed is refused.
    unsafe {
        Errno::result(libc::setns(uts, libc::CLONE_NEWUTS))?;
        Errno::result(libc::setns(mounts, libc::CLONE_NEWNS))?;
        Errno::result(libc::fchdir(root))?;
        Errno::result(libc::chroot(c".".as_ptr()))?;
    }
    Ok(())
}

/// Puts an empty directory in the place of another one, for this mount namespace.
fn empty(path: &str) -> Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), path, Some("tmpfs"), flags, None::<&str>).map_err(|why| {
        let error = Failure::new(format!("making the private directory {path}"), why.desc());
        let missing = matches!(why, nix::Error::ENOENT | nix::Error::ENOTDIR);
        if missing { error.hint(missing_directory(path)) } else { error }.into()
    })
}

/// Says how to make a directory. A path that a shell would not take for one word stands in no command: it may be a
/// stranger's, and readers copy commands.
fn missing_directory(path: &str) -> String {
    let is_word = path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte));
    let command = if is_word { format!(": `mkdir -p {path}`") } else { ", which must be there".to_owned() };
    format!("it takes the place of a directory{command}")
}

/// Lets `/sys` show the interfaces of the calling thread's network namespace, for this mount namespace. The other mounts
/// below `/sys`, such as those of cgroups, stay. Where a container allows no fresh sysfs, no interfaces are seen, as those
/// of the namespace in which `/sys` was mounted are not the node's.
fn show_interfaces() {
    // Names in the first are links into the second.
    let (names, interfaces) = ("/sys/class/net", "/sys/devices/virtual/net");
    let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    // A user namespace may mount it only as the machine's own is mounted.
    let fresh = [safe, safe | MsFlags::MS_RDONLY]
        .iter()
        .any(|&flags| mount(Some("sysfs"), interfaces, Some("sysfs"), flags, None::<&str>).is_ok());
    let shown = fresh
        && [names, interfaces].iter().all(|&place| {
            let own = format!("{interfaces}{}", &place["/sys".len()..]);
            mount(Some(own.as_str()), place, None::<&str>, MsFlags::MS_BIND, None::<&str>).is_ok()
        });
    if !shown {
        // A machine without /sys has nothing to hide.
        let _ = mount(Some("tmpfs"), names, Some("tmpfs"), safe | MsFlags::MS_RDONLY, None::<&str>);
    }
}

fn open(path: &str) -> Result<OwnedFd> {
    let opened = File::open(path).map_err(|why| Failure::new(format!("opening {path}"), why).hint(files::HINT))?;
    Ok(opened.into())
}

#[cfg(test)]
mod tests {
    use super::missing_directory;

    #[test]
    fn no_path_of_a_stranger_becomes_a_command() {
        assert_eq!(missing_directory("/var/log.d"), "it takes the place of a directory: `mkdir -p /var/log.d`");
        for path in ["/x; touch y", "/x`id`", "/$(id)", "/a b", "/x\n", "/\u{202e}x", "/x'"] {
            assert_eq!(missing_directory(path), "it takes the place of a directory, which must be there", "{path}");
        }
    }
}
