//! A TCP flow of an application that always has more to send, or pauses now and then.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use anyhow::Result;
use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::sockopt::SocketError;
use nix::sys::socket::{MsgFlags, Shutdown, SockaddrStorage, connect, getsockopt, send, shutdown};
use plan::{Bursts, OnOff};
use records::samples::{Account, Sample};
use units::Time;

use crate::agent::Agent;
use crate::poller::Source;
use crate::report::FlowReport;
use crate::shared::Shared;
use crate::sockets::{self, Algorithm};
use crate::tcp_info::{BbrInfo, TcpInfo};
use crate::tcp_receiver::{Arrivals, Received, TcpReceiver};

/// The data to send, and the most that one turn of a flow sends: a turn takes tens of microseconds, so that datagrams
/// and samples of other flows stay on time.
static PAYLOAD: [u8; plan::BULK_WRITE_BYTES as usize] = [0; plan::BULK_WRITE_BYTES as usize];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Sending,
    /// Everything was written; the receiver's FIN says that everything arrived.
    Closing,
    Over,
}

/// A flow from the handshake to the end, which comes by time or after a number of bytes.
pub struct TcpFlow {
    index: u32,
    id: String,
    cc: Algorithm,
    bytes: Option<u64>,
    bursts: Option<Bursts>,
    /// The turn of bursts that is known to the event loop.
    next_turn: Time,
    to: SocketAddr,
    receiver: TcpReceiver,
    sender: Option<OwnedFd>,
    phase: Phase,
    written: u64,
    socket: u16,
    has_bbr: bool,
    /// The kernel samples it.
    sampled: bool,
    last: TcpInfo,
    report: FlowReport,
}

impl TcpFlow {
    /// A flow that has no sockets yet. `bytes`: `None` sends until stopped, in `bursts` if there are any.
    pub fn new(
        index: u32,
        id: &str,
        cc: Algorithm,
        bytes: Option<u64>,
        bursts: Option<Bursts>,
        to: SocketAddr,
    ) -> TcpFlow {
        TcpFlow {
            index,
            id: id.to_owned(),
            bytes,
            bursts,
            next_turn: Time::NEVER,
            to,
            receiver: TcpReceiver::default(),
            sender: None,
            phase: Phase::Waiting,
            written: 0,
            socket: 0,
            has_bbr: false,
            sampled: false,
            last: TcpInfo::default(),
            report: FlowReport { id: id.to_owned(), cc_requested: Some(cc.label.clone()), ..FlowReport::default() },
            cc,
        }
    }

    fn on_listener(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(fd) = self.receiver.accept() else { return Ok(()) };
        sockets::require_cc(&self.id, "receiver", &self.cc, &sockets::congestion_control(&fd)?)?;
        // The next burst begins when the last one has arrived, so its arrival must be known at once.
        self.receiver.open(self.index, fd, self.bursts.is_none(), shared)?;
        if self.sampled {
            self.let_the_kernel_sample(shared)?;
        }
        Ok(())
    }

    fn on_sender(&mut self, shared: &mut Shared) -> Result<()> {
        if self.phase == Phase::Connecting {
            self.on_connected(shared)?;
        }
        match self.phase {
            Phase::Sending => self.send(shared),
            Phase::Closing => {
                // The receiver's FIN, so every acknowledgement has arrived, or a reset.
                match self.sender.as_ref().map(|fd| getsockopt(fd, SocketError)) {
                    Some(Ok(0)) => self.end(shared),
                    Some(Ok(code)) => self.fail(shared, "closing", Errno::from_raw(code)),
                    Some(Err(errno)) => self.fail(shared, "closing", errno),
                    None => Ok(()),
                }
            }
            Phase::Waiting | Phase::Connecting | Phase::Over => Ok(()),
        }
    }

    fn on_connected(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(fd) = &self.sender else { return Ok(()) };
        let code = getsockopt(fd, SocketError)?;
        if code != 0 {
            return self.fail(shared, "connecting", Errno::from_raw(code));
        }
        let cc = sockets::congestion_control(fd)?;
        sockets::require_cc(&self.id, "sender", &self.cc, &cc)?;
        self.report.cc_actual = Some(self.cc.label.clone());
        self.socket = sockets::local_port(fd)?;
        self.has_bbr = BbrInfo::of(fd).is_some();
        self.phase = Phase::Sending;
        self.let_the_kernel_sample(shared)
    }

