//! Changes of a capture that must not change its analysis, or must change it by as much.

use crate::files::{Frames, Link, Packet, gzipped, pcap, pcapng};
use crate::rows::Rows;
use connections::rows::IntervalRow;
use connections::{Limits, Table};
use proptest::prelude::*;

impl Rows {
    /// Rows of the connection with this client, numbered 1, without what is of the link and of names.
    fn of(mut self, client: &str) -> Rows {
        let numbers: Vec<u64> =
            self.connections.iter().filter(|row| row.client.0 == client).map(|row| row.connection).collect();
        assert_eq!(numbers.len(), 1, "{:?}", self.connections);
        let number = numbers[0];
        self.connections.retain(|row| row.connection == number);
        self.directions.retain(|row| row.connection == number);
        self.intervals.retain(|row| row.connection == number);
        self.rtt.retain(|row| row.connection == number);
        self.events.retain(|row| row.connection == number);
        self.gaps.retain(|row| row.connection == number);
        for row in &mut self.connections {
            (row.connection, row.client.1, row.server.1) = (1, 0, 0);
            (row.client.0, row.server.0) = (String::new(), String::new());
            (row.encapsulation, row.network) = (None, None);
        }
        for row in &mut self.directions {
            (row.connection, row.counters.frame_bytes) = (1, 0);
        }
        for row in &mut self.intervals {
            (row.connection, row.frame_bytes) = (1, 0);
        }
        self.rtt.iter_mut().for_each(|row| row.connection = 1);
        self.gaps.iter_mut().for_each(|row| row.connection = 1);
        for row in &mut self.events {
            (row.connection, row.tsval) = (1, None);
        }
        self
    }
}

impl Rows {
    /// The same with client and server exchanged.
    fn mirrored(mut self) -> Rows {
        for row in &mut self.connections {
            let turned = |one: char| {
                if one.is_ascii_uppercase() { one.to_ascii_lowercase() } else { one.to_ascii_uppercase() }
            };
            // The first packet is the server's in one of both.
            row.history = match row.history.strip_prefix('^') {
                Some(letters) => letters.chars().map(turned).collect(),
                None => std::iter::once('^').chain(row.history.chars().map(turned)).collect(),
            };
            row.place = row.place.map(|place| 2 - place);
            row.place_share = row.place_share.map(|share| 1.0 - share);
        }
        self.directions.iter_mut().for_each(|row| row.direction = 1 - row.direction);
        self.intervals.iter_mut().for_each(|row| row.direction = 1 - row.direction);
        self.rtt.iter_mut().for_each(|row| row.direction = 1 - row.direction);
        self.events.iter_mut().for_each(|row| row.direction = 1 - row.direction);
        self.gaps.iter_mut().for_each(|row| row.direction = 1 - row.direction);
        self.by_direction()
    }

    /// The same with the rows of the direction to the server first; shares are rounded.
    fn by_direction(mut self) -> Rows {
        self.directions.sort_by_key(|row| row.direction);
        self.intervals.sort_by_key(|row| row.direction);
        self.rtt.sort_by_key(|row| row.direction);
        self.events.sort_by_key(|row| row.direction);
        self.gaps.sort_by_key(|row| row.direction);
        for row in &mut self.connections {
            row.place_share = row.place_share.map(|share| (share * 1e9).round() / 1e9);
        }
        self
    }
}

/// Analyse files as one capture.
fn analysed(files: &[Vec<u8>]) -> Rows {
    let folder = tempfile::tempdir().expect("a directory");
    let paths: Vec<_> = files
        .iter()
        .enumerate()
        .map(|(at, bytes)| {
            let path = folder.path().join(format!("{at}"));
            std::fs::write(&path, bytes).expect("it is written");
            path
        })
        .collect();
    let mut capture = capture::Capture::open(&paths, &[]).expect("a capture");
    let (mut table, mut rows) = (Table::new(Limits::default()), Rows::default());
    while let Some(mut segment) = capture.next_segment().expect("it is read") {
        table.take(&mut segment, &mut rows);
    }
    table.finish(&mut rows);
    let notes = capture.notes();
    assert_eq!((notes.malformed_frames, notes.headless_frames, notes.damages), (0, 0, 0));
    rows
}

const CLIENT: &str = "10.0.0.1";

fn result(packets: &[Packet]) -> Rows {
    analysed(&[pcap(packets, &Link::ethernet(), &Frames::default())]).of(CLIENT)
}

fn same(one: &Rows, other: &Rows) {
    assert_eq!(format!("{one:#?}"), format!("{other:#?}"));
}

/// Fate of a segment: its size, and whether it is lost, late, or doubled.
type Fate = (u32, u8);

