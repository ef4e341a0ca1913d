use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::{Result, ensure};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::gathering::gathered;
use crate::lab_routes::{LabRoutes, Tree};
use crate::{Interface, Node, Outside, Plan, Route, Wiring};

/// A node with more routes has them gathered, or large networks would have millions of routes.
const MANY: usize = 32;

impl Plan {
    /// The routes with which the nodes' kernels send packets along [`Routes`](crate::Routes), by node: one for each subnet
    /// and router id that a node has no interface in, by the least sum of the links' costs. A host with one interface has
    /// default routes, and others only where another router is nearer to a destination. Where a node has more than 32 routes,
    /// they are gathered: prefixes that make up a larger one are one route, with others for exceptions. A route has several
    /// next hops where flows choose among paths of equal cost ([`Spread::Flows`](crate::Spread)). If a router leads to the
    /// machine's network, all others have a default route there.
    ///
    /// # Errors
    /// Two nodes follow each other on a path and have no subnet in common.
    pub fn static_routes(&self) -> Result<Vec<Vec<Route>>> {
        let mut routes = self.unfolded()?.plan.routes_of_nodes()?;
        routes.truncate(self.nodes.len());
        Ok(routes)
    }

    /// The same of a plan without bridges.
    fn routes_of_nodes(&self) -> Result<Vec<Vec<Route>>> {
        let wiring = Wiring::new(self)?;
        let paths = LabRoutes::new(self, &wiring);
        let mut hops = Hops::new(self, &wiring);
        let mut destinations = Vec::new();
        let mut routes: Vec<Vec<Short>> = vec![Vec::new(); self.nodes.len()];
        let is_switch: Vec<bool> = self.nodes.iter().map(Node::is_switch).collect();
        let mut inside = vec![false; self.nodes.len()];
        let mut add = |to: IpNet, domains: &[u32], tree: &Tree| -> Result<()> {
            let number = destinations.len() as u32;
            destinations.push(to);
            let members = || domains.iter().flat_map(|domain| &wiring.members[*domain as usize]);
            members().for_each(|end| inside[end.node] = true);
            for index in 0..self.nodes.len() {
                if is_switch[index] || inside[index] {
                    continue;
                }
                if let Some(via) = hops.towards(to, &paths, tree, index)? {
                    routes[index].push(Short { to: number, via });
                }
            }
            members().for_each(|end| inside[end.node] = false);
            Ok(())
        };
        let mut places: BTreeMap<IpNet, Vec<u32>> = BTreeMap::new();
        for domain in 0..wiring.members.len() as u32 {
            let tree = paths.to_domains(&[domain]);
            for subnet in self.subnets(&wiring, domain) {
                if self.anycast.contains(&subnet) {
                    places.entry(subnet).or_default().push(domain);
                } else {
                    add(subnet, &[domain], &tree)?;
                }
            }
        }
        // The way to a subnet that is in several places leads to the nearest.
        for (subnet, domains) in &places {
            add(*subnet, domains, &paths.to_domains(domains))?;
        }
        for (index, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.is_router()) {
            let id = node.address().expect("a router has an id");
            if !self.has_on_an_interface(index, id) {
                add(IpNet::V4(Ipv4Net::from(id)), &[], &paths.to_router(index))?;
            }
        }
        if let Some(outside) = self.outside() {
            add(Outside::EVERYWHERE, &[], &paths.to_router(outside.router))?;
        }
        let whole = |(node, routes): (&Node, Vec<Short>)| {
            let routes = match node.is_host() && node.interfaces().len() == 1 {
                true => by_default(&routes, &destinations),
                false => routes.into_iter().map(|Short { to, via }| (destinations[to as usize], via)).collect(),
            };
            let own: Vec<IpNet> = node.address().map(|id| Ipv4Net::from(id).into()).into_iter().collect();
            let routes = if routes.len() > MANY { gathered(&routes, &own) } else { routes };
            routes.into_iter().map(|(to, via)| Route { to, via: hops.lists[via as usize].clone() }).collect()
        };
        Ok(self.nodes.iter().zip(routes).map(whole).collect())
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

/// A route while many are worked out: the numbers of its destination and of its next hops.
#[derive(Clone, Copy)]
struct Short {
    to: u32,
    via: u32,
}

/// The lists of next hops that routes have, each once: large networks have millions of routes with few of them.
struct Hops<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring,
    lists: Vec<Vec<IpAddr>>,
    numbers: HashMap<Vec<IpAddr>, u32>,
    /// By IP version and link: the list of the one next hop behind it.
    behind: [Vec<Option<u32>>; 2],
}

impl<'a> Hops<'a> {
    fn new(plan: &'a Plan, wiring: &'a Wiring) -> Hops<'a> {
        let none = vec![None; plan.links.len()];
        Hops { plan, wiring, lists: Vec::new(), numbers: HashMap::new(), behind: [none.clone(), none] }
    }

