use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use anyhow::{Context, Result};

use crate::routing::NONE;
use crate::wiring::End;
use crate::{Plan, Wiring};

/// The paths of a lab network with static routes: those that its nodes' kernels choose by [`Plan::static_routes`].
///
/// A path leads from router to router to the broadcast domain of its destination. It has the least sum of the links' costs
/// of all such paths; among equals, each node takes the link that the plan lists first. A node with an interface in the
/// domain sends there itself. Inside a domain switches leave one way from interface to interface.
pub(crate) struct LabRoutes<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring,
    /// The links that end at each node.
    into: Vec<Vec<u32>>,
    costs: Vec<u64>,
}

impl<'a> LabRoutes<'a> {
    pub(crate) fn new(plan: &'a Plan, wiring: &'a Wiring) -> LabRoutes<'a> {
        let mut into = vec![Vec::new(); plan.nodes.len()];
        for (link, end) in (0..).zip(&wiring.to) {
            into[end.node].push(link);
        }
        let costs = plan.links.iter().map(|link| u64::from(link.cost.get())).collect();
        LabRoutes { plan, wiring, into, costs }
    }

    /// For each host, the link that each node takes towards it, or [`NONE`]; empty for what is no host.
    pub(crate) fn to_hosts(&self) -> Result<Vec<Vec<u32>>> {
        let mut to_domains: Vec<Option<Vec<u32>>> = vec![None; self.wiring.members.len()];
        let mut next = Vec::with_capacity(self.plan.nodes.len());
        for (index, node) in self.plan.nodes.iter().enumerate() {
            if !node.is_host() {
                next.push(Vec::new());
                continue;
            }
            let home =
                self.primary(index).with_context(|| format!("{} has no interface with its address", node.name()))?;
            let domain = self.wiring.domain_of(home).context("an interface of the plan")?;
            let from_afar = to_domains[domain as usize].get_or_insert_with(|| self.to_domain(domain));
            let mut links = from_afar.clone();
            self.within(domain, home, &mut links);
            next.push(links);
        }
        Ok(next)
    }

    /// The interface that has the host's address.
    fn primary(&self, node: usize) -> Option<End> {
        let address = self.plan.nodes[node].address()?;
        let known = self.plan.nodes[node].interfaces();
        let interface = known.iter().position(|one| one.addresses.iter().any(|own| own.addr() == address));
        interface.map(|interface| End { node, interface: Some(interface) })
    }

    /// The link that each node takes towards a domain in which it has no interface. Those inside it get any or none.
    pub(crate) fn to_domain(&self, domain: u32) -> Vec<u32> {
        let mut near = vec![None; self.plan.nodes.len()];
        for end in &self.wiring.members[domain as usize] {
            let link = self.wiring.leaving[end.node][end.interface.expect("members are interfaces")] as usize;
            let cost = self.costs[link];
            let least: &mut Option<u64> = &mut near[end.node];
            *least = Some(least.map_or(cost, |known| known.min(cost)));
        }
        self.search(&near)
    }

    /// The link that each node takes towards a router.
    pub(crate) fn to_router(&self, router: usize) -> Vec<u32> {
        let mut near = vec![None; self.plan.nodes.len()];
        near[router] = Some(0);
        self.search(&near)
    }

    /// Search backwards (Dijkstra 1959) from the nodes whose distance is known.
    fn search(&self, near: &[Option<u64>]) -> Vec<u32> {
        let mut distances: Vec<u64> = near.iter().map(|distance| distance.unwrap_or(u64::MAX)).collect();
        let mut next = vec![NONE; distances.len()];
        let known = near.iter().enumerate().filter_map(|(node, distance)| Some(Reverse(((*distance)?, node))));
        let mut queue: BinaryHeap<Reverse<(u64, usize)>> = known.collect();
        while let Some(Reverse((distance, node))) = queue.pop() {
            // Hosts don't forward.
            if distance > distances[node] || self.plan.nodes[node].is_host() {
                continue;
            }
            for &link in &self.into[node] {
                let from = self.wiring.from[link as usize].node;
                if near[from].is_some() {
                    continue;
                }
                let whole = distance + self.costs[link as usize];
                if whole < distances[from] {
                    distances[from] = whole;
                    next[from] = link;
                    queue.push(Reverse((whole, from)));
                } else if whole == distances[from] {
                    next[from] = next[from].min(link);
                }
            }
        }
        next
    }

    /// Inside a domain: the link that each of its nodes takes towards the interface `to`.
    fn within(&self, domain: u32, to: End, next: &mut [u32]) {
        for end in &self.wiring.members[domain as usize] {
            next[end.node] = NONE;
        }
        let mut queue = VecDeque::from([to.node]);
        let mut seen = vec![false; self.plan.nodes.len()];
        seen[to.node] = true;
        while let Some(node) = queue.pop_front() {
            for &link in &self.into[node] {
                let (from, end) = (self.wiring.from[link as usize], self.wiring.to[link as usize]);
                let is_there = self.wiring.domain[link as usize] == domain && (node != to.node || end == to);
                if !is_there || std::mem::replace(&mut seen[from.node], true) {
                    continue;
                }
                next[from.node] = link;
                if from.interface.is_none() {
                    queue.push_back(from.node);
                }
            }
        }
    }

    /// The interface of the first node with interfaces on the way by `next` from `node`.
    pub(crate) fn next_hop(&self, next: &[u32], mut node: usize) -> Option<(End, End)> {
        let first = next[node];
        let mut link = first;
        while link != NONE {
            let end = self.wiring.to[link as usize];
            if end.interface.is_some() {
                return Some((self.wiring.from[first as usize], end));
            }
            node = end.node;
            link = next[node];
        }
        None
    }
}
