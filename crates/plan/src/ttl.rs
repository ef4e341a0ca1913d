//! Where routers drop packets because their TTL, or IPv6's hop limit, has run out.

use std::collections::HashMap;

use units::Ip;

use crate::{Node, Plan};

/// The TTL of packets as hosts send them, and the default of `net.ipv4.ip_default_ttl` (RFC 1700).
const DEFAULT_TTL: usize = 64;

impl Plan {
    /// The links, the first ones of `links`, that packets of a host cross before a router drops them; `None`: their TTL lasts.
    ///
    /// Each router takes one from the TTL. The router that would make it 0 drops the packet (`ip_forward`).
    pub fn links_until_ttl_runs_out(
        &self,
        host: usize,
        ip: Ip,
        links: &[usize],
        nodes: &HashMap<&str, usize>,
    ) -> Option<usize> {
        let is_router = |link: &usize| matches!(self.nodes[nodes[self.links[*link].to.as_str()]], Node::Router { .. });
        let mut at_routers = (1..).zip(links).filter(|(_, link)| is_router(link)).map(|(crossed, _)| crossed);
        at_routers.nth(self.ttl_of(host, ip) - 1)
    }

    /// The TTL of the packets that a host sends, at least 1.
    pub fn ttl_of(&self, host: usize, ip: Ip) -> usize {
        match &self.nodes[host] {
            Node::Host { sysctl, .. } if ip == Ip::V4 => {
                let own = sysctl.get("net.ipv4.ip_default_ttl").and_then(|value| value.trim().parse().ok());
                own.unwrap_or(DEFAULT_TTL).max(1)
            }
            _ => DEFAULT_TTL,
        }
    }
}
