//! The rtnetlink requests that a lab is built of.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::RawFd;

use ipnet::IpNet;
use netlink_packet_core::DefaultNla;
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{
    AfSpecBridge, BridgeStpState, BridgeVlanInfo, BridgeVlanInfoFlags, InfoBridge, InfoData, InfoKind, InfoVeth,
    LinkAttribute, LinkFlags, LinkInfo, LinkMessage, LinkProtoInfoBridge,
};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteNextHop, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use plan::{Stp, Vlans};
use units::Duration;

/// One end of a veth pair.
pub struct End<'a> {
    /// Its index is chosen by us, so that later requests of the same batch can name it.
    pub ifindex: i32,
    pub name: &'a str,
    pub mac: [u8; 6],
    pub mtu: u32,
}

impl End<'_> {
    fn message(&self) -> LinkMessage {
        let mut message = LinkMessage::default();
        message.header.index = self.ifindex as u32;
        message.attributes = vec![
            LinkAttribute::IfName(self.name.to_owned()),
            LinkAttribute::Address(self.mac.to_vec()),
            LinkAttribute::Mtu(self.mtu),
            // The default is one queue per possible CPU: memory and time for nothing, with one emulator thread per link.
            LinkAttribute::NumTxQueues(1),
            LinkAttribute::NumRxQueues(1),
        ];
        message
    }
}

/// Creates a pair, `near` in the socket's namespace, up and without ARP; `far` in the namespace `netns`, down.
/// Each is made where it stays: moving an interface waits for an RCU grace period.
pub fn new_veth(near: &End<'_>, far: &End<'_>, netns: RawFd) -> RouteNetlinkMessage {
    let mut peer = far.message();
    peer.attributes.push(LinkAttribute::NetNsFd(netns));
    let mut message = near.message();
    message.header.flags = LinkFlags::Up | LinkFlags::Noarp;
    message.header.change_mask = message.header.flags;
    message.attributes.push(LinkAttribute::LinkInfo(vec![
        LinkInfo::Kind(InfoKind::Veth),
        LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
    ]));
    RouteNetlinkMessage::NewLink(message)
}

/// Creates a bridge that adds no VLANs to its ports by itself.
pub fn new_bridge(ifindex: i32, name: &str, mac: [u8; 6], stp: Option<Stp>, vlans: bool) -> RouteNetlinkMessage {
    // The kernel counts in hundredths of a second.
    let ticks = |time: Duration| (time.as_nanos() / 10_000_000) as u32;
    let mut data = Vec::new();
    // A kernel without VLANs refuses to be told that there are none.
    if vlans {
        data.extend([InfoBridge::VlanFiltering(true), InfoBridge::VlanDefaultPvid(0)]);
    }
    if let Some(stp) = stp {
        data.extend([
            InfoBridge::ForwardDelay(ticks(stp.forward_delay_ns)),
            InfoBridge::HelloTime(ticks(stp.hello_ns)),
            InfoBridge::MaxAge(ticks(stp.max_age_ns)),
            InfoBridge::Priority(stp.priority),
            InfoBridge::StpState(BridgeStpState::KernelStp),
        ]);
    }
    let mut message = LinkMessage::default();
    message.header.index = ifindex as u32;
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::Address(mac.to_vec()),
        LinkAttribute::LinkInfo(vec![LinkInfo::Kind(InfoKind::Bridge), LinkInfo::Data(InfoData::Bridge(data))]),
    ];
    RouteNetlinkMessage::NewLink(message)
}

/// Makes an interface a port of a bridge.
pub fn set_bridge(ifindex: i32, bridge: i32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = ifindex as u32;
    message.attributes = vec![LinkAttribute::Controller(bridge as u32)];
    RouteNetlinkMessage::SetLink(message)
}

/// Sets the cost of a bridge's port in the spanning tree, and adds its VLANs.
pub fn set_port(ifindex: i32, cost: Option<u32>, vlans: Option<&Vlans>) -> RouteNetlinkMessage {
    const IFLA_BRPORT_COST: u16 = 3;
    let mut message = LinkMessage::default();
    message.header.interface_family = AddressFamily::Bridge;
    message.header.index = ifindex as u32;
    if let Some(cost) = cost {
        let cost = DefaultNla::new(IFLA_BRPORT_COST, cost.to_ne_bytes().to_vec());
        message.attributes.push(LinkAttribute::ProtoInfoBridge(vec![LinkProtoInfoBridge::Other(cost)]));
    }
    if let Some(vlans) = vlans {
        let info = |vid| {
            let untagged = BridgeVlanInfoFlags::Pvid | BridgeVlanInfoFlags::Untagged;
            let flags = if vlans.untagged == Some(vid) { untagged } else { BridgeVlanInfoFlags::empty() };
            AfSpecBridge::VlanInfo(BridgeVlanInfo { flags, vid })
        };
        message.attributes.push(LinkAttribute::AfSpecBridge(vlans.all().map(info).collect()));
    }
    RouteNetlinkMessage::SetLink(message)
}

