//! The links, and the way of each flow through them.

use anyhow::{Context, Result};
use link::Link;
use plan::{Plan, Routes};
use units::Duration;

/// The plan's links, and the links that the packets of each flow pass.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub links: Vec<Link>,
    /// Something can happen to a packet on it.
    pub is_opaque: Vec<bool>,
    /// The opaque links, and by link its place among them.
    pub opaque: Vec<u32>,
    pub places: Vec<u32>,
    /// The steps of all paths, one path after another: each flow's, then that of its replies.
    steps: Vec<Step>,
    /// The first step of each path.
    begins: Vec<u32>,
    /// Each transparent link of a path, and the step that takes packets across it.
    crossings: Vec<(u32, u32)>,
    /// By flow: the time that ICMP's message takes from the router at which the TTL of its own packets runs out.
    pub icmp_delays: Vec<Duration>,
}

/// A part of a path: from its host or an opaque link to the next opaque link, or to the other host.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The opaque link that it leads to, or [`ARRIVED`], or [`EXPIRED`].
    link: u32,
    /// Packets that took it.
    tally: Tally,
}

/// In place of a link: the packet has passed the last one of its path.
pub(crate) const ARRIVED: u32 = u32::MAX;
/// In place of a link: a router drops the packet, as its TTL has run out.
pub(crate) const EXPIRED: u32 = u32::MAX - 1;

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
        let (mut steps, mut begins, mut crossings) = (Vec::new(), Vec::new(), Vec::new());
        let mut icmp_delays = vec![Duration::ZERO; plan.flows.len()];
        for (index, flow) in plan.flows.iter().enumerate() {
            let (from, to) = (node(&flow.from)?, node(&flow.to)?);
            for (is_reply, from, to) in [(false, from, to), (true, to, from)] {
                begins.push(steps.len() as u32);
                let path = routes.path(index, from, to);
                let lasts = plan.links_until_ttl_runs_out(from, flow.ip, &path, &nodes);
                if let (Some(crossed), false) = (lasts, is_reply) {
                    let router = node(&plan.links[path[crossed - 1]].to)?;
                    let links = routes.path(index, router, from).into_iter();
                    icmp_delays[index] = links.fold(Duration::ZERO, |sum, link| sum + plan.links[link].delay_ns);
                }
                for &link in &path[..lasts.unwrap_or(path.len())] {
                    if is_opaque[link] {
                        steps.push(Step { link: link as u32, tally: Tally::default() });
                    } else {
                        crossings.push((link as u32, steps.len() as u32));
                    }
                }
                let end = if lasts.is_some() { EXPIRED } else { ARRIVED };
                steps.push(Step { link: end, tally: Tally::default() });
            }
        }
        let links: Vec<Link> = plan.links.iter().map(|spec| Link::new(spec, plan.seed)).collect();
        let opaque: Vec<u32> = (0..links.len() as u32).filter(|&link| is_opaque[link as usize]).collect();
        let places = is_opaque.iter().scan(0, |place, &is_opaque| {
            *place += u32::from(is_opaque);
            Some(*place - u32::from(is_opaque))
        });
        let places = places.collect();
        Ok(Network { links, is_opaque, opaque, places, steps, begins, crossings, icmp_delays })
    }

    /// The first step of a flow's packets: those of its sender, or the replies.
    #[inline]
    pub(crate) fn first_step(&self, flow: u16, is_reply: bool) -> u32 {
        self.begins[2 * usize::from(flow) + usize::from(is_reply)]
    }

    /// A packet of `bytes` takes a step. Returns the link that it leads to, or [`ARRIVED`], or [`EXPIRED`].
    #[inline]
    pub(crate) fn take_step(&mut self, step: u32, bytes: u32) -> u32 {
        let step = &mut self.steps[step as usize];
        step.tally.add(1, u64::from(bytes));
        step.link
    }

    /// Packets that crossed each transparent link; 0 for other links.
    pub(crate) fn crossed(&self) -> Vec<Tally> {
        let mut crossed = vec![Tally::default(); self.links.len()];
        for &(link, step) in &self.crossings {
            let Tally { packets, bytes } = self.steps[step as usize].tally;
            crossed[link as usize].add(packets, bytes);
        }
        crossed
    }
}
