//! IPv4, IPv6 and TCP headers.

use crate::bytes::{be16, be32};
use crate::decode::Fault;
use crate::{Flags, Segment, options};

/// An IP packet's header, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ip {
    pub(crate) source: [u8; 16],
    pub(crate) destination: [u8; 16],
    pub(crate) protocol: u8,
    pub(crate) ttl: u8,
    pub(crate) ecn: u8,
    pub(crate) id: u16,
    /// Bytes of the whole packet.
    pub(crate) length: u32,
    /// Bytes of its headers, extensions included.
    pub(crate) header: u32,
    pub(crate) fragment: Option<Piece>,
}

/// A fragment's place in its datagram, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) id: u32,
    pub(crate) offset: u32,
    pub(crate) more: bool,
}

/// The IPv4-mapped form of an address.
fn mapped(four: &[u8]) -> [u8; 16] {
    let mut address = [0; 16];
    (address[10], address[11]) = (0xff, 0xff);
    address[12..].copy_from_slice(four);
    address
}

/// Read an IPv4 header. `rest` is the length of the frame from here on, bytes.
pub(crate) fn ipv4(bytes: &[u8], rest: u32) -> Result<Ip, Fault> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(Fault::Cut)?;
    let header = u32::from(fixed[0] & 0x0f) * 4;
    let total = u32::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    // Segmentation offload above 64 KiB leaves 0.
    let length = if total == 0 { rest } else { total };
    if fixed[0] >> 4 != 4 || header < 20 || length < header {
        return Err(Fault::Malformed);
    }
    let id = u16::from_be_bytes([fixed[4], fixed[5]]);
    let place = u16::from_be_bytes([fixed[6], fixed[7]]);
    let (offset, more) = (u32::from(place & 0x1fff) * 8, place & 0x2000 != 0);
    Ok(Ip {
        source: mapped(&fixed[12..16]),
        destination: mapped(&fixed[16..20]),
        protocol: fixed[9],
        ttl: fixed[8],
        ecn: fixed[1] & 3,
        id,
        length,
        header,
        fragment: (more || offset > 0).then_some(Piece { id: id.into(), offset, more }),
    })
}

/// Read an IPv6 header and its extensions. `rest` is the length of the frame from here on, bytes.
pub(crate) fn ipv6(bytes: &[u8], rest: u32) -> Result<Ip, Fault> {
    let fixed: &[u8; 40] = bytes.first_chunk().ok_or(Fault::Cut)?;
    if fixed[0] >> 4 != 6 {
        return Err(Fault::Malformed);
    }
    let claimed = u32::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    // Jumbograms have 0, with an option that has the length, or since Linux of 2026 without one.
    let length = if claimed == 0 { rest.max(40) } else { 40 + claimed };
    let mut ip = Ip {
        source: fixed[8..24].try_into().expect("16 bytes"),
        destination: fixed[24..40].try_into().expect("16 bytes"),
        protocol: fixed[6],
        ttl: fixed[7],
        ecn: fixed[1] >> 4 & 3,
        id: 0,
        length,
        header: 40,
        fragment: None,
    };
    // Few packets have one extension, and none has a hundred.
    for _ in 0..16 {
        let at = ip.header as usize;
        let size = match ip.protocol {
            0 | 43 | 60 => 8 + 8 * u32::from(*bytes.get(at + 1).ok_or(Fault::Cut)?),
            51 => 8 + 4 * u32::from(*bytes.get(at + 1).ok_or(Fault::Cut)?),
            44 => {
                let place = be16(bytes, at + 2).ok_or(Fault::Cut)?;
                let id = be32(bytes, at + 4).ok_or(Fault::Cut)?;
                let (offset, more) = (u32::from(place & 0xfff8), place & 1 != 0);
                ip.fragment = (more || offset > 0).then_some(Piece { id, offset, more });
                8
            }
            _ => return if ip.header > ip.length { Err(Fault::Malformed) } else { Ok(ip) },
        };
        ip.protocol = *bytes.get(at).ok_or(Fault::Cut)?;
        ip.header += size;
        if ip.fragment.is_some_and(|piece| piece.offset > 0) {
            // What follows is the datagram's middle, not a header.
            return Ok(ip);
        }
    }
    Err(Fault::Malformed)
}

/// Read a TCP header of `length` bytes with payload into a segment.
pub(crate) fn tcp(bytes: &[u8], ip: &Ip, segment: &mut Segment) -> Result<(), Fault> {
    let fixed: &[u8; 20] = bytes.first_chunk().ok_or(Fault::Cut)?;
    let header = usize::from(fixed[12] >> 4) * 4;
    let length = ip.length - ip.header;
    if header < 20 || (header as u32) > length {
        return Err(Fault::Malformed);
    }
    let four = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let two = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    segment.source = ip.source;
    segment.destination = ip.destination;
    segment.source_port = two(0);
    segment.destination_port = two(2);
    segment.seq = four(4);
    segment.ack = four(8);
    segment.flags = Flags(two(12) & 0x1ff);
    segment.window = two(14);
    segment.checksum = two(16);
    segment.payload = length - header as u32;
    segment.header_bytes = header as u8;
    segment.ip_bytes = ip.length;
    segment.ip_id = ip.id;
    segment.ttl = ip.ttl;
    segment.ecn = ip.ecn;
    if header == 20 {
        segment.options_complete = true;
    } else {
        options::read(&bytes[20..], header - 20, segment);
    }
    Ok(())
}
