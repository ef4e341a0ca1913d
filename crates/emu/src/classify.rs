use std::fs::File;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use anyhow::{Context, Result};
use plan::{Flow, Node, Plan, Transport};
use records::found::{FILE, FoundFlow, MOST, Protocol};
use rustc_hash::FxHashMap;

use crate::fragments::Fragments;
use crate::frame::{Header, ICMP, ICMP_V6, TCP, Tuple, UDP};

/// The flow and the destination host of a packet.
pub(crate) struct Classifier {
    fragments: Fragments,
    /// Every tuple seen so far, in either direction.
    known: FxHashMap<Tuple, Class>,
    hosts: Vec<(IpAddr, u16)>,
    flows: Vec<(Ends, u16)>,
    other: u16,
    found: Option<MetFlows>,
}

/// The flows of a lab's records, which are found as their packets come: a line each in a file of the records.
pub(crate) struct MetFlows {
    file: File,
    /// By index among the plan's nodes; `None` of those that cannot have a flow.
    hosts: Vec<Option<String>>,
}

impl MetFlows {
    /// None yet; those to come are written into `dir`.
    pub(crate) fn create(plan: &Plan, dir: &Path) -> Result<MetFlows> {
        let file = File::create(dir.join(FILE)).with_context(|| format!("creating {FILE} in {}", dir.display()))?;
        let host = |node: &Node| matches!(node, Node::Host { .. }).then(|| node.name().to_owned());
        Ok(MetFlows { file, hosts: plan.nodes.iter().map(host).collect() })
    }

    fn host(&self, node: u16) -> Option<&String> {
        self.hosts.get(usize::from(node))?.as_ref()
    }
}

/// TCP's flag of a connection's begin.
pub(crate) const SYN: u8 = 2;
const ACK: u8 = 16;

/// From here on ports are those of clients, which the kernel chooses (`net.ipv4.ip_local_port_range`, by default).
const CHOSEN: u16 = 32_768;

/// Tuples that are remembered: a scan of ports must not fill the memory.
pub(crate) const KNOWN: usize = 1 << 20;

/// In place of a host's index.
pub(crate) const NOBODY: u16 = u16::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Index among the plan's flows; one past the last for packets of no flow.
    pub flow: u16,
    /// Index of the sending host among the plan's nodes; [`NOBODY`] for an address that no host has.
    pub from: u16,
    /// Index of the destination host among the plan's nodes; [`NOBODY`] for a group, or an address that a program adds.
    pub to: u16,
    /// Hash of the tuple; the same in every run.
    pub flow_hash: u32,
}

#[derive(Clone, Copy)]
struct Ends {
    from: IpAddr,
    to: IpAddr,
    port: u16,
    /// `None`: any, as an external program may open several connections of either kind.
    protocol: Option<u8>,
}

impl Classifier {
    pub(crate) fn new(plan: &Plan) -> Classifier {
        let of = |node: &Node| {
            let all = node.interfaces().iter().flat_map(|interface| &interface.addresses).map(|own| own.addr());
            node.address().map(IpAddr::V4).into_iter().chain(all).collect::<Vec<_>>()
        };
        let hosts: Vec<(IpAddr, u16)> = (0..)
            .zip(&plan.nodes)
            .flat_map(|(index, node)| of(node).into_iter().map(move |address| (address, index)))
            .collect();
        let ends = |flow: &Flow| {
            let (from, to) = plan.ends_of(flow).expect("the plan was checked");
            let protocol = flow.workload.transport().map(|transport| match transport {
                Transport::Tcp => TCP,
                Transport::Udp(_) | Transport::Quic => UDP,
                Transport::Icmp if from.is_ipv4() => ICMP,
                Transport::Icmp => ICMP_V6,
            });
            Ends { from, to, port: flow.port, protocol }
        };
        let flows: Vec<_> = plan.flows.iter().enumerate().map(|(i, flow)| (ends(flow), i as u16)).collect();
        let other = flows.len() as u16;
        Classifier { fragments: Fragments::default(), known: FxHashMap::default(), hosts, flows, other, found: None }
    }

