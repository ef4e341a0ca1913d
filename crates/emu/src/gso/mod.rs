//! Bursts of segments that the kernel hands over, and takes back, as one frame (generic segmentation offload).
//!
//! The network between the two sees segments of wire size: [`split`] writes them, [`merge`] puts those that leave
//! together under one header again. Payload is copied once, when it comes.

mod merge;
mod split;
#[cfg(test)]
mod tests;
mod vnet;

pub(crate) use merge::{HEADER_ROOM, Run, write_header};
pub(crate) use split::Burst;
pub(crate) use vnet::Vnet;

use units::Ip;

use crate::checksum;
use crate::frame::{TCP, UDP};

/// Offset and bits of the flags in a TCP header.
const FLAGS_AT: usize = 13;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
/// Offset of the length in a UDP header.
const UDP_LENGTH_AT: usize = 4;

/// Offset of the checksum in a TCP or UDP header.
pub(crate) fn checksum_at(protocol: u8) -> usize {
    if protocol == TCP { 16 } else { 6 }
}

/// The version of an IP header.
fn version(ip: &[u8]) -> Ip {
    if ip[0] >> 4 == 4 { Ip::V4 } else { Ip::V6 }
}

/// Make an IP header that of a packet of `bytes`, the `index`th of a burst.
fn set_length(ip: &mut [u8], bytes: usize, index: usize) {
    match version(ip) {
        Ip::V4 => {
            ip[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
            let identification = u16::from_be_bytes([ip[4], ip[5]]).wrapping_add(index as u16);
            ip[4..6].copy_from_slice(&identification.to_be_bytes());
            checksum::set_ipv4(ip);
        }
        // What is behind the header that all packets have, extension headers included.
        Ip::V6 => {
            let behind = bytes - Ip::V6.header_bytes() as usize;
            ip[4..6].copy_from_slice(&(behind as u16).to_be_bytes());
        }
    }
}

/// Leave the sum of the pseudo header in the checksum field of a segment of `bytes`; the field's offset.
fn set_pseudo(ip: &[u8], transport: &mut [u8], tcp: bool, bytes: usize) -> usize {
    let protocol = if tcp { TCP } else { UDP };
    let at = checksum_at(protocol);
    transport[at..at + 2].copy_from_slice(&checksum::pseudo(ip, protocol, bytes).to_be_bytes());
    at
}
