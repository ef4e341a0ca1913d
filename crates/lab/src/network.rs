//! The nodes of a network: namespaces with their interfaces, addresses and routes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use anyhow::{Context, Result};
use ipnet::{IpNet, Ipv4Net};
use messages::Failure;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use plan::{End, Neighbours, Node, Plan, Route, Wiring};
use units::Mtu;

use crate::ethtool::Features;
use crate::host::{self, ETH0, GATEWAY, Interface, Role};
use crate::lab::LOOPBACK;
use crate::netlink::{AT_ONCE, Batch, Encoded, Netlink};
use crate::sysctl::Sysctls;
use crate::{Host, bridge, namespace, own, procfs, requests};

/// Sequence numbers of requests that several sockets send.
const SHARED: u32 = 1 << 30;

/// Nodes whose sysctls are set through one procfs: making one takes as long as some tens of them take to look up.
const PER_PROCFS: usize = 64;

/// The nodes with a network namespace: hosts, routers and bridges.
pub(crate) fn spaces(plan: &Plan) -> impl Iterator<Item = (usize, &Node)> {
    plan.nodes.iter().enumerate().filter(|(_, node)| !node.is_switch())
}

/// Names of the sysctls that the plan sets, by node with a network namespace.
pub(crate) fn pinned(plan: &Plan) -> Vec<Vec<String>> {
    spaces(plan).map(|(_, node)| node.sysctl().keys().cloned().collect()).collect()
}

/// Hosts and routers.
fn stations(plan: &Plan) -> impl Iterator<Item = (usize, &Node, Ipv4Addr)> {
    plan.nodes.iter().enumerate().filter_map(|(index, node)| Some((index, node, node.address()?)))
}

/// Refuses names and addresses that namespaces cannot have.
pub(crate) fn check(plan: &Plan) -> Result<()> {
    host::check(stations(plan).map(|(_, node, address)| (node.name(), address)), &plan.anycast)
}

/// The addresses by which programs know the nodes: of each the one that flows go to, and those of IPv6.
pub(crate) fn names(plan: &Plan) -> impl Iterator<Item = (IpAddr, &str)> {
    stations(plan).flat_map(|(_, node, address)| {
        let all = node.interfaces().iter().flat_map(|interface| &interface.addresses).map(IpNet::addr);
        let known = std::iter::once(IpAddr::V4(address)).chain(all.filter(IpAddr::is_ipv6));
        known.map(|address| (address, node.name()))
    })
}

/// Builds all nodes. Leaves the calling thread in the network namespace of one of them.
pub(crate) fn build(plan: &Plan, core: &mut Netlink, offloads_off: Option<&Features>) -> Result<Vec<Host>> {
    let is_filled = plan.has_interfaces() && plan.neighbours == Neighbours::Filled;
    let wiring = is_filled.then(|| Wiring::through_bridges(plan)).transpose()?;
    let own = own::create(spaces(plan).map(|(_, node)| (node.name(), node.private())))?;
    let neighbours = Shared::default();
    let mut ports = 0;
    let mut built = Vec::with_capacity(own.len());
    let mut procfs = None;
    for ((index, node), (own, netns)) in spaces(plan).zip(own) {
        if built.len().is_multiple_of(PER_PROCFS) {
            procfs = procfs::fresh();
        }
        let procfs = procfs.as_ref().map(OwnedFd::as_fd);
        let place = Place { plan, wiring: wiring.as_ref(), neighbours: &neighbours, procfs, index, node };
        let made = place.build(&netns, &mut ports, core, offloads_off);
        let interfaces = made.with_context(|| format!("building {}", node.name()))?;
        built.push(Host {
            name: node.name().to_owned(),
            address: node.address(),
            interfaces,
            netns,
            own,
            cpus: node.cpus().to_vec(),
            share: None,
        });
    }
    Ok(built)
}

/// A node and its surroundings.
pub(crate) struct Place<'a> {
    pub plan: &'a Plan,
    /// `None` where nobody is to know its neighbours beforehand.
    pub wiring: Option<&'a Wiring>,
    pub neighbours: &'a Shared,
    /// Where its sysctls are set.
    pub procfs: Option<BorrowedFd<'a>>,
    pub index: usize,
    pub node: &'a Node,
}