    /// From now on connections and datagrams between hosts become flows as they are met.
    pub(crate) fn begin(&mut self, met: MetFlows) {
        self.known.clear();
        self.flows.clear();
        (self.other, self.found) = (MOST, Some(met));
    }

    /// No more flows are found.
    pub(crate) fn end(&mut self) {
        self.found = None;
    }

    /// The tuple of the packet that a fragment was cut from, whose ports the first of its fragments has told; of what is no
    /// fragment its own. Call it once for each frame, in the order in which they come.
    pub(crate) fn tuple_of(&mut self, header: &Header) -> Tuple {
        match header.fragment {
            None => header.tuple,
            Some(fragment) => self.fragments.tuple_of(header.tuple, fragment),
        }
    }

    /// A packet comes. If it is of a new TCP connection to a port that no flow has, or of such datagrams, it begins a flow.
    ///
    /// `flags` are those of TCP. Returns the nodes at the ends of a flow that was found, the next one.
    pub(crate) fn meet(&mut self, tuple: Tuple, flags: Option<u8>) -> Option<(u16, u16)> {
        let found = self.found.as_mut()?;
        if self.known.contains_key(&tuple) || self.flows.len() >= usize::from(MOST) {
            return None;
        }
        let Tuple { src, dst, sport, dport, protocol } = tuple;
        let forward = match (protocol, flags) {
            (TCP, Some(flags)) => match (flags & SYN != 0, flags & ACK != 0) {
                (true, answers) => !answers,
                // A connection that is older shows by its ports who has accepted it.
                (false, _) => dport <= sport,
            },
            // Whoever sends first is the client, unless it answers one whose datagram came before the records.
            (UDP, _) if dport != 0 => sport >= CHOSEN || dport < CHOSEN,
            _ => return None,
        };
        let is_known = |(ends, _): &(Ends, u16)| {
            let same = |from, to, port| (ends.from, ends.to, ends.port) == (from, to, port);
            // An answer is no flow of its own.
            ends.protocol == Some(protocol) && (same(src, dst, dport) || same(dst, src, sport))
        };
        if self.flows.iter().any(is_known) {
            return None;
        }
        let (from, to) = if forward { ((src, sport), (dst, dport)) } else { ((dst, dport), (src, sport)) };
        let node = |ip: IpAddr| self.hosts.iter().find(|(address, _)| *address == ip).map(|&(_, node)| node);
        let (from_node, to_node) = (node(from.0)?, node(to.0)?);
        let flow = FoundFlow {
            protocol: if protocol == UDP { Protocol::Udp } else { Protocol::Tcp },
            from: found.host(from_node)?.clone(),
            to: found.host(to_node)?.clone(),
            from_address: from.0,
            to_address: to.0,
            from_port: from.1,
            port: to.1,
        };
        // Without its line nobody would know the flow: its packets stay others'.
        found.file.write_all(flow.line().as_bytes()).ok()?;
        let index = self.flows.len() as u16;
        self.flows.push((Ends { from: from.0, to: to.0, port: to.1, protocol: Some(protocol) }, index));
        Some((from_node, to_node))
    }

    /// The class of a frame with this tuple.
    pub(crate) fn classify(&mut self, tuple: Tuple) -> Class {
        if let Some(&class) = self.known.get(&tuple) {
            return class;
        }
        let known = |ip: IpAddr| self.hosts.iter().find(|(address, _)| *address == ip);
        let host = |ip: IpAddr| known(ip).map_or(NOBODY, |&(_, node)| node);
        let (from, to) = (host(tuple.src), host(tuple.dst));
        let class = Class { flow: self.flow_of(tuple), from, to, flow_hash: tuple.hash() };
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(tuple, class);
        class
    }

    /// The class of a frame that has no tuple.
    pub(crate) fn other(&self, flow_hash: u32) -> Class {
        Class { flow: self.other, from: NOBODY, to: NOBODY, flow_hash }
    }

