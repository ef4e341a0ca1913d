//! The headers of simulated packets, as Linux would write them: a simulation has no bytes.

use std::net::IpAddr;

use anyhow::{Context, Result};
use datagrams::FRAGMENT_HEADER;
use link::{Ecn, Packet, Passage};
use plan::{Plan, Transport};
use records::frames::SNAPLEN;
use sim::Segment;
use units::{Ip, headers};

use sim::rows::local_port;

/// Where a host's packets come from.
#[derive(Clone, Copy, Debug)]
struct End {
    node: u16,
    address: IpAddr,
    port: u16,
    /// The window scale that it offers.
    scale: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Tcp {
        mss: u16,
    },
    /// The payload of a whole datagram, which may come in fragments; `None`: each packet is a datagram.
    Udp {
        payload: Option<u32>,
    },
    Icmp,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    from: End,
    to: End,
    protocol: Protocol,
}

/// Writes headers.
#[derive(Debug)]
pub(crate) struct Headers {
    flows: Vec<Flow>,
    frame: Vec<u8>,
}

const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const DONT_FRAGMENT: u16 = 0x4000;
/// The extension header of a fragment.
const FRAGMENT: u8 = 44;
/// Hops that packets of Linux may make.
const TTL: u8 = 64;
/// The largest receive buffer, if a host's settings have none (`net.ipv4.tcp_rmem`).
const RECEIVE_BUFFER: u64 = 32 << 20;

impl Headers {
    pub(crate) fn of(plan: &Plan) -> Result<Headers> {
        let nodes = plan.node_indices();
        let mtus = plan.flow_mtus()?;
        let end = |name: &str, ip: Ip, port: u16| -> Result<End> {
            let &index = nodes.get(name).with_context(|| format!("{name} is no node of the plan"))?;
            let node = &plan.nodes[index];
            let address =
                node.address_of(ip).with_context(|| format!("{name} has no address of this version of IP"))?;
            let sysctls = plan.hosts().find(|(host, ..)| *host == name).map(|(.., sysctls)| sysctls);
            let sizes = sysctls.and_then(|sysctls| sysctls.get("net.ipv4.tcp_rmem"));
            let buffer = sizes.and_then(|sizes| sizes.split_whitespace().last());
            let buffer = buffer.and_then(|most| most.parse().ok()).unwrap_or(RECEIVE_BUFFER);
            // `tcp_select_initial_window`.
            let scale = buffer.max(1).ilog2().saturating_sub(15).min(14) as u8;
            Ok(End { node: index as u16, address, port, scale })
        };
        let flow = |(index, (flow, mtu)): (usize, (&plan::Flow, units::Mtu))| {
            let protocol = match flow.workload.transport() {
                Some(Transport::Udp(payload)) => Protocol::Udp { payload: Some(payload) },
                Some(Transport::Quic) => Protocol::Udp { payload: None },
                Some(Transport::Icmp) => Protocol::Icmp,
                Some(Transport::Tcp) | None => {
                    Protocol::Tcp { mss: (mtu.bytes() - flow.ip.header_bytes() - headers::TCP) as u16 }
                }
            };
            let from = end(&flow.from, flow.ip, local_port(index as u16))?;
            Ok(Flow { from, to: end(&flow.to, flow.ip, flow.port)?, protocol })
        };
        let flows = plan.flows.iter().zip(mtus).enumerate().map(flow).collect::<Result<_>>()?;
        Ok(Headers { flows, frame: Vec::with_capacity(SNAPLEN) })
    }

    /// The headers of a packet as it came to a link. Its payload is zeros, and left out.
    pub(crate) fn write(&mut self, segment: &Segment, passage: &Passage) -> &[u8] {
        let packet = &passage.packet;
        let ecn = if passage.mark.is_some() { segment.ecn } else { packet.ecn };
        let Flow { from, to, protocol } = self.flows[usize::from(packet.flow)];
        let (source, destination) = if segment.is_reply { (to, from) } else { (from, to) };
        let frame = &mut self.frame;
        frame.clear();
        for end in [destination, source] {
            frame.extend([2, 0, 0, 0]);
            frame.extend(end.node.to_be_bytes());
        }
        let (size, transport_at) = ip(frame, source, destination, protocol, ecn, packet, segment);
        if segment.fragment.is_some_and(|fragment| fragment.index > 0) {
            return frame;
        }
        // The first fragment has the header of the whole datagram.
        let size = match protocol {
            Protocol::Udp { payload: Some(payload) } => headers::UDP + payload,
            _ => size,
        };
        match protocol {
            Protocol::Tcp { mss } => tcp(frame, source, destination, mss, segment),
            Protocol::Udp { .. } => {
                for word in [source.port, destination.port, size as u16, 0] {
                    frame.extend(word.to_be_bytes());
                }
            }
            Protocol::Icmp => {
                let kind = match (source.address, segment.is_reply) {
                    (IpAddr::V4(_), false) => 8,
                    (IpAddr::V4(_), true) => 0,
                    (IpAddr::V6(_), false) => 128,
                    (IpAddr::V6(_), true) => 129,
                };
                frame.extend([kind, 0, 0, 0]);
                frame.extend(from.port.to_be_bytes());
                frame.extend((segment.seq as u16).to_be_bytes());
            }
        }
        let number = protocol.number(source.address);
        let pseudo = if number == 1 { 0 } else { pseudo(source.address, destination.address, number, size) };
        let checksum = match !fold(pseudo + sum(&frame[transport_at..])) {
            // A UDP datagram with 0 has none.
            0 if matches!(protocol, Protocol::Udp { .. }) => 0xffff,
            checksum => checksum,
        };
        let at = transport_at + protocol.checksum_at();
        frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        frame
    }
}

