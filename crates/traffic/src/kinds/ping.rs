//! A flow that pings: echo requests at an interval, over ICMP or UDP.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Result;
use datagrams::{Echo, Echoes};
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, recv, recvfrom, send, sendto};
use plan::Echo as Way;
use realtime::Spans;
use records::accounts::PingReport;
use records::kinds::PingRow;
use records::samples::Sample;
use units::{Duration, Ip, Time};

use crate::agent::Agent;
use crate::icmp;
use crate::poller::Source;
use crate::report::FlowReport;
use crate::shared::Shared;
use crate::sockets;

/// A datagram of any length that a link carries.
const ROOM: usize = 2048;

/// The end that pings and, over UDP, the end that answers. ICMP is answered by the receiving host's kernel.
pub struct PingFlow {
    index: u32,
    id: String,
    way: Way,
    to: SocketAddr,
    interval: Duration,
    begin: Time,
    stop: Time,
    request: Vec<u8>,
    pinger: Option<OwnedFd>,
    responder: Option<OwnedFd>,
    socket: u16,
    started: Option<Time>,
    stopped: bool,
    /// Requests that were due so far.
    due: u64,
    echoes: Echoes,
    first: Option<Time>,
    last: Option<Time>,
    schedule_error: Spans,
    rtt: Spans,
}

impl PingFlow {
    /// `way`, `interval` and `payload` are those of the flow's workload; `to` is where it pings.
    pub fn new(index: u32, flow: &plan::Flow, way: Way, interval: Duration, payload: u32, to: SocketAddr) -> PingFlow {
        PingFlow {
            index,
            id: flow.id.clone(),
            way,
            to,
            interval,
            begin: flow.start_ns,
            stop: flow.stop_ns,
            request: vec![0; payload as usize],
            pinger: None,
            responder: None,
            socket: 0,
            started: None,
            stopped: false,
            due: 0,
            echoes: Echoes::default(),
            first: None,
            last: None,
            schedule_error: Spans::default(),
            rtt: Spans::default(),
        }
    }

    fn version(&self) -> Ip {
        sockets::version(self.to.ip())
    }

    fn next_due(&self) -> Option<Time> {
        let due = self.begin + Duration(self.interval.as_nanos() * self.due as i64);
        (!self.stopped && due < self.stop).then_some(due)
    }

    /// Answers that have come to the end that pings.
    fn on_pinger(&mut self, shared: &mut Shared) {
        let mut buffer = [0; ROOM];
        let Some(fd) = self.pinger.as_ref().map(AsRawFd::as_raw_fd) else { return };
        while let Ok(length) = recv(fd, &mut buffer, MsgFlags::MSG_DONTWAIT) {
            let now = shared.clock.now();
            let payload = match self.way {
                Way::Icmp => icmp::answer(self.version(), &buffer[..length], self.socket),
                Way::Udp => Some(&buffer[..length]),
            };
            let number = payload.and_then(|payload| payload.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes));
            if let Some(echo) = number.and_then(|number| self.echoes.answer(number, now)) {
                self.first.get_or_insert(now);
                self.last = Some(now);
                self.rtt.add(now - echo.sent);
                self.record(&echo, shared);
            }
        }
    }

    /// Requests that have come to the end that answers.
    fn on_responder(&self) {
        let mut buffer = [0; ROOM];
        let Some(fd) = self.responder.as_ref().map(AsRawFd::as_raw_fd) else { return };
        while let Ok((length, Some(from))) = recvfrom::<SockaddrStorage>(fd, &mut buffer) {
            let _ = sendto(fd, &buffer[..length], &from, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL);
        }
    }

    fn record(&self, echo: &Echo, shared: &mut Shared) {
        let &Echo { number, sent, rtt, is_lost } = echo;
        shared.kinds.push(PingRow { flow: self.index as u16, number, sent, rtt, is_lost }.into());
    }

    fn sample_now(&self, now: Time) -> Sample {
        Sample {
            time: now,
            flow: self.index as u16,
            socket: self.socket,
            bytes_sent: self.sent_bytes(),
            received_bytes: Some(self.received_bytes()),
            lost_packets: self.echoes.counts(now).lost as u32,
            account: None,
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.echoes.next() * self.request.len() as u64
    }
}

