//! Headers of tunnels: what is inside, and where it begins.

use crate::Tunnel;
use crate::bytes::{be16, be32};
use crate::decode::{Fault, Next};
use crate::layers::Layer;

/// Behind a GRE header (RFC 2784, 2890, 2637; ERSPAN), and its key, or 0. ERSPAN copies packets of any network, and has none.
pub(crate) fn gre(bytes: &[u8]) -> Result<(Layer, Next, usize, u32), Fault> {
    let flags = be16(bytes, 0).ok_or(Fault::Cut)?;
    let kind = be16(bytes, 2).ok_or(Fault::Cut)?;
    let has = |bit: u16| usize::from(flags & bit != 0);
    if flags & 0x4000 != 0 {
        return Err(Fault::Other("GRE with source routes"));
    }
    let has_sequence = flags & 0x1000 != 0;
    let version_1 = flags & 7 == 1;
    let at = 4 + 4 * (has(0x8000) + has(0x2000) + has(0x1000) + usize::from(version_1) * has(0x0080));
    let key = match flags & 0x2000 {
        0 => 0,
        _ => be32(bytes, 4 + 4 * has(0x8000)).ok_or(Fault::Cut)?,
    };
    Ok(match kind {
        0x6558 => (Layer::Gre, Next::Ethernet, at, key),
        0x88be => (Layer::Erspan, Next::Ethernet, at + if has_sequence { 8 } else { 0 }, 0),
        0x22eb => {
            let optional = *bytes.get(at + 11).ok_or(Fault::Cut)? & 1 != 0;
            (Layer::Erspan, Next::Ethernet, at + if optional { 20 } else { 12 }, 0)
        }
        0x880b => (Layer::Gre, Next::Ppp, at, key),
        other => (Layer::Gre, Next::Type(other), at, key),
    })
}

/// Behind a UDP header whose port says that a tunnel follows, and its VNI or TEID; `None` if it does not.
pub(crate) fn udp(bytes: &[u8], tunnel: Tunnel) -> Result<Option<(Next, usize, u32)>, Fault> {
    const UDP: usize = 8;
    let byte = |at: usize| bytes.get(UDP + at).copied().ok_or(Fault::Cut);
    let id = || be32(bytes, UDP + 4).ok_or(Fault::Cut);
    Ok(match tunnel {
        Tunnel::Vxlan if byte(0)? & 0x08 == 0 => None,
        Tunnel::Vxlan => Some((Next::Ethernet, UDP + 8, id()? >> 8)),
        Tunnel::Geneve => {
            let options = 4 * usize::from(byte(0)? & 0x3f);
            let inside = match be16(bytes, UDP + 2).ok_or(Fault::Cut)? {
                0x6558 => Next::Ethernet,
                other => Next::Type(other),
            };
            Some((inside, UDP + 8 + options, id()? >> 8))
        }
        Tunnel::Gtp => match gtp(bytes, UDP)? {
            Some(at) => Some((Next::Ip, at, id()?)),
            None => None,
        },
    })
}

/// Behind a GTP-U header (3GPP TS 29.281); `None` of messages without a packet.
fn gtp(bytes: &[u8], start: usize) -> Result<Option<usize>, Fault> {
    let head = bytes.get(start..start + 8).ok_or(Fault::Cut)?;
    if head[0] >> 5 != 1 || head[1] != 0xff {
        return Ok(None);
    }
    let mut at = start + 8;
    if head[0] & 7 != 0 {
        at += 4;
        let mut kind = if head[0] & 4 != 0 { *bytes.get(at - 1).ok_or(Fault::Cut)? } else { 0 };
        while kind != 0 {
            let size = 4 * usize::from(*bytes.get(at).ok_or(Fault::Cut)?);
            if size == 0 {
                return Err(Fault::Malformed);
            }
            at += size;
            kind = *bytes.get(at - 1).ok_or(Fault::Cut)?;
        }
    }
    Ok(Some(at))
}

/// Behind a stack of MPLS labels (RFC 3032), and the label at its bottom, which names a network: those above change with each
/// hop. The first nibble tells what follows (RFC 4385, RFC 4928).
pub(crate) fn mpls(bytes: &[u8]) -> Result<(Next, usize, u32), Fault> {
    let mut at = 0;
    let bottom = loop {
        let label = be32(bytes, at).ok_or(Fault::Cut)?;
        at += 4;
        if label & 0x100 != 0 {
            break label >> 12;
        }
    };
    Ok(match bytes.get(at).ok_or(Fault::Cut)? >> 4 {
        4 | 6 => (Next::Ip, at, bottom),
        0 => (Next::Ethernet, at + 4, bottom),
        _ => (Next::Ethernet, at, bottom),
    })
}

/// Behind a PPP header (RFC 1661), with or without address and control.
pub(crate) fn ppp(bytes: &[u8]) -> Result<(Next, usize), Fault> {
    let byte = |at: usize| bytes.get(at).copied().ok_or(Fault::Cut);
    let start = if byte(0)? == 0xff && byte(1)? == 0x03 { 2 } else { 0 };
    // A compressed protocol field is one odd byte.
    let (protocol, at) = if byte(start)? & 1 != 0 {
        (u16::from(byte(start)?), start + 1)
    } else {
        (be16(bytes, start).ok_or(Fault::Cut)?, start + 2)
    };
    match protocol {
        0x0021 => Ok((Next::Type(0x0800), at)),
        0x0057 => Ok((Next::Type(0x86dd), at)),
        0x0281 => Ok((Next::Type(0x8847), at)),
        _ => Err(Fault::Other("PPP control")),
    }
}

/// Behind LLC and SNAP (IEEE 802.2).
pub(crate) fn llc(bytes: &[u8]) -> Result<(Next, usize), Fault> {
    let head = bytes.get(..3).ok_or(Fault::Cut)?;
    match head {
        [0xaa, 0xaa, 0x03] => Ok((Next::Type(be16(bytes, 6).ok_or(Fault::Cut)?), 8)),
        [0x06, 0x06, 0x03] => Ok((Next::Type(0x0800), 3)),
        _ => Err(Fault::Other("LLC")),
    }
}
