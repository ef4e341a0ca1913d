//! The TCP connections and datagrams of whatever programs run in a lab, while it is recorded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result};
use bpf::Names;
use messages::{Inbox, Order};
use realtime::{Clock, ThreadTimes};
use records::found::{DatagramGauges, Datagrams, FILE, FoundFlow, Protocol, name, names};
use records::samples::{Account, Sample};
use serde::Serialize;
use units::{Duration, Ip, Time};

use crate::netns::within;
use crate::report::{FlowReport, TrafficReport};
use crate::sampler::Sampler;
use crate::sock_diag::{Diagnosis, SockDiag, SocketId};
use crate::sockets::version;
use crate::tcp_info::{BbrInfo, TcpInfo};

/// Interval at which to look for new connections, as for those of planned programs. One that lives for less can be missed.
const DISCOVERY: Duration = Duration::from_millis(50);

/// A flow of a lab's records.
#[derive(Clone, Debug, Serialize)]
pub struct Watched {
    /// Its protocol.
    pub protocol: Protocol,
    /// The host that has sent more payload, by the links' counts; of two that have sent as much, the client.
    pub from: String,
    /// The other one.
    pub to: String,
    /// The receiver's port.
    pub port: u16,
    /// The version of IP of its packets.
    pub ip: Ip,
    /// The flow's account.
    pub report: FlowReport,
}

/// One end of a connection.
struct End {
    id: SocketId,
    /// State of the connection when it was first seen, if it is older than the records.
    before: TcpInfo,
    info: TcpInfo,
    bbr: Option<BbrInfo>,
    lives: bool,
}

/// A connection, by the ends that connected and accepted.
#[derive(Default)]
struct Connection {
    ends: [Option<End>; 2],
}

/// All connections of a flow, by the port of the end that connected.
struct Flow {
    found: FoundFlow,
    connections: BTreeMap<u16, Connection>,
    /// Counts of links, there and back.
    counts: [Datagrams; 2],
    report: FlowReport,
    /// Bytes that the connection with the most has sent; `cc_actual` is that connection's.
    most_sent: u64,
}

/// Sample the flows that are found in `dir`, until `control` says stop, or is closed.
///
/// `netns` gives a host's network namespace, whose sockets tell of TCP; `datagrams` has what the links count. Writes
/// `samples.parquet` and `traffic.json` into `dir`; the flows' ids are those of [`records::found::name`]. Returns the flows.
pub fn watch<'a>(
    plan: &plan::Plan,
    netns: &dyn Fn(&str) -> Result<BorrowedFd<'a>>,
    kernels: &Names,
    datagrams: &DatagramGauges,
    dir: &Path,
    (origin_ns, interval): (i64, Duration),
    control: OwnedFd,
) -> Result<Vec<Watched>> {
    let mut watch = Watch {
        clock: Clock::new(origin_ns),
        sampler: Sampler::of(names(plan), interval, dir)?,
        lines: BufReader::new(File::open(dir.join(FILE)).with_context(|| format!("opening {FILE}"))?),
        diags: BTreeMap::new(),
        flows: Vec::new(),
        next_discovery: Time::ZERO,
        kernels,
        datagrams,
    };
    let mut inbox = Inbox::new(File::from(control));
    let before = ThreadTimes::now();
    while !watch.is_over(&mut inbox)? {
        watch.tick(netns)?;
    }
    // The links have told of their last flow by now.
    watch.next_discovery = Time::ZERO;
    watch.tick(netns)?;
    watch.finish(dir, before)
}

struct Watch<'a> {
    clock: Clock,
    sampler: Sampler,
    lines: BufReader<File>,
    diags: BTreeMap<String, SockDiag>,
    flows: Vec<Flow>,
    next_discovery: Time,
    kernels: &'a Names,
    datagrams: &'a DatagramGauges,
}

