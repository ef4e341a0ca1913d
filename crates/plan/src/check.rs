use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use anyhow::{Result, anyhow, bail, ensure};
use ipnet::IpNet;
use units::{Duration, Ip, Time};

use crate::{EmulatePath, Links, Mac, Neighbours, Node, Plan, Spread, Wiring};

impl Plan {
    /// The planner has refused bad input with better words; this keeps an engine from starting on a broken plan.
    pub(crate) fn check(&self) -> Result<()> {
        let nodes = self.node_indices();
        let hosts: HashSet<&str> = self.hosts().map(|(name, ..)| name).collect();
        for link in &self.links {
            ensure!(nodes.contains_key(link.from.as_str()), "link {}: unknown node {}", link.name, link.from);
            ensure!(nodes.contains_key(link.to.as_str()), "link {}: unknown node {}", link.name, link.to);
            link.check()?;
        }
        for event in &self.events {
            event.link.check()?;
            let known = self.links.iter().any(|l| l.name == event.link.name);
            ensure!(known, "an event changes {}, which is no link", event.link.name);
            let same =
                self.links.iter().any(|l| (&l.name, l.overhead_bytes) == (&event.link.name, event.link.overhead_bytes));
            ensure!(same, "an event changes the overhead of {}", event.link.name);
            let moved = self.links.iter().any(|l| l.name == event.link.name && !l.is_between_the_ends_of(&event.link));
            ensure!(!moved, "an event moves {} to other nodes or interfaces, or changes its cost", event.link.name);
        }
        if self.has_interfaces() {
            self.check_lab()?
        } else {
            self.check_core(&hosts)?
        }
        if let Some(links) = self.emulate.links {
            let one_by_one = self.emulate.path == EmulatePath::Wire;
            let fits = one_by_one || (links == Links::Mininet && self.emulate.whole_bursts);
            ensure!(fits, "the kernel's links carry packets one by one, and Mininet's whole bursts");
            let core = !self.has_interfaces() && self.events.is_empty();
            ensure!(core, "the kernel's links carry the packets of a core network, and never change");
            self.qdiscs().map_err(|what| anyhow!("the kernel's links don't have {what}"))?;
        }
        ensure!(self.duration_ns >= Duration::ZERO, "the run ends before it begins");
        ensure!(self.record.sample_interval_ns > Duration::ZERO, "samples without an interval");
        ensure!(self.events.is_sorted_by_key(|event| event.at_ns), "events are not in the order of time");
        ensure!(self.events.iter().all(|event| event.at_ns >= Time::ZERO), "an event is before the run");
        self.check_daemons()?;
        self.check_programs()?;
        for flow in &self.flows {
            ensure!(hosts.contains(flow.from.as_str()), "flow {}: unknown host {}", flow.id, flow.from);
            ensure!(hosts.contains(flow.to.as_str()), "flow {}: unknown host {}", flow.id, flow.to);
            let times = flow.start_ns >= Time::ZERO && flow.stop_ns >= flow.start_ns;
            ensure!(times, "flow {}: impossible times, from {} to {}", flow.id, flow.start_ns, flow.stop_ns);
            if flow.ip == Ip::V6 {
                self.ends_of(flow)?;
            }
            flow.workload.check(flow, self.largest_mtu())?;
        }
        Ok(())
    }

    /// A core network knows nothing of interfaces.
    fn check_core(&self, hosts: &HashSet<&str>) -> Result<()> {
        for node in &self.nodes {
            let foreign = node.is_router() || !node.routes().is_empty();
            ensure!(!foreign, "{} routes, but no node has interfaces", node.name());
        }
        let mut senders = HashSet::new();
        for link in &self.links {
            let alone = !hosts.contains(link.from.as_str()) || senders.insert(&link.from);
            ensure!(alone, "{} sends into two links, but has one interface", link.from);
            let foreign = [&link.from_interface, &link.to_interface].into_iter().flatten().next();
            ensure!(
                foreign.is_none() && link.cost.get() == 1,
                "link {} has interfaces or a cost, but no node has interfaces",
                link.name
            );
        }
        ensure!(
            self.neighbours == Neighbours::Filled && self.wait.is_none() && self.spread == Spread::Nothing,
            "neighbours, waiting for routes and spreading need nodes with interfaces"
        );
        Ok(())
    }