impl Protocol {
    fn number(self, address: IpAddr) -> u8 {
        match (self, address) {
            (Protocol::Tcp { .. }, _) => 6,
            (Protocol::Udp { .. }, _) => 17,
            (Protocol::Icmp, IpAddr::V4(_)) => 1,
            (Protocol::Icmp, IpAddr::V6(_)) => 58,
        }
    }

    fn checksum_at(self) -> usize {
        match self {
            Protocol::Tcp { .. } => 16,
            Protocol::Udp { .. } => 6,
            Protocol::Icmp => 2,
        }
    }
}

/// The type and header of IP. Returns the bytes behind it, and where they begin.
fn ip(
    frame: &mut Vec<u8>,
    from: End,
    to: End,
    protocol: Protocol,
    ecn: Ecn,
    packet: &Packet,
    segment: &Segment,
) -> (u32, usize) {
    let fragment = segment.fragment;
    let number = protocol.number(from.address);
    let ecn = ecn as u8;
    let total = packet.size - headers::ETHERNET;
    match (from.address, to.address) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            frame.extend(IPV4);
            let start = frame.len();
            frame.extend([0x45, ecn]);
            frame.extend((total as u16).to_be_bytes());
            let (id, place) = match fragment {
                // All fragments of a datagram have its number.
                Some(fragment) => (segment.seq as u16, fragment.offset | u16::from(fragment.has_more()) << 13),
                None => (packet.id as u16, DONT_FRAGMENT),
            };
            frame.extend(id.to_be_bytes());
            frame.extend(place.to_be_bytes());
            frame.extend([TTL, number, 0, 0]);
            frame.extend(from.octets());
            frame.extend(to.octets());
            let checksum = !fold(sum(&frame[start..]));
            frame[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
            (total - 20, start + 20)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            frame.extend(IPV6);
            frame.extend([0x60, ecn << 4, 0, 0]);
            frame.extend(((total - 40) as u16).to_be_bytes());
            frame.extend([if fragment.is_some() { FRAGMENT } else { number }, TTL]);
            frame.extend(from.octets());
            frame.extend(to.octets());
            if let Some(fragment) = fragment {
                frame.extend([number, 0]);
                frame.extend((fragment.offset << 3 | u16::from(fragment.has_more())).to_be_bytes());
                frame.extend((segment.seq as u32).to_be_bytes());
            }
            let extension = if fragment.is_some() { FRAGMENT_HEADER } else { 0 };
            (total - 40 - extension, frame.len())
        }
        _ => unreachable!("both ends of a flow have addresses of its version"),
    }
}

fn tcp(frame: &mut Vec<u8>, source: End, destination: End, mss: u16, segment: &Segment) {
    let flags = segment.flags;
    frame.extend(source.port.to_be_bytes());
    frame.extend(destination.port.to_be_bytes());
    frame.extend((segment.seq as u32).to_be_bytes());
    let has_ack = !flags.syn || segment.is_reply;
    frame.extend((if has_ack { segment.ack as u32 } else { 0 }).to_be_bytes());
    let sacks = &segment.sack[..usize::from(segment.sacks)];
    let options = if flags.syn { 20 } else { 12 } + if sacks.is_empty() { 0 } else { 4 + 8 * sacks.len() };
    let bit = |is_set: bool, bit: u8| u8::from(is_set) << bit;
    frame.push((((20 + options) / 4) << 4) as u8);
    frame.push(
        bit(flags.fin, 0)
            | bit(flags.syn, 1)
            | bit(flags.psh, 3)
            | bit(has_ack, 4)
            | bit(flags.ece, 6)
            | bit(flags.cwr, 7),
    );
    // That of a SYN is not scaled, and says nothing of what follows.
    let window = if flags.syn { u32::from(u16::MAX) } else { segment.window >> source.scale };
    frame.extend((window.min(u16::MAX.into()) as u16).to_be_bytes());
    frame.extend([0; 4]);
    if flags.syn {
        frame.extend([2, 4]);
        frame.extend(mss.to_be_bytes());
        frame.extend([4, 2]);
    } else {
        frame.extend([1, 1]);
    }
    frame.extend([8, 10]);
    frame.extend(segment.ts_val.to_be_bytes());
    frame.extend(segment.ts_ecr.to_be_bytes());
    if flags.syn {
        frame.extend([1, 3, 3, source.scale]);
    }
    if !sacks.is_empty() {
        frame.extend([1, 1, 5, 2 + 8 * sacks.len() as u8]);
        for edge in sacks.iter().flat_map(|&(begin, end)| [begin, end]) {
            frame.extend(edge.to_be_bytes());
        }
    }
}

