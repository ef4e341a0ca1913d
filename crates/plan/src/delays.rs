use anyhow::Result;
use units::Duration;

use crate::{Plan, Routes};

/// The least time that a packet takes over any path that a flow may take, without queues and serializers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeastDelay {
    /// The time from its sender to its receiver.
    pub there: Duration,
    /// The time from its receiver to its sender.
    pub back: Duration,
}

impl Plan {
    /// The least delay of each flow at any time, in their order.
    pub fn least_delays(&self) -> Result<Vec<LeastDelay>> {
        let (routes, nodes) = (Routes::new(self)?, self.node_indices());
        let of_links: Vec<Duration> = self.links.iter().map(|link| self.least_of(link)).collect();
        let way = |from: &str, to: &str| routes.least(nodes[from], nodes[to], &of_links);
        let of = |(from, to): (&str, &str)| LeastDelay { there: way(from, to), back: way(to, from) };
        Ok(self.flows.iter().map(|flow| of((&flow.from, &flow.to))).collect())
    }
}
