use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use link::Ecn;
use units::{Mtu, headers};

pub(crate) const ETHERNET: usize = headers::ETHERNET as usize;
/// Where the sender's MAC address stands.
pub(crate) const SENDER: std::ops::Range<usize> = 6..12;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// The types that begin the tag of a VLAN: of a customer, and of a provider (IEEE 802.1Q).
const TAGS: [u16; 2] = [0x8100, 0x88a8];
/// Bytes of such a tag.
const TAG: usize = 4;
const IPV6_HEADER: usize = 40;
/// The extension headers (RFC 8200 section 4) behind which flows are still known: one that routers look at, and hosts skip,
/// and that of a fragment.
const HOP_BY_HOP: u8 = 0;
const FRAGMENT: u8 = 44;
const FRAGMENT_HEADER: usize = 8;

/// Bytes around a frame in a slot of the ring: the header of TPACKET_V2, the sender's address, padding, and tags of VLANs.
const AROUND: usize = 128;

/// Bytes of a slot, of the ring and of the arena, that holds a full frame: 2 KiB at Ethernet's MTU.
pub(crate) fn slot_bytes(mtu: Mtu) -> usize {
    (mtu.frame_bytes() as usize + AROUND).next_multiple_of(1024)
}

pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMP_V6: u8 = 58;

const ICMP_HEADER: usize = 8;

/// Types of ICMP messages that are echoes, requests and replies (RFC 792, RFC 4443).
fn echoes(protocol: u8) -> [u8; 2] {
    if protocol == ICMP_V6 { [128, 129] } else { [8, 0] }
}

/// The key of a flow, in the packet's own direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
}

impl Tuple {
    /// A hash that is the same everywhere and always: queues that hash flows must not depend on the machine.
    pub(crate) fn hash(self) -> u32 {
        let ports = u64::from(self.sport) << 24 | u64::from(self.dport) << 8 | u64::from(self.protocol);
        let hash = match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                (u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits())) ^ link::mix(ports)
            }
            (src, dst) => {
                let halves = [src, dst].map(bits).into_iter().flat_map(|bits| [(bits >> 64) as u64, bits as u64]);
                halves.fold(ports, |hash, half| link::mix(hash ^ half))
            }
        };
        (link::mix(hash) >> 32) as u32
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The properties of a frame that the emulator needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub tuple: Tuple,
    pub ecn: Ecn,
    /// Offset of the transport header in the frame.
    pub transport: u16,
    /// Offset of the payload.
    pub payload: u16,
    pub payload_bytes: u32,
    pub tcp_seq: Option<u32>,
    /// Fragment's header, if the frame is a fragment.
    pub fragment: Option<Fragment>,
}

/// Fields of a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// The identification that all fragments of a packet have in common.
    pub id: u32,
    /// True if the fragment begins with the header of TCP or UDP.
    pub is_first: bool,
}

/// The flags of a TCP segment (RFC 9293 section 3.1); `None` of anything else.
pub(crate) fn tcp_flags(frame: &[u8], header: &Header) -> Option<u8> {
    const FLAGS: usize = 13;
    (header.tuple.protocol == TCP).then(|| frame.get(usize::from(header.transport) + FLAGS).copied()).flatten()
}

/// The parts of an IP header that say what is below it.
struct Network {
    src: IpAddr,
    dst: IpAddr,
    protocol: u8,
    ecn: Ecn,
    /// Bytes of the header, and of the whole packet.
    header_bytes: usize,
    total: usize,
    fragment: Option<Fragment>,
}

/// The type of what a frame carries, and where it begins: behind the tags of VLANs.
fn content(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = ETHERNET;
    loop {
        let kind = u16_at(frame, at - 2)?;
        if !TAGS.contains(&kind) {
            return Some((kind, at));
        }
        at += TAG;
    }
}

