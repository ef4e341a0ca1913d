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

use crate::frame::TCP;

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