impl Watch<'_> {
    /// Sleep until the next samples are due. `true` if somebody says stop.
    fn is_over(&self, inbox: &mut Inbox<File>) -> Result<bool> {
        let left = (self.sampler.grid.next() - self.clock.now()).as_nanos().max(0);
        let mut fds = [libc::pollfd { fd: inbox.pipe().as_raw_fd(), events: libc::POLLIN, revents: 0 }];
        let timeout = libc::timespec { tv_sec: left / 1_000_000_000, tv_nsec: left % 1_000_000_000 };
        // SAFETY: a valid descriptor and timeout.
        if unsafe { libc::ppoll(fds.as_mut_ptr(), 1, &timeout, std::ptr::null()) } <= 0 {
            return Ok(false);
        }
        let orders = inbox.receive()?;
        Ok(inbox.is_closed() || orders.iter().any(|order| matches!(order, Order::Stop | Order::StopNow)))
    }

    fn tick<'a>(&mut self, netns: &dyn Fn(&str) -> Result<BorrowedFd<'a>>) -> Result<()> {
        let begun = realtime::thread_cpu_ns();
        let now = self.clock.now();
        self.sampler.tick(now);
        if now >= self.next_discovery {
            self.next_discovery = now + DISCOVERY;
            self.read_flows(netns)?;
            self.discover(now)?;
        }
        let (clock, diags, sampler) = (self.clock, &mut self.diags, &mut self.sampler);
        for (index, flow) in (0..).zip(&mut self.flows) {
            if flow.found.protocol == Protocol::Udp {
                flow.read_counts(self.datagrams, index);
                if flow.counts.iter().any(|counts| counts.sent_packets > 0) {
                    sampler.push(flow.sample_of_datagrams(clock.now(), index));
                }
                continue;
            }
            let received = flow.received();
            let hosts = [&flow.found.from, &flow.found.to];
            for (port, connection) in &mut flow.connections {
                connection.refresh(&hosts, diags)?;
                if let Some(sample) = connection.sample(clock.now(), index, *port) {
                    sampler.push(sample);
                }
            }
            if flow.received() > received {
                let now = clock.now().as_nanos();
                flow.report.first_byte_ns.get_or_insert(now);
                flow.report.end_ns = Some(now);
            }
        }
        self.sampler.cpu_ns += realtime::thread_cpu_ns() - begun;
        Ok(())
    }

    /// Take the flows that the links have met.
    fn read_flows<'a>(&mut self, netns: &dyn Fn(&str) -> Result<BorrowedFd<'a>>) -> Result<()> {
        let mut line = String::new();
        // Each line is written at once.
        while self.lines.read_line(&mut line)? > 0 {
            let found: FoundFlow = serde_json::from_str(&line).context("reading a flow that was found")?;
            let hosts = [&found.from, &found.to].into_iter().filter(|_| found.protocol == Protocol::Tcp);
            for host in hosts {
                if !self.diags.contains_key(host) {
                    let diag = within(netns(host)?, SockDiag::open).with_context(|| format!("at host {host}"))?;
                    self.diags.insert(host.clone(), diag);
                }
            }
            let report = FlowReport { id: name(self.flows.len() as u16), completed: true, ..FlowReport::default() };
            let (connections, counts) = (BTreeMap::new(), [Datagrams::default(); 2]);
            self.flows.push(Flow { found, connections, counts, report, most_sent: 0 });
            line.clear();
        }
        Ok(())
    }

    /// Look for new connections of all flows.
    fn discover(&mut self, now: Time) -> Result<()> {
        let is_first = now < Time::ZERO + DISCOVERY;
        for (host, diag) in &mut self.diags {
            let flows = &mut self.flows;
            diag.connected(|seen| {
                let (local, remote) = (seen.id.local(), seen.id.remote());
                for flow in flows.iter_mut() {
                    if let Some((port, end)) = flow.found_at(host, local, remote) {
                        flow.note(seen, (port, end), now, is_first);
                    }
                }
            })?;
        }
        Ok(())
    }

    fn finish(mut self, dir: &Path, before: ThreadTimes) -> Result<Vec<Watched>> {
        for (index, flow) in (0..).zip(&mut self.flows) {
            flow.read_counts(self.datagrams, index);
        }
        let ended = self.clock.now();
        let ThreadTimes { cpu_s, run_delay_s, scheduled } = ThreadTimes::now().since(before);
        let (sampling, writer) = self.sampler.finish(ended)?;
        let flows: Vec<Watched> = self.flows.into_iter().map(|flow| flow.watched(self.kernels)).collect();
        let report = TrafficReport {
            wall_s: ended.as_nanos() as f64 / 1e9,
            cpu_s,
            run_delay_s,
            scheduled,
            sampling,
            interrupted: false,
            writer,
            flows: flows.iter().map(|flow| flow.report.clone()).collect(),
            programs: Vec::new(),
        };
        let path = dir.join("traffic.json");
        std::fs::write(&path, serde_json::to_vec(&report)?).with_context(|| format!("writing {}", path.display()))?;
        Ok(flows)
    }
}

