//! The links, and the way of each flow through them.

use anyhow::{Context, Result};
use link::Link;
use plan::{Plan, Routes};

/// The plan's links, and which of them the packets of each flow pass.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub links: Vec<Link>,
    /// Something can happen to a packet on it.
    pub is_opaque: Vec<bool>,
    /// Links of all paths, one path after another.
    hops: Vec<u32>,
    /// Of each flow: where its path begins in `hops`, where the way back does, and where that ends.
    paths: Vec<[u32; 3]>,
}

impl Network {
    pub(crate) fn new(plan: &Plan) -> Result<Network> {
        let routes = Routes::new(plan)?;
        let is_opaque: Vec<bool> = plan.transparent_links().iter().map(|is_transparent| !is_transparent).collect();
        let node = |name: &str| {
            plan.nodes.iter().position(|node| node.name() == name).with_context(|| format!("unknown node {name}"))
        };
        let mut hops = Vec::new();
        let mut walk = |from: usize, to: usize| -> Result<u32> {
            let mut at = from;
            while at != to {
                let link = routes.next_link(at, to).context("no path")?;
                if is_opaque[link as usize] {
                    hops.push(link);
                }
                at = routes.end_of(link);
            }
            Ok(hops.len() as u32)
        };
        let mut paths = Vec::with_capacity(plan.flows.len());
        let mut begin = 0;
        for flow in &plan.flows {
            let (from, to) = (node(&flow.from)?, node(&flow.to)?);
            let (middle, end) = (walk(from, to)?, walk(to, from)?);
            paths.push([begin, middle, end]);
            begin = end;
        }
        let links = plan.links.iter().map(|spec| Link::new(spec, plan.seed)).collect();
        Ok(Network { links, is_opaque, hops, paths })
    }

    /// The links that packets of a flow pass: those of its sender, or the replies.
    pub(crate) fn path(&self, flow: u16, is_reply: bool) -> &[u32] {
        let path = self.paths[usize::from(flow)];
        let side = usize::from(is_reply);
        &self.hops[path[side] as usize..path[side + 1] as usize]
    }
}
