//! Packets as files of any kind.

#![allow(dead_code)] // Not every test needs all of this module.

use std::io::Write;

use capture::writer::{self, Writer};

/// A packet of a connection over IPv4; numbers count from the first byte of payload.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub time_us: i64,
    pub client: [u8; 4],
    pub port: u16,
    pub id: u16,
    pub payload: u32,
    pub from_client: bool,
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    pub stamps: (u32, u32),
    pub sack: Option<(u32, u32)>,
}

const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;
const SERVER: [u8; 4] = [10, 0, 0, 2];

impl Packet {
    fn new(time_us: i64, from_client: bool, flags: u8) -> Packet {
        let stamps = ((1_000 + time_us / 1_000) as u32, 1_000);
        Packet {
            time_us,
            client: [10, 0, 0, 1],
            port: 40_000,
            id: 1,
            payload: 0,
            from_client,
            flags,
            seq: 0,
            ack: 0,
            stamps,
            sack: None,
        }
    }

    pub fn handshake(rtt_us: i64) -> Vec<Packet> {
        let before = u32::MAX;
        vec![
            Packet { seq: before, stamps: (1_000, 0), ..Packet::new(0, true, SYN) },
            Packet { seq: before, ..Packet::new(rtt_us, false, SYN | ACK) },
            Packet::new(rtt_us, true, ACK),
        ]
    }

    pub fn data(time_us: i64, seq: u32, payload: u32, stamp: u32) -> Packet {
        Packet { seq, payload, stamps: (stamp, 1_000), ..Packet::new(time_us, true, ACK) }
    }

    pub fn ack(time_us: i64, ack: u32, echo: u32, sack: Option<(u32, u32)>) -> Packet {
        let stamps = ((1_000 + time_us / 1_000) as u32, echo);
        Packet { ack, stamps, sack, ..Packet::new(time_us, false, ACK) }
    }

    pub fn end(time_us: i64, seq: u32, rtt_us: i64) -> Vec<Packet> {
        let behind = seq.wrapping_add(1);
        vec![
            Packet { seq, ..Packet::new(time_us, true, FIN | ACK) },
            Packet { ack: behind, ..Packet::new(time_us + rtt_us, false, FIN | ACK) },
            Packet { seq: behind, ack: 1, ..Packet::new(time_us + rtt_us, true, ACK) },
        ]
    }

    /// The same with other numbers, at another time, from another port.
    pub fn moved(&self, own: u32, others: u32, later_us: i64, port: u16) -> Packet {
        let (seq, ack) = if self.from_client { (own, others) } else { (others, own) };
        Packet {
            time_us: self.time_us + later_us,
            port,
            seq: self.seq.wrapping_add(seq),
            // An acknowledgement that does not count stays 0.
            ack: if self.flags & ACK == 0 { 0 } else { self.ack.wrapping_add(ack) },
            sack: self.sack.map(|(start, end)| (start.wrapping_add(own), end.wrapping_add(own))),
            ..*self
        }
    }

    /// `next` may be merged into it, as receive offloads do.
    pub fn is_followed_by(&self, next: &Packet) -> bool {
        let is_data = |packet: &Packet| packet.from_client && packet.payload > 0;
        is_data(self)
            && is_data(next)
            && next.seq == self.seq.wrapping_add(self.payload)
            && self.payload + next.payload < 60_000
    }

    /// The IP packet, without its payload.
    fn ip(&self) -> Vec<u8> {
        let mut options = vec![1, 1, 8, 10];
        options.extend(self.stamps.0.to_be_bytes());
        options.extend(self.stamps.1.to_be_bytes());
        if let Some((start, end)) = self.sack {
            options.extend([1, 1, 5, 10]);
            options.extend(start.to_be_bytes());
            options.extend(end.to_be_bytes());
        }
        if self.flags & SYN != 0 {
            options.extend([2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0]);
        }
        let ends = [(self.client, self.port), (SERVER, 80)];
        let (source, destination) = if self.from_client { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
        let total = 40 + options.len() + self.payload as usize;
        let mut bytes = vec![0x45, 0];
        bytes.extend((total as u16).to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64, 6, 0, 0]);
        bytes.extend(source.0);
        bytes.extend(destination.0);
        bytes.extend(source.1.to_be_bytes());
        bytes.extend(destination.1.to_be_bytes());
        bytes.extend(self.seq.to_be_bytes());
        bytes.extend(self.ack.to_be_bytes());
        bytes.extend([(((20 + options.len()) / 4) << 4) as u8, self.flags]);
        bytes.extend(6_000_u16.to_be_bytes());
        bytes.extend([0; 4]);
        bytes.extend(options);
        bytes.resize(total, 0);
        bytes
    }
}

