//! Changes of a network that is up: nodes and interfaces are added to a lab, or removed.
//!
//! [`Lab::rewire`] adds what the network is to have, [`Lab::settle`] removes what it had. Between the two, the links between
//! the interfaces become others. What both networks have stays as it is, with its indices and MAC addresses.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::RouteNetlinkMessage;
use plan::{EmulatePath, End, Neighbours, Node, Plan, Wiring};

use crate::host::{self, ETH0, Interface, Role};
use crate::lab::wait_until_up;
use crate::namespace::{self, Visit};
use crate::netlink::{Batch, Netlink};
use crate::network::{self, Place, Shared, addresses, connect, route, spaces};
use crate::sysctl::Sysctls;
use crate::{Host, Lab, bridge, files, names, own, procfs, requests};

/// Nodes and interfaces that a network has no more, once [`Lab::settle`] is told so.
#[derive(Debug, Default)]
pub struct Rewired {
    /// Names of the nodes that were added and have a namespace.
    pub added: Vec<String>,
    /// Nodes that are to be removed, each with its place and the names of its pinned sysctls.
    removed: Vec<(usize, Host, Vec<String>)>,
    /// The interfaces that other nodes had, by the node's name.
    before: Vec<(String, Vec<Interface>)>,
}

impl Lab {
    /// Adds to the network `from`, which this is, the nodes and interfaces that `to` has besides. Nodes and interfaces that
    /// `to` lacks stay in the kernel until [`Lab::settle`]. The calling thread must be in the core's namespace.
    ///
    /// # Errors
    /// The kernel refuses it. Then the lab is as it was.
    pub fn rewire(&mut self, from: &Plan, to: &Plan) -> Result<Rewired> {
        ensure!(self.hops.is_empty(), "links that the kernel's queueing disciplines carry cannot change their places");
        network::check(to)?;
        files::allow(files::of_nodes(to))?;
        let mut done = Rewired::default();
        match self.extend(from, to, &mut done) {
            Ok(()) => Ok(done),
            Err(error) => {
                self.restore(done);
                Err(error)
            }
        }
    }

    /// Takes back what [`Lab::rewire`] has done.
    pub fn restore(&mut self, done: Rewired) {
        let Ok(mut core) = Netlink::open() else { return };
        for name in &done.added {
            if let Some((_, host, _)) = self.take(name) {
                remove_pairs(&mut core, &host.interfaces);
            }
            namespace::forget(name);
        }
        for (name, interfaces) in done.before {
            let Some(host) = self.hosts.iter_mut().find(|host| host.name == name) else { continue };
            let made = host.interfaces.iter().filter(|one| !interfaces.iter().any(|own| own.name == one.name));
            remove_pairs(&mut core, made);
            host.interfaces = interfaces;
        }
        for (at, host, pinned) in done.removed.into_iter().rev() {
            self.hosts.insert(at, host);
            self.pinned.insert(at, pinned);
        }
    }

    /// Adds a node that another process of the lab has made.
    pub fn adopt(&mut self, host: Host) {
        self.hosts.push(host);
        self.pinned.push(Vec::new());
    }

    /// Lets go of a node: its namespaces end with the last that holds them.
    pub fn let_go(&mut self, name: &str) {
        drop(self.take(name));
    }

    fn take(&mut self, name: &str) -> Option<(usize, Host, Vec<String>)> {
        let at = self.hosts.iter().position(|host| host.name == name)?;
        Some((at, self.hosts.remove(at), self.pinned.remove(at)))
    }

    fn extend(&mut self, from: &Plan, to: &Plan, done: &mut Rewired) -> Result<()> {
        let (before, after) = (from.node_indices(), to.node_indices());
        for (_, node) in spaces(from).filter(|(_, node)| !after.contains_key(node.name())) {
            done.removed.extend(self.take(node.name()));
        }
        let mut core = Netlink::open()?;
        let first = self.pairs;
        let new: Vec<_> = spaces(to).filter(|(_, node)| !before.contains_key(node.name())).collect();
        self.add_nodes(to, &new, &mut core, done)?;
        for (index, node) in spaces(to) {
            if let Some(&earlier) = before.get(node.name()) {
                self.add_interfaces(to, index, &from.nodes[earlier], &mut core, done)?;
            }
        }
        wait_until_up(&mut core, &self.hosts, first)
    }

