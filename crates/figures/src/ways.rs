//! The ways that packets of a run really took, where kernels choose among paths of equal cost.

use anyhow::Result;
use plan::{Network, Plan, Spread};
use records::reader::{self, Index, Open, Rows};
use rustc_hash::FxHashMap;

/// The network of a run: its flows' paths are those of their packets, if each node chooses by flow and packets are recorded.
/// Else, and of a flow whose packets came by no whole path, they are those of the plan.
///
/// # Errors
/// A flow has no path, or the table cannot be read. `go_on` fails.
pub(crate) fn network(open: Open, plan: &Plan, go_on: &dyn Fn() -> Result<()>) -> Result<Network> {
    if plan.spread != Spread::Flows || !reader::has_table(open, "packets") {
        return plan.network();
    }
    let mut seen = Seen::new(plan);
    let ids = Index::of(plan.flows.iter().map(|flow| flow.id.as_str()));
    let names = Index::of(plan.links.iter().map(|link| link.name.as_str()));
    reader::read_table(open, "packets", &["link", "flow"], |rows: &Rows| {
        go_on()?;
        let (link, flow) = (rows.words(0, &names)?, rows.words(1, &ids)?);
        for at in 0..rows.len() {
            if let (Some(link), Some(flow)) = (link.get(at), flow.get(at)) {
                *seen.counts.entry((flow, link)).or_default() += 1;
            }
        }
        Ok(())
    })?;
    let planned = plan.network()?;
    plan.network_seen(&|flow| {
        let (there, back) = seen.ways(flow);
        // Who is never answered has no way back that was seen.
        let or_planned = |way: Option<Vec<usize>>, own: &Vec<usize>| way.unwrap_or_else(|| own.clone());
        let own = planned.path(flow);
        (there.is_some() || back.is_some()).then(|| (or_planned(there, &own.there), or_planned(back, &own.back)))
    })
}

/// The links at which packets of each flow were.
struct Seen {
    /// The nodes at the ends of each link and of each flow.
    links: Vec<(usize, usize)>,
    flows: Vec<(usize, usize)>,
    /// Nothing can happen on these links: packets have no rows there.
    is_transparent: Vec<bool>,
    /// Packets by flow and link.
    counts: FxHashMap<(u16, u16), u64>,
}

impl Seen {
    fn new(plan: &Plan) -> Seen {
        let nodes = plan.node_indices();
        let ends = |from: &str, to: &str| (nodes[from], nodes[to]);
        Seen {
            links: plan.links.iter().map(|link| ends(&link.from, &link.to)).collect(),
            flows: plan.flows.iter().map(|flow| ends(&flow.from, &flow.to)).collect(),
            is_transparent: plan.transparent_links(),
            counts: FxHashMap::default(),
        }
    }

    /// The links of a flow, there and back; `None` where its packets did not come through.
    fn ways(&self, flow: usize) -> (Option<Vec<usize>>, Option<Vec<usize>>) {
        let (from, to) = self.flows[flow];
        (self.way(flow, from, to), self.way(flow, to, from))
    }

    /// From node to node by links at which the flow was, and as few others as possible that have no rows. A link has one
    /// direction, so those of the way back play no part. Of several such ways, the one with most packets.
    fn way(&self, flow: usize, from: usize, to: usize) -> Option<Vec<usize>> {
        /// A link without rows, and one with them: more than any count.
        const UNSEEN: u64 = 1 << 50;
        const SEEN: u64 = 1 << 40;
        let weight = |link: usize| match self.counts.get(&(flow as u16, link as u16)) {
            Some(&count) => Some(SEEN - count.min(SEEN - 1)),
            None => self.is_transparent[link].then_some(UNSEEN),
        };
        let mut best: FxHashMap<usize, (u64, Option<usize>)> = FxHashMap::from_iter([(from, (0, None))]);
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            let so_far = best[&node].0;
            for (link, &(start, end)) in self.links.iter().enumerate() {
                let Some(weight) = weight(link).filter(|_| start == node) else { continue };
                if best.get(&end).is_none_or(|&(known, _)| so_far + weight < known) {
                    best.insert(end, (so_far + weight, Some(link)));
                    open.push(end);
                }
            }
        }
        let (mut node, mut way) = (to, Vec::new());
        while let Some(link) = best.get(&node)?.1 {
            way.push(link);
            node = self.links[link].0;
        }
        way.reverse();
        let is_seen = |&link: &usize| self.counts.contains_key(&(flow as u16, link as u16));
        way.iter().any(is_seen).then_some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes: 0 and 5 hosts, routers 1 and 4 with a way over 2 and one over 3. The hosts' own links have no rows.
    fn seen(counts: &[(u16, u64)]) -> Seen {
        let there = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)];
        let links: Vec<_> = there.into_iter().chain(there.map(|(from, to)| (to, from))).collect();
        Seen {
            is_transparent: links.iter().map(|ends| ends.0 % 5 == 0 || ends.1 % 5 == 0).collect(),
            links,
            flows: vec![(0, 5)],
            counts: counts.iter().map(|&(link, count)| ((0, link), count)).collect(),
        }
    }

    #[test]
    fn a_way_is_that_of_most_packets_in_each_direction() {
        let (upper, lower) = ([(1, 90), (3, 90)], [(8, 50), (10, 50)]);
        assert_eq!(seen(&[upper, lower].concat()).ways(0), (Some(vec![0, 1, 3, 5]), Some(vec![11, 10, 8, 6])));
        let several = [&upper[..], &lower, &[(2, 91), (4, 91)]].concat();
        assert_eq!(seen(&several).ways(0).0, Some(vec![0, 2, 4, 5]));
    }

    #[test]
    fn a_flow_whose_packets_did_not_come_through_has_no_way() {
        assert_eq!(seen(&[(1, 3), (8, 1), (10, 1)]).ways(0), (None, Some(vec![11, 10, 8, 6])));
        assert_eq!(seen(&[]).ways(0), (None, None));
    }
}
