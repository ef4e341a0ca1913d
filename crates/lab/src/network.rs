//! The nodes of a lab network: namespaces with several interfaces each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

use anyhow::{Context, Result};
use ipnet::IpNet;
use messages::Failure;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use plan::{End, Neighbours, Node, Plan, Wiring};

use crate::ethtool::Features;
use crate::host::{self, ETH0, HostSpec, Interface, Role};
use crate::lab::{LOOPBACK, connect};
use crate::netlink::{AT_ONCE, Batch, Encoded, Netlink};
use crate::sysctl::Sysctls;
use crate::{Host, bridge, namespace, own, procfs, requests};

/// Sequence numbers of requests that several sockets send.
const SHARED: u32 = 1 << 30;

/// Nodes whose sysctls are set through one procfs: making one takes as long as some tens of them take to look up.
const PER_PROCFS: usize = 64;

/// The nodes with a network namespace: hosts, routers and bridges.
fn spaces(plan: &Plan) -> impl Iterator<Item = (usize, &Node)> {
    plan.nodes.iter().enumerate().filter(|(_, node)| !node.is_switch())
}

/// Hosts and routers.
fn stations(plan: &Plan) -> impl Iterator<Item = (usize, &Node, Ipv4Addr)> {
    plan.nodes.iter().enumerate().filter_map(|(index, node)| Some((index, node, node.address()?)))
}

/// Refuses names and addresses that namespaces cannot have.
pub(crate) fn check(plan: &Plan) -> Result<()> {
    host::check(&stations(plan).map(|(_, node, address)| HostSpec::new(node.name(), address)).collect::<Vec<_>>())
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
    let wiring = Wiring::through_bridges(plan)?;
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
        let place = Place { plan, wiring: &wiring, neighbours: &neighbours, procfs, index, node };
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
struct Place<'a> {
    plan: &'a Plan,
    wiring: &'a Wiring,
    neighbours: &'a Shared,
    /// Where its sysctls are set.
    procfs: Option<BorrowedFd<'a>>,
    index: usize,
    node: &'a Node,
}

impl Place<'_> {
    fn build(
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
        let mut interfaces = Vec::new();
        for (number, spec) in self.node.interfaces().iter().enumerate() {
            let interface = Interface {
                name: spec.name.clone(),
                mac: spec.mac.0,
                gateway_mac: None,
                ifindex: ETH0 + number as i32,
                core_ifindex: host::core_ifindex(*ports),
                core_name: format!("wire{ports}"),
            };
            connect(&interface, host::mac(Role::Core, *ports), spec.mtu.unwrap_or(self.plan.mtu), netns, core)?;
            if let Some(features) = offloads_off {
                features.switch_offloads_off(core, &interface.core_name)?;
                features.switch_offloads_off(&inside, &interface.name)?;
            }
            interfaces.push(interface);
            *ports += 1;
        }
        match self.node.address() {
            Some(address) => inside.execute(self.configuration(address, &interfaces)?)?,
            None => bridge::build(self.plan, self.index, &interfaces, &mut inside)?,
        }
        for (number, interface) in interfaces.iter().enumerate().filter(|_| !self.node.is_bridge()) {
            let domain = self.wiring.domain_of(End { node: self.index, interface: Some(number) });
            if let (Some(domain), Neighbours::Filled) = (domain, self.plan.neighbours) {
                self.neighbours.at(self, domain, interface.ifindex).iter().try_for_each(|batch| inside.send(batch))?;
            }
        }
        if let Node::Host { sysctl, .. } | Node::Router { sysctl, .. } = self.node {
            for (key, value) in sysctl {
                sysctls.set(key, value)?;
            }
        }
        Ok(interfaces)
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
        if !self.plan.has_on_an_interface(self.index, address) {
            batch.push(
                format!("adding {address} to lo"),
                requests::new_address(LOOPBACK, IpNet::from(IpAddr::V4(address))),
                new,
            );
        }
        for Interface { name, ifindex, .. } in interfaces {
            batch.push(format!("bringing {name} up"), requests::set_up(*ifindex), 0);
        }
        for (number, address) in addresses(self.node) {
            let Interface { name, ifindex, .. } = &interfaces[number];
            batch.push(format!("adding {address} to {name}"), requests::new_address(*ifindex, *address), new);
        }
        for route in self.node.routes() {
            let hop = |via: &IpAddr| {
                let number = addresses(self.node).find(|(_, own)| own.contains(via)).map(|(number, _)| number);
                let why = || {
                    Failure::new(
                        format!("the route to {}", route.to),
                        format!("{via} is in no subnet of its interfaces"),
                    )
                };
                number.map(|number| (*via, interfaces[number].ifindex)).with_context(why)
            };
            let via = route.via.iter().map(hop).collect::<Result<Vec<_>>>()?;
            batch.push(format!("adding the route to {}", route.to), requests::new_route(route.to, &via), new);
        }
        Ok(batch)
    }
}

/// The addresses of a node's interfaces, each with the interface's number.
fn addresses(node: &Node) -> impl Iterator<Item = (usize, &IpNet)> {
    node.interfaces().iter().enumerate().flat_map(|(number, one)| one.addresses.iter().map(move |own| (number, own)))
}

/// The permanent neighbours of broadcast domains, as requests that all members send.
#[derive(Default)]
struct Shared {
    known: RefCell<HashMap<(u32, i32), Requests>>,
}

/// The requests of one domain and one index of an interface.
type Requests = Rc<[Encoded]>;

impl Shared {
    /// The requests for an interface in a domain; each is encoded once for all nodes.
    fn at(&self, place: &Place<'_>, domain: u32, ifindex: i32) -> Requests {
        let encode = || {
            let members = place.wiring.members[domain as usize].iter();
            let interfaces = members.filter_map(|end| place.wiring.interface(place.plan, *end));
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