impl Flow {
    /// The port of the connecting end and which end it is, if a socket of `host` belongs to this flow.
    fn found_at(&self, host: &str, local: SocketAddr, remote: SocketAddr) -> Option<(u16, usize)> {
        let found = &self.found;
        if found.protocol != Protocol::Tcp {
            return None;
        }
        let accepts = SocketAddr::new(found.to_address, found.port);
        if host == found.from && local.ip() == found.from_address && remote == accepts {
            Some((local.port(), 0))
        } else if host == found.to && local == accepts && remote.ip() == found.from_address {
            Some((remote.port(), 1))
        } else {
            None
        }
    }

    fn note(&mut self, seen: &Diagnosis, (port, end): (u16, usize), now: Time, is_older: bool) {
        let Some(info) = seen.info else { return };
        let sent = info.first_sent();
        if self.report.cc_actual.is_none() || sent > self.most_sent {
            (self.report.cc_actual, self.most_sent) = (seen.cc.map(str::to_owned), sent);
        }
        let known = &mut self.connections.entry(port).or_default().ends[end];
        if known.as_ref().is_none_or(|known| known.id != seen.id) {
            let before = if is_older { info } else { TcpInfo::default() };
            *known = Some(End { id: seen.id, before, info, bbr: seen.bbr, lives: true });
        }
        self.report.start_ns.get_or_insert(now.as_nanos());
    }

    /// Take what the links have counted so far; `index` is the flow's.
    fn read_counts(&mut self, gauges: &DatagramGauges, index: u16) {
        for (back, counts) in self.counts.iter_mut().enumerate() {
            let gauge = gauges.get(2 * usize::from(index) + back);
            if let Some(words) = gauge.and_then(|gauge| gauge.read()) {
                *counts = words.into();
            }
        }
    }

    /// The direction in which more payload went: 1 is back, as most of a download.
    ///
    /// Sockets don't decide it: the last samples of a connection's ends are not of one time, and short connections have none.
    fn way(&self) -> usize {
        usize::from(self.counts[1].sent_bytes > self.counts[0].sent_bytes)
    }

    fn sample_of_datagrams(&self, time: Time, flow: u16) -> Sample {
        let counts = self.counts[self.way()];
        Sample {
            time,
            flow,
            socket: self.found.port,
            bytes_sent: counts.sent_bytes,
            received_bytes: Some(counts.received_bytes),
            lost_packets: counts.lost_packets.min(u64::from(u32::MAX)) as u32,
            account: None,
        }
    }

    /// The account of a flow of datagrams.
    fn watched_datagrams(self) -> Watched {
        let way = self.way();
        let counts = self.counts[way];
        let time = |packets: u64, ns: u64| (packets > 0).then_some(ns as i64);
        let first_sent = self.counts.iter().filter_map(|counts| time(counts.sent_packets, counts.first_sent_ns));
        let report = FlowReport {
            sent_bytes: counts.sent_bytes,
            received_bytes: counts.received_bytes,
            start_ns: first_sent.min(),
            first_byte_ns: time(counts.received_packets, counts.first_received_ns),
            end_ns: time(counts.received_packets, counts.last_received_ns),
            ..self.report
        };
        Watched::of(self.found, way, report)
    }

    /// Payload that either end has received.
    fn received(&self) -> u64 {
        let ends = self.connections.values().flat_map(|connection| connection.ends.iter().flatten());
        ends.map(|end| end.now().received()).sum()
    }

    fn watched(self, kernels: &Names) -> Watched {
        if self.found.protocol == Protocol::Udp {
            return self.watched_datagrams();
        }
        let ends = |which: usize| {
            self.connections.values().filter_map(move |connection| connection.ends[which].as_ref().map(End::now))
        };
        let sender = self.way();
        let mut report = FlowReport {
            cc_actual: self.report.cc_actual.as_deref().map(|cc| kernels.label(cc).to_owned()),
            received_bytes: ends(1 - sender).map(|info| info.received()).sum(),
            ..self.report.clone()
        };
        report.sent_bytes = self.connections.values().map(|connection| connection.sent(sender)).sum();
        for info in ends(sender) {
            report.retransmitted_segments += info.total_retrans;
            report.busy_us += info.busy_time;
            report.rwnd_limited_us += info.rwnd_limited;
            report.sndbuf_limited_us += info.sndbuf_limited;
        }
        Watched::of(self.found, sender, report)
    }
}

impl Watched {
    /// The account of what went in a direction of a flow: 1 is back.
    fn of(flow: FoundFlow, way: usize, report: FlowReport) -> Watched {
        let FoundFlow { protocol, from, to, to_address, from_port, port, .. } = flow;
        let ip = version(to_address);
        match way {
            0 => Watched { protocol, from, to, port, ip, report },
            _ => Watched { protocol, from: to, to: from, port: from_port, ip, report },
        }
    }
}

