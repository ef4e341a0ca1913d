//! Connections made packet by packet, whose truth is known.

use crate::rows::Rows;
use capture::{Flags, Segment};
use connections::rows::{Cause, Class, DirectionRow, IntervalRow, Needless, Round};
use connections::{Limits, Table};

const MS: i64 = 1_000_000;

/// Makes a connection as a capture at the client, who sends.
struct Made {
    table: Table,
    rows: Rows,
    isn: u32,
    ids: u16,
}

impl Made {
    fn new(isn: u32) -> Made {
        Made { table: Table::new(Limits::default()), rows: Rows::default(), isn, ids: 1 }
    }

    fn packet(&mut self, at_ms: i64, from_client: bool, change: impl FnOnce(&mut Segment)) {
        let (mut client, mut server) = ([0; 16], [0; 16]);
        (client[15], server[15]) = (1, 2);
        self.ids += 1;
        let mut segment = Segment {
            time_ns: at_ms * MS,
            source: if from_client { client } else { server },
            destination: if from_client { server } else { client },
            source_port: if from_client { 40_000 } else { 80 },
            destination_port: if from_client { 80 } else { 40_000 },
            flags: Flags::ACK,
            window: 60_000,
            ip_id: self.ids,
            ttl: 64,
            options_complete: true,
            ..Segment::default()
        };
        segment.seq = if from_client { self.isn.wrapping_add(1) } else { 1_001 };
        segment.ack = if from_client { 1_001 } else { self.isn.wrapping_add(1) };
        change(&mut segment);
        segment.frame_bytes = 66 + segment.payload;
        segment.ip_bytes = 52 + segment.payload;
        self.table.take(&mut segment, &mut self.rows);
    }

    fn handshake(&mut self) {
        let isn = self.isn;
        self.packet(0, true, |s| (s.flags, s.seq, s.mss) = (Flags::SYN, isn, Some(1_460)));
        let both = Flags(Flags::SYN.0 | Flags::ACK.0);
        self.packet(100, false, |s| (s.flags, s.seq, s.mss) = (both, 1_000, Some(1_460)));
        self.packet(100, true, |_| ());
    }

    /// Data of 1,000 bytes: the `number`th, from 0.
    fn data(&mut self, at_ms: i64, number: u32, tsval: u32) {
        let first = self.isn.wrapping_add(1);
        self.packet(at_ms, true, |s| {
            s.seq = first.wrapping_add(1_000 * number);
            s.payload = 1_000;
            s.timestamps = Some((tsval, 7));
        });
    }

    /// An ACK of `count` times 1,000 bytes, with a SACK block in the same unit.
    fn ack(&mut self, at_ms: i64, count: u32, echo: u32, block: Option<(u32, u32)>) {
        let first = self.isn.wrapping_add(1);
        self.packet(at_ms, false, |s| {
            s.ack = first.wrapping_add(1_000 * count);
            s.timestamps = Some((at_ms as u32, echo));
            if let Some((start, end)) = block {
                s.sack[0] = (first.wrapping_add(1_000 * start), first.wrapping_add(1_000 * end));
                s.sack_count = 1;
            }
        });
    }

    fn finish(mut self) -> Rows {
        self.table.finish(&mut self.rows);
        self.rows
    }
}

fn of_client(rows: &Rows) -> &DirectionRow {
    rows.directions.iter().find(|row| row.direction == 0).expect("the client sent")
}

/// Sequence numbers that begin anywhere: some wrap within the connection.
const STARTS: [u32; 3] = [0, 5_000_000, u32::MAX - 4_500];

