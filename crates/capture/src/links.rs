//! Link layers: what stands before the network's header.

use crate::bytes::{be16, be32};
use crate::decode::{Fault, Next};

/// Link types, as <https://www.tcpdump.org/linktypes.html> numbers them.
pub(crate) const ETHERNET: u16 = 1;
/// Linux' cooked captures, version 2.
pub(crate) const COOKED: u16 = 276;

/// The first header behind a link layer, the place at which it begins, and whether the frame left the machine.
pub(crate) fn first(link: u16, bytes: &[u8]) -> Result<(Next, usize, Option<bool>), Fault> {
    let type_at = |at| be16(bytes, at).ok_or(Fault::Cut);
    let byte = |at: usize| bytes.get(at).copied().ok_or(Fault::Cut);
    Ok(match link {
        ETHERNET => (Next::Ethernet, 0, None),
        0 | 108 => (family(be32(bytes, 0).ok_or(Fault::Cut)?)?, 4, None),
        9 | 50 => (Next::Ppp, 0, None),
        51 => (Next::Ppp, 6, None),
        12 | 14 | 101 | 228 | 229 => (Next::Ip, 0, None),
        113 => (Next::Type(type_at(14)?), 16, outgoing(type_at(0)?)),
        COOKED => (Next::Type(type_at(0)?), 20, outgoing(u16::from(byte(10)?))),
        239 => nflog(bytes)?,
        258 => pktap(bytes)?,
        105 => (Next::Llc, wireless(bytes, 0)?, None),
        127 => {
            let at = usize::from(u16::from_le_bytes([byte(2)?, byte(3)?]));
            (Next::Llc, wireless(bytes, at)?, None)
        }
        _ => return Err(Fault::UnknownLink(link)),
    })
}

/// The packet type of Linux' cooked captures: 4 is what this machine sent.
fn outgoing(kind: u16) -> Option<bool> {
    match kind {
        0..=3 => Some(false),
        4 => Some(true),
        _ => None,
    }
}

/// The address family of BSD's loopback, in the byte order of the host or of the network.
fn family(four: u32) -> Result<Next, Fault> {
    match if four > 0xffff { four.swap_bytes() } else { four } {
        2 => Ok(Next::Type(0x0800)),
        10 | 24 | 28 | 30 => Ok(Next::Type(0x86dd)),
        _ => Err(Fault::Other("other address families")),
    }
}

/// Netfilter's log: a header and attributes, one of which is the packet.
fn nflog(bytes: &[u8]) -> Result<(Next, usize, Option<bool>), Fault> {
    const PAYLOAD: u16 = 9;
    let mut at = 4;
    // A packet has a dozen attributes.
    for _ in 0..64 {
        let head = bytes.get(at..at + 4).ok_or(Fault::Cut)?;
        let little = u16::from_le_bytes([head[0], head[1]]);
        let kind = u16::from_le_bytes([head[2], head[3]]) & 0x7fff;
        if kind == PAYLOAD {
            return Ok((Next::Ip, at + 4, None));
        }
        at += usize::from(little).max(4).next_multiple_of(4);
    }
    Err(Fault::Malformed)
}

/// Apple's packet tap: a header that says its length and what follows.
fn pktap(bytes: &[u8]) -> Result<(Next, usize, Option<bool>), Fault> {
    let word = |at: usize| {
        let four = bytes.get(at..at + 4).ok_or(Fault::Cut)?;
        Ok(u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
    };
    let (length, link) = (word(0)? as usize, word(8)?);
    if length < 12 {
        return Err(Fault::Malformed);
    }
    let inner = u16::try_from(link).ok().filter(|&inner| inner != 258).ok_or(Fault::Malformed)?;
    let rest = bytes.get(length..).ok_or(Fault::Cut)?;
    let (next, at, outgoing) = first(inner, rest)?;
    Ok((next, length + at, outgoing))
}

/// The place behind an 802.11 data frame's header.
fn wireless(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    let control = bytes.get(at..at + 2).ok_or(Fault::Cut)?;
    let (kind, subtype) = (control[0] >> 2 & 3, control[0] >> 4);
    if kind != 2 || subtype & 4 != 0 {
        return Err(Fault::Other("802.11 without data"));
    }
    if control[1] & 0x40 != 0 {
        return Err(Fault::Other("802.11, encrypted"));
    }
    let four_addresses = control[1] & 3 == 3;
    let has_quality = subtype & 8 != 0;
    let is_high_throughput = has_quality && control[1] & 0x80 != 0;
    let tail = 6 * usize::from(four_addresses) + 2 * usize::from(has_quality) + 4 * usize::from(is_high_throughput);
    Ok(at + 24 + tail)
}