    fn check_lab(&self) -> Result<()> {
        let (mut names, mut macs, mut addresses) = (HashSet::new(), HashSet::new(), HashMap::new());
        for node in &self.nodes {
            ensure!(names.insert(node.name()), "two nodes have the name {}", node.name());
            ensure!(node.is_switch() || !node.interfaces().is_empty(), "{} has no interface", node.name());
            self.check_interfaces(node, &mut macs, &mut addresses)?;
            check_routes(node)?;
            if let Node::Host { name, address, .. } = node {
                let known = own_addresses(node).any(|own| own.addr() == IpAddr::V4(*address));
                ensure!(known, "none of the interfaces of {name} has its address, {address}");
            }
        }
        for (node, address) in self.nodes.iter().filter_map(|node| Some((node, node.address()?))) {
            let other = addresses.insert(IpAddr::V4(address), node.name()).filter(|other| *other != node.name());
            if let Some(other) = other.filter(|_| !self.is_anycast(address.into())) {
                bail!("{other} and {} have the same address, {address}", node.name());
            }
        }
        let outside = self.nodes.iter().filter(|node| node.has_nat()).count();
        ensure!(outside < 2, "two routers lead to the machine's network");
        ensure!(
            outside == 0 || self.outside().is_some(),
            "the way to the machine's network needs a subnet of 100.64.0.0/10"
        );
        self.check_bridges()?;
        self.check_subnets(&Wiring::through_bridges(self)?)?;
        let converges = |node: &Node| node.stp().is_some() || matches!(node, Node::Router { routing: Some(_), .. });
        ensure!(
            self.wait.is_none() || self.nodes.iter().any(converges),
            "time 0 waits for routing, but no router has daemons, and no bridge has a spanning tree"
        );
        Ok(())
    }

    /// A subnet lies in one broadcast domain: a route to it leads there. Parts that no node joins may have the same.
    fn check_subnets(&self, wiring: &Wiring) -> Result<()> {
        let mut known: HashMap<(usize, IpNet), (u32, String)> = HashMap::new();
        let islands = wiring.islands();
        for ((domain, members), island) in (0..).zip(&wiring.members).zip(islands) {
            for end in members {
                let Some(interface) = wiring.interface(self, *end) else { continue };
                let at = format!("{} of {}", interface.name, self.nodes[end.node].name());
                for address in interface.addresses.iter().filter(|own| !self.anycast.contains(&own.trunc())) {
                    let (first, other) = known.entry((island, address.trunc())).or_insert_with(|| (domain, at.clone()));
                    ensure!(
                        *first == domain,
                        "{other} and {at} are in the subnet {}, but no cables and switches join them",
                        address.trunc()
                    );
                }
            }
        }
        Ok(())
    }

    /// Whether several nodes may have the address.
    fn is_anycast(&self, address: IpAddr) -> bool {
        self.anycast.iter().any(|subnet| subnet.contains(&address))
    }

    fn check_interfaces<'a>(
        &self,
        node: &'a Node,
        macs: &mut HashSet<Mac>,
        addresses: &mut HashMap<IpAddr, &'a str>,
    ) -> Result<()> {
        let (owner, mut names) = (node.name(), HashSet::new());
        for interface in node.interfaces() {
            let name = interface.name.as_str();
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
            let sound = (1..=15).contains(&name.len())
                && name.chars().all(plain)
                && ![".", "..", "lo", "all", "default"].contains(&name);
            ensure!(sound, "{owner}: {name:?} is not a name of an interface: 1 to 15 letters, digits, `.`, `_` or `-`");
            ensure!(names.insert(name), "{owner} has two interfaces {name}");
            let mac = interface.mac;
            ensure!(mac.is_unicast() && mac.0 != [0; 6], "{owner}: {mac} cannot be the MAC address of {name}");
            ensure!(macs.insert(mac), "{owner}: another interface has the MAC address of {name}, {mac}");
            for own in &interface.addresses {
                let address = own.addr();
                let usable = !(address.is_unspecified() || address.is_loopback() || address.is_multicast());
                ensure!(usable, "{owner}: {address} cannot be the address of {name}");
                if let Some(other) = addresses.insert(address, owner).filter(|_| !self.is_anycast(address)) {
                    bail!("{other} and {owner} have the same address, {address}");
                }
            }
        }
        Ok(())
    }
}

/// All addresses of a node's interfaces.
fn own_addresses(node: &Node) -> impl Iterator<Item = &IpNet> {
    node.interfaces().iter().flat_map(|interface| &interface.addresses)
}

fn check_routes(node: &Node) -> Result<()> {
    for route in node.routes() {
        let (name, to) = (node.name(), route.to);
        ensure!(!route.via.is_empty(), "{name}: the route to {to} leads to no next hop");
        for via in &route.via {
            ensure!(via.is_ipv4() == to.addr().is_ipv4(), "{name}: the route to {to} leads to {via}");
            let near = own_addresses(node).any(|own| own.contains(via) && own.addr() != *via);
            ensure!(near, "{name}: the route to {to} leads to {via}, which is in none of its subnets");
        }
    }
    Ok(())
}
