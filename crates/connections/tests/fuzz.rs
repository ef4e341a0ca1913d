//! Damaged captures: whatever is in a file, reading it ends, and what is counted is bounded by its bytes.

mod files;

use connections::rows::{ConnectionRow, DirectionRow, EventRow, IntervalRow, RttRow};
use connections::{Limits, Sink, Table};
use files::{Frames, Link, Packet, pcap, pcapng};
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
        while let Some(segment) = capture.next_segment().expect("it is one file") {
            table.take(segment, &mut counts);
        }
        table.finish(&mut counts);
        // A record has 16 bytes at least.
        prop_assert!(table.segments <= size / 16 + 1);
        prop_assert_eq!(counts.connections, table.connections);
        prop_assert!(counts.rows <= 6 * table.segments);
        prop_assert!(counts.told <= counts.payload);
    }
}
