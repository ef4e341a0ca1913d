//! From a frame to its innermost TCP segment.

use crate::bytes::be16;
use crate::layers::{Layer, Layers, within};
use crate::transport::{Ip, Piece, ipv4, ipv6, tcp};
use crate::{DecodeAs, Frame, Segment, Tunnel, links, tunnels};

/// Content of a frame.
#[derive(Clone, Copy, Debug)]
pub enum Decoded {
    /// A TCP segment.
    Segment(Segment),
    /// A fragment of a datagram with TCP.
    Fragment(Fragment),
    /// Something else, by name.
    Other(&'static str),
    /// Too little of it was captured.
    Cut,
    /// Its headers contradict each other.
    Malformed,
    /// A link type that is not read.
    UnknownLink(u16),
}

/// A part of a datagram with TCP.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    pub(crate) source: [u8; 16],
    pub(crate) destination: [u8; 16],
    pub(crate) network: u64,
    pub(crate) piece: Piece,
    /// Bytes of the datagram in it.
    pub(crate) length: u32,
    /// The first fragment has the TCP header.
    pub(crate) segment: Option<Segment>,
}

/// Why no segment was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Cut,
    Malformed,
    Other(&'static str),
    UnknownLink(u16),
}

/// The kind of the next header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Ethernet,
    /// An Ethernet type.
    Type(u16),
    /// IPv4 or IPv6, as the first nibble says.
    Ip,
    Ppp,
    Llc,
}

/// Follows the way through a frame's headers.
pub(crate) trait Watch {
    /// A header of this kind begins behind so many bytes of the frame.
    fn header(&mut self, _: Next, _at: usize) {}
    /// An IP header that was read begins there.
    fn ip(&mut self, _: &Ip, _at: usize) {}
}

/// Watches nothing, and costs nothing.
impl Watch for () {}

/// Find the innermost TCP segment of a frame, `as_said` of it. A frame without a time has time 0.
pub fn decode(frame: &Frame<'_>, as_said: &DecodeAs) -> Decoded {
    let mut segment = Segment::default();
    match decode_into(frame, as_said, &mut segment) {
        None => Decoded::Segment(segment),
        Some(other) => other,
    }
}

/// The same, with the segment written where it is to stay. Returns `None` if there is one, else what the frame is instead.
#[inline]
pub(crate) fn decode_into(frame: &Frame<'_>, as_said: &DecodeAs, segment: &mut Segment) -> Option<Decoded> {
    decode_watched(frame, as_said, segment, &mut ())
}

/// The same, with each header told to `watch` on the way.
#[inline]
pub(crate) fn decode_watched(
    frame: &Frame<'_>,
    as_said: &DecodeAs,
    segment: &mut Segment,
    watch: &mut impl Watch,
) -> Option<Decoded> {
    let fault = match innermost(frame, as_said, segment, watch) {
        Ok(None) => return None,
        Ok(Some(fragment)) => return Some(Decoded::Fragment(fragment)),
        Err(fault) => fault,
    };
    Some(match fault {
        Fault::Cut if (frame.bytes.len() as u64) < u64::from(frame.length) => Decoded::Cut,
        // All of the frame is there, and it ends within a header.
        Fault::Cut | Fault::Malformed => Decoded::Malformed,
        Fault::Other(name) => Decoded::Other(name),
        Fault::UnknownLink(link) => Decoded::UnknownLink(link),
    })
}

