//! A UDP flow of constant rate.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Result, ensure};
use datagrams::{MOST_PAYLOAD, Schedule};
use messages::Failure;
use nix::sys::socket::sockopt::{Ipv4Tos, Ipv6TClass};
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, send, setsockopt};
use plan::{Ecn, OnOff};
use records::samples::Sample;
use units::{Ip, Mtu, Rate, Time};

use crate::agent::Agent;
use crate::poller::Source;
use crate::report::{FlowReport, UdpReport};
use crate::shared::Shared;
use crate::sockets;
use crate::udp_receiver::{HEADER, Receiver, write_header};
use realtime::Spans;

/// The two low bits of the type of service in IPv4, and of the traffic class in IPv6 (RFC 3168 section 5).
fn codepoint(ecn: Ecn) -> i32 {
    match ecn {
        Ecn::NotEct => 0b00,
        Ecn::Ect1 => 0b01,
        Ecn::Ect0 => 0b10,
    }
}

/// Sender and receiver.
pub struct UdpFlow {
    index: u32,
    id: String,
    to: SocketAddr,
    ecn: Ecn,
    schedule: Schedule,
    stop: Time,
    /// Number of datagrams that carry `bytes`.
    limit: u64,
    payload: Vec<u8>,
    sender: Option<OwnedFd>,
    receiver: Option<Receiver>,
    socket: u16,
    started: Option<Time>,
    stopped: bool,
    /// Datagrams that were due so far.
    next: u64,
    /// The sequence number of the next one: those that the kernel took.
    sent: u64,
    schedule_error: Spans,
}

impl UdpFlow {
    /// `mtu`: its path's. `bytes`: enough datagrams to carry them, all of the same size.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        flow: &plan::Flow,
        mtu: Mtu,
        rate: Rate,
        payload: u32,
        bytes: Option<u64>,
        ecn: Ecn,
        on_off: Option<OnOff>,
        to: SocketAddr,
    ) -> Result<Self> {
        ensure!(
            (HEADER as u32..=MOST_PAYLOAD).contains(&payload),
            Failure::new(
                format!("flow {}: datagrams of {payload} bytes", flow.id),
                format!(
                    "a payload has {HEADER} to {MOST_PAYLOAD} bytes; the first {HEADER} are its number and its time"
                ),
            )
        );
        Ok(UdpFlow {
            index,
            id: flow.id.clone(),
            to,
            ecn,
            schedule: Schedule::new(flow.start_ns, payload, (sockets::version(to.ip()), mtu), rate, on_off),
            stop: flow.stop_ns,
            limit: bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(payload))),
            payload: vec![0; payload as usize],
            sender: None,
            receiver: None,
            socket: 0,
            started: None,
            stopped: false,
            next: 0,
            sent: 0,
            schedule_error: Spans::default(),
        })
    }

    fn connect(&mut self, from: IpAddr) -> Result<()> {
        let ip = sockets::version(self.to.ip());
        let fd = sockets::udp(&self.id, ip)?;
        sockets::bind_sender(&self.id, &fd, from)?;
        match ip {
            Ip::V4 => setsockopt(&fd, Ipv4Tos, &codepoint(self.ecn))?,
            Ip::V6 => setsockopt(&fd, Ipv6TClass, &codepoint(self.ecn))?,
        }
        connect(fd.as_raw_fd(), &SockaddrStorage::from(self.to))?;
        self.socket = sockets::local_port(&fd)?;
        self.sender = Some(fd);
        Ok(())
    }

    fn next_due(&self) -> Option<Time> {
        let due = self.schedule.due(self.next);
        (!self.stopped && self.next < self.limit && due < self.stop).then_some(due)
    }

    fn sample_now(&self, shared: &Shared) -> Sample {
        let (received, lost) = self.receiver.as_ref().map_or((0, 0), |r| (r.received_bytes(), r.lost_packets()));
        Sample {
            time: shared.clock.now(),
            flow: self.index as u16,
            socket: self.socket,
            bytes_sent: self.sent_bytes(),
            received_bytes: Some(received),
            lost_packets: lost as u32,
            account: None,
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.sent * self.payload.len() as u64
    }
}