#[test]
fn a_loss_is_repaired_fast_by_sack() {
    for isn in STARTS {
        let mut made = Made::new(isn);
        made.handshake();
        for number in 0..10 {
            made.data(200, number, 200);
        }
        made.ack(300, 2, 200, None);
        for end in 4..=10 {
            made.ack(300, 2, 200, Some((3, end)));
        }
        made.data(301, 2, 301);
        made.ack(401, 10, 301, None);
        let rows = made.finish();
        assert_eq!(rows.events.len(), 1, "{:?}", rows.events);
        let event = rows.events[0];
        assert_eq!((event.class, event.cause, event.seq), (Class::Repeat, Some(Cause::Fast), 2_000));
        assert_eq!((event.sure, event.needless, event.delay_ns), (true, None, Some(101 * MS)));
        let client = of_client(&rows);
        assert_eq!(client.stream.unique_bytes, Some(10_000));
        assert_eq!((client.stream.repeated_packets, client.stream.repeated_bytes), (Some(1), Some(1_000)));
        assert_eq!((client.stream.lost_behind_packets, client.stream.unseen_bytes), (Some(1), Some(0)));
        assert_eq!((client.stream.rtt_min_ns, client.stream.rtt_max_ns), (Some(100 * MS), Some(100 * MS)));
        assert_eq!(client.stream.in_flight_max_bytes, Some(10_000));
        let connection = &rows.connections[0];
        assert_eq!((connection.place, connection.place_by), (Some(0), Some("handshake")));
        assert_eq!((connection.state, connection.history.as_str()), ("S1", "ShADaT"));
    }
}

#[test]
fn a_timeout_is_told_from_its_silence_and_eifel_tells_that_it_was_needless() {
    for isn in STARTS {
        let mut made = Made::new(isn);
        made.handshake();
        made.data(200, 0, 200);
        made.ack(300, 1, 200, None);
        made.data(310, 1, 310);
        made.data(310, 2, 310);
        // The timer: srtt 100 ms, and 200 ms at least beyond it.
        made.data(640, 1, 640);
        // The ACK of the first copy comes: it echoes that one's timestamp.
        made.ack(650, 3, 310, None);
        let rows = made.finish();
        assert_eq!(rows.events.len(), 1);
        let event = rows.events[0];
        assert_eq!((event.class, event.cause), (Class::Repeat, Some(Cause::Timeout)));
        assert_eq!(event.needless, Some(Needless::Eifel));
        assert_eq!(of_client(&rows).stream.needless_retransmissions, Some(1));
        assert_eq!(of_client(&rows).stream.lost_behind_packets, Some(0));
    }
}

#[test]
fn a_hole_that_older_data_fill_is_reordering_and_newer_a_loss_before_the_capture() {
    for (tsval, cause, lost) in [(199, Cause::Reordered, 0), (290, Cause::Fast, 1)] {
        let mut made = Made::new(0);
        made.handshake();
        made.data(200, 0, 200);
        made.data(200, 2, 200);
        made.data(200, 3, 200);
        made.ack(200, 1, 200, None);
        made.ack(200, 1, 200, Some((2, 3)));
        made.ack(200, 1, 200, Some((2, 4)));
        made.data(300, 1, tsval);
        made.ack(300, 4, 200, None);
        let rows = made.finish();
        assert_eq!(rows.events.len(), 1);
        assert_eq!((rows.events[0].class, rows.events[0].cause), (Class::Fill, Some(cause)));
        assert_eq!(of_client(&rows).stream.lost_before_packets, Some(lost));
        assert_eq!(of_client(&rows).stream.unique_bytes, Some(4_000));
        assert_eq!(of_client(&rows).stream.repeated_bytes, Some(0));
    }
}

#[test]
fn bytes_that_are_acknowledged_and_never_seen_are_losses_of_the_capture() {
    let mut made = Made::new(u32::MAX - 1_500);
    made.handshake();
    made.data(200, 0, 200);
    made.data(200, 3, 200);
    made.ack(300, 4, 200, None);
    let rows = made.finish();
    assert_eq!((rows.events[0].class, rows.events[0].bytes, rows.events[0].seq), (Class::Unseen, 2_000, 1_000));
    assert_eq!(of_client(&rows).stream.unseen_bytes, Some(2_000));
    assert_eq!(of_client(&rows).stream.unique_bytes, Some(2_000));
}