impl Agent for PingFlow {
    /// ICMP needs nobody there.
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()> {
        if self.way == Way::Udp {
            let fd = sockets::udp(&self.id, self.version())?;
            sockets::bind_receiver(&self.id, &fd, self.to)?;
            shared.poller.add(&fd, Source::Receiver(self.index), EpollFlags::EPOLLIN)?;
            self.responder = Some(fd);
        }
        Ok(())
    }

    fn open_sender(&mut self, from: IpAddr, shared: &mut Shared) -> Result<()> {
        let fd = match self.way {
            Way::Icmp => {
                let hint = r#"give the flow echo = "udp", which needs no privilege"#;
                let fd = icmp::open(self.version(), &format!("flow {}", self.id), hint)?;
                sockets::bind_to(&self.id, &fd, from)?;
                fd
            }
            Way::Udp => {
                let fd = sockets::udp(&self.id, self.version())?;
                sockets::bind_sender(&self.id, &fd, from)?;
                fd
            }
        };
        connect(fd.as_raw_fd(), &SockaddrStorage::from(self.to))?;
        self.socket = match self.way {
            // An echo carries the flow's port as its identifier: so the emulator knows whose it is.
            Way::Icmp => self.to.port(),
            Way::Udp => sockets::local_port(&fd)?,
        };
        shared.poller.add(&fd, Source::Sender(self.index), EpollFlags::EPOLLIN)?;
        self.pinger = Some(fd);
        Ok(())
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        self.started = Some(shared.clock.now());
        Ok(self.next_due())
    }

    fn send(&mut self, shared: &Shared) -> Option<Time> {
        let due = self.next_due()?;
        let fd = self.pinger.as_ref()?;
        let number = self.echoes.next();
        self.request[..8].copy_from_slice(&number.to_le_bytes());
        let now = shared.clock.now();
        let sent = match self.way {
            Way::Icmp => {
                let message = icmp::request(self.version(), self.socket, number as u16, &self.request);
                send(fd.as_raw_fd(), &message, MsgFlags::MSG_NOSIGNAL)
            }
            Way::Udp => send(fd.as_raw_fd(), &self.request, MsgFlags::MSG_NOSIGNAL),
        };
        // A full buffer or an ICMP error: this request is gone, the schedule goes on.
        if sent.is_ok() {
            self.echoes.send(now);
        }
        self.schedule_error.add(now - due);
        self.due += 1;
        self.next_due()
    }

    fn on_ready(&mut self, source: Source, shared: &mut Shared) -> Result<()> {
        match source {
            Source::Receiver(_) => self.on_responder(),
            _ => self.on_pinger(shared),
        }
        Ok(())
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        if self.started.is_some() && !self.stopped {
            shared.sampler.push(self.sample_now(shared.clock.now()));
        }
        Ok(())
    }

    /// Answers that are under way still count until the run ends.
    fn settle(&mut self, shared: &mut Shared, _: bool) -> Result<()> {
        self.on_pinger(shared);
        self.sample(shared)?;
        self.stopped = true;
        Ok(())
    }

    /// Writes down the requests without an answer.
    fn finish(&self, ended: Time, shared: &mut Shared) {
        for echo in self.echoes.unanswered(ended) {
            self.record(&echo, shared);
        }
    }

    /// Payload that came back.
    fn received_bytes(&self) -> u64 {
        self.rtt.count() * self.request.len() as u64
    }

    fn report(&self, ended: Time) -> FlowReport {
        let counts = self.echoes.counts(ended);
        FlowReport {
            id: self.id.clone(),
            received_bytes: self.received_bytes(),
            sent_bytes: self.sent_bytes(),
            start_ns: self.started.map(Time::as_nanos),
            first_byte_ns: self.first.map(Time::as_nanos),
            end_ns: self.last.map(Time::as_nanos),
            completed: self.started.is_some() && ended >= self.stop,
            ping: Some(PingReport {
                sent_packets: counts.sent,
                refused_packets: self.due - counts.sent,
                answered_packets: counts.answered,
                lost_packets: counts.lost,
                duplicate_packets: counts.duplicates,
                schedule_error_us: self.schedule_error.quantiles(),
            }),
            ..FlowReport::default()
        }
    }
}