impl Agent for UdpFlow {
    fn open_receiver(&mut self, shared: &mut Shared) -> Result<()> {
        self.receiver = Some(Receiver::open(&self.id, self.index, self.to, shared)?);
        Ok(())
    }

    fn open_sender(&mut self, from: IpAddr, _: &mut Shared) -> Result<()> {
        self.connect(from)
    }

    fn start(&mut self, shared: &mut Shared) -> Result<Option<Time>> {
        self.started = Some(shared.clock.now());
        Ok(self.next_due())
    }

    fn send(&mut self, shared: &Shared) -> Option<Time> {
        let due = self.next_due()?;
        let fd = self.sender.as_ref()?;
        let now = shared.clock.now();
        write_header(&mut self.payload, self.sent, now);
        // A full buffer or an ICMP error: this one is gone, the schedule goes on.
        if send(fd.as_raw_fd(), &self.payload, MsgFlags::MSG_NOSIGNAL).is_ok() {
            self.sent += 1;
        }
        self.schedule_error.add(now - due);
        self.next += 1;
        self.next_due()
    }

    fn on_ready(&mut self, _: Source, shared: &mut Shared) -> Result<()> {
        if let Some(receiver) = &mut self.receiver {
            receiver.receive(shared, self.sent);
        }
        Ok(())
    }

    fn sample(&mut self, shared: &mut Shared) -> Result<()> {
        if self.started.is_some() && !self.stopped {
            shared.sampler.push(self.sample_now(shared));
        }
        Ok(())
    }

    /// The receiver stays open for what is under way.
    fn settle(&mut self, shared: &mut Shared, _: bool) -> Result<()> {
        self.stopped = true;
        if let Some(receiver) = &mut self.receiver {
            while receiver.receive(shared, self.sent) {}
        }
        if self.started.is_some() {
            let sample = self.sample_now(shared);
            shared.sampler.push(sample);
        }
        Ok(())
    }

    fn received_bytes(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::received_bytes)
    }

    fn report(&self, ended: Time) -> FlowReport {
        let arrived = self.receiver.as_ref().map(Receiver::arrived).unwrap_or_default();
        let all_sent = self.next == self.limit || (self.limit == u64::MAX && ended >= self.stop);
        FlowReport {
            id: self.id.clone(),
            received_bytes: self.received_bytes(),
            sent_bytes: self.sent_bytes(),
            start_ns: self.started.map(Time::as_nanos),
            first_byte_ns: arrived.first.map(Time::as_nanos),
            end_ns: arrived.last.map(Time::as_nanos),
            completed: self.started.is_some() && all_sent,
            udp: Some(UdpReport {
                sent_packets: self.sent,
                refused_packets: self.next - self.sent,
                received_packets: arrived.packets,
                ce_packets: arrived.congestion_experienced,
                lost_packets: arrived.lost,
                reordered_packets: arrived.reordered,
                duplicate_packets: arrived.duplicates,
                socket_drops: arrived.socket_drops,
                schedule_error_us: self.schedule_error.quantiles(),
                one_way_delay_us: arrived.one_way_delay,
                jitter_us: arrived.jitter_us,
            }),
            ..FlowReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use nix::sys::socket::getsockopt;

    use super::*;

    #[test]
    fn datagrams_carry_the_codepoint_that_the_plan_names() {
        for (name, bits) in [("not-ect", 0), ("ect1", 1), ("ect0", 2)] {
            let flow: plan::Flow = serde_json::from_value(serde_json::json!({
                "id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": 9,
                "workload": {"kind": "udp", "rate_bps": 1000, "payload_bytes": 16, "bytes": null, "ecn": name},
            }))
            .unwrap();
            let plan::Workload::Udp { rate_bps, payload_bytes, bytes, ecn, on_off } = flow.workload else {
                unreachable!()
            };
            for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
                let to = SocketAddr::new(address, flow.port);
                let mut udp =
                    UdpFlow::new(0, &flow, Mtu::default(), rate_bps, payload_bytes, bytes, ecn, on_off, to).unwrap();
                udp.connect(address).unwrap();
                let fd = udp.sender.as_ref().unwrap();
                let set = if address.is_ipv4() { getsockopt(fd, Ipv4Tos) } else { getsockopt(fd, Ipv6TClass) };
                assert_eq!(set.unwrap(), bits, "{name} to {address}");
            }
        }
    }
}
