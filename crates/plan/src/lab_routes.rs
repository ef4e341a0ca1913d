use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use anyhow::{Context, Result};

use crate::routing::NONE;
use crate::wiring::End;
use crate::{Node, Plan, Spread, Wiring};

/// The paths of a lab network with static routes: those that its nodes' kernels choose by [`Plan::static_routes`].
///
/// A path leads from router to router to the broadcast domain of its destination. It has the least sum of the links' costs
/// of all such paths; among equals, each node takes the link that the plan lists first, or as [`Plan::spread`] says. A node
/// with an interface in the domain sends there itself. Inside a domain switches leave one way from interface to interface.
pub(crate) struct LabRoutes<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring,
    /// The links that end at each node.
    into: Vec<Vec<u32>>,
    /// The links that begin at each node.
    out: Vec<Vec<u32>>,
    costs: Vec<u64>,
    /// The nodes at which each link begins and ends.
    from: Vec<u32>,
    to: Vec<u32>,
    /// Hosts don't forward.
    is_host: Vec<bool>,
    /// The number of each domain with hosts among these; `None`: it has none, and nobody shares out the paths there.
    turns: Vec<Option<u64>>,
}

/// The links that lead to a destination.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The link that each node takes, or [`NONE`]: the first of its choices.
    pub next: Vec<u32>,
    /// The nodes at which flows choose among several links of equal cost, with these links in the plan's order.
    pub choices: BTreeMap<usize, Vec<u32>>,
}

impl Tree {
    /// The links that a node's packets may take.
    pub(crate) fn links<'a>(&'a self, node: &usize) -> &'a [u32] {
        match self.choices.get(node) {
            Some(links) => links,
            None if self.next[*node] == NONE => &[],
            None => std::slice::from_ref(&self.next[*node]),
        }
    }
}

