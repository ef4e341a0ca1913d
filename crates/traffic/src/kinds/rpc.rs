//! A flow of requests and answers over one TCP connection. Both ends are here, so neither needs to be told on the wire
//! where a request ends.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use anyhow::Result;
use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::sockopt::{SocketError, TcpNoDelay};
use nix::sys::socket::{
    Backlog, MsgFlags, SockFlag, SockaddrStorage, accept4, connect, getsockopt, listen, send, setsockopt,
};
use plan::{Ideal, Requests};
use records::kinds::RequestRow;
use records::samples::{Account, Sample};
use units::Time;

use crate::agent::Agent;
use crate::poller::Source;
use crate::report::FlowReport;
use crate::shared::Shared;
use crate::sockets::{self, Algorithm};
use crate::tcp_info::{BbrInfo, TcpInfo};

static PAYLOAD: [u8; plan::BULK_WRITE_BYTES as usize] = [0; plan::BULK_WRITE_BYTES as usize];
/// The most that one look at a socket takes. Nothing is copied.
const RECEIVE: usize = 1 << 20;

/// An end of the connection.
#[derive(Default)]
struct End {
    socket: Option<OwnedFd>,
    /// Bytes that the application has to write, those that it has written, and those that it has read.
    to_write: u64,
    written: u64,
    read: u64,
    last: TcpInfo,
}

impl End {
    fn flags(&self) -> EpollFlags {
        if self.written < self.to_write { EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT } else { EpollFlags::EPOLLIN }
    }