fn innermost(
    frame: &Frame<'_>,
    as_said: &DecodeAs,
    segment: &mut Segment,
    watch: &mut impl Watch,
) -> Result<Option<Fragment>, Fault> {
    let bytes = frame.bytes;
    let length = frame.length.saturating_sub(frame.fcs_bytes.into());
    let (mut next, mut at, outgoing) = links::first(as_said.link(frame.link), bytes)?;
    let mut place = Place::of(frame.interface);
    if let Some(outgoing) = outgoing {
        // A capture of all interfaces: Linux' second cooked header names each.
        let interface = if as_said.link(frame.link) == links::COOKED { bytes.get(4..8) } else { None };
        place.add(interface.unwrap_or_default());
        place.add(&[outgoing.into()]);
    }
    let mut layers = Layers::default();
    let mut network = 0;
    // A frame with more tunnels and tags than are followed is malformed.
    let mut add = |layer| if layers.push(layer) { Ok(()) } else { Err(Fault::Malformed) };
    loop {
        let rest = bytes.get(at..).ok_or(Fault::Cut)?;
        let left = length.saturating_sub(at as u32);
        watch.header(next, at);
        let (inside, size) = match next {
            Next::Ethernet => {
                let head: &[u8; 14] = rest.first_chunk().ok_or(Fault::Cut)?;
                place.add(&head[6..12]);
                let kind = u16::from_be_bytes([head[12], head[13]]);
                if kind < 0x600 { (Next::Llc, 14) } else { (Next::Type(kind), 14) }
            }
            Next::Ppp => tunnels::ppp(rest)?,
            Next::Llc => tunnels::llc(rest)?,
            Next::Type(tag_type @ (0x8100 | 0x88a8 | 0x9100)) => {
                let tag: &[u8; 4] = rest.first_chunk().ok_or(Fault::Cut)?;
                place.add(&tag[..2]);
                network = within(network, u32::from(u16::from_be_bytes([tag[0], tag[1]]) & 0x0fff));
                let kind = u16::from_be_bytes([tag[2], tag[3]]);
                add(if tag_type == 0x88a8 { Layer::ServiceVlan } else { Layer::Vlan })?;
                if kind < 0x600 { (Next::Llc, 4) } else { (Next::Type(kind), 4) }
            }
            Next::Type(0x8847 | 0x8848) => {
                add(Layer::Mpls)?;
                let (inside, size, label) = tunnels::mpls(rest)?;
                network = within(network, label);
                (inside, size)
            }
            Next::Type(0x8864) => {
                add(Layer::Pppoe)?;
                network = within(network, be16(rest, 2).ok_or(Fault::Cut)?.into());
                (Next::Ppp, 6)
            }
            Next::Type(0x0800 | 0x86dd) => (Next::Ip, 0),
            Next::Type(other) => return Err(Fault::Other(named(other))),
            Next::Ip => {
                let ip = match rest.first().ok_or(Fault::Cut)? >> 4 {
                    4 => ipv4(rest, left)?,
                    6 => ipv6(rest, left)?,
                    _ => return Err(Fault::Malformed),
                };
                place.add(&[ip.ttl]);
                watch.ip(&ip, at);
                match payload(rest, &ip, as_said)? {
                    Inside::Tunnel(layer, inside, size, id) => {
                        add(layer)?;
                        if let Some(id) = id {
                            network = within(network, id);
                        }
                        (inside, size)
                    }
                    Inside::Tcp => {
                        *segment = Segment {
                            time_ns: frame.time_ns.unwrap_or(0),
                            frame_bytes: frame.length,
                            place: place.0,
                            layers,
                            network,
                            interface: frame.interface,
                            outgoing: frame.outgoing.or(outgoing),
                            ..Segment::default()
                        };
                        return finish(rest, &ip, segment);
                    }
                }
            }
        };
        (next, at) = (inside, at + size);
    }
}

enum Inside {
    /// A tunnel, what is in it and where, and its identifier.
    Tunnel(Layer, Next, usize, Option<u32>),
    Tcp,
}

