use units::Duration;

use super::*;
use crate::queue::testing::{FULL, Wire, ect, fates, id, item};

const MS: i64 = 1_000_000;

fn spec(isolation: Isolation, ecn: bool) -> Queue {
    Queue::Cake {
        target_ns: Duration::from_millis(5),
        interval_ns: Duration::from_millis(100),
        quantum_bytes: NonZeroU32::new(FULL).unwrap(),
        isolation,
        ecn,
    }
}

fn cake(isolation: Isolation, limit: Buffer) -> Cake {
    Cake::new(&spec(isolation, false), limit, 1, "link/queue")
}

/// A packet of a flow between two hosts.
fn between(from: u16, to: u16, id: u64, flow: u32, bytes: u32, at: Time) -> Item {
    let mut item = item(id, flow, bytes, at);
    (item.passage.packet.from, item.passage.packet.to) = (from, to);
    item
}

/// `count` packets of each flow wait; who has sent how many bytes after `packets` have left.
fn served(mut queue: Cake, flows: &[(u16, u16)], packets: usize) -> Vec<u64> {
    let mut dropped = Dropped::default();
    for n in 0..200u64 {
        for (flow, &(from, to)) in flows.iter().enumerate() {
            let packet = between(from, to, n * flows.len() as u64 + flow as u64, flow as u32, FULL, Time::ZERO);
            queue.enqueue(packet, Time::ZERO, &mut dropped);
        }
    }
    let mut bytes = vec![0; flows.len()];
    for _ in 0..packets {
        let item = queue.dequeue(Time::ZERO, &mut dropped).unwrap();
        bytes[item.passage.packet.flow_hash as usize] += u64::from(item.bytes);
    }
    assert!(dropped.0.is_empty());
    bytes
}

/// Each within two packets of its share.
fn assert_shares(bytes: &[u64], shares: &[f64]) {
    let all: u64 = bytes.iter().sum();
    for (&bytes, share) in bytes.iter().zip(shares) {
        let off = (bytes as f64 - share * all as f64).abs();
        assert!(off <= 2.0 * f64::from(FULL), "{bytes} of {all} B for a share of {share}");
    }
}

#[test]
fn flows_share_alike_whoever_their_hosts_are() {
    let flows = [(0, 9), (0, 9), (0, 9), (1, 9)];
    let bytes = served(cake(Isolation::Flows, Buffer::Unlimited), &flows, 400);
    assert_shares(&bytes, &[0.25; 4]);
}

#[test]
fn hosts_share_alike_whether_they_send_or_receive() {
    let queue = || cake(Isolation::TripleIsolate, Buffer::Unlimited);
    // Flows of one sender to many hosts, and of one receiver from many hosts, count as one host's.
    let from_one = [(0, 5), (0, 6), (0, 7), (1, 8)];
    assert_shares(&served(queue(), &from_one, 300), &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]);
    let to_one = from_one.map(|(from, to)| (to, from));
    assert_shares(&served(queue(), &to_one, 300), &[1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]);
    // Alone with its host, a flow's quantum is whole.
    assert_shares(&served(queue(), &[(0, 5), (1, 6), (2, 7)], 300), &[1.0 / 3.0; 3]);
}