    /// Makes the nodes of these indices.
    fn add_nodes(&mut self, to: &Plan, new: &[(usize, &Node)], core: &mut Netlink, done: &mut Rewired) -> Result<()> {
        let offloads_off = (to.emulate.path != EmulatePath::Gso).then_some(self.features.clone());
        let home = self.core.try_clone().context("sharing the core's namespace")?;
        let _home = Visit::from(&home);
        let wiring = filled(to)?;
        let (neighbours, procfs) = (Shared::default(), procfs::fresh());
        let made = own::create(new.iter().map(|(_, node)| (node.name(), node.private())))?;
        for (&(index, node), (own, netns)) in new.iter().zip(made) {
            let procfs = procfs.as_ref().map(std::os::fd::AsFd::as_fd);
            let place = Place { plan: to, wiring: wiring.as_ref(), neighbours: &neighbours, procfs, index, node };
            done.added.push(node.name().to_owned());
            let mut number = self.pairs;
            // A number is used only once, also where the kernel refuses it half-way.
            self.pairs += node.interfaces().len().max(1);
            let interfaces = place.build(&netns, &mut number, core, offloads_off.as_ref());
            let interfaces = interfaces.with_context(|| format!("building {}", node.name()))?;
            let (name, cpus) = (node.name().to_owned(), node.cpus().to_vec());
            self.hosts.push(Host { name, address: node.address(), interfaces, netns, own, cpus, share: None });
            self.pinned.push(node.sysctl().keys().cloned().collect());
        }
        Ok(())
    }

    /// Makes the interfaces that the node `index` has besides those of `earlier`.
    fn add_interfaces(
        &mut self,
        to: &Plan,
        index: usize,
        earlier: &Node,
        core: &mut Netlink,
        done: &mut Rewired,
    ) -> Result<()> {
        let node = &to.nodes[index];
        let at = self.hosts.iter().position(|host| host.name == node.name());
        let at = at.with_context(|| format!("the lab has no node {}", node.name()))?;
        let known = self.hosts[at].interfaces.clone();
        let mut next = known.iter().map(|one| one.ifindex).max().unwrap_or(ETH0 - 1) + 1;
        let (mut kept, mut new) = (Vec::new(), Vec::new());
        for spec in node.interfaces() {
            if let Some(own) = known.iter().find(|own| own.name == spec.name) {
                kept.push(own.clone());
                continue;
            }
            let made = Interface {
                name: spec.name.clone(),
                mac: spec.mac.0,
                gateway_mac: None,
                ifindex: next,
                core_ifindex: host::core_ifindex(self.pairs),
                core_name: format!("wire{}", self.pairs),
            };
            new.push((made.clone(), self.pairs, spec.mtu.unwrap_or(to.mtu)));
            kept.push(made);
            (next, self.pairs) = (next + 1, self.pairs + 1);
        }
        if kept.iter().map(|one| &one.name).eq(known.iter().map(|one| &one.name)) {
            return Ok(());
        }
        done.before.push((node.name().to_owned(), known));
        self.hosts[at].address = node.address();
        self.hosts[at].interfaces = kept;
        if new.is_empty() {
            return Ok(());
        }
        let several = earlier.interfaces().len() < 2 && node.interfaces().len() > 1 && !node.is_bridge();
        let offloads_off = (to.emulate.path != EmulatePath::Gso).then_some(&self.features);
        let host = &self.hosts[at];
        let interfaces = &host.interfaces;
        self.in_host(at, || {
            if several {
                allow_other_ways_back(earlier)?;
            }
            let mut inside = Netlink::open()?;
            let mut batch = Batch::default();
            for (interface, number, mtu) in &new {
                connect(interface, host::mac(Role::Core, *number), *mtu, &host.netns, core)?;
                if let Some(features) = offloads_off {
                    features.switch_offloads_off(core, &interface.core_name)?;
                    features.switch_offloads_off(&inside, &interface.name)?;
                }
                let spec = node.interfaces().iter().find(|spec| spec.name == interface.name);
                if let Some(port) = spec.filter(|_| node.is_bridge()) {
                    bridge::push_port(to, node, interface, port, &mut batch);
                }
                batch.push(format!("bringing {} up", interface.name), requests::set_up(interface.ifindex), 0);
            }
            for (number, address) in addresses(node) {
                let Interface { name, ifindex, .. } = &interfaces[number];
                if new.iter().any(|(made, ..)| made.ifindex == *ifindex) {
                    let request = requests::new_address(*ifindex, *address);
                    batch.push(format!("adding {address} to {name}"), request, NLM_F_CREATE | NLM_F_EXCL);
                }
            }
            inside.execute(batch)
        })
    }