    fn let_the_kernel_sample(&mut self, shared: &mut Shared) -> Result<()> {
        let (Some(kernel), Some(sender)) = (shared.sampler.kernel(), &self.sender) else { return Ok(()) };
        if self.bursts.is_none() {
            kernel.add(self.index, sender.as_fd(), self.receiver.sink(), self.socket, self.has_bbr)?;
            self.sampled = true;
        }
        Ok(())
    }

    fn send(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(fd) = &self.sender else { return Ok(()) };
        let left = self.left();
        let most = if self.bursts.is_some() { OnOff::WRITE_BYTES } else { plan::BULK_WRITE_BYTES };
        let turn = left.min(u64::from(most)) as usize;
        if turn > 0 {
            match send(fd.as_raw_fd(), &PAYLOAD[..turn], MsgFlags::MSG_NOSIGNAL) {
                Ok(n) => self.written += n as u64,
                Err(Errno::EAGAIN) => {}
                Err(errno) => {
                    return self.fail(shared, "sending", errno);
                }
            }
        }
        if self.bytes == Some(self.written) {
            shutdown(fd.as_raw_fd(), Shutdown::Write)?;
            shared.poller.modify(fd, Source::Sender(self.index), EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP)?;
            self.phase = Phase::Closing;
        } else if self.left() == 0 {
            return self.pause(shared);
        }
        Ok(())
    }

    /// Bytes that the application has to write now.
    fn left(&self) -> u64 {
        let burst = || self.bursts.as_ref().and_then(|bursts| bursts.may_write(self.written));
        self.bytes.map(|bytes| bytes - self.written).or_else(burst).unwrap_or(u64::MAX)
    }

    /// Nothing is to be written until the next burst: room in the socket is no news.
    fn pause(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(fd) = &self.sender else { return Ok(()) };
        // Errors are told all the same.
        match getsockopt(fd, SocketError)? {
            0 => shared.poller.modify(fd, Source::Sender(self.index), EpollFlags::empty()),
            code => self.fail(shared, "sending", Errno::from_raw(code)),
        }
    }

    /// Returns whether there may be more.
    fn on_receiver(&mut self, shared: &mut Shared) -> Result<bool> {
        let before = self.received_bytes();
        let received = self.receiver.receive(shared)?;
        self.count_arrivals(before);
        match received {
            Received::Nothing => Ok(false),
            Received::Bytes { may_have_more } => Ok(may_have_more),
            Received::Everything => {
                self.receiver.end(shared)?;
                // Nothing else arrives in a flow without bytes.
                self.report.completed |= self.bytes == Some(0);
                Ok(false)
            }
            Received::Failed(errno) => {
                self.fail(shared, "receiving", errno)?;
                Ok(false)
            }
        }
    }

    /// Call after each look at the receiver, which had `before` bytes.
    fn count_arrivals(&mut self, before: u64) {
        let Arrivals { bytes, last: Some(last), .. } = self.receiver.arrivals() else { return };
        if bytes == before {
            return;
        }
        // The FIN does not decide it: it may still be under way when the flow is stopped.
        self.report.completed = self.bytes == Some(bytes);
        if let Some(bursts) = &mut self.bursts {
            bursts.arrived(bytes, last);
        }
    }

    /// The state of the sender's socket; `None` before the handshake and after the close.
    fn sample_now(&mut self, shared: &Shared) -> Option<Sample> {
        let fd = match self.phase {
            Phase::Sending | Phase::Closing => self.sender.as_ref()?,
            Phase::Waiting | Phase::Connecting | Phase::Over => return None,
        };
        let time = shared.clock.now();
        self.last = TcpInfo::of(fd).ok()?;
        let bbr = if self.has_bbr { BbrInfo::of(fd) } else { None };
        let before = self.received_bytes();
        self.receiver.take_sunk(shared).ok()?;
        self.count_arrivals(before);
        Some(Sample {
            time,
            flow: self.index as u16,
            socket: self.socket,
            bytes_sent: self.last.bytes_sent,
            received_bytes: Some(self.received_bytes()),
            lost_packets: self.last.lost,
            account: Some(Account::Tcp(self.last.sample(bbr))),
        })
    }