#[test]
fn a_duplicate_sack_proves_that_a_repeat_was_needless() {
    let mut made = Made::new(9);
    made.handshake();
    made.data(200, 0, 200);
    made.data(200, 1, 200);
    made.ack(300, 2, 200, None);
    made.data(310, 2, 310);
    made.data(560, 2, 560);
    made.ack(570, 3, 310, None);
    made.ack(660, 3, 310, Some((2, 3)));
    let rows = made.finish();
    assert_eq!(rows.events[0].needless, Some(Needless::DuplicateSack));
    assert_eq!(of_client(&rows).stream.needless_retransmissions, Some(1));
    let server = rows.directions.iter().find(|row| row.direction == 1).expect("the server answered");
    assert_eq!(server.counters.dsack_packets, 1);
}

#[test]
fn the_same_packet_at_two_places_counts_once() {
    let mut once = Made::new(0);
    let mut twice = Made::new(0);
    for made in [&mut once, &mut twice] {
        made.handshake();
    }
    let first = 1;
    for number in 0..5 {
        once.packet(200, true, |s| (s.seq, s.payload, s.ip_id) = (first + 1_000 * number, 1_000, 77 + number as u16));
        for place in [1, 2] {
            twice.packet(200, true, |s| {
                (s.seq, s.payload, s.ip_id, s.place) = (first + 1_000 * number, 1_000, 77 + number as u16, place);
            });
        }
    }
    let (once, twice) = (once.finish(), twice.finish());
    assert!(twice.events.is_empty());
    assert_eq!(of_client(&twice).counters.capture_duplicates, 5);
    assert_eq!(of_client(&twice).counters.payload_bytes, of_client(&once).counters.payload_bytes);
}

#[test]
fn a_capture_that_holds_each_packet_twice_counts_each_once() {
    // As of all interfaces of a bridge: copies come at once, or behind a few others, and say of no other place.
    let build = |copies: usize| {
        let mut made = Made::new(0);
        let both = Flags(Flags::SYN.0 | Flags::ACK.0);
        for _ in 0..copies {
            made.packet(0, true, |s| (s.flags, s.seq, s.ip_id) = (Flags::SYN, 0, 7));
        }
        for _ in 0..copies {
            made.packet(100, false, |s| (s.flags, s.seq, s.ip_id) = (both, 1_000, 7));
        }
        for burst in 0..10 {
            for _ in 0..copies {
                for place in 3 * burst..3 * burst + 3 {
                    let at_ms = 200 + i64::from(burst);
                    made.packet(at_ms, true, |s| {
                        (s.seq, s.payload, s.ip_id) = (1 + 1_000 * place, 1_000, 77 + place as u16);
                    });
                }
            }
            for _ in 0..copies {
                let at_ms = 200 + i64::from(burst);
                made.packet(at_ms, false, |s| (s.ack, s.ip_id) = (1 + 3_000 * (burst + 1), 177 + burst as u16));
            }
        }
        made.finish()
    };
    let (once, twice) = (build(1), build(2));
    assert!(twice.events.is_empty());
    let copies: u64 = twice.directions.iter().map(|row| row.counters.capture_duplicates).sum();
    assert_eq!(copies, 1 + 1 + 30 + 10);
    assert_eq!(of_client(&twice).counters.payload_bytes, of_client(&once).counters.payload_bytes);
    assert_eq!(twice.connections[0].state, once.connections[0].state);
}

/// 200 segments, 20 us apart. Each is held twice, if `lag` says how many segments later its copy is; `resent` are sent
/// again 30 segments later.
fn burst(lag: Option<usize>, place: u32, ip_id: bool, resent: &[usize], change: impl Fn(&mut Segment)) -> Rows {
    let mut made = Made::new(0);
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    for (at_ms, from_client, flags, seq) in
        [(0, true, Flags::SYN, 0), (100, false, both, 1_000), (100, true, Flags::ACK, 1)]
    {
        for _ in 0..1 + usize::from(lag.is_some()) {
            made.packet(at_ms, from_client, |s| (s.flags, s.seq, s.ip_id) = (flags, seq, 7));
        }
    }
    let sent = |number: usize| Segment {
        seq: 1 + 1_000 * number as u32,
        payload: 1_000,
        ip_id: if ip_id { 77 + number as u16 } else { 0 },
        checksum: 7_000 + number as u16,
        ..Segment::default()
    };
    let mut packets: Vec<(usize, Segment)> = (0..200).map(|number| (number, sent(number))).collect();
    packets.extend(lag.into_iter().flat_map(|lag| (0..200).map(move |n| (n + lag, Segment { place, ..sent(n) }))));
    packets.extend(resent.iter().map(|&number| {
        let mut again = sent(number);
        change(&mut again);
        (number + 30, again)
    }));
    packets.sort_by_key(|&(at, _)| at);
    for (at, one) in packets {
        made.packet(200, true, |s| {
            s.time_ns += 20_000 * at as i64;
            (s.seq, s.payload, s.ip_id, s.checksum) = (one.seq, one.payload, one.ip_id, one.checksum);
            s.place = if one.place == 0 { s.place } else { one.place };
        });
    }
    made.finish()
}

