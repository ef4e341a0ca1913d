//! A frame in words: a line of a list, and the fields of its headers.

use std::net::{IpAddr, Ipv4Addr};

use serde::Serialize;

use crate::bytes::{be16, be32};
use crate::decode::{Decoded, Next, Watch, decode_watched};
use crate::transport::Ip;
use crate::{DecodeAs, Flags, Frame, Segment};

/// A frame in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Address of the sender: of IP, or else of the link.
    pub source: String,
    /// Address of the receiver.
    pub destination: String,
    /// Innermost protocol that is read.
    pub protocol: String,
    /// Most important fields of that protocol.
    pub info: String,
}

/// A header of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Header {
    /// Name of its protocol.
    pub name: &'static str,
    /// Names and values of its fields.
    pub fields: Vec<(&'static str, String)>,
}

/// Headers on the way to the innermost one.
#[derive(Default)]
struct Seen {
    headers: Vec<(Next, usize)>,
    ip: Vec<(Ip, usize)>,
}

impl Watch for Seen {
    fn header(&mut self, kind: Next, at: usize) {
        self.headers.push((kind, at));
    }

    fn ip(&mut self, ip: &Ip, at: usize) {
        self.ip.push((*ip, at));
    }
}

/// Describe a frame in a line and by its headers, the outermost first.
pub fn describe(frame: &Frame<'_>, as_said: &DecodeAs) -> (Line, Vec<Header>) {
    let (mut seen, mut segment) = (Seen::default(), Segment::default());
    let decoded = decode_watched(frame, as_said, &mut segment, &mut seen);
    let (mut line, mut headers) = (Line::default(), Vec::new());
    let mut packets = seen.ip.iter();
    for &(kind, at) in &seen.headers {
        let bytes = frame.bytes.get(at..).unwrap_or_default();
        match kind {
            Next::Ethernet => headers.extend(ethernet(bytes, &mut line)),
            Next::Type(kind @ (0x8100 | 0x88a8 | 0x9100)) => headers.extend(vlan(kind, bytes, &mut line)),
            Next::Type(0x8847 | 0x8848) => headers.extend(mpls(bytes, &mut line)),
            Next::Type(0x0806) => headers.extend(arp(bytes, &mut line)),
            Next::Ip => match packets.next() {
                Some((ip, _)) => headers.push(internet(ip, bytes, &mut line)),
                None => line.protocol = "IP".into(),
            },
            Next::Type(_) | Next::Ppp | Next::Llc => {}
        }
    }
    match decoded {
        None => headers.push(tcp(&segment, &mut line)),
        Some(Decoded::Segment(segment)) => headers.push(tcp(&segment, &mut line)),
        Some(Decoded::Fragment(fragment)) => {
            if let Some(segment) = &fragment.segment {
                headers.push(tcp(segment, &mut line));
            }
            line.info = format!("fragment at byte {}; {}", fragment.piece.offset, line.info);
        }
        Some(Decoded::Other(name)) => {
            let innermost = seen.ip.last().filter(|(ip, _)| ip.fragment.is_none_or(|piece| piece.offset == 0));
            let inside = innermost.and_then(|(ip, at)| Some((ip, frame.bytes.get(at + ip.header as usize..)?)));
            let header = inside.and_then(|(ip, bytes)| payload(ip, bytes, name, &mut line));
            match header {
                Some(header) => headers.push(header),
                None if line.protocol != "ARP" => line.protocol = name.into(),
                None => {}
            }
        }
        Some(Decoded::Cut) => line.info = format!("cut short; {}", line.info),
        Some(Decoded::Malformed) => line.info = format!("malformed; {}", line.info),
        Some(Decoded::UnknownLink(link)) => line.info = format!("link type {link} is not read"),
    }
    (line, headers)
}