    /// The flow is found by the receiver's port, in either direction; otherwise it is the only external program between
    /// the two hosts, or `other`.
    fn flow_of(&self, t: Tuple) -> u16 {
        let protocol = |ends: &Ends| ends.protocol.is_none_or(|p| p == t.protocol);
        let forward = |e: &Ends| e.from == t.src && e.to == t.dst;
        let backward = |e: &Ends| e.from == t.dst && e.to == t.src;
        let by_port = self
            .flows
            .iter()
            .find(|(e, _)| protocol(e) && ((forward(e) && e.port == t.dport) || (backward(e) && e.port == t.sport)));
        let mut programs = self.flows.iter().filter(|(e, _)| e.protocol.is_none() && (forward(e) || backward(e)));
        match (by_port, programs.next(), programs.next()) {
            (Some(&(_, flow)), ..) | (None, Some(&(_, flow)), None) => flow,
            _ => self.other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::{tuple, tuple6};

    fn plan(flows: &[serde_json::Value]) -> Plan {
        let host = |n: u8| serde_json::json!({"kind": "host", "name": format!("h{n}"), "address": format!("10.0.0.{n}"), "sysctl": {}});
        Plan::of(serde_json::json!({
            "name": "t", "duration_ns": 1, "seed": 1, "nodes": [host(1), host(2)], "links": [], "flows": flows,
            "record": {"sample_interval_ns": 1, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
        }))
        .unwrap()
    }

    fn flow(id: &str, port: u16, workload: serde_json::Value) -> serde_json::Value {
        serde_json::json!({"id": id, "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": port, "workload": workload})
    }

    fn tcp() -> serde_json::Value {
        serde_json::json!({"kind": "tcp", "cc": "cubic", "bytes": null, "ecn": false})
    }

    fn command() -> serde_json::Value {
        serde_json::json!({"kind": "command", "command": "x", "server_command": null})
    }

    fn of(class: Class) -> (u16, u16, u16) {
        (class.flow, class.from, class.to)
    }

    fn reverse(t: Tuple) -> Tuple {
        Tuple { src: t.dst, dst: t.src, sport: t.dport, dport: t.sport, ..t }
    }

    #[test]
    fn data_and_acks_belong_to_the_same_flow() {
        let mut c = Classifier::new(&plan(&[flow("f1", 5000, tcp()), flow("f2", 5001, tcp())]));
        let mut class = |t| of(c.classify(t));
        assert_eq!(class(tuple(TCP)), (1, 0, 1));
        assert_eq!(class(reverse(tuple(TCP))), (1, 1, 0));
        assert_eq!(class(tuple(UDP)), (2, 0, 1));
    }

    #[test]
    fn flows_of_both_versions_lie_side_by_side() {
        let mut both = plan(&[flow("f1", 5001, tcp()), flow("f2", 5001, tcp())]);
        both.flows[1].ip = units::Ip::V6;
        for (n, node) in (1..).zip(&mut both.nodes) {
            let plan::Node::Host { interfaces, .. } = node else { unreachable!() };
            let own = serde_json::json!({"name": "eth0", "mac": format!("02:00:00:00:00:0{n}"),
                "addresses": [format!("10.0.0.{n}/24"), format!("fd00:0:0:1::{n}/64")]});
            interfaces.push(serde_json::from_value(own).unwrap());
        }
        let mut c = Classifier::new(&both);
        let mut class = |t| of(c.classify(t));
        assert_eq!((class(tuple(TCP)), class(tuple6(TCP))), ((0, 0, 1), (1, 0, 1)));
        assert_eq!(class(reverse(tuple6(TCP))), (1, 1, 0));
        assert_eq!(class(tuple6(UDP)), (2, 0, 1), "others' packets have their hosts, too");
    }

    #[test]
    fn a_program_gets_what_no_port_explains_if_it_is_the_only_one() {
        let mut one = Classifier::new(&plan(&[flow("f1", 9, tcp()), flow("f2", 10, command())]));
        assert_eq!(one.classify(tuple(TCP)).flow, 1);
        let mut two = Classifier::new(&plan(&[flow("f1", 9, command()), flow("f2", 10, command())]));
        assert_eq!(two.classify(tuple(TCP)).flow, 2);
    }

    #[test]
    fn a_recorded_lab_finds_its_flows_by_who_connects() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(&[]);
        let mut c = Classifier::new(&plan);
        let flow = |c: &mut Classifier, t: Tuple, flags: u8| {
            c.meet(t, Some(flags));
            c.classify(t).flow
        };
        let to = |sport, dport| Tuple { sport, dport, ..tuple(TCP) };
        assert_eq!(flow(&mut c, to(40_000, 50_000), SYN), 0, "nobody records: that is other");
        c.begin(MetFlows::create(&plan, dir.path()).unwrap());
        assert_eq!(flow(&mut c, to(40_000, 50_000), SYN), 0);
        assert_eq!(flow(&mut c, reverse(to(40_000, 50_000)), SYN | ACK), 0);
        assert_eq!(flow(&mut c, to(40_001, 50_000), SYN), 0, "another connection of the same flow");
        assert_eq!(flow(&mut c, reverse(to(40_000, 50_001)), SYN | ACK), 1, "its SYN came before");
        assert_eq!(flow(&mut c, reverse(to(40_002, 80)), ACK), 2, "older connections show it by their ports");
        assert_eq!(flow(&mut c, to(40_002, 80), ACK), 2);
        assert_eq!(c.classify(tuple(UDP)).flow, MOST, "nobody has met it");
        let outside = Tuple { dst: [10, 9, 9, 9].into(), ..to(1, 2) };
        assert_eq!(c.meet(outside, Some(SYN)), None);
        let lines = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        let found: Vec<FoundFlow> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let told: Vec<_> = found.iter().map(|flow| (&*flow.from, &*flow.to, flow.port)).collect();
        assert_eq!(told, [("h1", "h2", 50_000), ("h1", "h2", 50_001), ("h1", "h2", 80)]);
    }

    #[test]
    fn datagrams_of_a_recorded_lab_are_flows_of_whoever_sends_first() {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan(&[]);
        let mut c = Classifier::new(&plan);
        let of = |sport, dport| Tuple { sport, dport, ..tuple(UDP) };
        assert_eq!(c.meet(of(40_000, 53), None), None, "nobody records");
        c.begin(MetFlows::create(&plan, dir.path()).unwrap());
        assert_eq!(c.meet(of(40_000, 53), None), Some((0, 1)));
        assert_eq!(c.meet(reverse(of(40_000, 53)), None), None, "the answer");
        assert_eq!(c.meet(of(40_001, 53), None), None, "another client's port");
        assert_eq!(c.meet(reverse(of(50_000, 123)), None), Some((0, 1)), "an answer to one before the records");
        assert_eq!(c.meet(of(40_000, 50_000), None), Some((0, 1)));
        assert_eq!(c.meet(Tuple { sport: 0, dport: 0, ..tuple(UDP) }, None), None, "a later fragment");
        let mut flow = |t| c.classify(t).flow;
        assert_eq!((flow(of(40_000, 53)), flow(reverse(of(40_001, 53)))), (0, 0));
        assert_eq!(flow(Tuple { protocol: TCP, ..of(40_000, 53) }), MOST, "TCP to the same port is another flow");
        let lines = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
        let found: Vec<FoundFlow> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(found.iter().all(|flow| flow.protocol == Protocol::Udp && flow.from == "h1"));
        assert_eq!((found[1].from_port, found[1].port), (50_000, 123));
    }

    #[test]
    fn an_unknown_destination_is_nobodys() {
        let mut c = Classifier::new(&plan(&[]));
        assert_eq!(of(c.classify(Tuple { dst: [10, 9, 9, 9].into(), ..tuple(TCP) })), (0, 0, NOBODY));
    }
}