    /// Removes what `to` lacks, now that the links are those of `to`, and gives nodes its routes, neighbours, names and
    /// sysctls. Returns what the kernel has refused.
    pub fn settle(&mut self, done: Rewired, from: &Plan, to: &Plan) -> Vec<String> {
        let mut refused = Vec::new();
        match Netlink::open() {
            Ok(mut core) => {
                for (_, host, _) in &done.removed {
                    remove_pairs(&mut core, &host.interfaces);
                    namespace::forget(&host.name);
                }
                for (name, interfaces) in &done.before {
                    let now = self.node(name).map_or(&[][..], |host| &host.interfaces);
                    let gone = interfaces.iter().filter(|one| !now.iter().any(|own| own.name == one.name));
                    remove_pairs(&mut core, gone);
                }
            }
            Err(error) => refused.push(format!("{error:#}")),
        }
        names::renew(network::names(to));
        let wirings = filled(from).and_then(|before| Ok((before, filled(to)?)));
        let (before, after) = wirings.unwrap_or_default();
        let (mut old, mut new) = (Domains::new(from, before.as_ref()), Domains::new(to, after.as_ref()));
        let earlier = from.node_indices();
        for (index, node) in spaces(to) {
            let Some(&earlier) = earlier.get(node.name()) else { continue };
            let Some(at) = self.hosts.iter().position(|host| host.name == node.name()) else { continue };
            let mut change = Change { inside: None, refused: &mut refused };
            let neighbours = self.neighbours(at, (from, earlier, &mut old), (to, index, &mut new));
            let settled = self.in_host(at, || {
                neighbours.into_iter().for_each(|(what, request, flags)| change.make(what, request, flags));
                change.routes(&from.nodes[earlier], node, &self.hosts[at].interfaces);
                change.sysctls(&from.nodes[earlier], node);
                Ok(())
            });
            refused.extend(settled.err().map(|error| format!("{error:#}")));
            self.pinned[at] = node.sysctl().keys().cloned().collect();
        }
        refused
    }

    /// Requests for the neighbours that host `at` knows beforehand, where they are others.
    fn neighbours(
        &self,
        at: usize,
        (from, earlier, old): (&Plan, usize, &mut Domains<'_>),
        (to, index, new): (&Plan, usize, &mut Domains<'_>),
    ) -> Vec<(String, RouteNetlinkMessage, u16)> {
        let mut changes = Vec::new();
        let (before, node) = (&from.nodes[earlier], &to.nodes[index]);
        if node.is_bridge() {
            return changes;
        }
        for (number, (spec, interface)) in node.interfaces().iter().zip(&self.hosts[at].interfaces).enumerate() {
            let wanted = new.around(index, number);
            let place = before.interfaces().iter().position(|one| one.name == spec.name);
            let known = place.map(|place| old.around(earlier, place)).unwrap_or_default();
            let request = |address: &IpAddr, mac: &[u8; 6]| requests::new_neighbour(interface.ifindex, *address, *mac);
            for (address, mac) in known.iter().filter(|(address, _)| !wanted.contains_key(*address)) {
                changes.push((String::new(), requests::undone(request(address, mac)), 0));
            }
            for (address, mac) in wanted.iter().filter(|(address, mac)| known.get(*address) != Some(*mac)) {
                let what = format!("adding the MAC address of {address}");
                changes.push((what, request(address, mac), NLM_F_CREATE | NLM_F_REPLACE));
            }
        }
        changes
    }
}

/// Changes of a node, in whose namespace the thread is.
struct Change<'a> {
    inside: Option<Netlink>,
    refused: &'a mut Vec<String>,
}

impl Change<'_> {
    /// Makes a change. One without a description may fail: what it removes may be gone already.
    fn make(&mut self, what: String, request: RouteNetlinkMessage, flags: u16) {
        let attempt = || -> Result<()> {
            if self.inside.is_none() {
                self.inside = Some(Netlink::open()?);
            }
            let mut batch = Batch::default();
            batch.push(what.clone(), request, flags);
            self.inside.as_mut().map_or(Ok(()), |inside| inside.execute(batch))
        };
        if let Err(error) = attempt()
            && !what.is_empty()
        {
            self.refused.push(format!("{error:#}"));
        }
    }