impl Connection {
    /// The end that has sent more payload.
    fn sender(&self) -> usize {
        usize::from(self.sent(1) > self.sent(0))
    }

    /// Payload that an end has sent. The last sample of either may be older: what one has received, the other has sent.
    fn sent(&self, which: usize) -> u64 {
        let of = |which: usize| self.ends[which].as_ref().map(End::now);
        let (own, other) = (of(which), of(1 - which));
        own.map_or(0, |info| info.first_sent()).max(other.map_or(0, |info| info.received()))
    }

    fn refresh(&mut self, hosts: &[&String; 2], diags: &mut BTreeMap<String, SockDiag>) -> Result<()> {
        let sender = self.sender();
        // The receiver first: what it has received was sent.
        for which in [1 - sender, sender] {
            let end = self.ends[which].as_mut().filter(|end| end.lives);
            let (Some(end), Some(diag)) = (end, diags.get_mut(hosts[which])) else { continue };
            let mut answer = None;
            diag.look_up(&end.id, |seen| answer = seen.info.map(|info| (info, seen.bbr)))?;
            match answer {
                Some((info, bbr)) => (end.info, end.bbr) = (info, bbr),
                None => end.lives = false,
            }
        }
        Ok(())
    }

    /// A row of the end that has sent more payload.
    fn sample(&self, time: Time, flow: u16, port: u16) -> Option<Sample> {
        let sender = self.sender();
        let end = self.ends[sender].as_ref().filter(|end| end.lives)?;
        let info = end.now();
        Some(Sample {
            time,
            flow,
            socket: port,
            bytes_sent: info.bytes_sent,
            received_bytes: self.ends[1 - sender].as_ref().map(|end| end.now().received()),
            lost_packets: info.lost,
            account: Some(Account::Tcp(info.sample(end.bbr))),
        })
    }
}

impl End {
    /// Returns what has happened since the records began.
    fn now(&self) -> TcpInfo {
        self.info.since(&self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSE_WAIT: u8 = 8;

    fn flow(protocol: Protocol, counts: [u64; 2]) -> Flow {
        let (from_address, to_address) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let (from, to) = ("client".to_owned(), "server".to_owned());
        let found = FoundFlow { protocol, from, to, from_address, to_address, from_port: 50_100, port: 5201 };
        let counts = counts.map(|sent_bytes| Datagrams { sent_bytes, ..Datagrams::default() });
        Flow { found, connections: BTreeMap::new(), counts, report: FlowReport::default(), most_sent: 0 }
    }

    fn end(info: TcpInfo, lives: bool) -> Option<End> {
        Some(End { id: SocketId::nobody(), before: TcpInfo::default(), info, bbr: None, lives })
    }

    fn described(flow: Flow) -> (String, String, u16, u64) {
        let Watched { from, to, port, report, .. } = flow.watched(&Names::default());
        (from, to, port, report.sent_bytes)
    }

    #[test]
    fn a_client_that_is_gone_before_its_last_bytes_were_sampled_is_still_the_sender() {
        let mut flow = flow(Protocol::Tcp, [449, 313]);
        let client = TcpInfo { bytes_sent: 165, bytes_received: 5, ..TcpInfo::default() };
        // The kernel counts the client's FIN.
        let server = TcpInfo { bytes_sent: 313, bytes_received: 450, state: CLOSE_WAIT, ..TcpInfo::default() };
        let connection = Connection { ends: [end(client, false), end(server, true)] };
        assert_eq!((connection.sender(), connection.sent(0), connection.sent(1)), (0, 449, 313));
        assert!(connection.sample(Time(1), 0, 50_100).is_none(), "rows are the sender's, and it is gone");
        flow.connections.insert(50_100, connection);
        assert_eq!(described(flow), ("client".into(), "server".into(), 5201, 449));
    }

    #[test]
    fn the_links_tell_the_direction_of_what_no_sample_has_seen() {
        let back = |sent| ("server".into(), "client".into(), 50_100, sent);
        assert_eq!(described(flow(Protocol::Tcp, [80, 5000])), back(0), "sockets tell of bytes");
        assert_eq!(described(flow(Protocol::Udp, [80, 5000])), back(5000));
    }

    #[test]
    fn of_ends_that_have_sent_as_much_the_client_is_the_sender() {
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            for sent in [0, 500] {
                let (from, to, port, _) = described(flow(protocol, [sent, sent]));
                assert_eq!((&*from, &*to, port), ("client", "server", 5201));
            }
        }
    }
}
