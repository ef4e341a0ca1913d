//! The lab itself.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, State, Stats64};
use serde::Serialize;

use crate::ethtool::Features;
use crate::host::{self, ETH0, GATEWAY, Role};
use crate::namespace::{self, Visit};
use crate::netlink::{Batch, Netlink};
use crate::requests::{self, End};
use crate::{Host, HostSpec, names, sysctl};
use messages::Failure;

/// The loopback interface's index in every network namespace.
const LOOPBACK: i32 = 1;

/// An end of a host's veth pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `eth0`, inside the host.
    Host,
    /// The end in the core's namespace.
    Core,
}

/// Packets that an interface counted since it was made (IFLA_STATS64).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Counters {
    pub host: String,
    pub side: Side,
    pub rx_packets: u64,
    pub tx_packets: u64,
    pub rx_dropped: u64,
    pub tx_dropped: u64,
    pub rx_errors: u64,
    pub tx_errors: u64,
}

/// A running lab. Dropping it closes the namespaces' descriptors; the sandbox's end removes the rest.
#[derive(Debug)]
pub struct Lab {
    hosts: Vec<Host>,
    core: OwnedFd,
    features: Features,
    /// The names of each host's pinned sysctls.
    pinned: Vec<Vec<String>>,
}

impl Lab {
    /// Builds every host. The calling thread's network namespace becomes the core: it must be a sandbox's, with its
    /// mounts. Segmentation and checksum offloads stay as the kernel sets them if `offloads`, else they are off on both
    /// ends of each pair.
    pub fn build(hosts: &[HostSpec], offloads: bool) -> Result<Lab> {
        host::check(hosts)?;
        let core = namespace::current()?;
        let mut socket = Netlink::open()?;
        sysctl::disable_ipv6().context("in the core")?;
        let mut batch = Batch::default();
        batch.push("bringing up the core's loopback interface", requests::set_up(LOOPBACK), 0);
        socket.execute(batch)?;
        let features = Features::query(&socket)?;
        let home = Visit::from(&core);
        let built = hosts
            .iter()
            .enumerate()
            .map(|(index, spec)| {
                build_host(index, spec, &mut socket, (!offloads).then_some(&features))
                    .with_context(|| format!("building host {}", spec.name))
            })
            .collect::<Result<Vec<Host>>>()?;
        drop(home);
        wait_until_up(&mut socket, &built)?;
        names::publish(hosts);
        let pinned = hosts.iter().map(|spec| spec.sysctl.keys().cloned().collect()).collect();
        Ok(Lab { hosts: built, core, features, pinned })
    }

    /// Hosts in the order of the specification.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
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
            let eth0 = self.in_host(index, || links(&mut Netlink::open()?, Some(ETH0), statistics))?;
            counters.push(count(host, Side::Host, eth0.get(&ETH0))?);
            counters.push(count(host, Side::Core, core.get(&host.core_ifindex))?);
        }
        Ok(counters)
    }

    /// Offloads by host and by the kernel's feature name: true if on at either end.
    pub fn offloads(&self) -> Result<BTreeMap<String, BTreeMap<String, bool>>> {
        let core = Netlink::open()?;
        let read = |(index, host): (usize, &Host)| {
            let mut features = self.in_host(index, || self.features.read_offloads(&Netlink::open()?, "eth0"))?;
            for (feature, on) in self.features.read_offloads(&core, &host.name)? {
                *features.entry(feature).or_default() |= on;
            }
            Ok((host.name.clone(), features))
        };
        self.hosts.iter().enumerate().map(read).collect()
    }

    /// Current values of all sysctls that the specification sets, by host and name.
    pub fn sysctls(&self) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
        let read = |(index, host): (usize, &Host)| {
            let keys = self.pinned[index].iter();
            let values = self.in_host(index, || keys.map(|key| Ok((key.clone(), sysctl::get(key)?))).collect())?;
            Ok((host.name.clone(), values))
        };
        self.hosts.iter().enumerate().map(read).collect()
    }
}

/// Leaves the calling thread in the new host's namespace.
fn build_host(index: usize, spec: &HostSpec, core: &mut Netlink, offloads_off: Option<&Features>) -> Result<Host> {
    let netns = namespace::create()?;
    namespace::name(&spec.name)?;
    // Before there is an interface: no address, no duplicate address detection, no multicast reports.
    sysctl::disable_ipv6()?;
    let mut inside = Netlink::open()?;

    let host = Host {
        name: spec.name.clone(),
        address: spec.address,
        mac: host::mac(Role::Host, index),
        gateway_mac: host::mac(Role::Gateway, index),
        core_ifindex: host::core_ifindex(index),
        netns,
    };
    let near =
        End { ifindex: host.core_ifindex, name: &host.name, mac: host::mac(Role::Core, index), mtu: spec.mtu.bytes() };
    let far = End { ifindex: ETH0, name: "eth0", mac: host.mac, mtu: spec.mtu.bytes() };
    let mut batch = Batch::default();
    let pair = requests::new_veth(&near, &far, host.netns.as_raw_fd());
    batch.push(format!("creating the veth pair {} - eth0", host.name), pair, NLM_F_CREATE | NLM_F_EXCL);
    core.execute(batch)?;

    if let Some(features) = offloads_off {
        features.switch_offloads_off(core, &host.name)?;
        features.switch_offloads_off(&inside, "eth0")?;
    }

    let new = NLM_F_CREATE | NLM_F_EXCL;
    let mut batch = Batch::default();
    batch.push("bringing lo up", requests::set_up(LOOPBACK), 0);
    // The core's end is up already: the carrier comes at once, with eth0's queue, and needs no work in the background.
    batch.push("bringing eth0 up", requests::set_up(ETH0), 0);
    batch.push(format!("adding {}/32 to eth0", host.address), requests::new_address(ETH0, host.address), new);
    batch.push("adding the gateway's MAC address", requests::new_neighbour(ETH0, GATEWAY, host.gateway_mac), new);
    batch.push("adding the default route", requests::new_default_route(ETH0, GATEWAY), new);
    inside.execute(batch)?;

    for (key, value) in &spec.sysctl {
        sysctl::set(key, value)?;
    }
    Ok(host)
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
        let Some(down) = hosts.iter().find(|host| states.get(&host.core_ifindex) != Some(&State::Up)) else {
            return Ok(());
        };
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
fn links<T>(
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

fn count(host: &Host, side: Side, statistics: Option<&Stats64>) -> Result<Counters> {
    let statistics =
        statistics.with_context(|| format!("host {}: the {side:?} end of its veth pair is gone", host.name))?;
    Ok(Counters {
        host: host.name.clone(),
        side,
        rx_packets: statistics.rx_packets,
        tx_packets: statistics.tx_packets,
        rx_dropped: statistics.rx_dropped,
        tx_dropped: statistics.tx_dropped,
        rx_errors: statistics.rx_errors,
        tx_errors: statistics.tx_errors,
    })
}
