//! The lab itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ipnet::Ipv4Net;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, State, Stats64};
use serde::Serialize;

use crate::ethtool::Features;
use crate::hops::Hop;
use crate::host::{self, ETH0, GATEWAY, Interface, Role};
use crate::namespace::{self, Visit};
use crate::netlink::{Batch, Netlink};
use crate::release::close_together;
use crate::requests::{self, End};
use crate::sysctl::Sysctls;
use crate::{Host, HostSpec, Own, Shortages, names, network, own, shortage};
use messages::Failure;
use plan::{EmulatePath, Node, Plan};
use units::Mtu;

/// The loopback interface's index in every network namespace.
pub(crate) const LOOPBACK: i32 = 1;

/// An end of an interface's veth pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The end inside the host.
    Host,
    /// The end in the core's namespace.
    Core,
}

/// Packets that an interface counted since it was made (IFLA_STATS64).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Counters {
    pub host: String,
    /// Its name in its host.
    pub interface: String,
    pub side: Side,
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
}

impl Counters {
    /// Subtracts the counts of `earlier`, of the same interface.
    pub fn subtract(&mut self, earlier: &Counters) {
        self.rx_packets -= earlier.rx_packets;
        self.tx_packets -= earlier.tx_packets;
        self.rx_dropped -= earlier.rx_dropped;
        self.tx_dropped -= earlier.tx_dropped;
        self.rx_errors -= earlier.rx_errors;
        self.tx_errors -= earlier.tx_errors;
    }
}

/// A running lab. Dropping it closes the namespaces' descriptors; the sandbox's end removes the rest.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<Host>,
    pub(crate) core: OwnedFd,
    features: Features,
    /// The names of each host's pinned sysctls.
    pinned: Vec<Vec<String>>,
    pub(crate) hops: Vec<Hop>,
}

impl Drop for Lab {
    fn drop(&mut self) {
        close_together(self.hosts.drain(..).map(|host| host.own.mounts).collect());
    }
}

impl Lab {
    /// Programs in these nodes get into control groups, whose doors are given.
    pub fn share_cpus(&mut self, shares: Vec<(String, File)>) {
        for (node, share) in shares {
            if let Some(host) = self.hosts.iter_mut().find(|host| host.name == node) {
                host.share = Some(share);
            }
        }
    }

    /// Builds the hosts, routers and bridges of a plan. The calling thread's network namespace becomes the core: it must be
    /// a sandbox's, with its mounts, and be its process's only one.
    ///
    /// Nodes of a lab network have an interface for each of the plan's, in their subnets. Hosts of a core network have one
    /// each, and send all to a gateway that nobody has: the core knows no subnets and leads packets by their addresses.
    pub fn build(plan: &Plan) -> Result<Lab> {
        let offloads = plan.emulate.path == EmulatePath::Gso;
        if !plan.is_lab() {
            let spec = |(name, address, sysctl): (&str, _, &BTreeMap<String, String>)| HostSpec {
                sysctl: sysctl.clone(),
                mtu: plan.mtu,
                ..HostSpec::new(name, address)
            };
            return Lab::of_hosts(&plan.hosts().map(spec).collect::<Vec<_>>(), offloads);
        }
        network::check(plan)?;
        let pinned = plan.nodes.iter().filter_map(|node| match node {
            Node::Host { sysctl, .. } | Node::Router { sysctl, .. } => Some(sysctl.keys().cloned().collect()),
            Node::Bridge { .. } => Some(Vec::new()),
            Node::Switch { .. } => None,
        });
        Lab::with(network::names(plan), offloads, pinned.collect(), |socket, off| network::build(plan, socket, off))
    }

    /// Builds the hosts of a core network. Segmentation and checksum offloads stay as the kernel sets them if `offloads`, else
    /// they are off on both ends of each pair. What [`build`](Lab::build) says holds here, too.
    pub fn of_hosts(hosts: &[HostSpec], offloads: bool) -> Result<Lab> {
        host::check(hosts)?;
        host::check_unique(hosts)?;
        let names = hosts.iter().map(|host| (host.address.into(), host.name.as_str()));
        let pinned = hosts.iter().map(|spec| spec.sysctl.keys().cloned().collect()).collect();
        Lab::with(names, offloads, pinned, |socket, off| {
            let own = own::create(hosts.iter().map(|spec| (spec.name.as_str(), &[][..])))?;
            let built = hosts.iter().zip(own).enumerate().map(|(index, (spec, own))| {
                build_host(index, spec, own, socket, off).with_context(|| format!("building host {}", spec.name))
            });
            built.collect()
        })
    }

