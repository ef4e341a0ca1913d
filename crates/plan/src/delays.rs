use anyhow::Result;
use units::Duration;

use crate::{Link, Plan, Routes};

/// What a packet takes at least over a flow's path, without queues and serializers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastDelay {
    /// From its sender to its receiver.
    pub there: Duration,
    /// From its receiver to its sender.
    pub back: Duration,
}

impl Plan {
    /// The least delay of each flow at any time, in their order.
    pub fn least_delays(&self) -> Result<Vec<LeastDelay>> {
        let (routes, nodes) = (Routes::new(self)?, self.node_indices());
        let of_links: Vec<Duration> = self.links.iter().map(|link| self.least_of(link)).collect();
        let way = |from: &str, to: &str| {
            let (mut node, to, mut sum) = (nodes[from], nodes[to], Duration::ZERO);
            while let Some(link) = if node == to { None } else { routes.next_link(node, to) } {
                sum = sum + of_links[link as usize];
                node = routes.end_of(link);
            }
            sum
        };
        let of = |(from, to): (&str, &str)| LeastDelay { there: way(from, to), back: way(to, from) };
        Ok(self.flows.iter().map(|flow| of((&flow.from, &flow.to))).collect())
    }

    /// Of a link as it is at first, and as events make it. Jitter only adds to the delay; who overtakes has one of its own.
    fn least_of(&self, link: &Link) -> Duration {
        let changed = self.events.iter().map(|event| &event.link).filter(|changed| changed.name == link.name);
        let least =
            |link: &Link| link.reorder.map_or(link.delay_ns, |overtaking| overtaking.delay_ns.min(link.delay_ns));
        changed.map(least).fold(least(link), Duration::min)
    }
}
