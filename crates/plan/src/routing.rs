use std::collections::VecDeque;

use anyhow::{Context, Result, ensure};

use crate::lab_routes::LabRoutes;
use crate::{Node, Plan, Wiring};

/// No link.
pub(crate) const NONE: u32 = u32::MAX;

/// The paths to each host. In a core network they are the shortest by number of links; among equals, the links that the
/// plan lists first. In a lab network they have the least sum of costs, and are those
/// that kernels choose by [`Plan::static_routes`].
#[derive(Clone, Debug)]
pub struct Routes {
    /// `next[host node][node]`: index of the link to take, or [`NONE`] where there is no path. Empty for what is no host.
    next: Vec<Vec<u32>>,
    link_to: Vec<usize>,
}

impl Routes {
    /// Search backwards from each host.
    pub fn new(plan: &Plan) -> Result<Routes> {
        let routes = match plan.is_lab() {
            true => {
                let wiring = Wiring::new(plan)?;
                let next = LabRoutes::new(plan, &wiring).to_hosts()?;
                Routes { next, link_to: wiring.to.iter().map(|end| end.node).collect() }
            }
            false => Routes::of_core(plan)?,
        };
        let nodes = plan.node_indices();
        let index = |name: &str| nodes.get(name).copied().with_context(|| format!("unknown node {name}"));
        for flow in &plan.flows {
            for (a, b) in [(&flow.from, &flow.to), (&flow.to, &flow.from)] {
                ensure!(
                    routes.next_link(index(a)?, index(b)?).is_some(),
                    "flow {}: no path of links from {a} to {b}",
                    flow.id
                );
            }
        }
        Ok(routes)
    }

    fn of_core(plan: &Plan) -> Result<Routes> {
        let nodes = plan.node_indices();
        let index = |name: &str| nodes.get(name).copied().with_context(|| format!("unknown node {name}"));
        let ends: Vec<(usize, usize)> =
            plan.links.iter().map(|l| Ok((index(&l.from)?, index(&l.to)?))).collect::<Result<_>>()?;
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
        for (i, &(_, to)) in ends.iter().enumerate() {
            into[to].push(i as u32);
        }
        let mut next = vec![Vec::new(); plan.nodes.len()];
        for (host, _) in plan.nodes.iter().enumerate().filter(|(_, n)| matches!(n, Node::Host { .. })) {
            let mut link_at = vec![NONE; plan.nodes.len()];
            let mut queue = VecDeque::from([host]);
            while let Some(node) = queue.pop_front() {
                // Hosts don't forward: a path may end at one, never pass through.
                if node != host && matches!(plan.nodes[node], Node::Host { .. }) {
                    continue;
                }
                for &link in &into[node] {
                    let from = ends[link as usize].0;
                    if from != host && link_at[from] == NONE {
                        link_at[from] = link;
                        queue.push_back(from);
                    }
                }
            }
            next[host] = link_at;
        }
        Ok(Routes { next, link_to: ends.into_iter().map(|(_, to)| to).collect() })
    }

    /// The link that a packet at `node` takes towards `host` (both are indices into the plan's nodes).
    pub fn next_link(&self, node: usize, host: usize) -> Option<u32> {
        self.next[host].get(node).copied().filter(|&link| link != NONE)
    }

    /// The links from `node` to `host`, by their indices; none where there is no path.
    pub fn path(&self, mut node: usize, host: usize) -> Vec<usize> {
        let mut links = Vec::new();
        while let Some(link) = if node == host { None } else { self.next_link(node, host) } {
            links.push(link as usize);
            node = self.end_of(link);
        }
        links
    }

    /// The node at the end of a link.
    pub fn end_of(&self, link: u32) -> usize {
        self.link_to[link as usize]
    }
}