    /// Prepares the core, and builds with its socket the hosts that have these names. `build` gets the features to switch
    /// off, too, unless `offloads`.
    fn with<'a>(
        names: impl Iterator<Item = (IpAddr, &'a str)>,
        offloads: bool,
        pinned: Vec<Vec<String>>,
        build: impl FnOnce(&mut Netlink, Option<&Features>) -> Result<Vec<Host>>,
    ) -> Result<Lab> {
        let core = namespace::current()?;
        let mut socket = Netlink::open()?;
        Sysctls::default().disable_ipv6().context("in the core")?;
        let mut batch = Batch::default();
        batch.push("bringing up the core's loopback interface", requests::set_up(LOOPBACK), 0);
        socket.execute(batch)?;
        let features = Features::query(&socket)?;
        names::publish(names);
        let home = Visit::from(&core);
        let hosts = build(&mut socket, (!offloads).then_some(&features))?;
        drop(home);
        wait_until_up(&mut socket, &hosts)?;
        Ok(Lab { hosts, core, features, pinned, hops: Vec::new() })
    }

    /// Hosts, routers and bridges, in the order of the specification.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The host, router or bridge of this name.
    pub fn node(&self, name: &str) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == name)
    }

    /// Runs `f` with the calling thread inside host `index`'s network namespace, and moves the thread back.
    pub fn in_host<T>(&self, index: usize, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let host = &self.hosts[index];
        let _visit = Visit::to(&host.netns, &self.core).with_context(|| format!("host {}", host.name))?;
        f().with_context(|| format!("in host {}", host.name))
    }

    /// Counters of both ends of every pair, hosts in order.
    pub fn counters(&self) -> Result<Vec<Counters>> {
        let core = links(&mut Netlink::open()?, None, statistics)?;
        let mut counters = Vec::with_capacity(2 * self.hosts.len());
        for (index, host) in self.hosts.iter().enumerate() {
            let [only] = &*host.interfaces else {
                let inside = self.in_host(index, || links(&mut Netlink::open()?, None, statistics))?;
                for interface in &host.interfaces {
                    counters.push(count(host, interface, Side::Host, inside.get(&interface.ifindex))?);
                    counters.push(count(host, interface, Side::Core, core.get(&interface.core_ifindex))?);
                }
                continue;
            };
            let inside = self.in_host(index, || links(&mut Netlink::open()?, Some(only.ifindex), statistics))?;
            counters.push(count(host, only, Side::Host, inside.get(&only.ifindex))?);
            counters.push(count(host, only, Side::Core, core.get(&only.core_ifindex))?);
        }
        Ok(counters)
    }

    /// Offloads by host and by the kernel's feature name: true if on at either end of any interface.
    pub fn offloads(&self) -> Result<BTreeMap<String, BTreeMap<String, bool>>> {
        let core = Netlink::open()?;
        let read = |(index, host): (usize, &Host)| {
            let mut features: BTreeMap<String, bool> = BTreeMap::new();
            let inside = self.in_host(index, Netlink::open)?;
            for interface in &host.interfaces {
                for (socket, name) in [(&inside, &interface.name), (&core, &interface.core_name)] {
                    for (feature, on) in self.features.read_offloads(socket, name)? {
                        *features.entry(feature).or_default() |= on;
                    }
                }
            }
            Ok((host.name.clone(), features))
        };
        self.hosts.iter().enumerate().map(read).collect()
    }

    /// Returns the hosts' shortages of memory for TCP so far, by host. A host without any is left out.
    pub fn shortages(&self) -> Result<BTreeMap<String, Shortages>> {
        let mut found = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let counts = self.in_host(index, shortage::read)?;
            if !counts.is_empty() {
                found.insert(host.name.clone(), counts);
            }
        }
        Ok(found)
    }

    /// Current values of all sysctls that the specification sets, by host and name.
    pub fn sysctls(&self) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        let read = |(index, host): (usize, &Host)| {
            let keys = self.pinned[index].iter();
            let mut sysctls = Sysctls::default();
            let values = self.in_host(index, || keys.map(|key| Ok((key.clone(), sysctls.get(key)?))).collect())?;
            Ok((host.name.clone(), values))
        };
        self.hosts.iter().enumerate().map(read).collect()
    }
}

