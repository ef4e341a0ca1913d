//! An application inside the kernel that discards what a TCP socket receives, where the kernel has one: a user-mode kernel
//! of ours does, as there each system call of a process costs as much as a packet (`kernel/src/sink.c`).

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use anyhow::{Context, Result};
use nix::errno::Errno;

const SINK: &str = "/proc/dumbbell/sink";

nix::ioctl_write_int_bad!(attach, nix::request_code_none!(b'd', 3));

/// Takes in what one socket receives. Dropping it ends that.
pub struct Sink(File);

/// The data that a sink has taken in so far.
#[derive(Clone, Copy, Debug)]
pub struct Sunk {
    pub bytes: u64,
    /// CLOCK_MONOTONIC of the first and of the last byte in nanoseconds.
    pub first_ns: i64,
    pub last_ns: i64,
    pub error: Option<Errno>,
    /// Everything has arrived.
    pub ended: bool,
}

impl Sink {
    /// The socket's from now on; `None` if this kernel has no sinks.
    pub fn attach(socket: BorrowedFd<'_>) -> Result<Option<Sink>> {
        let file = match File::open(SINK) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).context(SINK),
        };
        // SAFETY: a descriptor, not a pointer.
        unsafe { attach(file.as_raw_fd(), socket.as_raw_fd() as RawFd) }.context("attaching a socket to a sink")?;
        Ok(Some(Sink(file)))
    }

    /// Counts the data that has arrived by now.
    pub fn sunk(&self) -> Result<Sunk> {
        let mut words = [0; 32];
        (&self.0).read_exact(&mut words).context(SINK)?;
        let word = |i: usize| u64::from_ne_bytes(words[8 * i..8 * i + 8].try_into().expect("eight bytes"));
        let (error, ended) = (word(3) as u32 as i32, word(3) >> 32 != 0);
        let error = (error != 0).then(|| Errno::from_raw(error));
        Ok(Sunk { bytes: word(0), first_ns: word(1) as i64, last_ns: word(2) as i64, error, ended })
    }
}

impl AsFd for Sink {
    /// Readable once everything has arrived, or the connection has failed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
