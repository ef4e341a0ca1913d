//! Damaged captures: whatever is in a file, a frame or a sequence of segments, reading it ends, and what is counted is bounded
//! by what was there.

use crate::files::{Frames, Link, Packet, pcap, pcapng};
use capture::decode::{Decoded, decode};
use capture::{Flags, Frame, Segment};
use connections::rows::{ConnectionRow, DirectionRow, EventRow, IntervalRow, RttRow};
use connections::{Limits, Sink, Table};
use proptest::prelude::*;

#[derive(Default)]
struct Counts {
    connections: u64,
    rows: u64,
    payload: u64,
    told: u64,
}

impl Sink for Counts {
    fn connection(&mut self, _: ConnectionRow) {
        self.connections += 1;
    }
    fn direction(&mut self, row: DirectionRow) {
        self.payload += row.counters.payload_bytes;
        self.told += row.stream.unique_bytes.unwrap_or(0) + row.stream.repeated_bytes.unwrap_or(0);
    }
    fn interval(&mut self, _: IntervalRow) {
        self.rows += 1;
    }
    fn rtt(&mut self, _: RttRow) {
        self.rows += 1;
    }
    fn event(&mut self, _: EventRow) {
        self.rows += 1;
    }
}

/// A change to a file: bits flipped, bytes overwritten by a number that means much to parsers, cut out, or repeated.
#[derive(Clone, Debug)]
enum Change {
    Flip(usize, u8),
    Number(usize, u32),
    Cut(usize, usize),
    Again(usize, usize),
    End(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let numbers =
        prop::sample::select(vec![0, 1, 4, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff0, 65_535, 1 << 24]);
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, bits)| Change::Flip(at, bits)),
        (any::<usize>(), numbers).prop_map(|(at, number)| Change::Number(at, number)),
        (any::<usize>(), 1_usize..200).prop_map(|(at, size)| Change::Cut(at, size)),
        (any::<usize>(), 1_usize..200).prop_map(|(at, size)| Change::Again(at, size)),
        any::<usize>().prop_map(Change::End),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        if bytes.is_empty() {
            break;
        }
        let size = bytes.len();
        match *change {
            Change::Flip(at, bits) => bytes[at % size] ^= bits,
            Change::Number(at, number) => {
                for (to, from) in bytes.iter_mut().skip(at % size).zip(number.to_le_bytes()) {
                    *to = from;
                }
            }
            Change::Cut(at, count) => drop(bytes.drain(at % size..(at % size + count).min(size))),
            Change::Again(at, count) => {
                let part = bytes[at % size..(at % size + count).min(size)].to_vec();
                bytes.splice(at % size..at % size, part);
            }
            Change::End(at) => bytes.truncate(at % size),
        }
    }
    bytes
}

fn packets(count: u32) -> Vec<Packet> {
    let mut packets = Packet::handshake(20_000);
    for number in 0..count {
        let at = 50_000 + 1_000 * i64::from(number);
        packets.push(Packet::data(at, 1_000 * number, 1_000, 1_050 + number));
        let sack = (number % 7 == 3).then_some((1_000 * number + 2_000, 1_000 * number + 3_000));
        packets.push(Packet::ack(at + 500, 1_000 * (number + 1), 1_050 + number, sack));
    }
    packets.extend(Packet::end(900_000, 1_000 * count, 20_000));
    packets
}

proptest! {
    #[test]
    fn damaged_files_are_read_to_their_ends(
        count in 1_u32..20, kind in 0_usize..9, changes in prop::collection::vec(change(), 1..12)
    ) {
        let packets = packets(count);
        let whole = match kind {
            0 => pcapng(&packets, 200),
            1 => pcap(&packets, &Link::ethernet(), &Frames::default()),
            other => pcap(&packets, &Link::others()[other - 2], &Frames { snaplen: 96, ..Frames::default() }),
        };
        let bytes = changed(whole, &changes);
        let size = bytes.len() as u64;
        let Ok(mut capture) = capture::Capture::from_bytes(bytes) else { return Ok(()) };
        let (mut table, mut counts) = (Table::new(Limits::default()), Counts::default());
        while let Some(mut segment) = capture.next_segment().expect("it is one file") {
            table.take(&mut segment, &mut counts);
        }
        table.finish(&mut counts);
        // A record has 16 bytes at least.
        prop_assert!(table.segments <= size / 16 + 1);
        prop_assert_eq!(counts.connections, table.connections);
        prop_assert!(counts.rows <= 6 * table.segments);
        prop_assert!(counts.told <= counts.payload);
    }
}

