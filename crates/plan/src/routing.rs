use std::collections::{BTreeMap, VecDeque};

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use crate::lab_routes::{LabRoutes, Tree};
use crate::unfolded::Unfolded;
use crate::{Node, Plan, Wiring};

/// No link.
pub(crate) const NONE: u32 = u32::MAX;

/// Choice among paths of equal cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spread {
    /// Nothing: all packets take the links that are listed first.
    #[default]
    Nothing,
    /// Destinations with hosts take turns: all packets to one subnet take one path.
    Destinations,
    /// Each node chooses by flow (ECMP, RFC 2992): each direction of a flow keeps to one path.
    Flows,
}

impl Spread {
    /// True if it is the default.
    pub fn is_default(&self) -> bool {
        *self == Spread::default()
    }
}

/// The paths to each host. In a core network they are the shortest by number of links; among equals, the links that the
/// plan lists first. In a lab network they have the least sum of costs, and are those
/// that kernels choose by [`Plan::static_routes`].
#[derive(Clone, Debug)]
pub struct Routes {
    /// By host; none for what is no host.
    trees: Vec<Option<Tree>>,
    link_to: Vec<usize>,
    /// The plan's own link that each link of the trees is; `None`: they are the same.
    origin: Option<Vec<u32>>,
    seed: u64,
}

impl Routes {
    /// Search backwards from each host.
    pub fn new(plan: &Plan) -> Result<Routes> {
        let routes = match plan.has_interfaces() {
            true => {
                let Unfolded { plan, origin } = plan.unfolded()?;
                let wiring = Wiring::new(&plan)?;
                let trees = LabRoutes::new(&plan, &wiring).to_hosts()?;
                Routes { trees, link_to: wiring.to.iter().map(|end| end.node).collect(), origin, seed: plan.seed }
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
        let mut trees = vec![None; plan.nodes.len()];
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
            trees[host] = Some(Tree { next: link_at, choices: BTreeMap::new() });
        }
        Ok(Routes { trees, link_to: ends.into_iter().map(|(_, to)| to).collect(), origin: None, seed: plan.seed })
    }

    /// The link that a packet at `node` takes towards `host` (both are indices into the plan's nodes); where flows choose,
    /// the first of several. In a network with bridges the number is no index into the plan's links.
    pub fn next_link(&self, node: usize, host: usize) -> Option<u32> {
        self.trees[host].as_ref()?.next.get(node).copied().filter(|&link| link != NONE)
    }

    /// The links that packets of the plan's flow `flow` take from `node` to `host`, by their indices; none where there is no
    /// path. They are the same for all flows unless flows choose ([`Spread::Flows`]).
    pub fn path(&self, flow: usize, mut node: usize, host: usize) -> Vec<usize> {
        let mut links = Vec::new();
        let Some(tree) = &self.trees[host] else { return links };
        while let Some(link) = if node == host { None } else { self.next_link(node, host) } {
            let link = tree
                .choices
                .get(&node)
                .map_or(link, |known| known[(self.hash([flow, node, host]) % known.len() as u64) as usize]);
            links.push(self.own(link));
            node = self.end_of(link);
        }
        links
    }

    /// The least sum of `delays`, by link, over all paths from `node` to `host` that a flow may take.
    pub(crate) fn least(&self, node: usize, host: usize, delays: &[Duration]) -> Duration {
        let Some(tree) = &self.trees[host] else { return Duration::ZERO };
        self.least_in(tree, node, host, delays, &mut BTreeMap::new())
    }

    fn least_in(
        &self,
        tree: &Tree,
        node: usize,
        host: usize,
        delays: &[Duration],
        known: &mut BTreeMap<usize, Duration>,
    ) -> Duration {
        if node == host {
            return Duration::ZERO;
        }
        if let Some(&found) = known.get(&node) {
            return found;
        }
        let behind = |&link: &u32| delays[self.own(link)] + self.least_in(tree, self.end_of(link), host, delays, known);
        let found = tree.links(&node).iter().map(behind).min().unwrap_or(Duration::ZERO);
        known.insert(node, found);
        found
    }

    /// The simulator's choice; a kernel chooses by its own hash of addresses and ports.
    ///
    /// A hash of the seed and of numbers, by the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
    fn hash(&self, numbers: [usize; 3]) -> u64 {
        numbers.into_iter().fold(mix(self.seed), |key, number| mix(key ^ mix(number as u64 + 1)))
    }

    /// The index among the plan's links.
    fn own(&self, link: u32) -> usize {
        self.origin.as_ref().map_or(link, |origin| origin[link as usize]) as usize
    }

    /// The node at the end of a link.
    pub fn end_of(&self, link: u32) -> usize {
        self.link_to[link as usize]
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
