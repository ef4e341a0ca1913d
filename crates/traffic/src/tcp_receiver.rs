//! The receiving end of a TCP flow: it discards what arrives, and says how much that was, and when.

use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use anyhow::Result;
use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{Backlog, Shutdown, SockFlag, accept4, listen, shutdown};
use units::Time;

use crate::poller::Source;
use crate::shared::Shared;
use crate::sink::Sink;

/// The most that one turn of a receiver takes. Nothing is copied.
const RECEIVE: usize = 1024 * 1024;

/// A receiver from its listening socket to the last byte.
#[derive(Default)]
pub struct TcpReceiver {
    listener: Option<OwnedFd>,
    socket: Option<OwnedFd>,
    /// The sink discards the socket's data in place of this process, where the kernel has sinks.
    sink: Option<Sink>,
    arrivals: Arrivals,
    has_everything: bool,
}

/// The data that has arrived so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    pub bytes: u64,
    /// Times of the first and of the last byte; `None`: nothing has arrived.
    pub first: Option<Time>,
    pub last: Option<Time>,
}

/// The outcome of one look at the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Nothing,
    /// Bytes have arrived. `may_have_more`: the next look may find others.
    Bytes {
        may_have_more: bool,
    },
    /// Everything has arrived.
    Everything,
    Failed(Errno),
}

impl TcpReceiver {
    /// Waits for the flow's connection at a bound socket.
    pub fn listen(&mut self, index: u32, fd: OwnedFd, shared: &Shared) -> Result<()> {
        listen(&fd, Backlog::new(1)?)?;
        shared.poller.add(&fd, Source::Listener(index), EpollFlags::EPOLLIN)?;
        self.listener = Some(fd);
        Ok(())
    }

    /// The socket of the connection that has come; `None` if it was reset before we came: its sender says why.
    pub fn accept(&self) -> Option<OwnedFd> {
        let listener = self.listener.as_ref()?;
        let fd = accept4(listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC).ok()?;
        // SAFETY: accept4 returned a descriptor that nobody else owns.
        Some(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Takes data from an accepted socket. `may_sink`: nobody needs to know of each arrival at once.
    pub fn open(&mut self, index: u32, fd: OwnedFd, may_sink: bool, shared: &Shared) -> Result<()> {
        self.sink = if may_sink { Sink::attach(fd.as_fd())? } else { None };
        let arrivals = self.sink.as_ref().map_or(fd.as_fd(), |sink| sink.as_fd());
        shared.poller.add(arrivals, Source::Receiver(index), EpollFlags::EPOLLIN)?;
        self.socket = Some(fd);
        self.listener = None;
        Ok(())
    }

    pub fn sink(&self) -> Option<&Sink> {
        self.sink.as_ref()
    }

    pub fn arrivals(&self) -> Arrivals {
        self.arrivals
    }

    /// Takes what has arrived, up to a limit.
    pub fn receive(&mut self, shared: &Shared) -> Result<Received> {
        let Some(fd) = self.socket.as_ref().filter(|_| !self.has_everything) else { return Ok(Received::Nothing) };
        if self.sink.is_some() {
            return self.take_sunk(shared);
        }
        // SAFETY: with MSG_TRUNC Linux discards TCP data and writes nothing (tcp(7)).
        let n = Errno::result(unsafe {
            libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), RECEIVE, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
        });
        Ok(match n {
            Ok(0) => Received::Everything,
            Ok(n) => {
                let now = shared.clock.now();
                self.arrived(self.arrivals.bytes + n as u64, now, now);
                Received::Bytes { may_have_more: n as usize == RECEIVE }
            }
            Err(Errno::EAGAIN) => Received::Nothing,
            Err(errno) => Received::Failed(errno),
        })
    }

    /// Counts what the sink has discarded, if there is one.
    pub fn take_sunk(&mut self, shared: &Shared) -> Result<Received> {
        let Some(sink) = &self.sink else { return Ok(Received::Nothing) };
        let sunk = sink.sunk()?;
        let has_grown = sunk.bytes > self.arrivals.bytes;
        if has_grown {
            self.arrived(sunk.bytes, shared.clock.at(sunk.first_ns), shared.clock.at(sunk.last_ns));
        }
        Ok(match sunk.error {
            _ if sunk.ended => Received::Everything,
            Some(errno) => Received::Failed(errno),
            None if has_grown => Received::Bytes { may_have_more: false },
            None => Received::Nothing,
        })
    }

    fn arrived(&mut self, bytes: u64, first: Time, last: Time) {
        self.arrivals = Arrivals { bytes, first: self.arrivals.first.or(Some(first)), last: Some(last) };
    }

    /// Our FIN tells the sender that everything has arrived.
    pub fn end(&mut self, shared: &Shared) -> Result<()> {
        let Some(fd) = &self.socket else { return Ok(()) };
        shared.poller.remove(self.sink.as_ref().map_or(fd.as_fd(), |sink| sink.as_fd()))?;
        shutdown(fd.as_raw_fd(), Shutdown::Write)?;
        self.has_everything = true;
        Ok(())
    }

    /// Closes the sockets; what has arrived stays known.
    pub fn close(&mut self) {
        (self.sink, self.socket, self.listener) = (None, None, None);
    }

    #[cfg(test)]
    pub fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    #[cfg(test)]
    pub fn has_everything(&self) -> bool {
        self.has_everything
    }
}
