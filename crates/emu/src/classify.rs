use std::net::{IpAddr, Ipv4Addr};

use plan::{Echo, Flow, Node, Plan, Workload};
use rustc_hash::FxHashMap;

use crate::frame::{ICMP, TCP, Tuple, UDP};

/// The flow and the destination host of a packet.
pub(crate) struct Classifier {
    /// Every tuple seen so far, in either direction.
    known: FxHashMap<Tuple, Option<Class>>,
    hosts: Vec<(Ipv4Addr, u16)>,
    flows: Vec<(Ends, u16)>,
    other: u16,
    is_lab: bool,
}

/// Tuples that are remembered: a scan of ports must not fill the memory.
const KNOWN: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class {
    /// Index among the plan's flows; one past the last for packets of no flow.
    pub flow: u16,
    /// Index of the sending host among the plan's nodes; `u16::MAX` for an address that no host has.
    pub from: u16,
    /// Index of the destination host among the plan's nodes.
    pub to: u16,
    /// Hash of the tuple; the same in every run.
    pub flow_hash: u32,
}

#[derive(Clone, Copy)]
struct Ends {
    from: Ipv4Addr,
    to: Ipv4Addr,
    port: u16,
    /// `None`: any, as an external program may open several connections of either kind.
    protocol: Option<u8>,
}

impl Classifier {
    pub(crate) fn new(plan: &Plan) -> Classifier {
        let of_interfaces = |node: &Node| {
            let all: Vec<_> = node.interfaces().iter().flat_map(|interface| interface.addresses.clone()).collect();
            all.into_iter().filter_map(|own| if let IpAddr::V4(address) = own.addr() { Some(address) } else { None })
        };
        let hosts: Vec<(Ipv4Addr, u16)> = (0..)
            .zip(&plan.nodes)
            .flat_map(|(index, node)| {
                node.address().into_iter().chain(of_interfaces(node)).map(move |one| (one, index))
            })
            .collect();
        let address = |name: &str| plan.hosts().find(|(host, ..)| *host == name).expect("the plan was checked").1;
        let ends = |flow: &Flow| Ends {
            from: address(&flow.from),
            to: address(&flow.to),
            port: flow.port,
            protocol: match flow.workload {
                Workload::Tcp { .. } => Some(TCP),
                Workload::Udp { .. } | Workload::Ping { echo: Echo::Udp, .. } => Some(UDP),
                Workload::Ping { echo: Echo::Icmp, .. } => Some(ICMP),
                Workload::Command { .. } => None,
            },
        };
        let flows: Vec<_> = plan.flows.iter().enumerate().map(|(i, flow)| (ends(flow), i as u16)).collect();
        Classifier { known: FxHashMap::default(), hosts, other: flows.len() as u16, flows, is_lab: plan.is_lab() }
    }

    /// `None` if the destination is no host of the plan's core network.
    pub(crate) fn classify(&mut self, tuple: Tuple) -> Option<Class> {
        if let Some(&class) = self.known.get(&tuple) {
            return class;
        }
        let host = |ip: Ipv4Addr| self.hosts.iter().find(|(address, _)| *address == ip).map(|&(_, node)| node);
        let from = host(tuple.src).unwrap_or(u16::MAX);
        // A lab network leads elsewhere, too: to groups, and to addresses that a program adds.
        let to = host(tuple.dst).or(self.is_lab.then_some(u16::MAX));
        let class = to.map(|to| Class { flow: self.flow_of(tuple), from, to, flow_hash: tuple.hash() });
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(tuple, class);
        class
    }

    /// The class of a frame that has no tuple.
    pub(crate) fn other(&self, flow_hash: u32) -> Class {
        Class { flow: self.other, from: u16::MAX, to: u16::MAX, flow_hash }
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
    use crate::frame::tests::tuple;

    fn plan(flows: &[serde_json::Value]) -> Plan {
        let host = |n: u8| serde_json::json!({"kind": "host", "name": format!("h{n}"), "address": format!("10.0.0.{n}"), "sysctl": {}});
        serde_json::from_value(serde_json::json!({
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

    fn reverse(t: Tuple) -> Tuple {
        Tuple { src: t.dst, dst: t.src, sport: t.dport, dport: t.sport, ..t }
    }

    #[test]
    fn data_and_acks_belong_to_the_same_flow() {
        let mut c = Classifier::new(&plan(&[flow("f1", 5000, tcp()), flow("f2", 5001, tcp())]));
        let mut class = |t| c.classify(t).map(|class| (class.flow, class.from, class.to));
        assert_eq!(class(tuple(TCP)), Some((1, 0, 1)));
        assert_eq!(class(reverse(tuple(TCP))), Some((1, 1, 0)));
        assert_eq!(class(tuple(UDP)), Some((2, 0, 1)));
    }

    #[test]
    fn a_program_gets_what_no_port_explains_if_it_is_the_only_one() {
        let mut one = Classifier::new(&plan(&[flow("f1", 9, tcp()), flow("f2", 10, command())]));
        assert_eq!(one.classify(tuple(TCP)).unwrap().flow, 1);
        let mut two = Classifier::new(&plan(&[flow("f1", 9, command()), flow("f2", 10, command())]));
        assert_eq!(two.classify(tuple(TCP)).unwrap().flow, 2);
    }

    #[test]
    fn an_unknown_destination_is_refused() {
        let mut c = Classifier::new(&plan(&[]));
        assert_eq!(c.classify(Tuple { dst: Ipv4Addr::new(10, 9, 9, 9), ..tuple(TCP) }), None);
    }
}
