use std::net::Ipv4Addr;

use link::Ecn;
use units::{Mtu, headers};

pub(crate) const ETHERNET: usize = headers::ETHERNET as usize;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const IPV6_HEADER: usize = 40;

/// Bytes around a frame in a slot of the ring: the header of TPACKET_V2, the sender's address, padding, and tags of VLANs.
const AROUND: usize = 128;

/// Bytes of a slot, of the ring and of the arena, that holds a full frame: 2 KiB at Ethernet's MTU.
pub(crate) fn slot_bytes(mtu: Mtu) -> usize {
    (mtu.frame_bytes() as usize + AROUND).next_multiple_of(1024)
}

pub(crate) const ICMP: u8 = 1;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

const ICMP_HEADER: usize = 8;
/// Types of ICMP messages (RFC 792).
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// The key of a flow, in the packet's own direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
}

impl Tuple {
    /// A hash that is the same everywhere and always: queues that hash flows must not depend on the machine.
    pub(crate) fn hash(self) -> u32 {
        let ports = u64::from(self.sport) << 24 | u64::from(self.dport) << 8 | u64::from(self.protocol);
        let addresses = u64::from(self.src.to_bits()) << 32 | u64::from(self.dst.to_bits());
        (link::mix(addresses ^ link::mix(ports)) >> 32) as u32
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
}

/// The flags of a TCP segment (RFC 9293 section 3.1); `None` of anything else.
pub(crate) fn tcp_flags(frame: &[u8], header: &Header) -> Option<u8> {
    const FLAGS: usize = 13;
    (header.tuple.protocol == TCP).then(|| frame.get(usize::from(header.transport) + FLAGS).copied()).flatten()
}

/// Read an Ethernet frame's IPv4 and TCP or UDP headers. `None` for anything but IPv4.
///
/// An ICMP echo has its identifier as both ports. Fragments after the first, and protocols without ports, have ports 0.
pub(crate) fn parse(frame: &[u8]) -> Option<Header> {
    let ip = frame.get(ETHERNET..)?;
    if u16_at(frame, 12)? != IPV4 || ip.first()? >> 4 != 4 {
        return None;
    }
    let header_bytes = usize::from(ip[0] & 0xf) * 4;
    let total = usize::from(u16_at(ip, 2)?);
    let fragment_offset = u16_at(ip, 6)? & 0x1fff;
    let protocol = *ip.get(9)?;
    let src = Ipv4Addr::from(u32_at(ip, 12)?);
    let dst = Ipv4Addr::from(u32_at(ip, 16)?);
    let rest = ip.get(header_bytes..)?;
    let mut tuple = Tuple { src, dst, sport: 0, dport: 0, protocol };
    let mut header_total = header_bytes;
    let mut tcp_seq = None;
    if fragment_offset == 0 && matches!(protocol, TCP | UDP) {
        tuple.sport = u16_at(rest, 0)?;
        tuple.dport = u16_at(rest, 2)?;
        if protocol == TCP {
            tcp_seq = Some(u32_at(rest, 4)?);
            header_total += usize::from(rest.get(12)? >> 4) * 4;
        } else {
            header_total += 8;
        }
    }
    if fragment_offset == 0 && protocol == ICMP {
        header_total += ICMP_HEADER;
        if matches!(rest.first()?, &ECHO_REQUEST | &ECHO_REPLY) {
            let identifier = u16_at(rest, 4)?;
            (tuple.sport, tuple.dport) = (identifier, identifier);
        }
    }
    Some(Header {
        tuple,
        ecn: Ecn::from_tos(ip[1]),
        transport: (ETHERNET + header_bytes) as u16,
        payload: (ETHERNET + header_total) as u16,
        payload_bytes: total.saturating_sub(header_total) as u32,
        tcp_seq,
    })
}

/// Read any frame, and hash what tells its flow: of IPv6 addresses, protocol and ports; else what is around the payload.
///
/// The tuple is that of no flow. All but the Ethernet header of a frame that is not IP counts as header.
pub(crate) fn parse_any(frame: &[u8]) -> (Header, u32) {
    let hash = |bytes: &[u8]| bytes.iter().fold(0, |hash, &byte| link::mix(hash ^ u64::from(byte)));
    let none = Tuple { src: Ipv4Addr::UNSPECIFIED, dst: Ipv4Addr::UNSPECIFIED, sport: 0, dport: 0, protocol: 0 };
    let end = frame.len() as u16;
    let opaque =
        Header { tuple: none, ecn: Ecn::NotEct, transport: end, payload: end, payload_bytes: 0, tcp_seq: None };
    let Some(rest) = frame.get(ETHERNET + IPV6_HEADER..).filter(|_| is_ipv6(frame)) else {
        return (opaque, (hash(&frame[..frame.len().min(ETHERNET)]) >> 32) as u32);
    };
    let ip = &frame[ETHERNET..];
    let protocol = ip[6];
    let (header_bytes, tcp_seq) = match protocol {
        TCP => (rest.get(12).map_or(0, |offset| usize::from(offset >> 4) * 4), u32_at(rest, 4)),
        UDP => (8, None),
        _ => (0, None),
    };
    let ports = if matches!(protocol, TCP | UDP) { rest.get(..4).unwrap_or_default() } else { &[] };
    let payload_bytes = usize::from(u16::from_be_bytes([ip[4], ip[5]])).saturating_sub(header_bytes) as u32;
    let header = Header {
        // The two low bits of the traffic class, which begins in the middle of the first byte (RFC 8200 section 3).
        ecn: Ecn::from_tos(ip[1] >> 4),
        transport: (ETHERNET + IPV6_HEADER) as u16,
        payload: ((ETHERNET + IPV6_HEADER + header_bytes) as u16).min(end),
        payload_bytes,
        tcp_seq,
        ..opaque
    };
    let hash = hash(&ip[8..IPV6_HEADER]) ^ hash(ports) ^ u64::from(protocol);
    (header, (link::mix(hash) >> 32) as u32)
}

fn is_ipv6(frame: &[u8]) -> bool {
    u16_at(frame, 12) == Some(IPV6) && frame.get(ETHERNET).is_some_and(|first| first >> 4 == 6)
}

/// The parts of an IP packet's frame that no router changes: all but the TTL, the traffic class and checksums. `None` for
/// what is not IP.
pub(crate) fn unchanging(frame: &[u8]) -> Option<[u8; UNCHANGING]> {
    let mut parts = [0; UNCHANGING];
    let ip = frame.get(ETHERNET..)?;
    let (protocol, rest) = if is_ipv6(frame) {
        parts[..2].copy_from_slice(ip.get(4..6)?);
        parts[2..34].copy_from_slice(ip.get(8..IPV6_HEADER)?);
        (ip[6], &ip[IPV6_HEADER..])
    } else if u16_at(frame, 12) == Some(IPV4) && ip.len() >= 20 {
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

/// Set Congestion Experienced in a frame that [`parse`] or [`parse_any`] has read, and keep the header's checksum right (RFC 1624).
pub(crate) fn mark(frame: &mut [u8]) {
    if is_ipv6(frame) {
        frame[ETHERNET + 1] |= 3 << 4;
        return;
    }
    let ip = &mut frame[ETHERNET..];
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
    let header_bytes = match u16_at(frame, 12) {
        Some(IPV4) => usize::from(frame[ETHERNET] & 0xf) * 4,
        Some(IPV6) => IPV6_HEADER,
        _ => 0,
    };
    let Some(segment) = frame.get_mut(ETHERNET + header_bytes..) else { return };
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
    use super::*;

    /// A frame with `payload` bytes of zeros; header fields that nobody reads are 0.
    pub(crate) fn frame(tuple: Tuple, seq: u32, payload: usize) -> Vec<u8> {
        let transport = if tuple.protocol == TCP { 32 } else { 8 };
        let mut f = vec![0u8; ETHERNET + 20 + transport + payload];
        let total = (f.len() - ETHERNET) as u16;
        f[12..14].copy_from_slice(&IPV4.to_be_bytes());
        let ip = &mut f[ETHERNET..];
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&total.to_be_bytes());
        ip[9] = tuple.protocol;
        ip[12..16].copy_from_slice(&tuple.src.octets());
        ip[16..20].copy_from_slice(&tuple.dst.octets());
        ip[20..22].copy_from_slice(&tuple.sport.to_be_bytes());
        ip[22..24].copy_from_slice(&tuple.dport.to_be_bytes());
        if tuple.protocol == TCP {
            ip[24..28].copy_from_slice(&seq.to_be_bytes());
            ip[32] = 8 << 4;
        }
        f
    }

    pub(crate) fn tuple(protocol: u8) -> Tuple {
        let host = |n| Ipv4Addr::new(10, 0, 0, n);
        Tuple { src: host(1), dst: host(2), sport: 40_000, dport: 5001, protocol }
    }

    #[test]
    fn slots_hold_full_frames_and_are_no_longer_than_needed() {
        let slots = [576, 1500, 4000, 9000].map(|mtu| slot_bytes(Mtu::try_from(mtu).unwrap()));
        assert_eq!(slots, [1024, 2048, 5120, 9216]);
    }

    #[test]
    fn a_full_segment_with_timestamps_carries_the_rest_of_the_frame() {
        let mtu = Mtu::default();
        let f = frame(tuple(TCP), 77, mtu.segment_bytes() as usize);
        assert_eq!(f.len(), mtu.frame_bytes() as usize);
        let (transport, payload) = (34, 66);
        let expected =
            Header { tuple: tuple(TCP), ecn: Ecn::NotEct, transport, payload, payload_bytes: 1448, tcp_seq: Some(77) };
        assert_eq!(parse(&f), Some(expected));
    }

    #[test]
    fn a_datagram() {
        let header = parse(&frame(tuple(UDP), 0, 1472)).unwrap();
        assert_eq!((header.payload_bytes, header.tcp_seq), (1472, None));
    }

    #[test]
    fn an_echo_is_known_by_its_identifier_in_both_directions() {
        for (kind, ports) in [(ECHO_REQUEST, 77), (ECHO_REPLY, 77), (3, 0)] {
            let mut f = frame(Tuple { protocol: ICMP, ..tuple(UDP) }, 0, 56);
            f[ETHERNET + 20..ETHERNET + 28].copy_from_slice(&[kind, 0, 0, 0, 0, 77, 0, 1]);
            let header = parse(&f).unwrap();
            assert_eq!((header.tuple.sport, header.tuple.dport, header.payload_bytes), (ports, ports, 56), "{kind}");
        }
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut f = frame(tuple(UDP), 0, 100);
        f[ETHERNET + 7] = 185;
        assert_eq!(parse(&f).unwrap().tuple.dport, 0);
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

    #[test]
    fn no_frame_makes_it_panic() {
        let whole = frame(tuple(TCP), 1, 10);
        for cut in 0..whole.len() {
            let _ = parse(&whole[..cut]);
        }
        let mut arp = whole.clone();
        arp[12..14].copy_from_slice(&0x0806u16.to_be_bytes());
        assert_eq!(parse(&arp), None);
    }
}
