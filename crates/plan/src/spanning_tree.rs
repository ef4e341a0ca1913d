//! The spanning tree that bridges agree upon (IEEE 802.1D-1998, section 8), as Linux has it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::wiring::{End, root};
use crate::{Mac, Node, Plan, Wiring};

/// A bridge's identity: the least is that of the root.
type Id = (u16, Mac);

/// A port of a bridge with a spanning tree.
#[derive(Clone, Copy)]
struct Port {
    bridge: usize,
    /// From 1, as Linux numbers them.
    number: usize,
    cost: u64,
    /// Segment to which its cable leads: cables that are joined without a spanning tree are one.
    lan: usize,
    /// The link that leaves it.
    link: usize,
}

impl Plan {
    /// For each link, whether no frame crosses it but those of the spanning tree: one of its ends is a port that is blocked,
    /// once the tree is there and while every link is as it is at time 0.
    pub(crate) fn blocked(&self, wiring: &Wiring) -> Vec<bool> {
        // A cable that is down keeps no frames in a loop, either.
        let forwards = |node: usize| self.nodes[node].is_switch() || self.nodes[node].is_bridge();
        let ends = |link: usize| [wiring.from[link].node, wiring.to[link].node];
        let has_part = |node: &usize| self.nodes[*node].stp().is_some();
        let is_idle =
            |link| !self.is_up(wiring, link) && ends(link).into_iter().all(forwards) && ends(link).iter().any(has_part);
        let mut blocked: Vec<bool> = (0..self.links.len()).map(is_idle).collect();
        let ports = self.ports(wiring);
        let mut at: HashMap<usize, Vec<Port>> = HashMap::new();
        let mut of: HashMap<usize, Vec<Port>> = HashMap::new();
        for port in ports {
            at.entry(port.lan).or_default().push(port);
            of.entry(port.bridge).or_default().push(port);
        }
        let ids: HashMap<usize, Id> = of.keys().map(|&bridge| (bridge, self.id(bridge))).collect();
        let costs = costs(&ids, &of, &at);
        // What the messages on a LAN say: the cost of the root from there, whose messages they are, and from which port.
        let told = |port: &Port| (costs[&port.bridge], ids[&port.bridge], port.number);
        let designated = |lan: usize| at[&lan].iter().map(told).min().expect("a LAN of a port");
        for (bridge, ports) in &of {
            let better = |port: &&Port| designated(port.lan).1 != ids[bridge];
            let vector = |port: &&Port| {
                let (cost, id, number) = designated(port.lan);
                (cost + port.cost, id, number, port.number)
            };
            let to_the_root = ports.iter().filter(better).min_by_key(vector).map(|port| port.number);
            let to_the_root = to_the_root.filter(|_| costs[bridge] > 0);
            for port in ports {
                let forwards = told(port) == designated(port.lan) || to_the_root == Some(port.number);
                if !forwards {
                    blocked[port.link] = true;
                    blocked[wiring.back[port.link] as usize] = true;
                }
            }
        }
        blocked
    }

    fn id(&self, bridge: usize) -> Id {
        let node = &self.nodes[bridge];
        (node.stp().map_or(0, |stp| stp.priority), node.interfaces()[0].mac)
    }

    /// Both directions of a cable are up.
    fn is_up(&self, wiring: &Wiring, link: usize) -> bool {
        self.links[link].up && self.links[wiring.back[link] as usize].up
    }

    /// The ports of bridges with a spanning tree whose links are up.
    fn ports(&self, wiring: &Wiring) -> Vec<Port> {
        let is_up = |link: usize| self.is_up(wiring, link);
        let cable = |link: usize| link.min(wiring.back[link] as usize);
        // Frames without tags cross what has no part in the tree.
        let mut joined: Vec<usize> = (0..self.links.len()).collect();
        let mut first: HashMap<(usize, u16), usize> = HashMap::new();
        for (link, end) in wiring.from.iter().enumerate().filter(|(link, _)| is_up(*link)) {
            if let Some(place) = self.untagged_at(*end) {
                let other = *first.entry(place).or_insert(cable(link));
                let (a, b) = (root(&mut joined, cable(link)), root(&mut joined, other));
                joined[a] = b;
            }
        }
        let mut ports = Vec::new();
        for (link, end) in wiring.from.iter().enumerate().filter(|(link, _)| is_up(*link)) {
            let (Some(_), Some(interface)) = (self.nodes[end.node].stp(), end.interface) else { continue };
            let (cost, lan) = (u64::from(self.links[link].cost.get()), root(&mut joined, cable(link)));
            ports.push(Port { bridge: end.node, number: interface + 1, cost, lan, link });
        }
        ports
    }

    /// The place that frames without tags reach through a switch that has no part in the spanning tree: the node and the
    /// VLAN. `None` at other nodes.
    fn untagged_at(&self, end: End) -> Option<(usize, u16)> {
        match &self.nodes[end.node] {
            Node::Switch { .. } => Some((end.node, 0)),
            Node::Bridge { interfaces, stp: None, .. } => match &interfaces[end.interface?].vlans {
                Some(vlans) => Some((end.node, vlans.untagged?)),
                None => Some((end.node, 0)),
            },
            _ => None,
        }
    }
}

/// The cost of each bridge's way to the root: of those that are joined, the one with the least identity.
fn costs(
    ids: &HashMap<usize, Id>,
    of: &HashMap<usize, Vec<Port>>,
    at: &HashMap<usize, Vec<Port>>,
) -> HashMap<usize, u64> {
    let mut found: HashMap<usize, u64> = HashMap::new();
    let mut bridges: Vec<usize> = ids.keys().copied().collect();
    bridges.sort_by_key(|bridge| ids[bridge]);
    for first in bridges {
        if found.contains_key(&first) {
            continue;
        }
        let mut queue = BinaryHeap::from([Reverse((0, first))]);
        while let Some(Reverse((cost, bridge))) = queue.pop() {
            if found.contains_key(&bridge) {
                continue;
            }
            found.insert(bridge, cost);
            let near = of[&bridge].iter().flat_map(|port| &at[&port.lan]);
            queue.extend(near.map(|port| Reverse((cost + port.cost, port.bridge))));
        }
    }
    found
}