impl Place<'_> {
    /// Makes the interfaces, numbered from `ports` on, which counts them. Leaves the thread in the node's network.
    pub(crate) fn build(
        &self,
        netns: &OwnedFd,
        ports: &mut usize,
        core: &mut Netlink,
        offloads_off: Option<&Features>,
    ) -> Result<Vec<Interface>> {
        namespace::enter(netns)?;
        namespace::name(self.node.name())?;
        // Before there is an interface, which gets these values.
        let mut sysctls = Sysctls::shown_by(self.procfs);
        self.prepare(&mut sysctls)?;
        let mut inside = Netlink::open()?;
        let interfaces = self.interfaces(*ports);
        for (number, interface) in interfaces.iter().enumerate() {
            let spec = self.node.interfaces().get(number);
            let mtu = spec.and_then(|spec| spec.mtu).unwrap_or(self.plan.mtu);
            connect(interface, host::mac(Role::Core, *ports), mtu, netns, core)?;
            if let Some(features) = offloads_off {
                features.switch_offloads_off(core, &interface.core_name)?;
                features.switch_offloads_off(&inside, &interface.name)?;
            }
            *ports += 1;
        }
        match self.node.address() {
            Some(address) => inside.execute(self.configuration(address, &interfaces)?)?,
            None => bridge::build(self.plan, self.index, &interfaces, &mut inside)?,
        }
        if let (Some(wiring), false) = (self.wiring, self.node.is_bridge()) {
            for (number, interface) in interfaces.iter().enumerate() {
                if let Some(domain) = wiring.domain_of(End { node: self.index, interface: Some(number) }) {
                    let known = self.neighbours.at(self.plan, wiring, domain, interface.ifindex);
                    known.iter().try_for_each(|batch| inside.send(batch))?;
                }
            }
        }
        for (key, value) in self.node.sysctl() {
            sysctls.set(key, value)?;
        }
        Ok(interfaces)
    }

    /// The interfaces of the plan, or `eth0` of a host whose plan names none. Their core ends are numbered from `first` on.
    fn interfaces(&self, first: usize) -> Vec<Interface> {
        let known = self.node.interfaces();
        if known.is_empty() && self.node.is_host() {
            return vec![Interface {
                name: "eth0".to_owned(),
                mac: host::mac(Role::Host, first),
                gateway_mac: Some(host::mac(Role::Gateway, first)),
                ifindex: ETH0,
                core_ifindex: host::core_ifindex(first),
                core_name: self.node.name().to_owned(),
            }];
        }
        let interface = |(number, spec): (usize, &plan::Interface)| Interface {
            name: spec.name.clone(),
            mac: spec.mac.0,
            gateway_mac: None,
            ifindex: ETH0 + number as i32,
            core_ifindex: host::core_ifindex(first + number),
            core_name: format!("wire{}", first + number),
        };
        known.iter().enumerate().map(interface).collect()
    }

    /// Sysctls that make a router of it, and keep it from more than the plan asks for.
    fn prepare(&self, sysctls: &mut Sysctls<'_>) -> Result<()> {
        let has_ipv6 = addresses(self.node).any(|(_, address)| address.addr().is_ipv6());
        if has_ipv6 {
            for key in ["accept_dad", "accept_ra"] {
                sysctls.set(&format!("net.ipv6.conf.all.{key}"), "0")?;
                sysctls.set(&format!("net.ipv6.conf.default.{key}"), "0")?;
            }
        } else {
            sysctls.disable_ipv6()?;
        }
        if self.node.is_router() {
            sysctls.set("net.ipv4.ip_forward", "1")?;
            if has_ipv6 {
                sysctls.set("net.ipv6.conf.all.forwarding", "1")?;
            }
            // Of several next hops a flow keeps to one: ports count, too. A kernel without multipath routes lacks these.
            for key in ["net.ipv4.fib_multipath_hash_policy", "net.ipv6.fib_multipath_hash_policy"] {
                if sysctls.is_known(key) {
                    sysctls.set(key, "1")?;
                }
            }
        }
        if self.node.interfaces().len() > 1 {
            // Packets may come and go by different ways.
            sysctls.set("net.ipv4.conf.all.rp_filter", "0")?;
            sysctls.set("net.ipv4.conf.default.rp_filter", "0")?;
        }
        Ok(())
    }

    /// Interfaces up, with their addresses, and routes.
    fn configuration(&self, address: Ipv4Addr, interfaces: &[Interface]) -> Result<Batch> {
        let new = NLM_F_CREATE | NLM_F_EXCL;
        let mut batch = Batch::default();
        batch.push("bringing lo up", requests::set_up(LOOPBACK), 0);
        let is_behind_gateway = interfaces.iter().any(|interface| interface.gateway_mac.is_some());
        if !is_behind_gateway && !self.plan.has_on_an_interface(self.index, address) {
            batch.push(
                format!("adding {address} to lo"),
                requests::new_address(LOOPBACK, IpNet::from(IpAddr::V4(address))),
                new,
            );
        }
        for Interface { name, ifindex, .. } in interfaces {
            // The core's end is up already: the carrier comes at once, with the queue, and needs no work in the background.
            batch.push(format!("bringing {name} up"), requests::set_up(*ifindex), 0);
        }
        for Interface { name, ifindex, gateway_mac, .. } in interfaces {
            let Some(gateway_mac) = *gateway_mac else { continue };
            let own = requests::new_address(*ifindex, Ipv4Net::from(address).into());
            batch.push(format!("adding {address}/32 to {name}"), own, new);
            let gateway = requests::new_neighbour(*ifindex, GATEWAY.into(), gateway_mac);
            batch.push("adding the gateway's MAC address", gateway, new);
            batch.push("adding the default route", requests::new_default_route(*ifindex, GATEWAY), new);
        }
        for (number, address) in addresses(self.node) {
            let Interface { name, ifindex, .. } = &interfaces[number];
            batch.push(format!("adding {address} to {name}"), requests::new_address(*ifindex, *address), new);
        }
        for wanted in self.node.routes() {
            batch.push(format!("adding the route to {}", wanted.to), route(self.node, interfaces, wanted)?, new);
        }
        Ok(batch)
    }
}