#[test]
fn copies_behind_many_others_count_once() {
    let once = burst(None, 0, true, &[], |_| ());
    // As of two interfaces, whose captures were merged, and of all interfaces without a sign of where.
    for (lag, place, ip_id) in
        [(5, 2, true), (40, 2, true), (40, 2, false), (5, 0, true), (40, 0, true), (40, 0, false)]
    {
        let twice = burst(Some(lag), place, ip_id, &[], |_| ());
        let counters = &of_client(&twice).counters;
        assert_eq!((counters.capture_duplicates, twice.events.len()), (202, 0), "{lag} {place} {ip_id}");
        assert_eq!(counters.payload_bytes, of_client(&once).counters.payload_bytes);
    }
}

#[test]
fn retransmissions_within_a_millisecond_are_no_copies() {
    let every: Vec<usize> = (0..200).collect();
    let check = |rows: &Rows, sent_again: u64| {
        let row = of_client(rows);
        assert_eq!((row.counters.capture_duplicates, row.counters.payload_bytes), (0, 1_000 * (200 + sent_again)));
        assert_eq!(row.stream.repeated_packets, Some(sent_again));
    };
    // Linux gives each packet a number of its own. One without is as its first only if its checksum is.
    check(&burst(None, 0, true, &every, |s| s.ip_id += 1_000), 200);
    check(&burst(None, 0, false, &every, |s| s.checksum += 1_000), 200);
    check(&burst(None, 0, false, &[3, 50, 51, 52, 120], |_| ()), 5);
}

#[test]
fn silence_does_not_split_a_connection_and_a_new_syn_after_its_end_does() {
    let mut made = Made::new(0);
    made.handshake();
    made.data(200, 0, 1);
    made.data(400_000, 1, 2);
    made.packet(400_100, true, |s| (s.flags, s.seq) = (Flags(Flags::FIN.0 | Flags::ACK.0), 2_001));
    made.isn = 90_000_000;
    made.packet(400_200, true, |s| (s.flags, s.seq) = (Flags::SYN, 90_000_000));
    let rows = made.finish();
    assert_eq!(rows.connections.len(), 2);
    assert_eq!(rows.connections[1].state, "S0");
}

#[test]
fn sums_of_intervals_are_those_of_the_connection() {
    let mut made = Made::new(0);
    made.handshake();
    for number in 0..50 {
        made.data(200 + 37 * i64::from(number), number, number + 1);
        made.ack(230 + 37 * i64::from(number), number + 1, number + 1, None);
    }
    let rows = made.finish();
    let client = of_client(&rows);
    assert_eq!(rows.intervals.iter().map(|row| row.payload_bytes).sum::<u64>(), client.counters.payload_bytes);
    assert_eq!(rows.intervals.iter().map(|row| row.acknowledged_bytes).sum::<u64>(), 50_000);
    assert_eq!(rows.intervals.iter().map(|row| u64::from(row.packets)).sum::<u64>(), client.counters.data_packets);
    let of = |kind: Round| rows.rtt.iter().filter(move |row| row.kind == kind && row.direction == 0);
    assert!(of(Round::Data).all(|row| row.rtt_ns == 30 * MS && row.seq % 1_000 == 0 && row.seq > 0));
    assert!(of(Round::Data).count() > 10);
    assert_eq!(client.stream.rtt_samples, Some(50));
}

