use std::net::Ipv4Addr;

const ETHERNET: usize = 14;
const IPV4: u16 = 0x0800;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// Who talks to whom: the key of a flow, in the packet's own direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tuple {
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
}

/// What the emulator needs to know of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub tuple: Tuple,
    pub payload_bytes: u32,
    pub tcp_seq: Option<u32>,
}

/// Read an Ethernet frame's IPv4 and TCP or UDP headers. `None` for anything but IPv4.
///
/// Fragments after the first, and protocols without ports, have ports 0.
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
    Some(Header { tuple, payload_bytes: total.saturating_sub(header_total) as u32, tcp_seq })
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
    fn a_full_segment_with_timestamps_carries_1448_bytes() {
        let f = frame(tuple(TCP), 77, 1448);
        assert_eq!(f.len(), 1514);
        assert_eq!(parse(&f), Some(Header { tuple: tuple(TCP), payload_bytes: 1448, tcp_seq: Some(77) }));
    }

    #[test]
    fn a_datagram() {
        let header = parse(&frame(tuple(UDP), 0, 1472)).unwrap();
        assert_eq!((header.payload_bytes, header.tcp_seq), (1472, None));
    }

    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut f = frame(tuple(UDP), 0, 100);
        f[ETHERNET + 7] = 185;
        assert_eq!(parse(&f).unwrap().tuple.dport, 0);
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
