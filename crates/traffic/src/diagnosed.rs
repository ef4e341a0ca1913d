//! The TCP connections of a user's program, from outside.

use std::io;
use std::net::{IpAddr, SocketAddr};

use records::samples::{Account, Sample};
use units::{Duration, Time};

use crate::shared::Shared;
use crate::sock_diag::{Diagnosis, SockDiag, SocketId};
use crate::tcp_info::{BbrInfo, TcpInfo};

/// Interval at which to look for new connections, which walks the machine's whole table of connections. Known ones are
/// looked up at every sample. A connection that lives for less than this can be missed.
const DISCOVERY: Duration = Duration::from_millis(50);

struct Connection {
    id: SocketId,
    /// Port of the connecting end, the same at both ends of a connection.
    port: u16,
    info: TcpInfo,
    bbr: Option<BbrInfo>,
}

/// Sums over connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub sent_bytes: u64,
    pub received_bytes: u64,
    pub retransmitted_segments: u32,
    pub busy_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
}

impl Totals {
    fn add_sender(&mut self, info: &TcpInfo) {
        self.sent_bytes += info.first_sent();
        self.retransmitted_segments += info.total_retrans;
        self.busy_us += info.busy_time;
        self.rwnd_limited_us += info.rwnd_limited;
        self.sndbuf_limited_us += info.sndbuf_limited;
    }
}

/// Connections between two hosts, to the flow's port.
pub struct Diagnosed {
    index: u32,
    from_host: String,
    to_host: String,
    from: IpAddr,
    to: SocketAddr,
    senders: Vec<Connection>,
    receivers: Vec<Connection>,
    closed: Totals,
    next_discovery: Time,
    /// Algorithm of the connection that has sent most: a program may have control connections with the kernel's
    /// default.
    pub cc: Option<String>,
    most_sent: u64,
}

impl Diagnosed {
    pub fn new(index: u32, flow: &plan::Flow, from: IpAddr, to: SocketAddr) -> Diagnosed {
        Diagnosed {
            index,
            from_host: flow.from.clone(),
            to_host: flow.to.clone(),
            from,
            to,
            senders: Vec::new(),
            receivers: Vec::new(),
            closed: Totals::default(),
            next_discovery: Time(i64::MIN),
            cc: None,
            most_sent: 0,
        }
    }

    /// A row per connection. Values that the kernel doesn't give are left out.
    pub fn sample(&mut self, shared: &mut Shared) -> io::Result<()> {
        let now = shared.clock.now();
        if now >= self.next_discovery {
            self.next_discovery = now + DISCOVERY;
            self.discover(shared)?;
        }
        // Receivers first: what they have received was sent.
        self.refresh_receivers(shared)?;
        let Some(diag) = shared.diags.get_mut(&self.from_host) else { return Ok(()) };
        let (index, receivers, closed, sampler) = (self.index, &self.receivers, &mut self.closed, &mut shared.sampler);
        retain(&mut self.senders, |connection| {
            let time = shared.clock.now();
            let lives = look_up(connection, diag)?;
            if lives {
                let peer = receivers.iter().find(|r| r.port == connection.port);
                sampler.push(connection.sample(time, index, peer));
            } else {
                closed.add_sender(&connection.info);
            }
            Ok(lives)
        })
    }

    fn refresh_receivers(&mut self, shared: &mut Shared) -> io::Result<()> {
        let Some(diag) = shared.diags.get_mut(&self.to_host) else { return Ok(()) };
        let closed = &mut self.closed;
        retain(&mut self.receivers, |connection| {
            let lives = look_up(connection, diag)?;
            if !lives {
                closed.received_bytes += connection.info.received();
            }
            Ok(lives)
        })
    }

    fn discover(&mut self, shared: &mut Shared) -> io::Result<()> {
        let (from, to) = (self.from, self.to);
        if let Some(diag) = shared.diags.get_mut(&self.from_host) {
            let (senders, cc, most_sent) = (&mut self.senders, &mut self.cc, &mut self.most_sent);
            diag.connected(|d| {
                let local = d.id.local();
                if local.ip() == from && d.id.remote() == to {
                    note(senders, d, local.port());
                    let sent = d.info.map_or(0, |info| info.first_sent());
                    if cc.is_none() || sent > *most_sent {
                        (*cc, *most_sent) = (d.cc.map(str::to_owned), sent);
                    }
                }
            })?;
        }
        if let Some(diag) = shared.diags.get_mut(&self.to_host) {
            let receivers = &mut self.receivers;
            diag.connected(|d| {
                let remote = d.id.remote();
                if d.id.local() == to && remote.ip() == from {
                    note(receivers, d, remote.port());
                }
            })?;
        }
        Ok(())
    }

    /// Sums over all connections, closed or not.
    pub fn totals(&self) -> Totals {
        let mut totals = self.closed;
        self.senders.iter().for_each(|c| totals.add_sender(&c.info));
        totals.received_bytes += self.receivers.iter().map(|c| c.info.received()).sum::<u64>();
        totals
    }
}

impl Connection {
    fn sample(&self, time: Time, flow: u32, peer: Option<&Connection>) -> Sample {
        Sample {
            time,
            flow: flow as u16,
            socket: self.port,
            bytes_sent: self.info.bytes_sent,
            received_bytes: peer.map(|c| c.info.received()),
            lost_packets: self.info.lost,
            account: Some(Account::Tcp(self.info.sample(self.bbr))),
        }
    }
}

fn note(known: &mut Vec<Connection>, d: &Diagnosis, port: u16) {
    if let Some(info) = d.info.filter(|_| known.iter().all(|c| c.id != d.id)) {
        known.push(Connection { id: d.id, port, info, bbr: d.bbr });
    }
}

/// Refresh a connection. Returns whether it lives: one in TIME_WAIT answers without `tcp_info`.
fn look_up(connection: &mut Connection, diag: &mut SockDiag) -> io::Result<bool> {
    let mut answer = None;
    diag.look_up(&connection.id, |d| answer = d.info.map(|info| (info, d.bbr)))?;
    if let Some((info, bbr)) = answer {
        (connection.info, connection.bbr) = (info, bbr);
    }
    Ok(answer.is_some())
}

fn retain(
    connections: &mut Vec<Connection>,
    mut keep: impl FnMut(&mut Connection) -> io::Result<bool>,
) -> io::Result<()> {
    let mut failure = Ok(());
    connections.retain_mut(|connection| match keep(connection) {
        Ok(keep) => keep,
        Err(error) => {
            failure = Err(error);
            true
        }
    });
    failure
}