#[test]
fn with_too_many_connections_idle_ones_are_given_up_and_counted() {
    let mut table = Table::new(Limits { connections: 100, ..Limits::default() });
    let mut rows = Rows::default();
    for port in 0..1_000_u16 {
        let mut segment = Segment {
            time_ns: i64::from(port) * MS,
            source: [1; 16],
            destination: [2; 16],
            source_port: 1_024 + port,
            destination_port: 80,
            flags: Flags::SYN,
            ..Segment::default()
        };
        table.take(&mut segment, &mut rows);
    }
    table.finish(&mut rows);
    assert_eq!(rows.connections.len(), 1_000);
    assert!(table.evicted >= 890 && rows.connections.iter().filter(|row| row.evicted).count() as u64 == table.evicted);
    assert!(rows.connections.iter().all(|row| row.state == "S0" && row.one_sided));
}

#[test]
fn connections_with_more_than_a_syn_have_a_bound_of_their_own() {
    let mut table = Table::new(Limits { connections: 1_000, answered: 80, ..Limits::default() });
    let mut rows = Rows::default();
    for port in 0..900_u16 {
        let syn = Segment {
            time_ns: i64::from(port) * MS,
            source: [1; 16],
            destination: [2; 16],
            source_port: 1_024 + port,
            destination_port: 80,
            flags: Flags::SYN,
            ..Segment::default()
        };
        table.take(&mut syn.clone(), &mut rows);
        // Every third is answered.
        if port % 3 == 0 {
            table.take(&mut Segment { seq: 1, payload: 100, flags: Flags::ACK, ..syn }, &mut rows);
        }
    }
    assert!((200..=300).contains(&table.evicted), "{}", table.evicted);
    table.finish(&mut rows);
    assert_eq!((rows.connections.len(), table.connections), (900, 900));
    let evicted: Vec<_> = rows.connections.iter().filter(|row| row.evicted).collect();
    assert_eq!(evicted.len() as u64, table.evicted);
    assert!(evicted.iter().all(|row| (row.client.1 - 1_024) % 3 == 0));
    assert_eq!(rows.directions.iter().map(|row| row.counters.payload_bytes).sum::<u64>(), 30_000);
}

proptest::proptest! {
    /// Whatever packets come: bytes are new or repeated, and sums agree.
    #[test]
    fn any_segments_are_counted_and_none_panic(
        start in proptest::prelude::any::<u32>(),
        packets in proptest::collection::vec(
            (0_i64..400, proptest::prelude::any::<bool>(), 0_u32..30, 0_u32..4, 0_u32..30, 0_u16..64, 0_u32..30, 0_u32..5),
            1..200,
        ),
    ) {
        let mut made = Made::new(start);
        let mut now = 0;
        for (step, from_client, seq, size, ack, flags, left, width) in packets {
            now += step - 100;
            made.packet(now, from_client, |s| {
                let place = |number: u32| start.wrapping_add(500 * number);
                (s.seq, s.ack, s.payload) = (place(seq), place(ack), 500 * size);
                s.flags = Flags(flags & !Flags::SYN.0);
                s.timestamps = (width > 1).then_some((now as u32, left));
                if width > 2 && !from_client {
                    (s.sack[0], s.sack_count) = ((place(left), place(left + width)), 1);
                }
            });
        }
        let rows = made.finish();
        for row in &rows.directions {
            let told = row.stream.unique_bytes.unwrap_or(0) + row.stream.repeated_bytes.unwrap_or(0);
            proptest::prop_assert!(told <= row.counters.payload_bytes);
        }
        let sums = |of: fn(&IntervalRow) -> u64| rows.intervals.iter().map(of).sum::<u64>();
        let sent: u64 = rows.directions.iter().map(|row| row.counters.payload_bytes).sum();
        proptest::prop_assert!(sums(|row| row.payload_bytes) <= sent);
    }
}