/// Read an Ethernet frame's IP and TCP or UDP headers, also behind tags of VLANs. `None` for anything but IP.
///
/// An ICMP echo has its identifier as both ports. Fragments after the first, and protocols without ports, have ports 0. In
/// IPv6 any extension header but the hop-by-hop options and that of a fragment counts as such a protocol.
pub(crate) fn parse(frame: &[u8]) -> Option<Header> {
    let (kind, ethernet) = content(frame)?;
    let ip = frame.get(ethernet..)?;
    let network = match (kind, ip.first()? >> 4) {
        (IPV4, 4) => ipv4(ip)?,
        (IPV6, 6) => ipv6(ip)?,
        _ => return None,
    };
    let Network { src, dst, protocol, ecn, header_bytes, total, fragment } = network;
    let is_first = fragment.is_none_or(|fragment| fragment.is_first);
    let rest = ip.get(header_bytes..)?;
    let mut tuple = Tuple { src, dst, sport: 0, dport: 0, protocol };
    let mut header_total = header_bytes;
    let mut tcp_seq = None;
    if is_first && matches!(protocol, TCP | UDP) {
        tuple.sport = u16_at(rest, 0)?;
        tuple.dport = u16_at(rest, 2)?;
        if protocol == TCP {
            tcp_seq = Some(u32_at(rest, 4)?);
            header_total += usize::from(rest.get(12)? >> 4) * 4;
        } else {
            header_total += 8;
        }
    }
    if is_first && protocol == if src.is_ipv4() { ICMP } else { ICMP_V6 } {
        header_total += ICMP_HEADER;
        if echoes(protocol).contains(rest.first()?) {
            let identifier = u16_at(rest, 4)?;
            (tuple.sport, tuple.dport) = (identifier, identifier);
        }
    }
    Some(Header {
        tuple,
        ecn,
        transport: (ethernet + header_bytes) as u16,
        payload: (ethernet + header_total) as u16,
        payload_bytes: total.saturating_sub(header_total) as u32,
        tcp_seq,
        fragment,
    })
}

fn ipv4(ip: &[u8]) -> Option<Network> {
    // More follow, and the offset (RFC 791 section 3.1).
    let place = u16_at(ip, 6)? & 0x3fff;
    let id = u16_at(ip, 4)?.into();
    Some(Network {
        header_bytes: usize::from(ip[0] & 0xf) * 4,
        total: usize::from(u16_at(ip, 2)?),
        fragment: (place != 0).then_some(Fragment { id, is_first: place & 0x1fff == 0 }),
        protocol: *ip.get(9)?,
        src: Ipv4Addr::from(u32_at(ip, 12)?).into(),
        dst: Ipv4Addr::from(u32_at(ip, 16)?).into(),
        ecn: Ecn::from_tos(ip[1]),
    })
}

fn ipv6(ip: &[u8]) -> Option<Network> {
    let address = |at: usize| Some(Ipv6Addr::from(<[u8; 16]>::try_from(ip.get(at..at + 16)?).ok()?).into());
    let (mut protocol, mut header_bytes) = (*ip.get(6)?, IPV6_HEADER);
    if protocol == HOP_BY_HOP {
        protocol = *ip.get(IPV6_HEADER)?;
        header_bytes += (usize::from(*ip.get(IPV6_HEADER + 1)?) + 1) * 8;
    }
    let mut fragment = None;
    if protocol == FRAGMENT {
        // The offset, reserved bits, and whether more follow (RFC 8200 section 4.5).
        let place = u16_at(ip, header_bytes + 2)? & !6;
        let id = u32_at(ip, header_bytes + 4)?;
        protocol = *ip.get(header_bytes)?;
        fragment = (place != 0).then_some(Fragment { id, is_first: place >> 3 == 0 });
        header_bytes += FRAGMENT_HEADER;
    }
    Some(Network {
        header_bytes,
        total: IPV6_HEADER + usize::from(u16_at(ip, 4)?),
        fragment,
        protocol,
        src: address(8)?,
        dst: address(24)?,
        // The two low bits of the traffic class, which begins in the middle of the first byte (RFC 8200 section 3).
        ecn: Ecn::from_tos(ip[1] >> 4),
    })
}

