//! Ends of simulated flows: the stacks and applications of real ones, at the simulation's time.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Result, bail};
use bytes::BytesMut;
use link::Ecn;
use quic_lines::{Line, Order, Received, Sent};
use sim::rows::local_port;
use sim::{QuicEnd, QuicEnds, QuicStacks, Turn};
use units::{Ip, Time};

use crate::end::End;
use crate::libc_of_simulations::{Instants, at, seed};
use crate::link::MOST;
use crate::stack::State;
use crate::{qlog, stacks};

/// The stacks of this program.
#[derive(Debug)]
pub struct Stacks {
    /// Folder of qlogs; `None`: none are kept.
    pub logs: Option<PathBuf>,
}

impl QuicStacks for Stacks {
    fn create(&self, flow: &plan::Flow, chance: u64) -> Result<QuicEnds> {
        let plan::Workload::Quic { stack, cc, qlog, .. } = &flow.workload else { bail!("not a QUIC flow") };
        // The build was chosen by the program that started this one.
        let stack = stacks::named(stack.split_once('@').map_or(stack, |(stack, _)| stack))?;
        seed(chance);
        let log = |suffix: &str| match &self.logs {
            Some(logs) if *qlog => qlog::create(&logs.join(format!("{}{suffix}.sqlog", flow.id))).map(Some),
            _ => Ok(None),
        };
        let ip: [std::net::IpAddr; 2] = match flow.ip {
            Ip::V4 => [Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into()],
            Ip::V6 => [1, 2].map(|host| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, host).into()),
        };
        let [from, to] = [SocketAddr::new(ip[0], local_port(0)), SocketAddr::new(ip[1], flow.port)];
        // Making an endpoint may start its clock.
        let (sender, receiver) = at(Time::ZERO, |_| {
            let sender = End::sender((stack.sender)(cc, log("")?)?, to);
            Ok::<_, anyhow::Error>((sender, End::receiver((stack.receiver)(log(".server")?)?)))
        })?;
        let simulated = |end, peer| Box::new(Simulated { end, peer, instants: Instants::new(), buffer: Vec::new() });
        Ok(QuicEnds {
            sender: simulated(sender, to),
            receiver: simulated(receiver, from),
            version: stack.version.to_owned(),
        })
    }
}

/// An end whose datagrams come from the simulator and go there.
struct Simulated {
    end: End,
    peer: SocketAddr,
    instants: Instants,
    /// The datagrams of the last transmit.
    buffer: Vec<u8>,
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Simulated {
    /// Sends what the stack has.
    fn transmit(&mut self, now: std::time::Instant, send: &mut dyn FnMut(Ecn, &[u8])) {
        loop {
            self.buffer.clear();
            let Some(transmit) = self.end.endpoint.transmit(now, MOST, &mut self.buffer) else { return };
            let ecn = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(transmit.ecn & 3)];
            let size = transmit.segment_bytes.unwrap_or(self.buffer.len()).max(1);
            self.buffer.chunks(size).for_each(|datagram| send(ecn, datagram));
        }
    }

    fn turn_at(&mut self, now: Time, instant: std::time::Instant, send: &mut dyn FnMut(Ecn, &[u8])) -> Result<Turn> {
        if self.end.endpoint.next_timeout().is_some_and(|at| at <= instant) {
            self.end.endpoint.on_timeout(instant);
        }
        // As a program does between two waits.
        while {
            let is_more = self.end.serve_application(now.as_nanos(), &mut |_: &Line| Ok(()))?;
            self.transmit(instant, send);
            is_more
        } {}
        let is_acknowledged = self.end.endpoint.is_acknowledged();
        if is_acknowledged {
            self.end.endpoint.close(instant);
            self.transmit(instant, send);
        } else if let State::Failed(why) = self.end.endpoint.state() {
            bail!(why.clone());
        }
        let timeout = self.end.endpoint.next_timeout().map(|at| self.instants.time(at));
        let write = self.end.next_write_ns(now.as_nanos()).map(Time);
        Ok(Turn {
            next: timeout.into_iter().chain(write).min().unwrap_or(Time::NEVER),
            is_connected: self.end.was_open(),
            is_closed: is_acknowledged || *self.end.endpoint.state() == State::Closed,
        })
    }
}

impl QuicEnd for Simulated {
    fn begin(&mut self, now: Time) -> Result<()> {
        at(now, |instant| self.end.begin(instant))
    }

    fn order(&mut self, order: Order) -> Result<()> {
        self.end.obey(order).map(drop)
    }

    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]) {
        at(now, |instant| self.end.endpoint.receive(instant, self.peer, ecn as u8, BytesMut::from(datagram)));
    }

    fn turn(&mut self, now: Time, send: &mut dyn FnMut(Ecn, &[u8])) -> Result<Turn> {
        at(now, |instant| self.turn_at(now, instant, send))
    }

    fn sent(&mut self) -> Sent {
        self.end.sent().unwrap_or_default()
    }

    fn received(&self) -> Received {
        self.end.received()
    }
}