#[test]
fn a_time_of_another_age_is_damage() {
    let (mut table, mut rows) = (Table::new(Limits::default()), Rows::default());
    let data = |time_ns: i64, seq: u32| Segment {
        time_ns,
        source: [1; 16],
        destination: [2; 16],
        source_port: 4_000,
        destination_port: 80,
        seq,
        payload: 100,
        flags: Flags::ACK,
        ..Segment::default()
    };
    // Sums of times of 97 years overflowed: a fuzzer found it.
    for (time_ns, seq) in [(0, 0), (3_074_457_345_617_257_492, 100), (2 * MS, 0), (3 * MS, 200)] {
        table.take(&mut data(time_ns, seq), &mut rows);
    }
    assert_eq!(table.last_ns, 3 * MS);
    table.finish(&mut rows);
    assert_eq!((rows.connections[0].end_ns, rows.connections[0].clock_breaks), (3 * MS, 0));
}

#[test]
fn a_connection_whose_syn_nobody_captured_is_flipped_and_ends_as_its_sides_do() {
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    let fin = Flags(Flags::FIN.0 | Flags::ACK.0);
    for (client_goes_on, state, history) in [(true, "SF", "^hADFf"), (false, "SHR", "^hf")] {
        let mut made = Made::new(7);
        made.packet(0, false, |s| (s.flags, s.seq) = (both, 1_000));
        if client_goes_on {
            made.packet(1, true, |_| ());
            made.data(2, 0, 2);
            made.packet(3, true, |s| (s.flags, s.seq) = (fin, 1_008));
        }
        made.packet(4, false, |s| s.flags = fin);
        let rows = made.finish();
        let connection = &rows.connections[0];
        assert_eq!((connection.client.1, connection.client_is_sure), (40_000, true));
        assert_eq!((connection.state, connection.history.as_str()), (state, history));
    }
}

#[test]
fn bytes_of_a_reset_and_fins_without_data_are_told() {
    let fin = Flags(Flags::FIN.0 | Flags::ACK.0);
    let mut made = Made::new(7);
    made.handshake();
    for at_ms in 200..209 {
        made.packet(at_ms, false, |s| s.flags = fin);
    }
    made.packet(300, true, |s| (s.flags, s.payload) = (Flags(Flags::RST.0 | Flags::ACK.0), 13));
    let rows = made.finish();
    let fins: Vec<_> = rows.events.iter().map(|row| (row.direction, row.class, row.cause, row.time_ns)).collect();
    let expected: Vec<_> = (201..209).map(|at_ms| (1, Class::Repeat, Some(Cause::Fin), at_ms * MS)).collect();
    assert_eq!(fins, expected);
    let client = of_client(&rows);
    assert_eq!((client.counters.reset_bytes, client.counters.payload_bytes), (13, 13));
    assert_eq!(client.stream.unique_bytes, None);
}

/// A sender with a window of 60,000 bytes, or 60 MB with a scale of 10, that 50 segments of 1,000 bytes nearly fill.
fn with_scale(change: impl Fn(&mut Segment)) -> Rows {
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    let mut made = Made::new(7);
    made.packet(0, true, |s| {
        (s.flags, s.seq, s.mss, s.window_scale) = (Flags::SYN, 7, Some(1_000), Some(10));
        change(s);
    });
    made.packet(100, false, |s| {
        (s.flags, s.seq, s.mss, s.window_scale) = (both, 1_000, Some(1_000), Some(10));
        change(s);
    });
    made.packet(100, true, |s| change(s));
    for round in 0..10 {
        for number in 0..60 {
            made.data(200 + 100 * round, 60 * round as u32 + number, 1);
        }
        made.ack(300 + 100 * round, 60 * (round as u32 + 1), 1, None);
    }
    made.finish()
}

#[test]
fn a_window_whose_scale_was_cut_is_not_known_and_limits_nothing() {
    let whole = with_scale(|_| ());
    let without = with_scale(|s| s.window_scale = None);
    let cut = with_scale(|s| (s.window_scale, s.options_complete) = (None, false));
    let limited = |rows: &Rows| of_client(rows).stream.limited_window_ns.expect("data were acknowledged");
    assert_eq!((limited(&whole), limited(&cut)), (0, 0));
    // Without the option the window is what it says, and it was full.
    assert!(limited(&without) > 800 * MS as u64, "{}", limited(&without));
    let shift = |rows: &Rows| of_client(rows).stream.window_shift;
    assert_eq!((shift(&whole), shift(&without), shift(&cut)), (Some(10), Some(0), None));
    assert!(whole.intervals.iter().any(|row| row.window_end.is_some()));
    assert!(cut.intervals.iter().all(|row| row.window_end.is_none() && row.window_min_bytes == u64::MAX));
    let needless = |rows: &Rows| of_client(rows).stream.needless_retransmissions;
    assert_eq!((needless(&whole), needless(&cut)), (Some(0), None));
    let counted = |rows: &Rows| of_client(rows).counters.cut_options;
    assert_eq!((counted(&whole), counted(&cut)), (0, 2));
}

