//! Splitting a burst and merging its segments undo each other. [`Sent`] builds the expected frames independently of both.

use proptest::prelude::*;
use units::Ip;

use super::{Burst, HEADER_ROOM, Run, Vnet, checksum_at, write_header};
use crate::checksum;
use crate::frame::{self, TCP, UDP};

/// A burst as a host's kernel hands it over.
#[derive(Clone, Debug)]
struct Sent {
    ip: Ip,
    protocol: u8,
    /// Options of the IP header, 32-bit words; in IPv6, the hop-by-hop options header.
    ip_options: usize,
    tcp_options: usize,
    tos: u8,
    identification: u16,
    sequence: u32,
    flags: u8,
    gso_size: usize,
    payload: Vec<u8>,
}

/// fd00:1::1 and fd00:2::2.
const ADDRESSES: [u8; 32] =
    [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];

const FIN: u8 = 1;
const PSH: u8 = 8;
const ACK: u8 = 16;
const CWR: u8 = 128;

impl Sent {
    fn transport(&self) -> usize {
        14 + self.ip.header_bytes() as usize + 4 * self.ip_options
    }

    fn header_bytes(&self) -> usize {
        self.transport() + if self.protocol == TCP { 20 + 4 * self.tcp_options } else { 8 }
    }

    /// Bytes `range` of the payload as the `index`th segment, or as a burst that begins there.
    fn frame(&self, index: usize, range: std::ops::Range<usize>, flags: u8) -> Vec<u8> {
        let payload = &self.payload[range.clone()];
        let transport = self.transport();
        let mut f = vec![0u8; self.header_bytes()];
        f[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        self.write_ip(index, payload.len(), &mut f);
        f[transport..transport + 4].copy_from_slice(&[0x9c, 0x40, 0x13, 0x89]);
        let below = self.header_bytes() - transport + payload.len();
        if self.protocol == TCP {
            let sequence = self.sequence.wrapping_add(range.start as u32);
            f[transport + 4..transport + 8].copy_from_slice(&sequence.to_be_bytes());
            f[transport + 12] = (5 + self.tcp_options as u8) << 4;
            f[transport + 13] = flags;
            f[transport + 20..].fill(1);
        } else {
            f[transport + 4..transport + 6].copy_from_slice(&(below as u16).to_be_bytes());
        }
        let at = transport + if self.protocol == TCP { 16 } else { 6 };
        let sum = words(&self.pseudo_header(below));
        f[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        f.extend_from_slice(payload);
        f
    }

    fn write_ip(&self, index: usize, payload: usize, f: &mut [u8]) {
        let transport = self.transport();
        let bytes_from = |header: usize| ((self.header_bytes() - header + payload) as u16).to_be_bytes();
        if self.ip == Ip::V6 {
            f[12..14].copy_from_slice(&[0x86, 0xdd]);
            f[14..18].copy_from_slice(&[0x60 | self.tos >> 4, self.tos << 4 | 9, 0x12, 0x34]);
            f[18..20].copy_from_slice(&bytes_from(54));
            f[20..22].copy_from_slice(&[if transport > 54 { 0 } else { self.protocol }, 64]);
            f[22..54].copy_from_slice(&ADDRESSES);
            if transport > 54 {
                // The only option is padding (RFC 8200 section 4.2).
                let bytes = (transport - 54) as u8;
                f[54..58].copy_from_slice(&[self.protocol, bytes / 8 - 1, 1, bytes - 4]);
            }
            return;
        }
        f[14] = 0x45 + self.ip_options as u8;
        f[15] = self.tos;
        f[16..18].copy_from_slice(&bytes_from(14));
        f[18..20].copy_from_slice(&self.identification.wrapping_add(index as u16).to_be_bytes());
        f[20] = 0x40;
        f[22] = 64;
        f[23] = self.protocol;
        f[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 1, 1]);
        f[34..transport].fill(1);
        let sum = words(&f[14..transport]);
        f[24..26].copy_from_slice(&(!sum).to_be_bytes());
    }

    fn pseudo_header(&self, below: usize) -> Vec<u8> {
        let addresses = if self.ip == Ip::V4 { &[10, 0, 0, 1, 10, 0, 1, 1][..] } else { &ADDRESSES };
        [addresses, &(below as u32).to_be_bytes(), &[0, 0, 0, self.protocol]].concat()
    }

    fn whole(&self) -> Vec<u8> {
        self.frame(0, 0..self.payload.len(), self.flags)
    }

    fn segments(&self) -> usize {
        self.payload.len().div_ceil(self.gso_size)
    }

    fn range(&self, index: usize) -> std::ops::Range<usize> {
        index * self.gso_size..((index + 1) * self.gso_size).min(self.payload.len())
    }

    fn flags_of(&self, index: usize) -> u8 {
        let first = if index > 0 { !CWR } else { 0xff };
        let last = if index + 1 < self.segments() { !(FIN | PSH) } else { 0xff };
        self.flags & first & last
    }

    fn vnet(&self) -> Vnet {
        let partial = Vnet::partial(self.transport() as u16, if self.protocol == TCP { 16 } else { 6 });
        let (header_bytes, gso_size) = (self.header_bytes() as u16, self.gso_size as u16);
        if self.protocol == TCP {
            partial.tcp_burst(self.ip, header_bytes, gso_size, self.flags & CWR != 0)
        } else {
            partial.udp_burst(header_bytes, gso_size)
        }
    }
}

/// RFC 1071 by the book: 16-bit words, a carry at a time.
fn words(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0u16, |sum, pair| {
        let word = u16::from(pair[0]) << 8 | u16::from(*pair.get(1).unwrap_or(&0));
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}

fn split(whole: &[u8], vnet: &Vnet) -> Vec<Vec<u8>> {
    let header = frame::parse(whole).unwrap();
    let burst = Burst::new(whole, &header, vnet).expect("a burst");
    (0..burst.segments())
        .map(|index| {
            let mut slot = vec![0xee; 2048];
            let len = burst.write(index, &mut slot);
            slot.truncate(len);
            slot
        })
        .collect()
}

fn merge(segments: &[Vec<u8>], gso_size: usize) -> (Vnet, Vec<u8>) {
    let header = frame::parse(&segments[0]).unwrap();
    let payload = usize::from(header.payload);
    let run = Run {
        header: &segments[0][..payload],
        transport: usize::from(header.transport),
        protocol: header.tuple.protocol,
        last: segments.last().unwrap(),
        gso_size,
        payload_bytes: segments.iter().map(|segment| segment.len() - payload).sum(),
    };
    let mut room = [0; HEADER_ROOM];
    let vnet = write_header(&run, &mut room);
    let mut whole = room[..payload].to_vec();
    segments.iter().for_each(|segment| whole.extend_from_slice(&segment[payload..]));
    (vnet, whole)
}

fn sent() -> impl Strategy<Value = Sent> {
    let numbers = (any::<u8>(), any::<u16>(), any::<u32>(), any::<u8>());
    let sizes = (0usize..=10, 0usize..=10, 1usize..=1440, any::<bool>(), any::<bool>());
    let payload = prop::collection::vec(any::<u8>(), 1..=8000);
    (numbers, sizes, payload).prop_map(|(numbers, (options, tcp_options, gso_size, tcp, v4), payload)| {
        let (tos, identification, sequence, flags) = numbers;
        // The extension header is a multiple of 8 bytes: 0, 8 or 16.
        let (ip, ip_options) = if v4 { (Ip::V4, options) } else { (Ip::V6, options / 5 * 2) };
        Sent {
            ip,
            protocol: if tcp { TCP } else { UDP },
            ip_options,
            tcp_options,
            tos,
            identification,
            sequence,
            flags,
            gso_size: gso_size.max(payload.len() / 60),
            payload,
        }
    })
}

proptest! {
    #[test]
    fn split_writes_the_segments_that_an_interface_would_send(sent in sent()) {
        let segments = split(&sent.whole(), &sent.vnet());
        prop_assert_eq!(segments.len(), sent.segments());
        for (index, segment) in segments.iter().enumerate() {
            prop_assert_eq!(segment, &sent.frame(index, sent.range(index), sent.flags_of(index)));
            if sent.ip == Ip::V4 {
                prop_assert_eq!(words(&segment[14..sent.transport()]), 0xffff);
            }
            let mut complete = segment[sent.transport()..].to_vec();
            checksum::complete(&mut complete, checksum_at(sent.protocol));
            let mut covered = sent.pseudo_header(complete.len());
            covered.extend(complete);
            prop_assert_eq!(words(&covered), 0xffff);
        }
    }

    #[test]
    fn merge_undoes_split(sent in sent()) {
        let whole = sent.whole();
        let (vnet, merged) = merge(&split(&whole, &sent.vnet()), sent.gso_size);
        prop_assert_eq!(merged, whole);
        prop_assert_eq!(vnet, sent.vnet());
    }

    /// Such segments are left of a burst when the link drops or marks one between.
    #[test]
    fn split_undoes_merge_of_any_consecutive_segments(sent in sent(), from in 0usize..60, to in 0usize..60) {
        let segments = split(&sent.whole(), &sent.vnet());
        let from = from % segments.len();
        let to = from + 1 + to % (segments.len() - from);
        let (vnet, merged) = merge(&segments[from..to], sent.gso_size);
        prop_assert_eq!(split(&merged, &vnet), &segments[from..to]);
        let ecn = vnet.gso_type & 0x80 != 0;
        prop_assert_eq!(ecn, sent.protocol == TCP && sent.flags & CWR != 0 && from == 0);
    }
}

fn three_and_a_bit() -> Sent {
    Sent {
        ip: Ip::V4,
        protocol: TCP,
        ip_options: 0,
        tcp_options: 3,
        tos: 2,
        identification: 0xffff,
        sequence: u32::MAX - 1448,
        flags: ACK | PSH | FIN | CWR,
        gso_size: 1448,
        payload: (0..3 * 1448 + 1).map(|i| i as u8).collect(),
    }
}

#[test]
fn an_odd_tail_wrapping_numbers_and_flags() {
    let sent = three_and_a_bit();
    let segments = split(&sent.whole(), &sent.vnet());
    let of = |at: usize, bytes: usize| -> Vec<&[u8]> { segments.iter().map(|s| &s[at..at + bytes]).collect() };
    assert_eq!(segments.iter().map(Vec::len).collect::<Vec<_>>(), [1514, 1514, 1514, 67]);
    assert_eq!(of(18, 2), [[0xff, 0xff], [0, 0], [0, 1], [0, 2]]);
    assert_eq!(of(47, 1), [[ACK | CWR], [ACK], [ACK], [ACK | PSH | FIN]]);
    let sequences: Vec<u32> = segments.iter().map(|s| frame::parse(s).unwrap().tcp_seq.unwrap()).collect();
    assert_eq!(sequences, [u32::MAX - 1448, u32::MAX, 1447, 2895]);
}

#[test]
fn what_is_no_burst_is_refused() {
    let sent = three_and_a_bit();
    let whole = sent.whole();
    let header = frame::parse(&whole).unwrap();
    let is_burst = |frame: &[u8], vnet: Vnet| Burst::new(frame, &header, &vnet).is_some();
    assert!(is_burst(&whole, sent.vnet()));
    assert!(!is_burst(&whole[..whole.len() - 1], sent.vnet()), "cut off");
    assert!(!is_burst(&whole, Vnet::default()), "one frame");
    assert!(!is_burst(&whole, Vnet { gso_size: 0, ..sent.vnet() }));
    assert!(!is_burst(&whole, Vnet { flags: 0, ..sent.vnet() }), "without a missing checksum");
    assert!(!is_burst(&whole, sent.vnet().udp_burst(66, 1448)), "of UDP");
}

#[test]
fn the_header_is_read_as_it_is_written() {
    let vnet = three_and_a_bit().vnet();
    assert_eq!(Vnet::from_bytes(vnet.to_bytes()), vnet);
    // flags, type, then fields of two bytes each: 66 bytes of headers, 1448, 34, 16.
    let fields = [66u16, 1448, 34, 16].map(u16::to_ne_bytes).concat();
    assert_eq!(vnet.to_bytes()[..], [&[1, 0x81], &fields[..]].concat()[..]);
}