/// A segment of one of two connections. Its numbers are near those of the others, at a wrap, or anywhere.
fn segment() -> impl Strategy<Value = Segment> {
    let number = || prop_oneof![4 => 0_u32..6, 2 => (0_u32..6).prop_map(|n| n.wrapping_sub(3)), 1 => any::<u32>()];
    let step = prop_oneof![8 => 0_i64..3_000_000, 1 => -2_000_000_000_i64..0, 1 => any::<i64>()];
    let flags = prop_oneof![6 => Just(Flags::ACK.0), 2 => 0_u16..0x200];
    let payload = prop_oneof![3 => Just(0_u32), 5 => 1_u32..5, 1 => any::<u32>()];
    let stamps = prop::option::weighted(0.8, (number(), number()));
    let sack = prop::collection::vec((number(), number()), 0..5);
    let who = (any::<bool>(), any::<bool>(), 0_u16..4);
    let options = (stamps, sack, prop::option::of(any::<u8>()), prop::option::of(any::<u16>()));
    (step, flags, (number(), number(), payload), options, who, any::<u16>()).prop_map(
        |(time_ns, flags, (seq, ack, payload), (timestamps, sack, window_scale, mss), (back, other, ip_id), window)| {
            let ends = [(1, 4_000 + u16::from(other)), (2, 80)];
            let (from, to) = if back { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
            let mut blocks = [(0, 0); 4];
            blocks.iter_mut().zip(&sack).for_each(|(block, &edges)| *block = edges);
            Segment {
                time_ns,
                source: [from.0; 16],
                destination: [to.0; 16],
                source_port: from.1,
                destination_port: to.1,
                // In steps of a segment, so that they meet.
                seq: seq.wrapping_mul(payload.clamp(1, 4)),
                ack,
                window,
                flags: Flags(flags),
                payload,
                timestamps,
                window_scale,
                mss,
                ip_id,
                sack_count: sack.len().min(4) as u8,
                sack: blocks,
                ..Segment::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn frames_of_any_bytes_are_decoded(
        kind in 0_usize..8, changes in prop::collection::vec(change(), 0..8), sack in any::<bool>(), length in any::<u32>(),
        link in prop::sample::select(vec![0_u16, 1, 9, 12, 14, 50, 51, 101, 108, 113, 228, 229, 239, 258, 276]),
        is_as_made in any::<bool>(),
    ) {
        let packet = Packet::ack(1, 2, 3, sack.then_some((4, 5)));
        let made = if kind == 0 { Link::ethernet() } else { Link::others().swap_remove(kind - 1) };
        let bytes = changed(made.frame(&packet), &changes);
        let link = if is_as_made { made.number as u16 } else { link };
        let (fcs_bytes, outgoing, interface, time_ns) = (4, None, 0, Some(0));
        let length = if is_as_made { bytes.len() as u32 } else { length };
        let frame = Frame { time_ns, interface, link, fcs_bytes, length, outgoing, bytes: &bytes, comment: &[] };
        if let Decoded::Segment(segment) = decode(&frame, &capture::DecodeAs::default()) {
            prop_assert!(segment.ip_bytes >= 20 + u32::from(segment.header_bytes));
            prop_assert!(segment.payload < segment.ip_bytes);
            prop_assert!(segment.sack_count <= 4);
        }
    }

    #[test]
    fn segments_in_any_order_are_taken(steps in prop::collection::vec(segment(), 1..120), connections in 1_usize..4) {
        let limits = Limits { connections, answered: connections, ..Limits::default() };
        let (mut table, mut counts) = (Table::new(limits), Counts::default());
        let (mut now_ns, mut payload) = (0_i64, 0);
        for mut segment in steps.iter().copied() {
            now_ns = now_ns.saturating_add(segment.time_ns);
            segment.time_ns = now_ns;
            payload += u64::from(segment.payload);
            table.take(&mut segment, &mut counts);
        }
        table.finish(&mut counts);
        prop_assert_eq!(table.segments, steps.len() as u64);
        prop_assert_eq!(counts.connections, table.connections);
        prop_assert!(counts.payload <= payload && counts.told <= payload);
        prop_assert!(counts.rows <= 8 * table.segments);
    }
}