/// Brings an interface up.
pub fn set_up(ifindex: i32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = ifindex as u32;
    message.header.flags = LinkFlags::Up;
    message.header.change_mask = LinkFlags::Up;
    RouteNetlinkMessage::SetLink(message)
}

/// `ip link set down`.
pub fn set_down(ifindex: i32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = ifindex as u32;
    message.header.change_mask = LinkFlags::Up;
    RouteNetlinkMessage::SetLink(message)
}

/// Asks for one interface (`Some`), or for all in a dump.
pub fn get_link(ifindex: Option<i32>) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = ifindex.unwrap_or(0) as u32;
    RouteNetlinkMessage::GetLink(message)
}

/// Adds an address. One of IPv6 is usable at once, without duplicate address detection.
pub fn new_address(ifindex: i32, address: IpNet) -> RouteNetlinkMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address.addr());
    message.header.prefix_len = address.prefix_len();
    message.header.index = ifindex as u32;
    message.attributes = vec![AddressAttribute::Local(address.addr()), AddressAttribute::Address(address.addr())];
    if address.addr().is_ipv6() {
        message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
    }
    RouteNetlinkMessage::NewAddress(message)
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 }
}

/// Adds a neighbour that never expires and is never asked for.
pub fn new_neighbour(ifindex: i32, address: IpAddr, mac: [u8; 6]) -> RouteNetlinkMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = ifindex as u32;
    message.header.state = NeighbourState::Permanent;
    let destination = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes =
        vec![NeighbourAttribute::Destination(destination), NeighbourAttribute::LinkLayerAddress(mac.to_vec())];
    RouteNetlinkMessage::NewNeighbour(message)
}

/// Removes an interface, and with it the other end of its pair.
pub fn delete_link(ifindex: i32) -> RouteNetlinkMessage {
    let mut message = LinkMessage::default();
    message.header.index = ifindex as u32;
    RouteNetlinkMessage::DelLink(message)
}

/// The opposite of a request that adds a neighbour or a route; other requests stay as they are.
pub fn undone(added: RouteNetlinkMessage) -> RouteNetlinkMessage {
    match added {
        RouteNetlinkMessage::NewNeighbour(message) => RouteNetlinkMessage::DelNeighbour(message),
        RouteNetlinkMessage::NewRoute(message) => RouteNetlinkMessage::DelRoute(message),
        other => other,
    }
}

/// `TO via ADDRESS dev IFINDEX`, or several next hops that share the traffic.
pub fn new_route(to: IpNet, via: &[(IpAddr, i32)]) -> RouteNetlinkMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(to.addr());
    message.header.destination_prefix_length = to.prefix_len();
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![RouteAttribute::Destination(address_of(to.network()))];
    if let [(gateway, ifindex)] = via {
        message.attributes.push(RouteAttribute::Gateway(address_of(*gateway)));
        message.attributes.push(RouteAttribute::Oif(*ifindex as u32));
    } else {
        let hop = |(gateway, ifindex): &(IpAddr, i32)| {
            let mut hop = RouteNextHop::default();
            hop.interface_index = *ifindex as u32;
            hop.attributes = vec![RouteAttribute::Gateway(address_of(*gateway))];
            hop
        };
        message.attributes.push(RouteAttribute::MultiPath(via.iter().map(hop).collect()));
    }
    RouteNetlinkMessage::NewRoute(message)
}

fn address_of(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}

/// `default via GATEWAY dev IFINDEX onlink`.
pub fn new_default_route(ifindex: i32, gateway: Ipv4Addr) -> RouteNetlinkMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = AddressFamily::Inet;
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message.header.flags = RouteFlags::Onlink;
    message.attributes =
        vec![RouteAttribute::Gateway(RouteAddress::Inet(gateway)), RouteAttribute::Oif(ifindex as u32)];
    RouteNetlinkMessage::NewRoute(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_core::Emitable;

    /// Sends what `bridge link set dev ... cost 5` and `bridge vlan add dev ... vid 10 pvid untagged` do (linux/if_bridge.h).
    #[test]
    fn a_port_of_a_bridge_has_its_cost_and_vlans() {
        let vlans = Vlans { untagged: Some(10), tagged: vec![20] };
        let RouteNetlinkMessage::SetLink(message) = set_port(7, Some(5), Some(&vlans)) else {
            panic!("another message")
        };
        let mut bytes = vec![0; message.buffer_len()];
        message.emit(&mut bytes);
        let words = |words: &[u16]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let (head, attributes) = bytes.split_at(16);
        assert_eq!((head[0], &head[4..8]), (libc::AF_BRIDGE as u8, &7i32.to_ne_bytes()[..]));
        let nested = 0x8000;
        let cost = [&words(&[12, libc::IFLA_PROTINFO | nested, 8, 3])[..], &5u32.to_ne_bytes()].concat();
        // PVID and untagged, then neither.
        let vlans = words(&[20, libc::IFLA_AF_SPEC, 8, 2, 2 | 4, 10, 8, 2, 0, 20]);
        assert_eq!(attributes, [cost, vlans].concat());
    }
}
