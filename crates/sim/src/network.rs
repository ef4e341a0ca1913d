//! The links, and the way of each flow through them.

use anyhow::{Context, Result};
use link::Link;
use plan::{Plan, Routes};

/// The plan's links, and the links that the packets of each flow pass.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub links: Vec<Link>,
    /// Something can happen to a packet on it.
    pub is_opaque: Vec<bool>,
    /// The opaque links, and by link its place among them.
    pub opaque: Vec<u32>,
    pub places: Vec<u32>,
    /// Opaque links of all paths, one path after another: each flow's, then that of its replies.
    hops: Vec<u32>,
    /// The beginning of each path in `hops`, and the end of the last path.
    begins: Vec<u32>,
    /// Packets sent into each path, and then those that left each of its hops.
    tallies: Vec<Tally>,
    /// Each transparent link of a path, and the place in `tallies` of what crosses it.
    crossings: Vec<(u32, u32)>,
}

/// Packets, and the bytes of their frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of packets.
    pub packets: u64,
    /// Whole frames, without a link's overhead.
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, packets: u64, bytes: u64) {
        self.packets += packets;
        self.bytes += bytes;
    }
}

impl Network {
    pub(crate) fn new(plan: &Plan) -> Result<Network> {
        let routes = Routes::new(plan)?;
        let is_opaque: Vec<bool> = plan.transparent_links().iter().map(|is_transparent| !is_transparent).collect();
        let nodes = plan.node_indices();
        let node = |name: &str| nodes.get(name).copied().with_context(|| format!("unknown node {name}"));
        let (mut hops, mut begins, mut crossings) = (Vec::new(), vec![0], Vec::new());
        for (index, flow) in plan.flows.iter().enumerate() {
            let (from, to) = (node(&flow.from)?, node(&flow.to)?);
            for (from, to) in [(from, to), (to, from)] {
                let paths_before = begins.len() - 1;
                for link in routes.path(index, from, to) {
                    if is_opaque[link] {
                        hops.push(link as u32);
                    } else {
                        // Each path has a tally more than hops.
                        crossings.push((link as u32, (hops.len() + paths_before) as u32));
                    }
                }
                begins.push(hops.len() as u32);
            }
        }
        let links: Vec<Link> = plan.links.iter().map(|spec| Link::new(spec, plan.seed)).collect();
        let opaque: Vec<u32> = (0..links.len() as u32).filter(|&link| is_opaque[link as usize]).collect();
        let places = is_opaque.iter().scan(0, |place, &is_opaque| {
            *place += u32::from(is_opaque);
            Some(*place - u32::from(is_opaque))
        });
        let places = places.collect();
        let tallies = vec![Tally::default(); hops.len() + begins.len() - 1];
        Ok(Network { links, is_opaque, opaque, places, hops, begins, tallies, crossings })
    }

    /// The links that packets of a flow pass: those of its sender, or the replies.
    #[inline]
    pub(crate) fn path(&self, flow: u16, is_reply: bool) -> &[u32] {
        let path = path_of(flow, is_reply);
        &self.hops[self.begins[path] as usize..self.begins[path + 1] as usize]
    }

    /// A packet of `bytes` has passed so many hops of its path; 0: it is sent.
    #[inline]
    pub(crate) fn count(&mut self, flow: u16, is_reply: bool, hops: u32, bytes: u32) {
        let path = path_of(flow, is_reply);
        self.tallies[self.begins[path] as usize + path + hops as usize].add(1, u64::from(bytes));
    }

    /// Packets that crossed each transparent link; 0 for other links.
    pub(crate) fn crossed(&self) -> Vec<Tally> {
        let mut crossed = vec![Tally::default(); self.links.len()];
        for &(link, tally) in &self.crossings {
            let Tally { packets, bytes } = self.tallies[tally as usize];
            crossed[link as usize].add(packets, bytes);
        }
        crossed
    }
}

fn path_of(flow: u16, is_reply: bool) -> usize {
    2 * usize::from(flow) + usize::from(is_reply)
}