/// A connection at its client, who sends: a handshake, data of these fates, acknowledgements with SACK, and its end.
fn connection(fates: &[Fate], rtt_us: i64) -> Vec<Packet> {
    let mut packets = Packet::handshake(rtt_us);
    let mut made: Vec<(i64, usize, Packet)> = Vec::new();
    let mut arrivals: Vec<(i64, i64, i64, u32)> = Vec::new();
    let mut place = 0_i64;
    let step = rtt_us / 8;
    let begin = 2 * rtt_us;
    for (number, &(size, fate)) in fates.iter().enumerate() {
        let at = begin + number as i64 * step;
        let data = |at: i64| Packet::data(at, place as u32, size, (1_000 + at / 1_000) as u32);
        made.push((at, number, data(at)));
        let ms = |at: i64| (1_000 + at / 1_000) as u32;
        match fate {
            // Lost, and sent again.
            0 => {
                let again = at + 2 * rtt_us;
                made.push((again, number, data(again)));
                arrivals.push((again + rtt_us / 2, place, place + i64::from(size), ms(again)));
            }
            // It comes late.
            1 => arrivals.push((at + rtt_us / 2 + 2 * step + 1, place, place + i64::from(size), ms(at))),
            _ => arrivals.push((at + rtt_us / 2, place, place + i64::from(size), ms(at))),
        }
        place += i64::from(size);
    }
    arrivals.sort_unstable();
    let mut got: Vec<(i64, i64)> = Vec::new();
    let mut reached = 0;
    for (arrival, start, end, stamp) in arrivals {
        got.push((start, end));
        got.sort_unstable();
        for &(start, end) in &got {
            if start <= reached {
                reached = reached.max(end);
            }
        }
        let block = (start > reached).then_some((start as u32, end as u32));
        let at = arrival + rtt_us / 2;
        made.push((at, usize::MAX, Packet::ack(at, reached as u32, stamp, block)));
    }
    made.sort_by_key(|&(at, number, _)| (at, number));
    let end = made.last().map_or(begin, |&(at, ..)| at) + rtt_us;
    packets.extend(made.into_iter().map(|(.., packet)| packet));
    packets.extend(Packet::end(end, place as u32, rtt_us));
    for (id, packet) in packets.iter_mut().enumerate() {
        packet.id = id as u16 + 1;
    }
    packets
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    prop::collection::vec((1_u32..1_449, 0_u8..12), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn how_a_file_is_written_changes_nothing(fates in fates(), rtt_ms in 4_i64..200, cut in 96_usize..200, parts in 1_usize..5) {
        let packets = connection(&fates, rtt_ms * 1_000);
        let known = result(&packets);
        let plain = Frames::default();
        let whole = |frames: &Frames| pcap(&packets, &Link::ethernet(), frames);
        same(&known, &analysed(&[whole(&Frames { snaplen: cut, ..plain })]).of(CLIENT));
        same(&known, &analysed(&[whole(&Frames { is_ns: true, ..plain })]).of(CLIENT));
        same(&known, &analysed(&[whole(&Frames { is_big_endian: true, ..plain })]).of(CLIENT));
        same(&known, &analysed(&[gzipped(&whole(&plain))]).of(CLIENT));
        same(&known, &analysed(&[pcapng(&packets, cut)]).of(CLIENT));
        // A ring buffer's files, in any order.
        let size = packets.len().div_ceil(parts);
        let mut ring: Vec<_> = packets.chunks(size).map(|some| pcap(some, &Link::ethernet(), &plain)).collect();
        ring.reverse();
        same(&known, &analysed(&ring).of(CLIENT));
    }

    #[test]
    fn what_is_around_a_packet_changes_nothing(fates in fates(), rtt_ms in 4_i64..200) {
        let packets = connection(&fates, rtt_ms * 1_000);
        let known = result(&packets);
        for link in Link::others() {
            let found = analysed(&[pcap(&packets, &link, &Frames::default())]);
            assert_eq!(found.connections[0].encapsulation.as_deref(), link.layers);
            assert_eq!(format!("{known:#?}"), format!("{:#?}", found.of(CLIENT)), "{link:?}");
        }
    }

    #[test]
    fn numbers_times_and_ports_may_begin_anywhere(
        fates in fates(), rtt_ms in 4_i64..200, own in any::<u32>(), others in any::<u32>(), later_s in 0_i64..1_000_000, port in 1_024_u16..65_535
    ) {
        let packets = connection(&fates, rtt_ms * 1_000);
        let known = result(&packets);
        let moved: Vec<Packet> = packets.iter().map(|packet| packet.moved(own, others, later_s * 1_000_000, port)).collect();
        same(&known, &result(&moved));
    }

    #[test]
    fn reversing_roles_mirrors(fates in fates(), rtt_ms in 4_i64..200) {
        let packets = connection(&fates, rtt_ms * 1_000);
        // The other endpoint has the lower address.
        let known = result(&packets);
        let other: Vec<Packet> = packets.iter().map(|packet| Packet { client: [10, 0, 0, 3], ..*packet }).collect();
        same(&known, &analysed(&[pcap(&other, &Link::ethernet(), &Frames::default())]).of("10.0.0.3"));
        // Who has the lower port sends. Without a SYN only ports tell who is the client.
        let begun: Vec<Packet> = packets[3..].to_vec();
        let turned: Vec<Packet> = begun.iter().map(|packet| Packet { from_client: !packet.from_client, ..*packet }).collect();
        same(&result(&begun).by_direction(), &result(&turned).mirrored());
    }

    #[test]
    fn other_connections_change_nothing(fates in fates(), of_others in fates(), rtt_ms in 4_i64..200, of_theirs in 4_i64..200) {
        let packets = connection(&fates, rtt_ms * 1_000);
        let known = result(&packets);
        let others = connection(&of_others, of_theirs * 1_000);
        let mut both = packets.clone();
        both.extend(others.iter().map(|packet| Packet { client: [10, 0, 9, 9], time_us: packet.time_us + 1, ..*packet }));
        both.sort_by_key(|packet| packet.time_us);
        same(&known, &analysed(&[pcap(&both, &Link::ethernet(), &Frames::default())]).of(CLIENT));
    }

    #[test]
    fn merged_packets_keep_their_bytes(fates in fates(), rtt_ms in 4_i64..200) {
        let packets = connection(&fates, rtt_ms * 1_000);
        let known = result(&packets);
        let mut merged: Vec<Packet> = Vec::new();
        for packet in &packets {
            match merged.last_mut() {
                Some(last) if last.is_followed_by(packet) => last.payload += packet.payload,
                _ => merged.push(*packet),
            }
        }
        let found = result(&merged);
        let of = |rows: &Rows| {
            let row = &rows.directions[0];
            (row.counters.payload_bytes, row.stream.unique_bytes, row.stream.repeated_bytes, row.stream.acknowledged_bytes, row.stream.unseen_bytes)
        };
        prop_assert_eq!(of(&known), of(&found));
    }

    #[test]
    fn what_the_capture_lost_is_counted_to_the_byte(sizes in prop::collection::vec(1_u32..1_449, 4..60), rtt_ms in 4_i64..200, gone in 0_u64..u64::MAX) {
        let fates: Vec<Fate> = sizes.iter().map(|&size| (size, 9)).collect();
        let packets = connection(&fates, rtt_ms * 1_000);
        let mut place = 0;
        let mut lost = 0;
        let kept: Vec<Packet> = packets
            .into_iter()
            .filter(|packet| {
                if packet.payload == 0 {
                    return true;
                }
                place += 1;
                // The first shows where numbers begin.
                let is_gone = place > 1 && gone >> (place % 64) & 1 == 1;
                lost += u64::from(packet.payload) * u64::from(is_gone);
                !is_gone
            })
            .collect();
        let found = result(&kept);
        prop_assert_eq!(found.directions[0].stream.unseen_bytes, Some(lost));
    }

    #[test]
    fn sums_agree(fates in fates(), rtt_ms in 4_i64..200) {
        let rows = result(&connection(&fates, rtt_ms * 1_000));
        let row = &rows.directions[0];
        let sum = |of: fn(&IntervalRow) -> u64| rows.intervals.iter().filter(|one| one.direction == 0).map(of).sum::<u64>();
        prop_assert_eq!(sum(|one| one.payload_bytes), row.counters.payload_bytes);
        prop_assert_eq!(sum(|one| one.repeated_bytes), row.stream.repeated_bytes.unwrap());
        prop_assert_eq!(sum(|one| one.acknowledged_bytes), row.stream.acknowledged_bytes.unwrap());
        prop_assert_eq!(row.stream.unique_bytes.unwrap() + row.stream.repeated_bytes.unwrap(), row.counters.payload_bytes);
        let limits = [row.stream.limited_window_ns, row.stream.limited_application_ns, row.stream.limited_recovery_ns, row.stream.limited_network_ns];
        for (limit, whole) in limits.iter().enumerate() {
            let told: u64 = rows.intervals.iter().filter(|one| one.direction == 0).map(|one| one.limited_ns[limit]).sum();
            prop_assert!(told <= whole.unwrap(), "intervals tell of {told} ns, of {whole:?}");
        }
    }
}
