//! The expanded run: every default filled in, every quantity an integer in the unit that its name says.
//!
//! The Python planner writes it as `plan.json`; every engine reads it here. An engine knows nodes, unidirectional links
//! and flows: presets such as a dumbbell are gone by now. See `docs/reference/scenario.md` for the meaning of each key.

mod algorithm;
mod bridges;
mod carrier;
mod change;
mod check;
mod check_links;
mod daemons;
mod delays;
mod gathering;
mod ideal;
mod impairments;
mod lab_routes;
mod link;
mod network;
mod node;
mod on_off;
mod outside;
mod ping;
mod program;
mod qdiscs;
mod queue;
mod random;
mod routing;
mod schema;
mod spanning_tree;
mod static_routes;
mod ttl;
mod unfolded;
mod wiring;
mod workload;

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use anyhow::{Context, Result};
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Ip, Mtu, Time};

pub use algorithm::{Algorithm, Parameter, Source};
pub use carrier::Carrier;
pub use daemons::DaemonChange;
pub use delays::LeastDelay;
pub use ideal::Ideal;
pub use impairments::*;
pub use link::{Delays, Link, Policer, Slots, Variation};
pub use network::{LinkFacts, Network, Path as NetworkPath};
pub use node::{Interface, Mac, Neighbours, Node, Route, Routing, Stp, Vlans, Wait};
pub use on_off::{BULK_WRITE_BYTES, Bursts, On, OnOff};
pub use outside::Outside;
pub use ping::Echo;
pub use program::{Program, Ready};
pub use qdiscs::{Order, Part, Qdisc};
pub use queue::*;
pub use random::{Stream, mix};
pub use routing::{Routes, Spread};
pub use schema::schema;
pub use wiring::{End, Wiring};
pub use workload::*;

/// One run, fully specified.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// Traffic starts at 0 and ends here.
    pub duration_ns: Duration,
    /// Root of every random stream.
    pub seed: u64,
    /// Hosts, switches, bridges and routers. Where hosts have interfaces, this is a lab network: its frames cross links as on wires,
    /// whatever they carry, and the nodes' kernels route. Else it is a core network: its packets take the shortest paths.
    pub nodes: Vec<Node>,
    /// Unidirectional links. `bottleneck` is a name like any other.
    pub links: Vec<Link>,
    /// The changes of links during the run, in the order of time.
    #[serde(default)]
    pub events: Vec<LinkChange>,
    /// Congestion controls that are not the kernel's own under their own names.
    #[serde(default)]
    pub algorithms: Vec<Algorithm>,
    /// The traffic, in the scenario's order.
    pub flows: Vec<Flow>,
    /// The records that are written, and how often.
    pub record: Record,
    /// Settings of the emulation engine; others ignore them.
    pub emulate: Emulate,
    /// Settings of the simulator; others ignore them.
    #[serde(default)]
    pub simulate: Simulate,
    /// Orders may change any link at any time, so none is transparent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub changeable: bool,
    /// The MTU of the network: of all hosts' interfaces, and of all links.
    #[serde(default, skip_serializing_if = "Mtu::is_default")]
    #[schemars(extend("default" = Mtu::default()))]
    pub mtu: Mtu,
    /// The source of the MAC addresses of a lab network's neighbours.
    #[serde(default, skip_serializing_if = "Neighbours::is_default")]
    #[schemars(extend("default" = Neighbours::default()))]
    pub neighbours: Neighbours,
    /// Time 0 waits until the routers' daemons and the bridges' spanning tree have converged; `None`: it doesn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// The routing daemons that are killed and started during the run, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub daemon_events: Vec<DaemonChange>,
    /// Choice among paths of equal cost in a lab network.
    #[serde(default, skip_serializing_if = "Spread::is_default")]
    #[schemars(extend("default" = Spread::default()))]
    pub spread: Spread,
    /// Subnets of a lab network that are in several places: nodes at each may have the same addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>", extend("default" = Vec::<u8>::new()))]
    pub anycast: Vec<IpNet>,
    /// The programs that are of no flow, in the order of their start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("default" = Vec::<u8>::new()))]
    pub programs: Vec<Program>,
}

/// A link gets other parameters. Packets that propagate arrive as if nothing had happened.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// When.
    pub at_ns: Time,
    /// The link as it is from then on; its `name` says which.
    pub link: Link,
}

/// A flow from one host to another.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Unique among flows, e.g. `f1`.
    pub id: String,
    /// The name that flows of one kind have in common: the scenario's entry, e.g. `f1` of `f1.1`, `f1.2`, ...; if none,
    /// its own `id`.
    #[serde(default)]
    pub group: Option<String>,
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// The time at which it starts.
    pub start_ns: Time,
    /// The time at which it stops sending at the latest.
    pub stop_ns: Time,
    /// The receiver's port. Unique per receiving host and protocol.
    pub port: u16,
    /// Its packets are of this version of IP: 4 or 6. The latter needs hosts with IPv6 addresses.
    #[serde(default, skip_serializing_if = "Ip::is_default")]
    #[schemars(extend("default" = Ip::default()))]
    pub ip: Ip,
    /// The data that it sends.
    pub workload: Workload,
}

impl Flow {
    /// Its group.
    pub fn group(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.id)
    }
}

/// The records that are written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Spacing of `samples` and `links` rows.
    pub sample_interval_ns: Duration,
    /// Write a row per packet and link.
    pub packets: bool,
    /// Write a row per ACK that a sender receives.
    #[serde(default)]
    pub acks: Acks,
    /// Write the packets at both ends of each link as `capture.pcapng`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub capture: bool,
}

/// The choice whether every ACK is recorded, which takes BPF.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Acks {
    /// Every ACK is recorded where BPF is allowed.
    #[default]
    Auto,
    /// The run fails where it is not.
    On,
    /// Never.
    Off,
}