    /// Writes as much as there is room for.
    fn write(&mut self) -> Result<(), Errno> {
        let Some(fd) = &self.socket else { return Ok(()) };
        while self.written < self.to_write {
            let turn = (self.to_write - self.written).min(PAYLOAD.len() as u64) as usize;
            match send(fd.as_raw_fd(), &PAYLOAD[..turn], MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT) {
                Ok(bytes) => self.written += bytes as u64,
                Err(Errno::EAGAIN) => break,
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Reads all that came.
    fn read(&mut self) -> Result<(), Errno> {
        let Some(fd) = &self.socket else { return Ok(()) };
        loop {
            // SAFETY: with MSG_TRUNC Linux discards TCP data and writes nothing (tcp(7)).
            let read = Errno::result(unsafe {
                libc::recv(fd.as_raw_fd(), std::ptr::null_mut(), RECEIVE, libc::MSG_TRUNC | libc::MSG_DONTWAIT)
            });
            match read {
                Ok(0) | Err(Errno::EAGAIN) => return Ok(()),
                Ok(bytes) => self.read += bytes as u64,
                Err(errno) => return Err(errno),
            }
        }
    }

    fn look(&mut self) {
        if let Some(info) = self.socket.as_ref().and_then(|fd| TcpInfo::of(fd).ok()) {
            self.last = info;
        }
    }
}

/// Both ends of a flow of requests.
pub struct RpcFlow {
    index: u32,
    id: String,
    cc: Algorithm,
    to: SocketAddr,
    requests: Requests,
    is_endless: bool,
    /// The request that is known to the event loop as due.
    next_turn: Time,
    listener: Option<OwnedFd>,
    client: End,
    server: End,
    is_open: bool,
    is_over: bool,
    socket: u16,
    has_bbr: bool,
    report: FlowReport,
}

impl RpcFlow {
    /// A flow that has no sockets yet, to `to`. `seed` is the plan's.
    pub fn new(
        index: u32,
        flow: &plan::Flow,
        cc: Algorithm,
        is_endless: bool,
        seed: u64,
        ideal: Option<Ideal>,
        to: SocketAddr,
    ) -> RpcFlow {
        let report = FlowReport { id: flow.id.clone(), cc_requested: Some(cc.label.clone()), ..FlowReport::default() };
        RpcFlow {
            index,
            id: flow.id.clone(),
            cc,
            to,
            requests: Requests::new(flow, seed, ideal),
            is_endless,
            next_turn: Time::NEVER,
            listener: None,
            client: End::default(),
            server: End::default(),
            is_open: false,
            is_over: false,
            socket: 0,
            has_bbr: false,
            report,
        }
    }

    fn on_listener(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(listener) = &self.listener else { return Ok(()) };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let Ok(fd) = accept4(listener.as_raw_fd(), flags) else { return Ok(()) };
        // SAFETY: accept4 returned a descriptor that nobody else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        sockets::require_cc(&self.id, "receiver", &self.cc, &sockets::congestion_control(&fd)?)?;
        setsockopt(&fd, TcpNoDelay, &true)?;
        shared.poller.add(&fd, Source::Receiver(self.index), EpollFlags::EPOLLIN)?;
        (self.server.socket, self.listener) = (Some(fd), None);
        self.serve(shared)
    }

    fn on_connected(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(fd) = &self.client.socket else { return Ok(()) };
        let code = getsockopt(fd, SocketError)?;
        if code != 0 {
            return self.fail(shared, "connecting", Errno::from_raw(code));
        }
        sockets::require_cc(&self.id, "sender", &self.cc, &sockets::congestion_control(fd)?)?;
        self.report.cc_actual = Some(self.cc.label.clone());
        self.socket = sockets::local_port(fd)?;
        self.has_bbr = BbrInfo::of(fd).is_some();
        self.is_open = true;
        self.requests.open(shared.clock.now());
        self.ask(shared)
    }

    /// Issues the requests that are due, and writes and reads what the client can.
    fn ask(&mut self, shared: &mut Shared) -> Result<()> {
        if self.is_over || !self.is_open {
            return Ok(());
        }
        if let Err(errno) = self.client.read() {
            return self.fail(shared, "receiving", errno);
        }
        let now = shared.clock.now();
        while let Some(request) = self.requests.complete(self.client.read, now) {
            self.report.first_byte_ns.get_or_insert(now.as_nanos());
            self.report.end_ns = Some(now.as_nanos());
            shared.kinds.push(RequestRow::of(self.index as u16, request, Some(now - request.issued)).into());
        }
        self.report.completed |= self.requests.are_complete();
        self.client.to_write += self.requests.issue(now);
        if let Err(errno) = self.client.write() {
            return self.fail(shared, "sending", errno);
        }
        let Some(fd) = &self.client.socket else { return Ok(()) };
        shared.poller.modify(fd, Source::Sender(self.index), self.client.flags())
    }

    /// Answers the requests that came.
    fn serve(&mut self, shared: &mut Shared) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        if let Err(errno) = self.server.read() {
            return self.fail(shared, "receiving", errno);
        }
        self.server.to_write += self.requests.arrived(self.server.read);
        if let Err(errno) = self.server.write() {
            return self.fail(shared, "answering", errno);
        }
        let Some(fd) = &self.server.socket else { return Ok(()) };
        shared.poller.modify(fd, Source::Receiver(self.index), self.server.flags())
    }

    fn fail(&mut self, shared: &mut Shared, doing: &str, errno: Errno) -> Result<()> {
        if !self.report.completed {
            self.report.error = Some(format!("{doing}: {}", errno.desc()));
        }
        self.sample(shared)?;
        self.close(shared)
    }
}

impl Agent for RpcFlow {
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()> {
        let fd = sockets::tcp(&self.id, sockets::version(self.to.ip()), &self.cc)?;
        sockets::bind_receiver(&self.id, &fd, self.to)?;
        listen(&fd, Backlog::new(1)?)?;
        shared.poller.add(&fd, Source::Listener(self.index), EpollFlags::EPOLLIN)?;
        self.listener = Some(fd);
        Ok(())
    }

    fn open_sender(&mut self, from: IpAddr, _: &mut Shared) -> Result<()> {
        let fd = sockets::tcp(&self.id, sockets::version(self.to.ip()), &self.cc)?;
        sockets::bind_sender(&self.id, &fd, from)?;
        setsockopt(&fd, TcpNoDelay, &true)?;
        self.client.socket = Some(fd);
        Ok(())
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        let Some(fd) = &self.client.socket else { return Ok(None) };
        self.report.start_ns = Some(shared.clock.now().as_nanos());
        match connect(fd.as_raw_fd(), &SockaddrStorage::from(self.to)) {
            Ok(()) | Err(Errno::EINPROGRESS) => {
                shared.poller.add(fd.as_fd(), Source::Sender(self.index), EpollFlags::EPOLLOUT)?
            }
            Err(errno) => self.fail(shared, "connecting", errno)?,
        }
        Ok(None)
    }

    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()> {
        match source {
            Source::Listener(_) => self.on_listener(shared),
            Source::Sender(_) if !self.is_open && !self.is_over => self.on_connected(shared),
            Source::Sender(_) => self.ask(shared),
            _ => self.serve(shared),
        }
    }

    fn take_next_turn(&mut self) -> Option<Time> {
        // Requests that come before the connection is open are issued when it is.
        let next = if self.is_open && !self.is_over { self.requests.next() } else { Time::NEVER };
        (std::mem::replace(&mut self.next_turn, next) != next && next != Time::NEVER).then_some(next)
    }

    /// A request is due.
    fn turn(&mut self, shared: &mut Shared) -> Result<()> {
        self.ask(shared)
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        self.client.look();
        self.server.look();
        let Some(fd) = self.client.socket.as_ref().filter(|_| self.is_open) else { return Ok(()) };
        let bbr = if self.has_bbr { BbrInfo::of(fd) } else { None };
        let sample = Sample {
            time: shared.clock.now(),
            flow: self.index as u16,
            socket: self.socket,
            bytes_sent: self.client.last.bytes_sent + self.server.last.bytes_sent,
            received_bytes: Some(self.received_bytes()),
            lost_packets: self.client.last.lost,
            account: Some(Account::Tcp(self.client.last.sample(bbr))),
        };
        shared.sampler.push(sample);
        Ok(())
    }

    fn settle(&mut self, shared: &mut Shared, on_time: bool) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        self.sample(shared)?;
        if !self.is_open {
            self.report.error = Some("it was not connected when it stopped".to_owned());
        } else if self.is_endless {
            self.report.completed = on_time;
        }
        Ok(())
    }

    fn finish(&self, _: Time, shared: &mut Shared) {
        for request in self.requests.open_requests() {
            shared.kinds.push(RequestRow::of(self.index as u16, request, None).into());
        }
    }

    fn close(&mut self, _: &mut Shared) -> Result<()> {
        (self.is_over, self.listener) = (true, None);
        (self.client.socket, self.server.socket) = (None, None);
        Ok(())
    }

    /// Requests at the server and answers at the client.
    fn received_bytes(&self) -> u64 {
        self.client.read + self.server.read
    }

    fn report(&self, _: Time) -> FlowReport {
        let (client, server) = (&self.client.last, &self.server.last);
        FlowReport {
            received_bytes: self.received_bytes(),
            sent_bytes: client.first_sent() + server.first_sent(),
            retransmitted_segments: client.total_retrans + server.total_retrans,
            busy_us: client.busy_time + server.busy_time,
            rwnd_limited_us: client.rwnd_limited + server.rwnd_limited,
            sndbuf_limited_us: client.sndbuf_limited + server.sndbuf_limited,
            ..self.report.clone()
        }
    }
}