impl<'a> LabRoutes<'a> {
    pub(crate) fn new(plan: &'a Plan, wiring: &'a Wiring) -> LabRoutes<'a> {
        let mut into = vec![Vec::new(); plan.nodes.len()];
        let mut out = into.clone();
        for (link, (from, to)) in (0..).zip(wiring.from.iter().zip(&wiring.to)) {
            into[to.node].push(link);
            out[from.node].push(link);
        }
        let costs = plan.links.iter().map(|link| u64::from(link.cost.get())).collect();
        let has_hosts = |domain: &usize| wiring.members[*domain].iter().any(|end| plan.nodes[end.node].is_host());
        let mut turns = vec![None; wiring.members.len()];
        for (turn, domain) in (0..).zip((0..wiring.members.len()).filter(has_hosts)) {
            turns[domain] = Some(turn);
        }
        let nodes = |ends: &[End]| ends.iter().map(|end| end.node as u32).collect();
        let is_host = plan.nodes.iter().map(Node::is_host).collect();
        LabRoutes { plan, wiring, into, out, costs, from: nodes(&wiring.from), to: nodes(&wiring.to), is_host, turns }
    }

    /// For each host, the links that lead to it; none for what is no host.
    pub(crate) fn to_hosts(&self) -> Result<Vec<Option<Tree>>> {
        let mut to_domains: Vec<Option<Tree>> = vec![None; self.wiring.members.len()];
        let mut next = Vec::with_capacity(self.plan.nodes.len());
        for (index, node) in self.plan.nodes.iter().enumerate() {
            if !node.is_host() {
                next.push(None);
                continue;
            }
            let home =
                self.primary(index).with_context(|| format!("{} has no interface with its address", node.name()))?;
            let domain = self.wiring.domain_of(home).context("an interface of the plan")?;
            let from_afar = to_domains[domain as usize].get_or_insert_with(|| self.to_domains(&[domain]));
            let mut links = from_afar.clone();
            self.within(domain, home, &mut links);
            next.push(Some(links));
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

    /// The links towards the nearest of some domains, from nodes that have no interface in them. Those inside get any or
    /// none.
    pub(crate) fn to_domains(&self, domains: &[u32]) -> Tree {
        let mut near = vec![None; self.plan.nodes.len()];
        for end in domains.iter().flat_map(|domain| &self.wiring.members[*domain as usize]) {
            let link = self.wiring.leaving[end.node][end.interface.expect("members are interfaces")] as usize;
            let cost = self.costs[link];
            let least: &mut Option<u64> = &mut near[end.node];
            *least = Some(least.map_or(cost, |known| known.min(cost)));
        }
        self.search(&near, self.turns[domains[0] as usize])
    }

    /// The links towards a router.
    pub(crate) fn to_router(&self, router: usize) -> Tree {
        let mut near = vec![None; self.plan.nodes.len()];
        near[router] = Some(0);
        self.search(&near, None)
    }

    /// Search backwards (Dijkstra 1959) from the nodes whose distance is known. `turn` is the number of a destination with
    /// hosts. Others have the paths that are listed first, so that routes to them can be gathered.
    fn search(&self, near: &[Option<u64>], turn: Option<u64>) -> Tree {
        let mut distances: Vec<u64> = near.iter().map(|distance| distance.unwrap_or(u64::MAX)).collect();
        let mut next = vec![NONE; distances.len()];
        let known = near.iter().enumerate().filter_map(|(node, distance)| Some(Reverse(((*distance)?, node))));
        let mut queue: BinaryHeap<Reverse<(u64, usize)>> = known.collect();
        while let Some(Reverse((distance, node))) = queue.pop() {
            if distance > distances[node] || self.is_host[node] {
                continue;
            }
            for &link in &self.into[node] {
                let from = self.from[link as usize] as usize;
                if near[from].is_some() {
                    continue;
                }
                let whole = distance + self.costs[link as usize];
                if whole < distances[from] {
                    distances[from] = whole;
                    next[from] = link;
                    if !self.is_host[from] {
                        queue.push(Reverse((whole, from)));
                    }
                } else if whole == distances[from] {
                    next[from] = next[from].min(link);
                }
            }
        }
        let mut choices = BTreeMap::new();
        if self.plan.spread == Spread::Nothing || self.plan.spread == Spread::Destinations && turn.is_none() {
            return Tree { next, choices };
        }
        let turn = turn.unwrap_or(0);
        for node in 0..distances.len() {
            if next[node] == NONE {
                continue;
            }
            let leads_there = |&&link: &&u32| {
                let to = self.to[link as usize] as usize;
                let whole = distances[to].checked_add(self.costs[link as usize]);
                whole == Some(distances[node]) && !self.is_host[to]
            };
            let of_equal_cost = || self.out[node].iter().filter(leads_there);
            let count = of_equal_cost().count() as u64;
            if count < 2 {
                continue;
            }
            if self.plan.spread == Spread::Flows {
                choices.insert(node, of_equal_cost().copied().collect());
                continue;
            }
            // Nodes that follow each other look at different digits of the number: else the second would always choose
            // as the first did, and some links would have no traffic.
            let digit = if distances[node].is_multiple_of(2) { turn } else { turn / count };
            next[node] = of_equal_cost().nth((digit % count) as usize).copied().unwrap_or(next[node]);
        }
        Tree { next, choices }
    }

    /// Inside a domain: the link that each of its nodes takes towards the interface `to`.
    fn within(&self, domain: u32, to: End, Tree { next, choices }: &mut Tree) {
        for end in &self.wiring.members[domain as usize] {
            next[end.node] = NONE;
            choices.remove(&end.node);
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
                choices.remove(&from.node);
                if from.interface.is_none() {
                    queue.push_back(from.node);
                }
            }
        }
    }

    /// For each link that `node` may take: its own interface there, and that of the next node with interfaces. Several
    /// lead through a switch at which flows choose.
    pub(crate) fn next_hops(&self, tree: &Tree, node: usize) -> Vec<(End, End)> {
        let mut found = Vec::new();
        for &first in tree.links(&node) {
            let mut behind = VecDeque::from([first]);
            while let Some(link) = behind.pop_front() {
                let end = self.wiring.to[link as usize];
                match end.interface {
                    Some(_) => found.push((self.wiring.from[first as usize], end)),
                    None => behind.extend(tree.links(&end.node)),
                }
            }
        }
        found
    }
}
