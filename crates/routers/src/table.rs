//! The main routing table of a router's kernel, as route messages tell of it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteNextHop, RouteProtocol, RouteType,
    RouteVia,
};
use records::routes::Change;

/// One next hop of a route, as it was added or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub prefix: IpNet,
    pub via: Option<IpAddr>,
    pub ifindex: Option<u32>,
    pub metric: u32,
    pub protocol: String,
    pub change: Change,
}

/// The prefixes in a table, each with the metrics of its routes.
#[derive(Debug, Default)]
pub(crate) struct Table {
    prefixes: BTreeMap<IpNet, BTreeSet<u32>>,
}

impl Table {
    /// Takes a message about a route of the main table. Nothing comes of others, and of a route that is there already.
    pub(crate) fn take(&mut self, message: &RouteMessage, is_removed: bool) -> Vec<Hop> {
        let header = &message.header;
        let is_main = header.table == RouteHeader::RT_TABLE_MAIN && header.kind == RouteType::Unicast;
        if !is_main || header.flags.contains(RouteFlags::Cloned) {
            return Vec::new();
        }
        let Some(prefix) = prefix(message) else { return Vec::new() };
        let metric = message.attributes.iter().find_map(|attribute| match attribute {
            RouteAttribute::Priority(metric) => Some(*metric),
            _ => None,
        });
        let metric = metric.unwrap_or(0);
        let metrics = self.prefixes.entry(prefix).or_default();
        let change = if is_removed {
            metrics.remove(&metric);
            Change::Removed
        } else if metrics.insert(metric) {
            Change::Added
        } else {
            Change::Replaced
        };
        if metrics.is_empty() {
            self.prefixes.remove(&prefix);
        }
        let protocol = name(header.protocol);
        hops(message)
            .into_iter()
            .map(|(via, ifindex)| Hop { prefix, via, ifindex, metric, protocol: protocol.clone(), change })
            .collect()
    }

    /// Whether there is a route to exactly this prefix.
    pub(crate) fn holds(&self, prefix: &IpNet) -> bool {
        self.prefixes.contains_key(prefix)
    }
}

fn prefix(message: &RouteMessage) -> Option<IpNet> {
    let destination = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Destination(address) => ip(address),
        _ => None,
    });
    // A default route has no destination.
    let any: IpAddr = match message.header.address_family {
        AddressFamily::Inet6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => Ipv4Addr::UNSPECIFIED.into(),
    };
    IpNet::new(destination.unwrap_or(any), message.header.destination_prefix_length).ok()
}

fn hops(message: &RouteMessage) -> Vec<(Option<IpAddr>, Option<u32>)> {
    let several = message.attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::MultiPath(hops) => Some(hops),
        _ => None,
    });
    match several {
        Some(hops) => {
            hops.iter().map(|hop: &RouteNextHop| (gateway(&hop.attributes), Some(hop.interface_index))).collect()
        }
        None => {
            let out = message.attributes.iter().find_map(|attribute| match attribute {
                RouteAttribute::Oif(index) => Some(*index),
                _ => None,
            });
            vec![(gateway(&message.attributes), out)]
        }
    }
}

fn gateway(attributes: &[RouteAttribute]) -> Option<IpAddr> {
    attributes.iter().find_map(|attribute| match attribute {
        RouteAttribute::Gateway(address) => ip(address),
        RouteAttribute::Via(RouteVia::Inet6(address)) => Some(IpAddr::V6(Ipv6Addr::from(address.octets()))),
        _ => None,
    })
}

fn ip(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some(IpAddr::V4(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::V6(*address)),
        _ => None,
    }
}

/// The protocol's name as FRR and iproute2 write it.
fn name(protocol: RouteProtocol) -> String {
    match u8::from(protocol) {
        2 => "kernel",
        3 => "boot",
        4 | 196 => "static",
        11 => "zebra",
        42 => "babel",
        186 => "bgp",
        187 => "isis",
        188 => "ospf",
        189 => "rip",
        190 => "ripng",
        191 => "nhrp",
        192 => "eigrp",
        193 => "ldp",
        195 => "pbr",
        197 => "openfabric",
        198 => "srte",
        other => return other.to_string(),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(last: u8, via: u8, metric: u32) -> RouteMessage {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.kind = RouteType::Unicast;
        message.header.protocol = RouteProtocol::Ospf;
        message.header.destination_prefix_length = 24;
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(Ipv4Addr::new(10, 0, last, 0))),
            RouteAttribute::Gateway(RouteAddress::Inet(Ipv4Addr::new(10, 9, 0, via))),
            RouteAttribute::Oif(3),
            RouteAttribute::Priority(metric),
        ];
        message
    }

    fn holds(table: &Table, prefix: &str) -> bool {
        table.holds(&prefix.parse().unwrap())
    }

    #[test]
    fn a_prefix_is_there_as_long_as_one_of_its_routes_is() {
        let mut table = Table::default();
        let changes = |hops: Vec<Hop>| hops.into_iter().map(|hop| hop.change).collect::<Vec<_>>();
        assert_eq!(changes(table.take(&route(1, 1, 20), false)), [Change::Added]);
        assert_eq!(changes(table.take(&route(1, 2, 20), false)), [Change::Replaced]);
        assert_eq!(changes(table.take(&route(1, 2, 30), false)), [Change::Added]);
        assert_eq!(changes(table.take(&route(1, 2, 20), true)), [Change::Removed]);
        assert!(holds(&table, "10.0.1.0/24") && !holds(&table, "10.0.2.0/24"));
        table.take(&route(1, 2, 30), true);
        assert!(!holds(&table, "10.0.1.0/24"));
    }

    #[test]
    fn each_next_hop_is_told() {
        let mut message = route(1, 1, 20);
        message.attributes.retain(|one| !matches!(one, RouteAttribute::Gateway(_) | RouteAttribute::Oif(_)));
        let hop = |last: u8| {
            let mut hop = RouteNextHop::default();
            hop.interface_index = last.into();
            hop.attributes = vec![RouteAttribute::Gateway(RouteAddress::Inet(Ipv4Addr::new(10, 9, 0, last)))];
            hop
        };
        message.attributes.push(RouteAttribute::MultiPath(vec![hop(1), hop(2)]));
        let hops = Table::default().take(&message, false);
        let vias: Vec<_> = hops.iter().map(|hop| (hop.via.unwrap().to_string(), hop.ifindex)).collect();
        assert_eq!(vias, [("10.9.0.1".to_owned(), Some(1)), ("10.9.0.2".to_owned(), Some(2))]);
        assert!(hops.iter().all(|hop| hop.protocol == "ospf" && hop.metric == 20));
    }

    #[test]
    fn other_tables_do_not_count() {
        let mut message = route(1, 1, 20);
        message.header.table = 255;
        assert_eq!(Table::default().take(&message, false), []);
    }
}
