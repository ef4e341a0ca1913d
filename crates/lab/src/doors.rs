//! The way into a node, for the processes that run there.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::{Own, own};

/// The way into a node: into its network, and into its mounts and its hostname where it has its own.
#[derive(Clone, Copy, Debug)]
pub struct Doors<'a> {
    net: BorrowedFd<'a>,
    own: Option<&'a Own>,
    cpus: &'a [u16],
    share: Option<BorrowedFd<'a>>,
}

impl<'a> Doors<'a> {
    /// The doors of a node.
    pub fn new(net: BorrowedFd<'a>, own: &'a Own) -> Doors<'a> {
        Doors { net, own: Some(own), cpus: &[], share: None }
    }

    /// The same; who enters keeps to these CPUs, if there are any.
    pub fn on(self, cpus: &'a [u16]) -> Doors<'a> {
        Doors { cpus, ..self }
    }

    /// The same; who enters gets into the control group that this file of it opens, if there is one.
    pub fn within(self, share: Option<&'a File>) -> Doors<'a> {
        Doors { share: share.map(File::as_fd), ..self }
    }

    /// The doors of a network namespace alone.
    pub fn to_network(net: BorrowedFd<'a>) -> Doors<'a> {
        Doors { net, own: None, cpus: &[], share: None }
    }

    /// The network namespace, for `setns`.
    pub fn net(&self) -> BorrowedFd<'a> {
        self.net
    }

    /// Moves the calling process, of one thread, into the node. Its working directory is the root.
    pub fn enter(&self) -> nix::Result<()> {
        self.threshold().cross()
    }

    /// Lets `command` run in the node, in `directory` if that is there, else in the root directory. What the caller does
    /// before the program begins ([`CommandExt::pre_exec`]) happens in the node if it was asked for later than this.
    ///
    /// # Errors
    /// A directory's name with a zero byte.
    pub fn lead(&self, command: &mut Command, directory: &Path) -> io::Result<()> {
        let threshold = self.threshold();
        let directory = CString::new(directory.as_os_str().as_bytes())?;
        // SAFETY: only async-signal-safe system calls between fork and exec.
        unsafe {
            command.pre_exec(move || {
                threshold.cross()?;
                if libc::chdir(directory.as_ptr()) < 0 {
                    libc::chdir(c"/".as_ptr());
                }
                Ok(())
            });
        }
        Ok(())
    }

    fn threshold(&self) -> Threshold {
        let mut cpus = CpuSet::new();
        // The set has no place for a number that no kernel has.
        for cpu in self.cpus {
            let _ = cpus.set(usize::from(*cpu));
        }
        Threshold {
            net: self.net.as_raw_fd(),
            own: self.own.map(Own::descriptors),
            cpus: (!self.cpus.is_empty()).then_some(cpus),
            share: self.share.map(|share| share.as_raw_fd()),
        }
    }
}

/// The same as numbers, which a process between fork and exec inherits.
#[derive(Clone, Copy)]
struct Threshold {
    net: RawFd,
    own: Option<[RawFd; 3]>,
    cpus: Option<CpuSet>,
    share: Option<RawFd>,
}

impl Threshold {
    /// By system calls only.
    fn cross(self) -> nix::Result<()> {
        // The process that writes 0 is the one that moves.
        if let Some(share) = self.share {
            // SAFETY: a plain system call; a descriptor that is closed is refused.
            Errno::result(unsafe { libc::write(share, c"0".as_ptr().cast(), 1) })?;
        }
        // SAFETY: a plain system call; a descriptor that is closed is refused.
        Errno::result(unsafe { libc::setns(self.net, libc::CLONE_NEWNET) })?;
        self.own.map_or(Ok(()), own::enter)?;
        self.cpus.map_or(Ok(()), |cpus| sched_setaffinity(Pid::this(), &cpus))
    }
}