/// The request for a route of a node with these interfaces.
pub(crate) fn route(node: &Node, interfaces: &[Interface], route: &Route) -> Result<RouteNetlinkMessage> {
    let hop = |via: &IpAddr| {
        let number = addresses(node).find(|(_, own)| own.contains(via)).map(|(number, _)| number);
        let why =
            || Failure::new(format!("the route to {}", route.to), format!("{via} is in no subnet of its interfaces"));
        number.map(|number| (*via, interfaces[number].ifindex)).with_context(why)
    };
    Ok(requests::new_route(route.to, &route.via.iter().map(hop).collect::<Result<Vec<_>>>()?))
}

/// Makes an interface's veth pair: one end in the core's namespace, that of `core`, up; the other, down, in `netns`.
pub(crate) fn connect(
    interface: &Interface,
    core_mac: [u8; 6],
    mtu: Mtu,
    netns: &OwnedFd,
    core: &mut Netlink,
) -> Result<()> {
    let Interface { name, mac, ifindex, core_ifindex, core_name, .. } = interface;
    let near = requests::End { ifindex: *core_ifindex, name: core_name, mac: core_mac, mtu: mtu.bytes() };
    let far = requests::End { ifindex: *ifindex, name, mac: *mac, mtu: mtu.bytes() };
    let mut batch = Batch::default();
    let pair = requests::new_veth(&near, &far, netns.as_raw_fd());
    batch.push(format!("creating the veth pair {core_name} - {name}"), pair, NLM_F_CREATE | NLM_F_EXCL);
    core.execute(batch)
}

/// The addresses of a node's interfaces, each with the interface's number.
pub(crate) fn addresses(node: &Node) -> impl Iterator<Item = (usize, &IpNet)> {
    node.interfaces().iter().enumerate().flat_map(|(number, one)| one.addresses.iter().map(move |own| (number, own)))
}

/// The permanent neighbours of broadcast domains, as requests that all members send.
#[derive(Default)]
pub(crate) struct Shared {
    known: RefCell<HashMap<(u32, i32), Requests>>,
}

/// The requests of one domain and one index of an interface.
type Requests = Rc<[Encoded]>;

impl Shared {
    /// The requests for an interface in a domain; each is encoded once for all nodes.
    fn at(&self, plan: &Plan, wiring: &Wiring, domain: u32, ifindex: i32) -> Requests {
        let encode = || {
            let members = wiring.members[domain as usize].iter();
            let interfaces = members.filter_map(|end| wiring.interface(plan, *end));
            let all = interfaces.flat_map(|one| one.addresses.iter().map(|own| (own.addr(), one.mac.0)));
            encoded(&all.collect::<Vec<_>>(), ifindex).into()
        };
        self.known.borrow_mut().entry((domain, ifindex)).or_insert_with(encode).clone()
    }
}

/// A node's own address among them does no harm: packets to it never reach an interface.
fn encoded(neighbours: &[(IpAddr, [u8; 6])], ifindex: i32) -> Vec<Encoded> {
    let batch = |some: &[(IpAddr, [u8; 6])]| {
        let mut batch = Batch::default();
        for &(address, mac) in some {
            let request = requests::new_neighbour(ifindex, address, mac);
            batch.push(format!("adding the MAC address of {address}"), request, NLM_F_CREATE | NLM_F_EXCL);
        }
        batch.encode(SHARED)
    };
    neighbours.chunks(AT_ONCE).map(batch).collect()
}