    fn push_sample(&mut self, shared: &mut Shared) {
        if let Some(sample) = self.sample_now(shared) {
            shared.sampler.push(sample);
        }
    }

    fn end(&mut self, shared: &mut Shared) -> Result<()> {
        self.push_sample(shared);
        self.close(shared)
    }

    fn fail(&mut self, shared: &mut Shared, doing: &str, errno: Errno) -> Result<()> {
        if !self.report.completed {
            self.report.error = Some(format!("{doing}: {}", errno.desc()));
        }
        self.end(shared)
    }
}

impl Agent for TcpFlow {
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()> {
        let fd = sockets::tcp(&self.id, sockets::version(self.to.ip()), &self.cc)?;
        sockets::bind_receiver(&self.id, &fd, self.to)?;
        self.receiver.listen(self.index, fd, shared)
    }

    fn open_sender(&mut self, from: IpAddr, _: &mut Shared) -> Result<()> {
        let fd = sockets::tcp(&self.id, sockets::version(self.to.ip()), &self.cc)?;
        sockets::bind_sender(&self.id, &fd, from)?;
        if self.bursts.is_some_and(|bursts| !bursts.are_of_bytes()) {
            sockets::hold_at_most(&fd, OnOff::AHEAD_BYTES)?;
        }
        self.sender = Some(fd);
        Ok(())
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        let Some(fd) = &self.sender else { return Ok(None) };
        self.report.start_ns = Some(shared.clock.now().as_nanos());
        self.phase = Phase::Connecting;
        match connect(fd.as_raw_fd(), &SockaddrStorage::from(self.to)) {
            Ok(()) | Err(Errno::EINPROGRESS) => {
                shared.poller.add(fd, Source::Sender(self.index), EpollFlags::EPOLLOUT)?
            }
            Err(errno) => self.fail(shared, "connecting", errno)?,
        }
        Ok(None)
    }

    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()> {
        match source {
            Source::Listener(_) => self.on_listener(shared),
            Source::Sender(_) => self.on_sender(shared),
            Source::Receiver(_) => self.on_receiver(shared).map(drop),
            source => unreachable!("a TCP flow has no {source:?}"),
        }
    }

    fn take_next_turn(&mut self) -> Option<Time> {
        let next = self.bursts.as_ref()?.next();
        (std::mem::replace(&mut self.next_turn, next) != next && next != Time::NEVER).then_some(next)
    }

    fn turn(&mut self, shared: &mut Shared) -> Result<()> {
        let Some(bursts) = &mut self.bursts else { return Ok(()) };
        bursts.turn();
        match (self.phase, &self.sender) {
            (Phase::Sending, Some(fd)) if self.left() > 0 => {
                shared.poller.modify(fd, Source::Sender(self.index), EpollFlags::EPOLLOUT)
            }
            (Phase::Sending, Some(_)) => self.pause(shared),
            _ => Ok(()),
        }
    }

    /// Only this process knows how many bytes a burst has brought.
    fn may_be_sampled_by_the_kernel(&self) -> bool {
        self.bursts.is_none()
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        if !self.sampled {
            self.push_sample(shared);
        }
        Ok(())
    }

    fn settle(&mut self, shared: &mut Shared, on_time: bool) -> Result<()> {
        if self.phase == Phase::Over {
            return Ok(());
        }
        while self.on_receiver(shared)? {}
        self.push_sample(shared);
        match self.phase {
            Phase::Connecting => self.report.error = Some("it was not connected when it stopped".to_owned()),
            Phase::Sending if self.bytes.is_none() => self.report.completed = on_time,
            _ => {}
        }
        Ok(())
    }

    fn close(&mut self, shared: &mut Shared) -> Result<()> {
        self.phase = Phase::Over;
        if let Some(kernel) = shared.sampler.kernel().filter(|_| std::mem::take(&mut self.sampled)) {
            kernel.remove(self.index)?;
        }
        self.receiver.close();
        self.sender = None;
        Ok(())
    }

    fn received_bytes(&self) -> u64 {
        self.receiver.arrivals().bytes
    }

