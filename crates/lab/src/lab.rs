//! The lab itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, State, Stats64};
use serde::Serialize;

use crate::ethtool::Features;
use crate::hops::Hop;
use crate::host::{Interface, core_ifindex};
use crate::namespace::{self, Visit};
use crate::netlink::{Batch, Netlink};
use crate::release::close_together;
use crate::requests;
use crate::sysctl::Sysctls;
use crate::{Host, Shortages, files, names, network, shortage};
use messages::Failure;
use plan::{EmulatePath, Plan};

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
    pub(crate) hosts: Vec<Host>,
    pub(crate) core: OwnedFd,
    pub(crate) features: Features,
    /// The names of each host's pinned sysctls.
    pub(crate) pinned: Vec<Vec<String>>,
    pub(crate) hops: Vec<Hop>,
    /// Pairs of interfaces that were made so far: each has a number of its own.
    pub(crate) pairs: usize,
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
    /// Nodes have an interface for each of the plan's, in their subnets. Hosts without interfaces in the plan have `eth0`,
    /// and send all to a gateway that nobody has: the core knows no subnets and leads packets by their addresses. On the GSO
    /// path segmentation and checksum offloads stay as the kernel sets them, else they are off on both ends of each pair.
    ///
    /// # Errors
    /// A name or an address that namespaces cannot have, or a request that the kernel refuses.
    pub fn build(plan: &Plan) -> Result<Lab> {
        network::check(plan)?;
        files::allow(files::of_nodes(plan))?;
        let core = namespace::current()?;
        let mut socket = Netlink::open()?;
        Sysctls::default().disable_ipv6().context("in the core")?;
        let mut batch = Batch::default();
        batch.push("bringing up the core's loopback interface", requests::set_up(LOOPBACK), 0);
        socket.execute(batch)?;
        let features = Features::query(&socket)?;
        names::publish(network::names(plan), plan.outside().map(|outside| outside.name_server().into()));
        let offloads_off = (plan.emulate.path != EmulatePath::Gso).then_some(&features);
        let home = Visit::from(&core);
        let hosts = network::build(plan, &mut socket, offloads_off)?;
        drop(home);
        wait_until_up(&mut socket, &hosts, 0)?;
        let pairs = hosts.iter().map(|host| host.interfaces.len()).sum();
        Ok(Lab { hosts, core, features, pinned: network::pinned(plan), hops: Vec::new(), pairs })
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

/// The core's ends were up before their peers. Their queues start when a kernel thread notices the carrier; until then
/// they drop whatever is sent, unless it bypasses the queue. Pairs before number `first` are not waited for: somebody may have
/// taken their carrier.
pub(crate) fn wait_until_up(socket: &mut Netlink, hosts: &[Host], first: usize) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let states = links(socket, None, |attribute| match attribute {
            LinkAttribute::OperState(state) => Some(*state),
            _ => None,
        })?;
        let is_down = |interface: &Interface| {
            interface.core_ifindex >= core_ifindex(first) && states.get(&interface.core_ifindex) != Some(&State::Up)
        };
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