/// The header of a frame that is not IP, all of which counts as header, and a hash of what is known of it. The tuple is that
/// of no flow.
pub(crate) fn opaque(frame: &[u8]) -> (Header, u32) {
    let around = frame[..frame.len().min(ETHERNET)].iter();
    let hash = around.fold(0, |hash, &byte| link::mix(hash ^ u64::from(byte)));
    let none = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let tuple = Tuple { src: none, dst: none, sport: 0, dport: 0, protocol: 0 };
    let end = frame.len() as u16;
    let (ecn, tcp_seq, fragment) = (Ecn::NotEct, None, None);
    let header = Header { tuple, ecn, transport: end, payload: end, payload_bytes: 0, tcp_seq, fragment };
    (header, (hash >> 32) as u32)
}

/// The parts of an IP packet's frame that no router or bridge changes: all but tags, the TTL, the traffic class and checksums.
/// `None` for what is not IP.
pub(crate) fn unchanging(frame: &[u8]) -> Option<[u8; UNCHANGING]> {
    let mut parts = [0; UNCHANGING];
    let (kind, ethernet) = content(frame)?;
    let ip = frame.get(ethernet..)?;
    let (protocol, rest) = if kind == IPV6 && ip.first()? >> 4 == 6 {
        parts[..2].copy_from_slice(ip.get(4..6)?);
        parts[2..34].copy_from_slice(ip.get(8..IPV6_HEADER)?);
        (ip[6], &ip[IPV6_HEADER..])
    } else if kind == IPV4 && ip.len() >= 20 {
        // Length, identification, fragment; addresses.
        parts[..6].copy_from_slice(&ip[2..8]);
        parts[6..14].copy_from_slice(&ip[12..20]);
        (ip[9], ip.get(usize::from(ip[0] & 0xf) * 4..)?)
    } else {
        return None;
    };
    parts[34] = protocol;
    let below = &mut parts[35..];
    let bytes = rest.len().min(below.len());
    below[..bytes].copy_from_slice(&rest[..bytes]);
    // Offloads leave it to the last hop.
    match protocol {
        TCP => below[16..18].fill(0),
        UDP => below[6..8].fill(0),
        _ => {}
    }
    Some(parts)
}

/// Bytes of [`unchanging`]: of IP's header, and the first of what is below, with TCP's timestamps or a datagram's number.
const UNCHANGING: usize = 35 + 45;