fn mac(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

fn address(bytes: [u8; 16]) -> String {
    IpAddr::from(bytes).to_canonical().to_string()
}

fn ethernet(bytes: &[u8], line: &mut Line) -> Option<Header> {
    let head: &[u8; 14] = bytes.first_chunk()?;
    let (to, from) = (mac(&head[..6]), mac(&head[6..12]));
    let kind = format!("0x{:02x}{:02x}", head[12], head[13]);
    (line.source, line.destination) = (from.clone(), to.clone());
    line.protocol = "Ethernet".into();
    line.info = format!("type {kind}");
    Some(Header { name: "Ethernet", fields: vec![("source", from), ("destination", to), ("type", kind)] })
}

fn vlan(kind: u16, bytes: &[u8], line: &mut Line) -> Option<Header> {
    let tag = be16(bytes, 0)?;
    line.info = format!("VLAN {}", tag & 0x0fff);
    let name = if kind == 0x88a8 { "802.1ad" } else { "802.1Q" };
    Some(Header { name, fields: vec![("VLAN", (tag & 0x0fff).to_string()), ("priority", (tag >> 13).to_string())] })
}

fn mpls(bytes: &[u8], line: &mut Line) -> Option<Header> {
    // RFC 3032: labels until the bit "bottom of stack". No router has a hundred.
    let words: Vec<u32> = (0..16).map_while(|at| be32(bytes, 4 * at)).collect();
    let last = words.iter().position(|word| word >> 8 & 1 == 1).unwrap_or(words.len().saturating_sub(1));
    let labels: Vec<String> = words.iter().take(last + 1).map(|word| (word >> 12).to_string()).collect();
    let ttl = words.first()? & 0xff;
    line.info = format!("label {}", labels.join(" "));
    Some(Header { name: "MPLS", fields: vec![("labels", labels.join(" ")), ("TTL", ttl.to_string())] })
}

/// Reads an ARP packet for IPv4 over Ethernet (RFC 826).
fn arp(bytes: &[u8], line: &mut Line) -> Option<Header> {
    line.protocol = "ARP".into();
    let head: &[u8; 28] = bytes.first_chunk()?;
    let ip = |at: usize| Ipv4Addr::new(head[at], head[at + 1], head[at + 2], head[at + 3]).to_string();
    let operation = be16(head, 6)?;
    let (sender, target, hardware) = (ip(14), ip(24), mac(&head[8..14]));
    line.info = match operation {
        1 => format!("who has {target}? tell {sender}"),
        2 => format!("{sender} is at {hardware}"),
        other => format!("operation {other}"),
    };
    let fields = vec![
        ("operation", operation.to_string()),
        ("sender", sender),
        ("sender's address on the link", hardware),
        ("target", target),
        ("target's address on the link", mac(&head[18..24])),
    ];
    Some(Header { name: "ARP", fields })
}

fn internet(ip: &Ip, bytes: &[u8], line: &mut Line) -> Header {
    (line.source, line.destination) = (address(ip.source), address(ip.destination));
    line.info.clear();
    let is_four = bytes.first().is_some_and(|first| first >> 4 == 4);
    let name = if is_four { "IPv4" } else { "IPv6" };
    line.protocol = name.into();
    let class = if is_four { bytes.get(1).copied() } else { be16(bytes, 0).map(|word| (word >> 4) as u8) };
    let ecn = ["not ECN-capable", "ECT(1)", "ECT(0)", "CE"][usize::from(ip.ecn & 3)];
    let mut fields = vec![
        ("source", line.source.clone()),
        ("destination", line.destination.clone()),
        (if is_four { "TTL" } else { "hop limit" }, ip.ttl.to_string()),
        ("protocol", ip.protocol.to_string()),
        ("length", format!("{} bytes", ip.length)),
        ("header", format!("{} bytes", ip.header)),
        ("DSCP", (class.unwrap_or_default() >> 2).to_string()),
        ("ECN", ecn.into()),
    ];
    if is_four {
        let may = be16(bytes, 6).is_some_and(|word| word & 0x4000 == 0);
        fields.push(("identification", ip.id.to_string()));
        fields.push(("may be fragmented", if may { "yes" } else { "no" }.into()));
    } else if let Some(word) = be32(bytes, 0) {
        fields.push(("flow label", format!("0x{:05x}", word & 0xf_ffff)));
    }
    if let Some(piece) = ip.fragment {
        let more = if piece.more { ", more follow" } else { ", the last one" };
        fields.push(("fragment", format!("at byte {}{more}", piece.offset)));
    }
    Header { name, fields }
}

/// Flags in the order of the header, and their names (RFC 9293, RFC 9768).
const FLAGS: [(Flags, &str); 9] = [
    (Flags::SYN, "SYN"),
    (Flags::FIN, "FIN"),
    (Flags::RST, "RST"),
    (Flags::PSH, "PSH"),
    (Flags::ACK, "ACK"),
    (Flags::URG, "URG"),
    (Flags::ECE, "ECE"),
    (Flags::CWR, "CWR"),
    (Flags::AE, "AE"),
];

fn tcp(segment: &Segment, line: &mut Line) -> Header {
    (line.source, line.destination) = (address(segment.source), address(segment.destination));
    line.protocol = "TCP".into();
    let Segment { source_port, destination_port, seq, ack, window, payload, .. } = *segment;
    let flags: Vec<&str> = FLAGS.iter().filter(|(flag, _)| segment.flags.has(*flag)).map(|(_, name)| *name).collect();
    let flags = flags.join(" ");
    line.info =
        format!("{source_port} → {destination_port} {flags} seq {seq} ack {ack} window {window} length {payload}");
    let mut fields = vec![
        ("source port", source_port.to_string()),
        ("destination port", destination_port.to_string()),
        ("sequence number", seq.to_string()),
        ("acknowledgement number", ack.to_string()),
        ("flags", flags),
        ("window", format!("{window}, not scaled")),
        ("payload", format!("{payload} bytes")),
        ("header", format!("{} bytes", segment.header_bytes)),
        ("checksum", format!("0x{:04x}", segment.checksum)),
    ];
    let mut option = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    option("maximum segment size", segment.mss.map(|mss| format!("{mss} bytes")));
    option("window scale", segment.window_scale.map(|scale| scale.to_string()));
    option("SACK permitted", segment.sack_permitted.then(|| "yes".to_owned()));
    option("timestamps", segment.timestamps.map(|(value, echo)| format!("{value}, echo {echo}")));
    let blocks = segment.sack_blocks().iter().map(|(from, to)| format!("{from} to {to}"));
    let blocks = blocks.collect::<Vec<_>>().join(", ");
    if !blocks.is_empty() {
        line.info.push_str(&format!(" SACK {blocks}"));
        option("SACK", Some(blocks));
    }
    Header { name: "TCP", fields }
}

/// Reads the header that an IP packet carries, if it is one of UDP, ICMP, ICMPv6 or OSPF.
fn payload(ip: &Ip, bytes: &[u8], name: &str, line: &mut Line) -> Option<Header> {
    match ip.protocol {
        17 => {
            let (from, to, length) = (be16(bytes, 0)?, be16(bytes, 2)?, be16(bytes, 4)?);
            let length = length.saturating_sub(8);
            // "UDP, port 53 (DNS)": what the well-known port stands for.
            let known = name.split_once('(').map(|(_, rest)| format!(" {}", rest.trim_end_matches(')')));
            line.protocol = "UDP".into();
            line.info = format!("{from} → {to}{} length {length}", known.unwrap_or_default());
            let checksum = format!("0x{:04x}", be16(bytes, 6)?);
            let fields = vec![
                ("source port", from.to_string()),
                ("destination port", to.to_string()),
                ("payload", format!("{length} bytes")),
                ("checksum", checksum),
            ];
            Some(Header { name: "UDP", fields })
        }
        1 | 58 => {
            let (kind, code) = (*bytes.first()?, *bytes.get(1)?);
            let is_four = ip.protocol == 1;
            let name = if is_four { "ICMP" } else { "ICMPv6" };
            let said = if is_four { icmp(kind, code) } else { icmp6(kind) };
            line.protocol = name.into();
            line.info = said.map_or_else(|| format!("type {kind} code {code}"), str::to_owned);
            let mut fields = vec![("type", kind.to_string()), ("code", code.to_string())];
            if matches!((is_four, kind), (true, 0 | 8) | (false, 128 | 129)) {
                let (id, number) = (be16(bytes, 4)?, be16(bytes, 6)?);
                line.info.push_str(&format!(" id {id} seq {number}"));
                fields.extend([("identifier", id.to_string()), ("sequence number", number.to_string())]);
            }
            if matches!((is_four, kind, code), (true, 3, 4)) {
                fields.push(("MTU of the next link", format!("{} bytes", be16(bytes, 6)?)));
            }
            Some(Header { name, fields })
        }
        89 => {
            let (version, kind) = (*bytes.first()?, *bytes.get(1)?);
            let said = [
                "",
                "Hello",
                "Database Description",
                "Link State Request",
                "Link State Update",
                "Link State Acknowledgment",
            ];
            let said = said.get(usize::from(kind)).copied().unwrap_or_default();
            let router = Ipv4Addr::from(be32(bytes, 4)?).to_string();
            line.protocol = "OSPF".into();
            line.info = format!("{said} of router {router}");
            let area = Ipv4Addr::from(be32(bytes, 8)?).to_string();
            let fields = vec![
                ("version", version.to_string()),
                ("type", format!("{kind} {said}")),
                ("router", router),
                ("area", area),
            ];
            Some(Header { name: "OSPF", fields })
        }
        _ => None,
    }
}

/// Messages of ICMP (RFC 792, RFC 1191).
fn icmp(kind: u8, code: u8) -> Option<&'static str> {
    Some(match (kind, code) {
        (0, _) => "echo reply",
        (3, 0) => "network unreachable",
        (3, 1) => "host unreachable",
        (3, 2) => "protocol unreachable",
        (3, 3) => "port unreachable",
        (3, 4) => "fragmentation needed",
        (3, _) => "destination unreachable",
        (5, _) => "redirect",
        (8, _) => "echo request",
        (11, 0) => "TTL exceeded in transit",
        (11, _) => "time exceeded",
        _ => return None,
    })
}

/// Messages of ICMPv6 (RFC 4443, RFC 4861, RFC 9777).
fn icmp6(kind: u8) -> Option<&'static str> {
    Some(match kind {
        1 => "destination unreachable",
        2 => "packet too big",
        3 => "time exceeded",
        128 => "echo request",
        129 => "echo reply",
        133 => "router solicitation",
        134 => "router advertisement",
        135 => "neighbour solicitation",
        136 => "neighbour advertisement",
        143 => "multicast listener report",
        _ => return None,
    })
}

/// Says a frame's bytes in hexadecimal and as text, 16 in a line.
pub fn hexdump(bytes: &[u8]) -> String {
    let line = |(at, part): (usize, &[u8])| {
        let hex: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String =
            part.iter().map(|&byte| if (32..127).contains(&byte) { byte as char } else { '.' }).collect();
        format!("{:04x}  {:<47}  {text}", 16 * at, hex.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect::<Vec<_>>().join("\n")
}