/// Leaves the calling thread in the new host's namespace.
fn build_host(
    index: usize,
    spec: &HostSpec,
    (own, netns): (Own, OwnedFd),
    core: &mut Netlink,
    offloads_off: Option<&Features>,
) -> Result<Host> {
    namespace::enter(&netns)?;
    namespace::name(&spec.name)?;
    // Before there is an interface: no address, no duplicate address detection, no multicast reports.
    let mut sysctls = Sysctls::default();
    sysctls.disable_ipv6()?;
    let mut inside = Netlink::open()?;

    let eth0 = Interface {
        name: "eth0".to_owned(),
        mac: host::mac(Role::Host, index),
        gateway_mac: Some(host::mac(Role::Gateway, index)),
        ifindex: ETH0,
        core_ifindex: host::core_ifindex(index),
        core_name: spec.name.clone(),
    };
    connect(&eth0, host::mac(Role::Core, index), spec.mtu, &netns, core)?;
    if let Some(features) = offloads_off {
        features.switch_offloads_off(core, &eth0.core_name)?;
        features.switch_offloads_off(&inside, &eth0.name)?;
    }

    let new = NLM_F_CREATE | NLM_F_EXCL;
    let mut batch = Batch::default();
    batch.push("bringing lo up", requests::set_up(LOOPBACK), 0);
    // The core's end is up already: the carrier comes at once, with eth0's queue, and needs no work in the background.
    batch.push("bringing eth0 up", requests::set_up(ETH0), 0);
    batch.push(
        format!("adding {}/32 to eth0", spec.address),
        requests::new_address(ETH0, Ipv4Net::from(spec.address).into()),
        new,
    );
    let gateway = requests::new_neighbour(ETH0, GATEWAY.into(), host::mac(Role::Gateway, index));
    batch.push("adding the gateway's MAC address", gateway, new);
    batch.push("adding the default route", requests::new_default_route(ETH0, GATEWAY), new);
    inside.execute(batch)?;

    for (key, value) in &spec.sysctl {
        sysctls.set(key, value)?;
    }
    Ok(Host {
        name: spec.name.clone(),
        address: Some(spec.address),
        interfaces: vec![eth0],
        netns,
        own,
        cpus: Vec::new(),
        share: None,
    })
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
    let near = End { ifindex: *core_ifindex, name: core_name, mac: core_mac, mtu: mtu.bytes() };
    let far = End { ifindex: *ifindex, name, mac: *mac, mtu: mtu.bytes() };
    let mut batch = Batch::default();
    let pair = requests::new_veth(&near, &far, netns.as_raw_fd());
    batch.push(format!("creating the veth pair {core_name} - {name}"), pair, NLM_F_CREATE | NLM_F_EXCL);
    core.execute(batch)
}

/// The core's ends were up before their peers. Their queues start when a kernel thread notices the carrier; until then
/// they drop whatever is sent, unless it bypasses the queue.
fn wait_until_up(socket: &mut Netlink, hosts: &[Host]) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let states = links(socket, None, |attribute| match attribute {
            LinkAttribute::OperState(state) => Some(*state),
            _ => None,
        })?;
        let is_down = |interface: &Interface| states.get(&interface.core_ifindex) != Some(&State::Up);
        let Some(down) = hosts.iter().find(|host| host.interfaces.iter().any(is_down)) else { return Ok(()) };
        if Instant::now() > deadline {
            return Err(Failure::new(format!("bringing up {}'s end in the core", down.name), "the link stays down")
                .hint("the machine is too busy to run kernel threads: stop other work")
                .into());
        }
        sleep(Duration::from_micros(200));
    }
}

fn statistics(attribute: &LinkAttribute) -> Option<Stats64> {
    if let LinkAttribute::Stats64(statistics) = attribute { Some(*statistics) } else { None }
}

/// An attribute of one interface, or of all in the socket's namespace, by interface index.
pub(crate) fn links<T>(
    socket: &mut Netlink,
    ifindex: Option<i32>,
    attribute: impl Fn(&LinkAttribute) -> Option<T>,
) -> Result<BTreeMap<i32, T>> {
    let found = socket.query("listing interfaces", requests::get_link(ifindex), ifindex.is_none())?;
    let pick = |message| {
        let RouteNetlinkMessage::NewLink(link) = message else { return None };
        link.attributes.iter().find_map(&attribute).map(|value| (link.header.index as i32, value))
    };
    Ok(found.into_iter().filter_map(pick).collect())
}

fn count(host: &Host, interface: &Interface, side: Side, statistics: Option<&Stats64>) -> Result<Counters> {
    let statistics = statistics
        .with_context(|| format!("{} of {}: the {side:?} end of its veth pair is gone", interface.name, host.name))?;
    Ok(Counters {
        host: host.name.clone(),
        interface: interface.name.clone(),
        side,
        rx_packets: statistics.rx_packets,
        tx_packets: statistics.tx_packets,
        rx_dropped: statistics.rx_dropped,
        tx_dropped: statistics.tx_dropped,
        rx_errors: statistics.rx_errors,
        tx_errors: statistics.tx_errors,
    })
}