/// The sum of RFC 1071 over the pseudo header.
fn pseudo(source: IpAddr, destination: IpAddr, protocol: u8, bytes: u32) -> u32 {
    let address = |address: IpAddr| match address {
        IpAddr::V4(four) => sum(&four.octets()),
        IpAddr::V6(six) => sum(&six.octets()),
    };
    address(source) + address(destination) + u32::from(protocol) + (bytes >> 16) + (bytes & 0xffff)
}

fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]))).sum()
}

fn fold(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use link::Fate;
    use serde_json::json;
    use units::{Mtu, Time};

    use super::*;

    /// The headers of a datagram's fragments behind Ethernet's, with the checksums of IPv4 and UDP set to 0.
    fn fragments(ip: Ip, payload: u32) -> Vec<Vec<u8>> {
        let host = |n: u8| {
            json!({"kind": "host", "name": format!("h{n}"), "address": format!("10.0.0.{n}"), "sysctl": {},
                "interfaces": [{"name": "eth0", "mac": format!("02:00:00:00:00:0{n}"),
                    "addresses": [format!("10.0.0.{n}/24"), format!("fd00::{n}/64")]}]})
        };
        let workload = json!({"kind": "udp", "rate_bps": 1000, "payload_bytes": payload, "bytes": null});
        let plan = Plan::of(json!({
            "name": "f", "duration_ns": 1, "seed": 1, "nodes": [host(1), host(2)], "links": [],
            "flows": [{"id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": 5001, "workload": workload,
                "ip": u8::from(ip)}],
            "record": {"sample_interval_ns": 1, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
        }));
        let mut headers = Headers::of(&plan.unwrap()).unwrap();
        let written = |part: datagrams::Part| {
            let segment = Segment { seq: 0x1_0203, len: part.payload, fragment: part.fragment, ..Segment::default() };
            let packet = Packet { size: part.frame_bytes(ip), from: 0, to: 1, ..Packet::default() };
            let passage = Passage {
                packet,
                arrival: Time::ZERO,
                queue_bytes: 0,
                queue_packets: 0,
                sojourn: None,
                departure: None,
                delivery: None,
                fate: Fate::Delivered,
                mark: None,
                duplicate: false,
                reordered: None,
                corruption: None,
            };
            let mut frame = headers.write(&segment, &passage)[headers::ETHERNET as usize..].to_vec();
            if ip == Ip::V4 {
                frame[10..12].fill(0);
            }
            let udp = ip.header_bytes() as usize + if ip == Ip::V6 { 8 } else { 0 };
            if let Some(checksum) = frame.get_mut(udp + 6..udp + 8) {
                checksum.fill(0);
            }
            frame
        };
        datagrams::parts(payload, ip, Mtu::default()).map(written).collect()
    }

    #[test]
    fn fragments_have_the_number_and_the_place_that_ipv4_gives_them() {
        let [first, second] = &fragments(Ip::V4, 2000)[..] else { panic!("two fragments") };
        let udp = [0x80, 0, 0x13, 0x89, 0x07, 0xd8, 0, 0];
        let header = |total: [u8; 2], place: [u8; 2]| {
            let before = [&[0x45, 0], &total[..], &[2, 3], &place[..], &[64, 17, 0, 0]].concat();
            [&before[..], &[10, 0, 0, 1, 10, 0, 0, 2]].concat()
        };
        // 1,500 bytes, more follow; 548 bytes behind 185 times 8.
        assert_eq!(*first, [header([0x05, 0xdc], [0x20, 0]), udp.to_vec()].concat());
        assert_eq!(*second, header([0x02, 0x24], [0, 185]));
    }

    #[test]
    fn fragments_have_the_number_and_the_place_that_ipv6_gives_them() {
        let [first, second] = &fragments(Ip::V6, 2000)[..] else { panic!("two fragments") };
        let udp = [0x80, 0, 0x13, 0x89, 0x07, 0xd8, 0, 0];
        assert_eq!((&first[4..8], &second[4..8]), (&[0x05, 0xb0, 44, 64][..], &[0x02, 0x38, 44, 64][..]));
        assert_eq!(first[40..], [&[17, 0, 0, 1, 0, 1, 2, 3][..], &udp].concat());
        assert_eq!(second[40..], [17, 0, 0x05, 0xa8, 0, 1, 2, 3]);
    }
}
