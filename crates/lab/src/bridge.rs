//! Bridges of the kernel in namespaces of their own, and the states of their ports.

use anyhow::{Context, Result};
use messages::Failure;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::link::{BridgePortState, InfoBridgePort, InfoPortData, LinkAttribute, LinkInfo};
use plan::{Node, Plan};

use crate::host::{ETH0, Interface};
use crate::lab::{LOOPBACK, Lab, links};
use crate::netlink::{Batch, Netlink};
use crate::requests;

/// The index of the bridge in its namespace: below those of its ports.
const BRIDGE: i32 = ETH0 - 1;
/// Its name there.
const NAME: &str = "br0";

/// The part of a port in the spanning tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// Port without carrier.
    Disabled,
    /// Port that waits, and forwards nothing yet.
    Waiting,
    /// Port that forwards frames.
    Forwarding,
    /// Port that forwards nothing, or frames would go round.
    Blocking,
}

/// A port of a bridge of a lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// The bridge's name.
    pub bridge: String,
    /// The interface's.
    pub interface: String,
    /// Its part.
    pub state: PortState,
}

/// Makes the plan's node `index` a bridge, with these interfaces as its ports. The socket is in its namespace.
pub(crate) fn build(plan: &Plan, index: usize, interfaces: &[Interface], inside: &mut Netlink) -> Result<()> {
    let Node::Bridge { name, interfaces: ports, stp } = &plan.nodes[index] else { return Ok(()) };
    let has_vlans = ports.iter().any(|port| port.vlans.is_some());
    let mac = interfaces.first().map_or([0; 6], |first| first.mac);
    let mut batch = Batch::default();
    batch.push("bringing lo up", requests::set_up(LOOPBACK), 0);
    let bridge = requests::new_bridge(BRIDGE, NAME, mac, *stp, has_vlans);
    batch.push(format!("creating the bridge {name}"), bridge, NLM_F_CREATE | NLM_F_EXCL);
    for (interface, port) in interfaces.iter().zip(ports) {
        push_port(plan, &plan.nodes[index], interface, port, &mut batch);
    }
    for (name, ifindex) in [(NAME, BRIDGE)].into_iter().chain(interfaces.iter().map(|one| (&*one.name, one.ifindex))) {
        batch.push(format!("bringing {name} up"), requests::set_up(ifindex), 0);
    }
    inside.execute(batch)
}

/// Adds the requests that make an interface a port of the bridge `node`.
pub(crate) fn push_port(plan: &Plan, node: &Node, interface: &Interface, port: &plan::Interface, batch: &mut Batch) {
    let Interface { name, ifindex, .. } = interface;
    let leaves = |link: &&plan::Link| link.from == node.name() && link.from_interface.as_ref() == Some(name);
    let cost = node.stp().and_then(|_| plan.links.iter().find(leaves)).map(|link| link.cost.get());
    batch.push(format!("making {name} a port"), requests::set_bridge(*ifindex, BRIDGE), 0);
    if cost.is_some() || port.vlans.is_some() {
        let what = format!("setting the cost and the VLANs of port {name}");
        batch.push(what, requests::set_port(*ifindex, cost, port.vlans.as_ref()), 0);
    }
}

impl Lab {
    /// The ports of these bridges, each with its state now.
    ///
    /// # Errors
    /// A bridge is not of this lab, or the kernel does not answer.
    pub fn ports(&self, bridges: &[&str]) -> Result<Vec<Port>> {
        let mut found = Vec::new();
        for (index, host) in self.hosts().iter().enumerate().filter(|(_, host)| bridges.contains(&&*host.name)) {
            let states = self.in_host(index, || links(&mut Netlink::open()?, None, state))?;
            for interface in &host.interfaces {
                let state = states.get(&interface.ifindex).copied();
                let state = state.with_context(|| {
                    let what = format!("reading the state of {} of {}", interface.name, host.name);
                    Failure::new(what, "it is no port of a bridge any more")
                })?;
                found.push(Port { bridge: host.name.clone(), interface: interface.name.clone(), state });
            }
        }
        Ok(found)
    }
}

fn state(attribute: &LinkAttribute) -> Option<PortState> {
    let LinkAttribute::LinkInfo(parts) = attribute else { return None };
    let of_port = parts.iter().find_map(|part| match part {
        LinkInfo::PortData(InfoPortData::BridgePort(port)) => Some(port),
        _ => None,
    });
    of_port?.iter().find_map(|one| match one {
        InfoBridgePort::State(BridgePortState::Forwarding) => Some(PortState::Forwarding),
        InfoBridgePort::State(BridgePortState::Blocking) => Some(PortState::Blocking),
        InfoBridgePort::State(BridgePortState::Disabled) => Some(PortState::Disabled),
        InfoBridgePort::State(_) => Some(PortState::Waiting),
        _ => None,
    })
}