/// Layers around IP packets.
#[derive(Clone, Debug)]
pub struct Link {
    pub number: u32,
    before: Vec<u8>,
    is_in_ip: bool,
    /// The names of its tunnels and tags.
    pub layers: Option<&'static str>,
}

const MACS: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

impl Link {
    pub fn ethernet() -> Link {
        Link::tagged(&[8, 0], None)
    }

    fn tagged(behind: &[u8], layers: Option<&'static str>) -> Link {
        Link { number: 1, before: [&MACS[..], behind].concat(), is_in_ip: false, layers }
    }

    /// VLANs, MPLS, PPPoE, raw IP, loopback, Linux' cooked captures, GRE.
    pub fn others() -> Vec<Link> {
        let raw = |number: u32, before: &[u8]| Link { number, before: before.to_vec(), is_in_ip: false, layers: None };
        vec![
            Link::tagged(&[0x81, 0, 0, 7, 8, 0], Some("802.1Q")),
            Link::tagged(&[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, 8, 0], Some("802.1ad 802.1Q")),
            Link::tagged(&[0x88, 0x47, 0, 0, 0x10, 64, 0, 0, 0x21, 64], Some("MPLS")),
            raw(101, &[]),
            raw(0, &[2, 0, 0, 0]),
            raw(113, &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0]),
            Link { is_in_ip: true, layers: Some("GRE"), ..Link::ethernet() },
        ]
    }

    pub fn frame(&self, packet: &Packet) -> Vec<u8> {
        let inside = packet.ip();
        let mut bytes = self.before.clone();
        if self.is_in_ip {
            let total = (24 + inside.len()) as u16;
            bytes.extend([0x45, 0]);
            bytes.extend(total.to_be_bytes());
            bytes.extend([0, 1, 0x40, 0, 64, 47, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
            bytes.extend([0, 0, 8, 0]);
        }
        bytes.extend(inside);
        bytes
    }
}

/// How a pcap is written.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    pub snaplen: usize,
    pub is_ns: bool,
    pub is_big_endian: bool,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { snaplen: 262_144, is_ns: false, is_big_endian: false }
    }
}

pub fn pcap(packets: &[Packet], link: &Link, how: &Frames) -> Vec<u8> {
    let word = |value: u32| if how.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = |value: u16| if how.is_big_endian { value.to_be_bytes() } else { value.to_le_bytes() };
    let mut file = word(if how.is_ns { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }).to_vec();
    file.extend(half(2));
    file.extend(half(4));
    file.extend([0; 8]);
    file.extend(word(how.snaplen as u32));
    file.extend(word(link.number));
    for packet in packets {
        let bytes = link.frame(packet);
        let kept = bytes.len().min(how.snaplen);
        let fraction = packet.time_us % 1_000_000 * if how.is_ns { 1_000 } else { 1 };
        let seconds = packet.time_us / 1_000_000;
        for value in [seconds as u32, fraction as u32, kept as u32, bytes.len() as u32] {
            file.extend(word(value));
        }
        file.extend(&bytes[..kept]);
    }
    file
}

pub fn pcapng(packets: &[Packet], snaplen: usize) -> Vec<u8> {
    let mut file = Writer::new(Vec::new(), "a test").expect("memory takes it");
    let interface = file.interface("any", snaplen as u32).expect("memory takes it");
    for packet in packets {
        let bytes = Link::ethernet().frame(packet);
        let kept = &bytes[..bytes.len().min(snaplen)];
        let time_ns = packet.time_us * 1_000;
        let length = bytes.len() as u32;
        let packet = writer::Packet { interface, time_ns, length, bytes: kept, outgoing: None, comment: "" };
        file.packet(&packet).expect("memory takes it");
    }
    file.finish().expect("memory takes it")
}

pub fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut made = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    made.write_all(bytes).expect("memory takes it");
    made.finish().expect("memory takes it")
}
