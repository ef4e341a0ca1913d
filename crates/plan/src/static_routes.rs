use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{Result, ensure};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::lab_routes::{LabRoutes, Tree};
use crate::wiring::End;
use crate::{Interface, Plan, Route, Wiring};

/// A node with more routes has those of neighbouring prefixes gathered, or large networks would have millions of routes.
const MANY: usize = 32;

impl Plan {
    /// The routes with which the nodes' kernels send packets along [`Routes`](crate::Routes), by node: one for each subnet
    /// and router id that a node has no interface in, by the least sum of the links' costs. A host with one interface has
    /// default routes, and others only where another router is nearer to a destination. Where a node has more than 32 routes,
    /// prefixes that make up a larger one and lead to the same next hops are one route. A route has several next hops where
    /// flows choose among paths of equal cost ([`Spread::Flows`](crate::Spread)).
    ///
    /// # Errors
    /// Two nodes follow each other on a path and have no subnet in common.
    pub fn static_routes(&self) -> Result<Vec<Vec<Route>>> {
        let wiring = Wiring::new(self)?;
        let paths = LabRoutes::new(self, &wiring);
        let mut routes = vec![Vec::new(); self.nodes.len()];
        let mut add = |to: IpNet, domain: Option<u32>, tree: &Tree| -> Result<()> {
            for (index, node) in self.nodes.iter().enumerate() {
                let inside = |end: End| wiring.domain_of(end) == domain;
                let is_there = domain.is_some() && self.ends(index).any(inside);
                if node.is_switch() || is_there {
                    continue;
                }
                let near = |end| wiring.interface(self, end).expect("an end at a node with interfaces");
                let mut hops = Vec::new();
                for (own, hop) in paths.next_hops(tree, index) {
                    match shared(near(own), near(hop), to.addr().is_ipv4()) {
                        Some(via) => hops.push(via),
                        None => ensure!(
                            to.addr().is_ipv6(),
                            "{} and {} have no subnet in common, and the path to {to} leads from the one to the other",
                            node.name(),
                            self.nodes[hop.node].name()
                        ),
                    }
                }
                if !hops.is_empty() {
                    routes[index].push(Route { to, via: hops });
                }
            }
            Ok(())
        };
        for domain in 0..wiring.members.len() as u32 {
            let tree = paths.to_domain(domain);
            for subnet in self.subnets(&wiring, domain) {
                add(subnet, Some(domain), &tree)?;
            }
        }
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_router()) {
            let id = node.address().expect("a router has an id");
            if !self.has_on_an_interface(index, id) {
                add(IpNet::V4(Ipv4Net::from(id)), None, &paths.to_router(index))?;
            }
        }
        for (node, routes) in self.nodes.iter().zip(&mut routes) {
            if node.is_host() && node.interfaces().len() == 1 {
                *routes = by_default(std::mem::take(routes));
            }
            if routes.len() > MANY {
                *routes = gathered(std::mem::take(routes));
            }
        }
        Ok(routes)
    }

    fn ends(&self, node: usize) -> impl Iterator<Item = End> {
        (0..self.nodes[node].interfaces().len()).map(move |interface| End { node, interface: Some(interface) })
    }

    /// True if one of the node's interfaces has the address.
    pub fn has_on_an_interface(&self, node: usize, address: Ipv4Addr) -> bool {
        let known = self.nodes[node].interfaces().iter().flat_map(|interface| &interface.addresses);
        known.into_iter().any(|own| own.addr() == IpAddr::V4(address))
    }

    /// The subnets of a broadcast domain, in the order of its interfaces.
    fn subnets(&self, wiring: &Wiring, domain: u32) -> Vec<IpNet> {
        let mut subnets = Vec::new();
        let interfaces = wiring.members[domain as usize].iter().filter_map(|end| wiring.interface(self, *end));
        for subnet in interfaces.flat_map(|interface| &interface.addresses).map(IpNet::trunc) {
            if !subnets.contains(&subnet) {
                subnets.push(subnet);
            }
        }
        subnets
    }
}

/// The address of `hop` in a subnet that both interfaces are in.
fn shared(own: &Interface, hop: &Interface, ipv4: bool) -> Option<IpAddr> {
    let of_family = |net: &&IpNet| net.addr().is_ipv4() == ipv4;
    let subnets = || own.addresses.iter().filter(of_family).map(IpNet::trunc);
    hop.addresses.iter().filter(of_family).find(|one| subnets().any(|net| net == one.trunc())).map(IpNet::addr)
}

/// The same routes with a default route in place of those to the next hop that most of them lead to.
fn by_default(routes: Vec<Route>) -> Vec<Route> {
    let all = [
        IpNet::V4(Ipv4Net::new(Ipv4Addr::UNSPECIFIED, 0).expect("a prefix of length 0")),
        IpNet::V6(Ipv6Net::new(Ipv6Addr::UNSPECIFIED, 0).expect("a prefix of length 0")),
    ];
    let mut kept = Vec::new();
    for to in all {
        let of_family = || routes.iter().filter(|route| route.to.addr().is_ipv4() == to.addr().is_ipv4());
        let mut counts: HashMap<&[IpAddr], usize> = HashMap::new();
        for route in of_family() {
            *counts.entry(&route.via).or_default() += 1;
        }
        // The first among equals.
        let Some(most) = of_family().rev().max_by_key(|route| counts[&*route.via]) else { continue };
        kept.push(Route { to, via: most.via.clone() });
        kept.extend(of_family().filter(|route| route.via != most.via).cloned());
    }
    kept
}

/// The same routes, with one in place of those that lead to the same next hops and make up a larger prefix.
fn gathered(routes: Vec<Route>) -> Vec<Route> {
    let mut groups: Vec<(Vec<IpAddr>, Vec<IpNet>)> = Vec::new();
    let mut known: HashMap<Vec<IpAddr>, usize> = HashMap::new();
    for Route { to, via } in routes {
        let place = *known.entry(via.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((via, Vec::new()));
        }
        groups[place].1.push(to);
    }
    let larger = |(via, prefixes): (Vec<IpAddr>, Vec<IpNet>)| {
        IpNet::aggregate(&prefixes).into_iter().map(move |to| Route { to, via: via.clone() })
    };
    groups.into_iter().flat_map(larger).collect()
}