/// A handshake, a request of 136 bytes and an answer of 1,448 in networks (VLANs, say), each packet 0.7 ms after the same one of
/// the network before; `change` says how those of each differ.
fn in_networks(networks: &[(u64, u64)], change: impl Fn(&mut Segment, usize)) -> Rows {
    let both = Flags(Flags::SYN.0 | Flags::ACK.0);
    let mut table = Table::new(Limits::default());
    let mut rows = Rows::default();
    let packets = [
        (true, Flags::SYN, 1_000, 0, 0),
        (false, both, 9_000, 1_001, 0),
        (true, Flags::ACK, 1_001, 9_001, 136),
        (false, Flags::ACK, 9_001, 1_137, 1_448),
        (true, Flags::ACK, 1_137, 10_449, 0),
    ];
    for (at, (from_client, flags, seq, ack, payload)) in (0_i64..).zip(packets) {
        for (which, &(there, back)) in networks.iter().enumerate() {
            let (mut client, mut server) = ([0; 16], [0; 16]);
            (client[15], server[15]) = (1, 2);
            let mut segment = Segment {
                time_ns: 10 * at * MS + 700_000 * which as i64,
                source: if from_client { client } else { server },
                destination: if from_client { server } else { client },
                source_port: if from_client { 40_000 } else { 80 },
                destination_port: if from_client { 80 } else { 40_000 },
                network: if from_client { there } else { back },
                place: if from_client { there as u32 } else { back as u32 },
                flags,
                seq,
                ack,
                payload,
                window: 60_000,
                ip_id: 1 + at as u16,
                ttl: 64,
                options_complete: true,
                ..Segment::default()
            };
            change(&mut segment, which);
            table.take(&mut segment, &mut rows);
        }
    }
    table.finish(&mut rows);
    rows
}

#[test]
fn equal_addresses_in_other_networks_are_other_connections() {
    let bytes = |rows: &Rows| {
        let all = rows.directions.iter().map(|row| (row.connection, row.counters.payload_bytes));
        all.collect::<Vec<_>>()
    };
    let copies = |rows: &Rows| rows.directions.iter().map(|row| row.counters.capture_duplicates).sum::<u64>();
    let three = in_networks(&[(10, 10), (20, 20), (30, 30)], |_, _| ());
    assert_eq!(bytes(&three), [(1, 136), (1, 1_448), (2, 136), (2, 1_448), (3, 136), (3, 1_448)]);
    assert_eq!((copies(&three), three.events.len()), (0, 0));
    // Labels differ by direction: what continues a connection's numbers is of that connection.
    let labels = in_networks(&[(100, 200), (101, 201)], |s, which| {
        (s.seq, s.ack) = if which == 0 {
            (s.seq, s.ack)
        } else {
            let is_syn = s.flags == Flags::SYN;
            (s.seq + (1 << 30), if is_syn { 0 } else { s.ack + (1 << 30) })
        }
    });
    assert_eq!(bytes(&labels), [(1, 136), (1, 1_448), (2, 136), (2, 1_448)]);
    // The same packet before and behind a router, or at two interfaces.
    let router = in_networks(&[(10, 10), (20, 20)], |s, which| s.ttl -= which as u8);
    let interfaces = in_networks(&[(10, 10), (20, 20)], |s, which| s.interface = which as u32);
    for hop in [router, interfaces] {
        assert_eq!((bytes(&hop), copies(&hop)), (vec![(1, 136), (1, 1_448)], 5));
    }
}