    fn report(&self, _: Time) -> FlowReport {
        let arrivals = self.receiver.arrivals();
        FlowReport {
            received_bytes: arrivals.bytes,
            first_byte_ns: arrivals.first.map(Time::as_nanos),
            end_ns: arrivals.last.map(Time::as_nanos),
            sent_bytes: self.last.first_sent(),
            retransmitted_segments: self.last.total_retrans,
            busy_us: self.last.busy_time,
            rwnd_limited_us: self.last.rwnd_limited,
            sndbuf_limited_us: self.last.sndbuf_limited,
            ..self.report.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::net::{Ipv4Addr, TcpListener};
    use std::time::Duration;

    use realtime::Clock;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::poller::Poller;
    use crate::sampler::Sampler;
    use crate::udp_receiver::Batch;

    fn shared(dir: &TempDir) -> Shared {
        let plan = plan::Plan::of(json!({
            "name": "test", "duration_ns": 1, "seed": 1, "nodes": [], "links": [],
            "flows": [{"id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": 1,
                       "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}}],
            "record": {"sample_interval_ns": 1_000_000, "packets": false},
            "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 0},
        }));
        Shared {
            clock: Clock::new(realtime::monotonic_ns()),
            poller: Poller::new().unwrap(),
            sampler: Sampler::create(&plan.unwrap(), dir.path()).unwrap(),
            kinds: records::kinds::KindTables::default(),
            batch: Batch::new(),
            diags: HashMap::new(),
        }
    }

    /// A flow whose receiver has accepted its connection.
    fn connected(bytes: u64, shared: &mut Shared) -> TcpFlow {
        let port = TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap().port();
        let reno = Algorithm { label: "reno".to_owned(), kernel: "reno".to_owned() };
        let mut flow = TcpFlow::new(0, "f1", reno, Some(bytes), None, SocketAddr::from(([127, 0, 0, 2], port)));
        flow.open_receiver(shared).unwrap();
        flow.open_sender(Ipv4Addr::LOCALHOST.into(), shared).unwrap();
        flow.start(shared).unwrap();
        until(|| {
            flow.on_listener(shared).unwrap();
            flow.receiver.is_open()
        });
        flow
    }

    /// Read once what has arrived.
    fn receive(flow: &mut TcpFlow, shared: &mut Shared) {
        until(|| {
            flow.on_receiver(shared).unwrap();
            flow.received_bytes() > 0
        });
    }

    /// Even loopback takes its time on a loaded machine.
    fn until(mut condition: impl FnMut() -> bool) {
        for _ in 0..2000 {
            if condition() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("waited 2 s in vain");
    }

    #[test]
    fn a_flow_whose_bytes_have_arrived_is_complete_before_its_fin() {
        let dir = TempDir::new().unwrap();
        let mut shared = shared(&dir);
        let mut flow = connected(1000, &mut shared);
        flow.on_sender(&mut shared).unwrap();
        assert_eq!((flow.phase, flow.report.completed), (Phase::Closing, false));
        receive(&mut flow, &mut shared);
        assert!(!flow.receiver.has_everything(), "the FIN has not been read");
        assert!(flow.report.completed);
        let end = flow.report(Time::ZERO).end_ns;
        assert!(end >= flow.report.start_ns && end.is_some(), "{:?}", flow.report(Time::ZERO));

        until(|| {
            flow.on_receiver(&mut shared).unwrap();
            flow.receiver.has_everything()
        });
        assert!(flow.report.completed);
        assert_eq!((flow.report(Time::ZERO).end_ns, flow.received_bytes()), (end, 1000));
    }

    #[test]
    fn a_flow_that_lacks_a_byte_is_not_complete() {
        let dir = TempDir::new().unwrap();
        let mut shared = shared(&dir);
        let mut flow = connected(1001, &mut shared);
        send(flow.sender.as_ref().unwrap().as_raw_fd(), &PAYLOAD[..1000], MsgFlags::MSG_NOSIGNAL).unwrap();
        receive(&mut flow, &mut shared);
        flow.settle(&mut shared, true).unwrap();
        assert_eq!((flow.received_bytes(), flow.report.completed), (1000, false));
    }
}
