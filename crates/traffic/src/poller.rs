use std::os::fd::{AsFd, AsRawFd};

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};

/// The owner of a ready descriptor. The number is the flow's index in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Control,
    Listener(u32),
    Sender(u32),
    Receiver(u32),
    Client(u32),
    Server(u32),
    /// The kernel has sampled a lot.
    Samples,
}

impl Source {
    fn token(self) -> u64 {
        let (kind, flow) = match self {
            Source::Control => (0, 0),
            Source::Listener(flow) => (1, flow),
            Source::Sender(flow) => (2, flow),
            Source::Receiver(flow) => (3, flow),
            Source::Client(flow) => (4, flow),
            Source::Server(flow) => (5, flow),
            Source::Samples => (6, 0),
        };
        kind << 32 | u64::from(flow)
    }

    fn from_token(token: u64) -> Source {
        let flow = token as u32;
        match token >> 32 {
            0 => Source::Control,
            1 => Source::Listener(flow),
            2 => Source::Sender(flow),
            3 => Source::Receiver(flow),
            4 => Source::Client(flow),
            5 => Source::Server(flow),
            6 => Source::Samples,
            kind => unreachable!("no source of kind {kind}"),
        }
    }
}

/// epoll with a timeout in nanoseconds.
pub struct Poller {
    epoll: Epoll,
}

/// Readiness found at once: few enough that timers stay on time, many enough to amortise the system call.
const BATCH: usize = 64;

impl Poller {
    pub fn new() -> Result<Poller> {
        Ok(Poller { epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).context("creating an epoll instance")? })
    }

    /// Level-triggered. Closing the descriptor ends it.
    pub fn add(&self, fd: impl AsFd, source: Source, interest: EpollFlags) -> Result<()> {
        self.epoll.add(fd, EpollEvent::new(interest, source.token())).with_context(|| format!("watching {source:?}"))
    }

    pub fn modify(&self, fd: impl AsFd, source: Source, interest: EpollFlags) -> Result<()> {
        let mut event = EpollEvent::new(interest, source.token());
        self.epoll.modify(fd, &mut event).with_context(|| format!("watching {source:?}"))
    }

    /// Stops watching `fd`; no error if it is not watched.
    pub fn remove(&self, fd: impl AsFd) -> Result<()> {
        match self.epoll.delete(fd) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(errno) => Err(errno).context("ending a watch"),
        }
    }

    /// The descriptors that become ready within `timeout_ns`.
    pub fn wait(&self, ready: &mut Vec<Source>, timeout_ns: i64) -> Result<()> {
        let timeout_ns = timeout_ns.max(0);
        let timeout = libc::timespec { tv_sec: timeout_ns / 1_000_000_000, tv_nsec: timeout_ns % 1_000_000_000 };
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
        ready.clear();
        // SAFETY: `events` has room for BATCH, `timeout` is valid, no signal mask is passed.
        let n = unsafe {
            let epoll = self.epoll.0.as_raw_fd();
            libc::epoll_pwait2(epoll, events.as_mut_ptr(), BATCH as i32, &timeout, std::ptr::null())
        };
        match Errno::result(n) {
            Ok(n) => ready.extend(events[..n as usize].iter().map(|event| Source::from_token(event.u64))),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno).context("waiting for sockets (epoll_pwait2 needs Linux 5.11)"),
        }
        Ok(())
    }
}