    fn routes(&mut self, before: &Node, after: &Node, interfaces: &[Interface]) {
        let (had, has) = (before.routes(), after.routes());
        for gone in had.iter().filter(|one| !has.iter().any(|other| other.to == one.to)) {
            // One by an interface that is gone has gone with it.
            if let Ok(request) = route(after, interfaces, gone) {
                self.make(String::new(), requests::undone(request), 0);
            }
        }
        for wanted in has.iter().filter(|one| !had.iter().any(|other| other.to == one.to && other.via == one.via)) {
            match route(after, interfaces, wanted) {
                Ok(request) => {
                    let what = format!("adding the route to {}", wanted.to);
                    self.make(what, request, NLM_F_CREATE | NLM_F_REPLACE);
                }
                Err(error) => self.refused.push(format!("{error:#}")),
            }
        }
    }

    fn sysctls(&mut self, before: &Node, after: &Node) {
        let mut sysctls = Sysctls::default();
        for (key, value) in after.sysctl().iter().filter(|(key, value)| before.sysctl().get(*key) != Some(*value)) {
            if let Err(error) = sysctls.set(key, value) {
                self.refused.push(format!("{error:#}"));
            }
        }
    }
}

/// The neighbours of interfaces: MAC addresses by IP address, of all interfaces of their broadcast domain.
struct Domains<'a> {
    plan: &'a Plan,
    wiring: Option<&'a Wiring>,
    known: HashMap<u32, Rc<BTreeMap<IpAddr, [u8; 6]>>>,
}

impl<'a> Domains<'a> {
    fn new(plan: &'a Plan, wiring: Option<&'a Wiring>) -> Domains<'a> {
        Domains { plan, wiring, known: HashMap::new() }
    }

    fn around(&mut self, node: usize, interface: usize) -> Rc<BTreeMap<IpAddr, [u8; 6]>> {
        let Some(wiring) = self.wiring else { return Rc::default() };
        let Some(domain) = wiring.domain_of(End { node, interface: Some(interface) }) else { return Rc::default() };
        let plan = self.plan;
        let all = || {
            let members = wiring.members[domain as usize].iter().filter_map(|end| wiring.interface(plan, *end));
            members.flat_map(|one| one.addresses.iter().map(|own| (own.addr(), one.mac.0))).collect()
        };
        self.known.entry(domain).or_insert_with(|| Rc::new(all())).clone()
    }
}

/// The wiring of a network whose nodes know their neighbours beforehand; none of another.
fn filled(plan: &Plan) -> Result<Option<Wiring>> {
    let is_filled = plan.has_interfaces() && plan.neighbours == Neighbours::Filled;
    is_filled.then(|| Wiring::through_bridges(plan)).transpose()
}

/// Packets of a node with several interfaces may come and go by different ways. `node`: as it was, with one.
fn allow_other_ways_back(node: &Node) -> Result<()> {
    let mut sysctls = Sysctls::default();
    for name in ["all", "default"].into_iter().chain(node.interfaces().iter().map(|one| &*one.name)) {
        sysctls.set(&format!("net/ipv4/conf/{name}/rp_filter"), "0")?;
    }
    Ok(())
}

/// Removes the pairs of these interfaces. One that somebody has removed already is no error.
fn remove_pairs<'a>(core: &mut Netlink, interfaces: impl IntoIterator<Item = &'a Interface>) {
    for interface in interfaces {
        let mut batch = Batch::default();
        batch.push(format!("removing {}", interface.name), requests::delete_link(interface.core_ifindex), 0);
        let _ = core.execute(batch);
    }
}