    /// The number of the list of next hops from `node` to a destination; none if there is none.
    fn towards(&mut self, to: IpNet, paths: &LabRoutes<'_>, tree: &Tree, node: usize) -> Result<Option<u32>> {
        let version = usize::from(to.addr().is_ipv6());
        let only = match *tree.links(&node) {
            [] => return Ok(None),
            [link] if self.wiring.to[link as usize].interface.is_some() => Some(link as usize),
            _ => None,
        };
        if let Some(known) = only.and_then(|link| self.behind[version][link]) {
            return Ok(Some(known));
        }
        let near = |end| self.wiring.interface(self.plan, end).expect("an end at a node with interfaces");
        let mut found = Vec::new();
        for (own, hop) in paths.next_hops(tree, node) {
            match shared(near(own), near(hop), to.addr().is_ipv4()) {
                Some(via) => found.push(via),
                None => ensure!(
                    to.addr().is_ipv6(),
                    "{} and {} have no subnet in common, and the path to {to} leads from the one to the other",
                    self.plan.nodes[node].name(),
                    self.plan.nodes[hop.node].name()
                ),
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        let next = self.lists.len() as u32;
        let number = *self.numbers.entry(found).or_insert_with_key(|found| {
            self.lists.push(found.clone());
            next
        });
        if let Some(link) = only {
            self.behind[version][link] = Some(number);
        }
        Ok(Some(number))
    }
}

/// The address of `hop` in a subnet that both interfaces are in.
fn shared(own: &Interface, hop: &Interface, ipv4: bool) -> Option<IpAddr> {
    let of_family = |net: &&IpNet| net.addr().is_ipv4() == ipv4;
    let subnets = || own.addresses.iter().filter(of_family).map(IpNet::trunc);
    hop.addresses.iter().filter(of_family).find(|one| subnets().any(|net| net == one.trunc())).map(IpNet::addr)
}

/// The same routes with a default route in place of those to the next hops that most of them lead to.
fn by_default(routes: &[Short], destinations: &[IpNet]) -> Vec<(IpNet, u32)> {
    let all = [
        IpNet::V4(Ipv4Net::new(Ipv4Addr::UNSPECIFIED, 0).expect("a prefix of length 0")),
        IpNet::V6(Ipv6Net::new(Ipv6Addr::UNSPECIFIED, 0).expect("a prefix of length 0")),
    ];
    let mut kept = Vec::new();
    for to in all {
        let is_ipv4 = to.addr().is_ipv4();
        let whole = routes.iter().map(|route| (destinations[route.to as usize], route.via));
        let of_family = whole.filter(|(to, _)| to.addr().is_ipv4() == is_ipv4);
        // Most hosts have one router, and all routes lead there.
        if let Some((_, via)) = of_family.clone().next()
            && of_family.clone().all(|(_, other)| other == via)
        {
            kept.push((to, via));
            continue;
        }
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for (_, via) in of_family.clone() {
            *counts.entry(via).or_default() += 1;
        }
        // Whatever has no route leads outside, if anything does. Else: the first among equals.
        let outside = of_family.clone().find(|(other, _)| *other == to);
        let most = outside.or_else(|| of_family.clone().rev().max_by_key(|(_, via)| counts[via]));
        let Some((_, most)) = most else { continue };
        kept.push((to, most));
        kept.extend(of_family.filter(|&(_, via)| via != most));
    }
    kept
}