#[test]
fn bulk_flows_are_counted_while_they_are() {
    let mut queue = cake(Isolation::TripleIsolate, Buffer::Unlimited);
    let mut dropped = Dropped::default();
    for id in 0..40 {
        queue.enqueue(between(3, 4, id, id as u32 % 4, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    }
    (0..12).for_each(|_| assert!(queue.dequeue(Time::ZERO, &mut dropped).is_some()));
    assert_eq!((queue.sources[3], queue.destinations[4]), (4, 4));
    while queue.dequeue(Time::ZERO, &mut dropped).is_some() {}
    assert_eq!((queue.sources[3], queue.destinations[4]), (0, 0));
    assert!(queue.owners.iter().all(|owner| owner.class == Class::Idle));
}

#[test]
fn a_sparse_flow_goes_first() {
    let mut queue = cake(Isolation::Flows, Buffer::Unlimited);
    let mut dropped = Dropped::default();
    (0..10).for_each(|id| queue.enqueue(item(id, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    (0..2).for_each(|n| assert_eq!(id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap()), n));
    queue.enqueue(item(100, 2, 100, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap()), 100);
    assert_eq!(id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap()), 2);
}

#[test]
fn flows_of_a_set_have_queues_of_their_own() {
    let mut queue = cake(Isolation::Flows, Buffer::Unlimited);
    let mut dropped = Dropped::default();
    let set = |queue: &Cake, hash: u32| queue.flows.bucket(hash) / WAYS;
    let together: Vec<u32> = (0..).filter(|&hash| set(&queue, hash) == 0).take(9).collect();
    for (id, &hash) in together.iter().enumerate() {
        queue.enqueue(item(id as u64, hash, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    }
    // The ninth finds all taken, and shares.
    let counts: Vec<u32> = (0..WAYS).map(|queue_| queue.flows.packets(queue_)).collect();
    assert_eq!((counts.iter().sum::<u32>(), counts.iter().filter(|&&count| count == 2).count()), (9, 1));
}

#[test]
fn the_longest_queue_makes_room_at_its_head() {
    let mut queue = cake(Isolation::Flows, Buffer::Bytes(4 * u64::from(FULL)));
    let mut dropped = Dropped::default();
    (0..4).for_each(|id| queue.enqueue(item(id, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    queue.enqueue(item(10, 2, FULL, Time::ZERO), Time(MS), &mut dropped);
    assert_eq!(fates(&dropped), [(0, Fate::DroppedHead)]);
    let mut tiny = cake(Isolation::Flows, Buffer::Bytes(0));
    tiny.enqueue(item(11, 2, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped)[1], (11, Fate::DroppedTail));
}

#[test]
fn codel_signals_after_an_interval_above_target_and_then_ever_more_often() {
    // 1 ms a packet, one comes for each that leaves, 20 ms behind.
    let mut wire = Wire::new(cake(Isolation::Flows, Buffer::Unlimited), MS / i64::from(FULL));
    (0..20).for_each(|id| wire.arrive(item(id, 1, FULL, Time::ZERO)));
    (20..1_000).for_each(|id| wire.arrive(item(id, 1, FULL, Time((id as i64 - 20) * MS))));
    let gone: Vec<i64> = wire.dropped.0.iter().map(|p| (p.arrival + p.sojourn.unwrap()).as_nanos() / MS).collect();
    assert!(wire.dropped.0.iter().all(|p| p.fate == Fate::DroppedEarly));
    // Above 5 ms from the sixth packet on, so at 105 ms, then 100 / sqrt(2), 100 / sqrt(3) ms later; until all is well.
    assert!((104..=107).contains(&gone[0]), "{gone:?}");
    for (n, pair) in gone.windows(2).take(8).enumerate() {
        let expected = 100.0 / ((n + 2) as f64).sqrt();
        assert!(((pair[1] - pair[0]) as f64 - expected).abs() <= 2.0, "{gone:?}");
    }
}

#[test]
fn codel_takes_a_wait_of_the_target_for_a_good_one() {
    // One packet a millisecond, and each leaves after the same wait, with five behind it.
    let dropped_after = |wait: i64| {
        let (mut queue, mut dropped) = (cake(Isolation::Flows, Buffer::Unlimited), Dropped::default());
        for n in 0..500 {
            let now = Time(n * MS);
            queue.enqueue(item(n as u64, 1, FULL, now), now, &mut dropped);
            if n >= 5 {
                queue.dequeue(Time((n - 5) * MS + wait), &mut dropped);
            }
        }
        dropped.0.len()
    };
    assert_eq!(dropped_after(5 * MS), 0);
    assert!(dropped_after(5 * MS + 1) > 0);
}

#[test]
fn codel_marks_where_it_may() {
    let queue = Cake::new(&spec(Isolation::Flows, true), Buffer::Unlimited, 1, "link/queue");
    let mut wire = Wire::new(queue, MS / i64::from(FULL));
    (0..40).for_each(|id| wire.arrive(ect(item(id, 1, FULL, Time::ZERO))));
    (40..500).for_each(|id| wire.arrive(ect(item(id, 1, FULL, Time((id as i64 - 40) * MS)))));
    assert!(wire.dropped.0.is_empty());
    assert!(wire.left.iter().filter(|(_, item)| item.passage.mark.is_some()).count() > 3);
}

#[test]
fn blue_drops_what_does_not_answer_and_rests_when_it_has_gone() {
    let cobalt = Cobalt { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: true };
    let mut control = Control::default();
    let at = |ms: i64| Time(ms * MS);
    // Once per target.
    (1..=100).for_each(|ms| cobalt.overflow(&mut control, at(10 + ms)));
    let risen = control.blue();
    assert_eq!(risen, 16 * 17);
    cobalt.found_empty(&mut control, at(1_000));
    assert_eq!(control.blue(), risen - 1);
    cobalt.rest(&mut control, at(1_050));
    assert_eq!(control.blue(), risen - 11);
    assert!(!cobalt.is_at_rest(&control, at(1_060)));
    assert!(cobalt.is_at_rest(&control, at(60_000)));
}

#[test]
fn a_flood_is_dropped_by_blue_and_spares_the_others() {
    // Twice as much as the link carries of one flow, a little of another.
    let mut wire = Wire::new(cake(Isolation::Flows, Buffer::Packets(50)), MS / i64::from(FULL));
    for n in 0..20_000u64 {
        let at = Time(n as i64 * MS / 2);
        wire.arrive(item(n, 1, FULL, at));
        if n % 20 == 0 {
            wire.arrive(item(1_000_000 + n, 2, 100, at));
        }
    }
    let of = |flow: u32| wire.dropped.0.iter().map(Box::as_ref).filter(move |p: &&Passage| p.packet.flow_hash == flow);
    assert_eq!(of(2).count(), 0);
    // BLUE takes over from overflows.
    let late = |p: &&Passage| p.arrival > Time(8_000 * MS);
    let (early, all) =
        (of(1).filter(late).filter(|p| p.fate == Fate::DroppedEarly).count(), of(1).filter(late).count());
    assert!(all > 1_500 && early * 10 > all * 8, "{early} of {all}");
}

#[test]
fn parameters_change_and_what_waits_stays() {
    let mut queue = cake(Isolation::Flows, Buffer::Unlimited);
    let mut dropped = Dropped::default();
    (0..4).for_each(|id| queue.enqueue(item(id, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    assert!(queue.configure(&spec(Isolation::TripleIsolate, true), Buffer::Packets(2)));
    assert_eq!(queue.backlog().packets, 4);
    queue.enqueue(item(9, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(queue.backlog().packets, 2);
    assert!(!queue.configure(&Queue::default(), Buffer::Unlimited));
}