/// Settings of the emulation engine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Emulate {
    /// Size of the packet ring between kernel and emulator.
    pub ring_bytes: u64,
    /// Busy-wait before a packet is due for as long as waking up takes here, at most for this long.
    pub spin_ns: Duration,
    /// Room for packets inside the links; a run that needs more is invalid.
    pub arena_bytes: u64,
    /// The form in which packets cross the boundary to the kernel.
    #[serde(default)]
    pub path: EmulatePath,
    /// Packets to one host that are due within this time may be handed over together (GSO path only).
    #[serde(default)]
    pub merge_ns: Duration,
    /// A burst of segments that the kernel hands over as one stays one item of size `sum of its parts` on all links, as
    /// in a testbed on which nobody switched segmentation offload off (GSO path only).
    #[serde(default)]
    pub whole_bursts: bool,
    /// Every process of the lab is kept to so many CPUs; `None`: they use what the machine lets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<usize>,
    /// The name of the user-mode kernel that runs the lab in virtual time; `None`: this machine's kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// SHA-256 of all that went into that kernel, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_sha256: Option<String>,
    /// SHA-256 of the program of QUIC flows, or of all its builds, in hex; `None`: there are no such flows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic_sha256: Option<String>,
    /// Carrier of packets in place of our links; `None`: our links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<Links>,
}

/// Carriers of packets in place of our links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Links {
    /// Queueing disciplines of the kernel, each on a pair of interfaces of its own between the hosts.
    Kernel,
    /// The same, in the tree that Mininet makes of a link: htb, and in it netem.
    Mininet,
}

/// Settings of the simulator.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// Senders hand over trains of segments, as the kernel does; if not, each segment on its own.
    pub tso: bool,
    /// How long hosts take to answer; `None`: as long as those of a real machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
}

impl Default for Simulate {
    fn default() -> Simulate {
        Simulate { tso: true, hosts: None }
    }
}

/// Kinds of simulated hosts, in place of a real machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Hosts {
    /// Hosts of a user-mode kernel in virtual time: less than a microsecond, which its clock rounds up.
    Virtual,
}

/// The form in which packets cross the boundary between kernel and emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmulatePath {
    /// One by one, as they are on a wire; hosts' segmentation offloads are off.
    #[default]
    Wire,
    /// Bursts of segments with a virtio-net header; the links see segments.
    Gso,
}

impl Plan {
    /// Read and check `plan.json`.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading the plan {}", path.display()))?;
        Plan::parse(&text).with_context(|| format!("in the plan {}", path.display()))
    }

    /// Read and check what `plan.json` holds.
    pub fn parse(text: &str) -> Result<Plan> {
        let mut plan: Plan = serde_json::from_str(text).context("parsing the plan")?;
        plan.fill_events();
        plan.check()?;
        Ok(plan)
    }

    /// A plan of JSON, unchecked, as tests spell it. Compiled here, once: a caller of `serde_json::from_value` compiles the
    /// reading of a whole plan anew, which takes seconds for each test program.
    ///
    /// # Errors
    /// A key is missing or unknown, or a value has another type.
    pub fn of(json: serde_json::Value) -> serde_json::Result<Plan> {
        serde_json::from_value(json)
    }

    /// Hosts with their addresses, in the plan's order.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, Ipv4Addr, &BTreeMap<String, String>)> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Host { name, address, sysctl, .. } => Some((name.as_str(), *address, sysctl)),
            Node::Switch { .. } | Node::Bridge { .. } | Node::Router { .. } => None,
        })
    }

    /// The addresses of a flow's sending and receiving host, in its version of IP.
    ///
    /// # Errors
    /// The plan has no such host, or the host no such address.
    pub fn ends_of(&self, flow: &Flow) -> Result<(IpAddr, IpAddr)> {
        let address = |host: &str| {
            let node = self.nodes.iter().find(|node| node.is_host() && node.name() == host);
            let node = node.with_context(|| format!("flow {}: unknown host {host}", flow.id))?;
            node.address_of(flow.ip).with_context(|| format!("flow {}: {host} has no IPv6 address", flow.id))
        };
        Ok((address(&flow.from)?, address(&flow.to)?))
    }

    /// True if hosts and routers have interfaces with MAC addresses and subnets (a lab network): cables and switches join
    /// them, and kernels forward. False if hosts have addresses alone (a core network): links lead to them by these.
    pub fn has_interfaces(&self) -> bool {
        self.nodes.iter().any(|node| !node.interfaces().is_empty())
    }

    /// The largest MTU of any interface.
    pub fn largest_mtu(&self) -> Mtu {
        let of_interfaces = self.nodes.iter().flat_map(Node::interfaces).filter_map(|interface| interface.mtu);
        of_interfaces.fold(self.mtu, |largest, mtu| if mtu.bytes() > largest.bytes() { mtu } else { largest })
    }

    /// True if a kind of flow that has a table of this name is among the flows.
    pub fn has_table(&self, name: &str) -> bool {
        self.flows.iter().any(|flow| flow.workload.table() == Some(name))
    }

    /// The index of each node, by its name.
    pub fn node_indices(&self) -> HashMap<&str, usize> {
        self.nodes.iter().map(Node::name).enumerate().map(|(index, name)| (name, index)).collect()
    }

    /// Links on which nothing can happen to a packet at any time, in the order of `links`.
    pub fn transparent_links(&self) -> Vec<bool> {
        let changed = |name: &str| self.events.iter().any(|e| e.link.name == name && !e.link.is_transparent());
        let transparent = |link: &Link| !self.changeable && link.is_transparent() && !changed(&link.name);
        self.links.iter().map(transparent).collect()
    }
}