/// Returns the content of an IP packet.
fn payload(bytes: &[u8], ip: &Ip, as_said: &DecodeAs) -> Result<Inside, Fault> {
    let header = ip.header as usize;
    let is_later = ip.fragment.is_some_and(|piece| piece.offset > 0);
    match ip.protocol {
        6 => Ok(Inside::Tcp),
        _ if is_later => Err(Fault::Other("fragments")),
        4 => Ok(Inside::Tunnel(Layer::Ip4InIp, Next::Ip, header, None)),
        41 => Ok(Inside::Tunnel(Layer::Ip6InIp, Next::Ip, header, None)),
        47 => {
            let (layer, inside, at, key) = tunnels::gre(bytes.get(header..).ok_or(Fault::Cut)?)?;
            Ok(Inside::Tunnel(layer, inside, header + at, (layer == Layer::Gre).then_some(key)))
        }
        137 => {
            let (inside, at, label) = tunnels::mpls(bytes.get(header..).ok_or(Fault::Cut)?)?;
            Ok(Inside::Tunnel(Layer::Mpls, inside, header + at, Some(label)))
        }
        17 => {
            let udp = bytes.get(header..).ok_or(Fault::Cut)?;
            let head: &[u8; 8] = udp.first_chunk().ok_or(Fault::Cut)?;
            let (source, port) = (u16::from_be_bytes([head[0], head[1]]), u16::from_be_bytes([head[2], head[3]]));
            let Some(tunnel) = as_said.tunnel(port) else { return Err(Fault::Other(datagram(source, port))) };
            let layer = match tunnel {
                Tunnel::Vxlan => Layer::Vxlan,
                Tunnel::Geneve => Layer::Geneve,
                Tunnel::Gtp => Layer::Gtp,
            };
            match tunnels::udp(udp, tunnel) {
                Ok(Some((inside, at, id))) => Ok(Inside::Tunnel(layer, inside, header + at, Some(id))),
                Ok(None) => Err(Fault::Other(datagram(source, port))),
                Err(fault) => Err(fault),
            }
        }
        1 => Err(Fault::Other("ICMP")),
        58 => Err(Fault::Other("ICMPv6")),
        50 => Err(Fault::Other("ESP")),
        132 => Err(Fault::Other("SCTP")),
        89 => Err(Fault::Other("OSPF")),
        2 => Err(Fault::Other("IGMP")),
        _ => Err(Fault::Other("other IP protocols")),
    }
}

/// The name of a datagram by its well-known port.
fn datagram(source: u16, destination: u16) -> &'static str {
    match (source, destination) {
        (443, _) | (_, 443) => "UDP, port 443 (QUIC)",
        (51820, _) | (_, 51820) => "UDP, port 51820 (WireGuard)",
        (53, _) | (_, 53) => "UDP, port 53 (DNS)",
        _ => "UDP",
    }
}

/// The name of a frame by its Ethernet type.
fn named(kind: u16) -> &'static str {
    match kind {
        0x0806 => "ARP",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0x8863 => "PPPoE discovery",
        _ => "other Ethernet types",
    }
}

fn finish(bytes: &[u8], ip: &Ip, segment: &mut Segment) -> Result<Option<Fragment>, Fault> {
    let Some(piece) = ip.fragment else {
        tcp(bytes.get(ip.header as usize..).ok_or(Fault::Cut)?, ip, segment)?;
        return Ok(None);
    };
    let is_first = piece.offset == 0;
    if is_first {
        tcp(bytes.get(ip.header as usize..).ok_or(Fault::Cut)?, ip, segment)?;
    }
    Ok(Some(Fragment {
        source: ip.source,
        destination: ip.destination,
        network: segment.network,
        piece,
        length: ip.length.saturating_sub(ip.header),
        segment: is_first.then_some(*segment),
    }))
}

/// A number for the place at which a frame was seen.
struct Place(u32);

impl Place {
    fn of(interface: u32) -> Place {
        let mut place = Place(0x811c_9dc5);
        place.add(&interface.to_le_bytes());
        place
    }

    /// Mix in up to 8 bytes, with one multiplication: this is done for each frame.
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let mixed = (u64::from(self.0).rotate_left(40) ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = (mixed >> 32) as u32 ^ mixed as u32;
    }
}