/// Set Congestion Experienced in a frame that [`parse`] or [`opaque`] has read, and keep the header's checksum right (RFC 1624).
pub(crate) fn mark(frame: &mut [u8]) {
    let Some((kind, ethernet)) = content(frame) else { return };
    if kind == IPV6 && frame.get(ethernet).is_some_and(|first| first >> 4 == 6) {
        frame[ethernet + 1] |= 3 << 4;
        return;
    }
    let ip = &mut frame[ethernet..];
    let before = u16::from_be_bytes([ip[0], ip[1]]);
    ip[1] |= 3;
    let after = u16::from_be_bytes([ip[0], ip[1]]);
    let checksum = u16::from_be_bytes([ip[10], ip[11]]);
    // Equation 3: the one's complement sum of the old sum, the old field's complement and the new field.
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Flip the bit of a frame's TCP or UDP segment that `which` of 2^32 says: its checksum will tell. Of what is not IP any
/// bit behind Ethernet's header.
pub(crate) fn corrupt(frame: &mut [u8], which: u32) {
    let (kind, ethernet) = content(frame).unwrap_or((0, ETHERNET));
    let header_bytes = match kind {
        IPV4 => frame.get(ethernet).map_or(0, |first| usize::from(first & 0xf) * 4),
        // What makes a packet a fragment has no checksum.
        IPV6 if frame.get(ethernet + 6) == Some(&FRAGMENT) => IPV6_HEADER + FRAGMENT_HEADER,
        IPV6 => IPV6_HEADER,
        _ => 0,
    };
    let Some(segment) = frame.get_mut(ethernet + header_bytes..) else { return };
    let bit = (u64::from(which) * (segment.len() as u64 * 8)) >> 32;
    if let Some(byte) = segment.get_mut(bit as usize / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
pub(crate) mod tests {
    use units::Ip;

    use super::*;

    /// A frame with `payload` bytes of zeros; header fields that nobody reads are 0.
    pub(crate) fn frame(tuple: Tuple, seq: u32, payload: usize) -> Vec<u8> {
        let mut below = vec![0u8; if tuple.protocol == TCP { 32 } else { 8 } + payload];
        below[..2].copy_from_slice(&tuple.sport.to_be_bytes());
        below[2..4].copy_from_slice(&tuple.dport.to_be_bytes());
        if tuple.protocol == TCP {
            below[4..8].copy_from_slice(&seq.to_be_bytes());
            below[12] = 8 << 4;
        }
        packet(tuple, &[], &below)
    }

    /// A frame of an IP packet with extension headers, and with what is below them.
    pub(crate) fn packet(tuple: Tuple, extensions: &[u8], below: &[u8]) -> Vec<u8> {
        let mut f = vec![0u8; ETHERNET];
        match (tuple.src, tuple.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                f[12..14].copy_from_slice(&IPV4.to_be_bytes());
                f.extend([0x45, 0]);
                f.extend((20 + below.len() as u16).to_be_bytes());
                f.extend([0, 0, 0, 0, 0, tuple.protocol, 0, 0]);
                f.extend(src.octets());
                f.extend(dst.octets());
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                f[12..14].copy_from_slice(&IPV6.to_be_bytes());
                f.extend([0x60, 0, 0, 0]);
                f.extend(((extensions.len() + below.len()) as u16).to_be_bytes());
                f.extend([if extensions.is_empty() { tuple.protocol } else { HOP_BY_HOP }, 64]);
                f.extend(src.octets());
                f.extend(dst.octets());
                f.extend(extensions);
            }
            _ => unreachable!("one version"),
        }
        f.extend(below);
        f
    }

    pub(crate) fn tuple(protocol: u8) -> Tuple {
        let host = |n| Ipv4Addr::new(10, 0, 0, n).into();
        Tuple { src: host(1), dst: host(2), sport: 40_000, dport: 5001, protocol }
    }

    /// The same in IPv6.
    pub(crate) fn tuple6(protocol: u8) -> Tuple {
        let host = |n| Ipv6Addr::new(0xfd00, 0, 0, 1, 0, 0, 0, n).into();
        Tuple { src: host(1), dst: host(2), ..tuple(protocol) }
    }

    #[test]
    fn slots_hold_full_frames_and_are_no_longer_than_needed() {
        let slots = [576, 1500, 4000, 9000].map(|mtu| slot_bytes(Mtu::try_from(mtu).unwrap()));
        assert_eq!(slots, [1024, 2048, 5120, 9216]);
    }

    #[test]
    fn a_full_segment_with_timestamps_carries_the_rest_of_the_frame() {
        let mtu = Mtu::default();
        for (ip, tuple, transport, payload_bytes) in [(Ip::V4, tuple(TCP), 34, 1448), (Ip::V6, tuple6(TCP), 54, 1428)] {
            let f = frame(tuple, 77, mtu.segment_bytes(ip) as usize);
            assert_eq!(f.len(), mtu.frame_bytes() as usize);
            let payload = transport + 32;
            let (ecn, tcp_seq, fragment) = (Ecn::NotEct, Some(77), None);
            let expected = Header { tuple, ecn, transport, payload, payload_bytes, tcp_seq, fragment };
            assert_eq!(parse(&f), Some(expected));
        }
    }

    #[test]
    fn hop_by_hop_options_are_no_obstacle_and_other_extensions_have_no_ports() {
        let options = [UDP, 1, 5, 2, 0, 0, 1, 0, 1, 4, 0, 0, 0, 0, 0, 0];
        let datagram = &frame(tuple6(UDP), 0, 100)[ETHERNET + IPV6_HEADER..];
        let header = parse(&packet(tuple6(UDP), &options, datagram)).unwrap();
        assert_eq!((header.tuple, header.transport, header.payload_bytes), (tuple6(UDP), 70, 100));
        const ROUTING: u8 = 43;
        let header = parse(&packet(tuple6(ROUTING), &[], &[0; 40])).unwrap();
        assert_eq!((header.tuple.protocol, header.tuple.dport, header.payload_bytes), (ROUTING, 0, 40));
    }

    #[test]
    fn a_hash_tells_flows_apart_and_never_changes() {
        assert_eq!(tuple(TCP).hash(), 1_785_339_108);
        let ports = (0..1000).map(|sport| Tuple { sport, ..tuple6(TCP) }.hash());
        assert_eq!(ports.collect::<std::collections::HashSet<_>>().len(), 1000);
        assert_ne!(tuple6(TCP).hash(), Tuple { src: tuple6(TCP).dst, dst: tuple6(TCP).src, ..tuple6(TCP) }.hash());
    }

    #[test]
    fn a_datagram() {
        let header = parse(&frame(tuple(UDP), 0, 1472)).unwrap();
        assert_eq!((header.payload_bytes, header.tcp_seq), (1472, None));
    }

    #[test]
    fn an_echo_is_known_by_its_identifier_in_both_directions() {
        for (tuple, kind, ports) in [
            (tuple(ICMP), 8, 77),
            (tuple(ICMP), 0, 77),
            (tuple(ICMP), 3, 0),
            (tuple6(ICMP_V6), 128, 77),
            (tuple6(ICMP_V6), 129, 77),
            (tuple6(ICMP_V6), 135, 0),
        ] {
            let message = [&[kind, 0, 0, 0, 0, 77, 0, 1][..], &[0; 56]].concat();
            let header = parse(&packet(tuple, &[], &message)).unwrap();
            assert_eq!((header.tuple.sport, header.tuple.dport, header.payload_bytes), (ports, ports, 56), "{kind}");
        }
    }

    /// A fragment of a datagram: `offset` in units of 8 bytes. The first one has UDP's header, and room for it.
    pub(crate) fn fragment(tuple: Tuple, id: u16, offset: u16, more: bool, bytes: usize) -> Vec<u8> {
        let mut below = vec![0u8; bytes];
        if offset == 0 {
            below[..2].copy_from_slice(&tuple.sport.to_be_bytes());
            below[2..4].copy_from_slice(&tuple.dport.to_be_bytes());
        }
        if tuple.src.is_ipv4() {
            let mut f = packet(tuple, &[], &below);
            f[ETHERNET + 4..ETHERNET + 6].copy_from_slice(&id.to_be_bytes());
            f[ETHERNET + 6..ETHERNET + 8].copy_from_slice(&(offset | u16::from(more) << 13).to_be_bytes());
            return f;
        }
        let place = (offset << 3 | u16::from(more)).to_be_bytes();
        let extension = [&[tuple.protocol, 0][..], &place, &[0, 0], &id.to_be_bytes()].concat();
        packet(Tuple { protocol: FRAGMENT, ..tuple }, &[], &[extension, below].concat())
    }

    #[test]
    fn the_first_fragment_has_ports_and_later_ones_have_none() {
        for (tuple, transport) in [(tuple(UDP), 34), (tuple6(UDP), 62)] {
            let of = |id, is_first| Some(Fragment { id, is_first });
            let first = parse(&fragment(tuple, 7, 0, true, 1448)).unwrap();
            assert_eq!((first.tuple, first.fragment, first.payload_bytes), (tuple, of(7, true), 1440));
            let last = parse(&fragment(tuple, 7, 181, false, 600)).unwrap();
            assert_eq!(last.tuple, Tuple { sport: 0, dport: 0, ..tuple });
            assert_eq!((last.fragment, last.payload_bytes, last.transport), (of(7, false), 600, transport));
            // RFC 6946: a fragment that is the whole packet is none.
            assert_eq!(parse(&fragment(tuple, 7, 0, false, 100)).unwrap().fragment, None);
        }
    }

    #[test]
    fn corruption_leaves_what_says_that_it_is_a_fragment() {
        let whole = fragment(tuple6(UDP), 7, 181, true, 1448);
        for which in [0, u32::MAX] {
            let mut f = whole.clone();
            corrupt(&mut f, which);
            assert!(f[..62] == whole[..62] && f != whole);
        }
    }

    /// The one's complement sum of an IPv4 header, which is 0xffff if its checksum is right (RFC 1071).
    fn header_sum(frame: &[u8]) -> u32 {
        let words = frame[ETHERNET..ETHERNET + 20].chunks(2).map(|w| u32::from(u16::from_be_bytes([w[0], w[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16)
    }

    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for tos in [1u8, 2, 0xb9, 0xfe] {
            let mut f = frame(tuple(TCP), 1, 10);
            f[ETHERNET + 1] = tos;
            let sum = header_sum(&f);
            f[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
            assert_eq!(header_sum(&f), 0xffff);
            mark(&mut f);
            assert_eq!((f[ETHERNET + 1], header_sum(&f)), (tos | 3, 0xffff));
            assert_eq!(parse(&f).unwrap().ecn, Ecn::Ce);
        }
    }

    #[test]
    fn a_mark_of_ipv6_is_in_its_traffic_class() {
        for ecn in [0, 1, 2] {
            let mut f = frame(tuple6(TCP), 1, 10);
            (f[ETHERNET], f[ETHERNET + 1]) = (0x6b, 0x8a | ecn << 4);
            let before = f.clone();
            assert_eq!(parse(&f).unwrap().ecn, Ecn::from_tos(ecn));
            mark(&mut f);
            assert_eq!(parse(&f).unwrap().ecn, Ecn::Ce);
            f[ETHERNET + 1] = before[ETHERNET + 1];
            assert_eq!(f, before, "nothing else changes: there is no checksum");
        }
    }

    #[test]
    fn corruption_flips_one_bit_of_the_segment() {
        let whole = frame(tuple(UDP), 0, 100);
        for which in [0, 1 << 20, u32::MAX / 3, u32::MAX] {
            let mut f = whole.clone();
            corrupt(&mut f, which);
            let flipped: u32 = f.iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(flipped, 1);
            assert_eq!(f[..ETHERNET + 20], whole[..ETHERNET + 20]);
        }
    }

    /// The same frame with tags of VLANs.
    fn tagged(frame: &[u8], tags: &[u8]) -> Vec<u8> {
        [&frame[..12], tags, &frame[12..]].concat()
    }

    #[test]
    fn a_tag_of_a_vlan_changes_nothing_but_where_things_are() {
        for (tags, bytes) in [(&[0x81, 0, 0, 10][..], 4), (&[0x88, 0xa8, 0, 5, 0x81, 0, 0xe0, 10], 8)] {
            for whole in [frame(tuple(TCP), 7, 10), frame(tuple6(TCP), 7, 10)] {
                let mut with = tagged(&whole, tags);
                let (plain, found) = (parse(&whole).unwrap(), parse(&with).unwrap());
                assert_eq!((found.tuple, found.tcp_seq, found.payload_bytes), (plain.tuple, Some(7), 10));
                assert_eq!((found.transport, found.payload), (plain.transport + bytes, plain.payload + bytes));
                assert_eq!(unchanging(&with), unchanging(&whole), "a bridge adds tags and takes them away");
                mark(&mut with);
                let mut marked = whole.clone();
                mark(&mut marked);
                assert_eq!(with, tagged(&marked, tags));
                corrupt(&mut with, 0);
                corrupt(&mut marked, 0);
                assert_eq!(with, tagged(&marked, tags));
            }
        }
    }

    #[test]
    fn no_frame_makes_it_panic() {
        let whole = frame(tuple(TCP), 1, 10);
        let options =
            packet(tuple6(TCP), &[TCP, 0, 1, 4, 0, 0, 0, 0], &frame(tuple6(TCP), 1, 10)[ETHERNET + IPV6_HEADER..]);
        let fragment = fragment(tuple6(UDP), 7, 0, true, 40);
        for frame in [&whole, &options, &fragment, &tagged(&whole, &[0x81, 0, 0, 1])] {
            assert!(parse(frame).is_some());
            for cut in 0..frame.len() {
                let _ = parse(&frame[..cut]);
                opaque(&frame[..cut]);
            }
        }
        let mut arp = whole.clone();
        arp[12..14].copy_from_slice(&0x0806u16.to_be_bytes());
        assert_eq!(parse(&arp), None);
    }
}
