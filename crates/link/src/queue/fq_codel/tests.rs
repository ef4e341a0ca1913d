use std::collections::HashMap;
use std::num::NonZeroU32;

use super::*;
use crate::packet::Mark;
use crate::queue::testing::{FULL, Wire, ect, fates, fill, id, item};
use units::Duration;

/// 12 Mbit/s: a full packet in 999 us.
const NS_PER_BYTE: i64 = 1_000_000 / FULL as i64;
const BULK: u32 = 1;
const SPARSE: u32 = 2;

fn spec(flows: u32, quantum: u32, ecn: bool) -> Queue {
    Queue::FqCodel {
        target_ns: Duration::from_millis(5),
        interval_ns: Duration::from_millis(100),
        quantum_bytes: NonZeroU32::new(quantum).unwrap(),
        flows: NonZeroU32::new(flows).unwrap(),
        ecn,
        ce_threshold_ns: None,
    }
}

fn fq_codel(limit: Buffer) -> FqCodel {
    FqCodel::new(&spec(1024, FULL, false), limit, 1, "link/queue")
}

fn flow(item: &Item) -> u32 {
    item.passage.packet.flow_hash
}

/// RFC 8290 section 4.2: queues take turns by deficit round robin, so two flows that send too much get the same, whoever
/// sends more; at no time since both have been active does one have a quantum more than the other.
#[test]
fn two_flows_get_equal_shares_however_much_they_send() {
    let mut wire = Wire::new(fq_codel(Buffer::Packets(10_240)), NS_PER_BYTE);
    for n in 0..8_000 {
        let at = Time(n * 500_000);
        wire.arrive(item(3 * n as u64, 1, FULL, at));
        wire.arrive(item(3 * n as u64 + 1, 2, FULL, at));
        wire.arrive(item(3 * n as u64 + 2, 2, FULL, at));
    }
    assert!(wire.left.len() >= 4_000);
    let mut sent = HashMap::from([(1, 0), (2, 0)]);
    for (_, item) in &wire.left {
        *sent.get_mut(&flow(item)).unwrap() += i64::from(item.bytes);
        assert!((sent[&1] - sent[&2]).abs() <= i64::from(FULL), "{sent:?}");
    }
}

/// RFC 8290 section 1.3 and 4.2: a flow that sends less than a quantum now and then is new each time and goes first,
/// behind a long queue of others: it waits for the packet in service only.
#[test]
fn a_sparse_flow_hardly_waits() {
    let mut wire = Wire::new(fq_codel(Buffer::Unlimited), NS_PER_BYTE);
    (0..300).for_each(|n| wire.arrive(item(n, BULK, FULL, Time::ZERO)));
    for n in 0..10 {
        let at = Time(n * 20_000_000 + 300_000);
        wire.arrive(item(1_000 + n as u64, SPARSE, 200, at));
    }
    wire.run_until(Time(200_000_000));
    let waits: Vec<_> =
        wire.left.iter().filter(|(_, item)| flow(item) == SPARSE).map(|(at, item)| item.sojourn(*at)).collect();
    assert_eq!(waits.len(), 10);
    let service = Duration(i64::from(FULL) * NS_PER_BYTE);
    assert!(waits.iter().all(|&wait| wait <= service), "{waits:?}");
    assert!(wire.queue.backlog().packets > 80, "the other flow's queue is long");
}

/// RFC 8290 section 4.2: a new queue that proves empty becomes an old one. If it left instead, two flows that take turns
/// to send just when the other is served would be new for ever, and the old ones would starve.
#[test]
fn flows_cannot_stay_new_by_their_timing() {
    let (mut queue, mut dropped) = (fq_codel(Buffer::Unlimited), Dropped::default());
    fill(&mut queue, 0, 1_000, BULK, Time::ZERO);
    queue.dequeue(Time::ZERO, &mut dropped);
    let gamer = |n: u64| item(10_000 + n, 2 + (n % 2) as u32, 100, Time::ZERO);
    let (mut bulk, mut all) = (0, 0);
    queue.enqueue(gamer(0), Time::ZERO, &mut dropped);
    for n in 1..1_000 {
        queue.enqueue(gamer(n), Time::ZERO, &mut dropped);
        let item = queue.dequeue(Time::ZERO, &mut dropped).unwrap();
        all += item.bytes;
        bulk += if flow(&item) == BULK { item.bytes } else { 0 };
    }
    assert!(3 * bulk + FULL >= all, "{bulk} of {all} bytes");
}

/// RFC 8290 section 4.2: a new queue goes before an old one that still has credits, until it has sent a quantum.
#[test]
fn a_new_queue_sends_a_quantum_before_the_old_ones() {
    let (mut queue, mut dropped) = (fq_codel(Buffer::Unlimited), Dropped::default());
    let mut come = |queue: &mut FqCodel, flow| {
        (0..10).for_each(|id| queue.enqueue(item(id, flow, 500, Time::ZERO), Time::ZERO, &mut dropped));
    };
    let next = |queue: &mut FqCodel| flow(&queue.dequeue(Time::ZERO, &mut Dropped::default()).unwrap());
    come(&mut queue, BULK);
    (0..4).for_each(|_| assert_eq!(next(&mut queue), BULK));
    come(&mut queue, SPARSE);
    let order: Vec<u32> = (0..9).map(|_| next(&mut queue)).collect();
    assert_eq!(order, [SPARSE, SPARSE, SPARSE, BULK, BULK, SPARSE, SPARSE, SPARSE, BULK]);
}

/// RFC 8290 section 4.1: when the queue is full, the flow with most bytes loses half of its packets, oldest first, and
/// no other flow loses any.
#[test]
fn the_longest_queue_makes_room() {
    let (mut queue, mut dropped) = (fq_codel(Buffer::Packets(100)), Dropped::default());
    fill(&mut queue, 0, 89, BULK, Time::ZERO);
    fill(&mut queue, 1_000, 11, SPARSE, Time::ZERO);
    let now = Time(1_000);
    queue.enqueue(item(2_000, SPARSE, FULL, now), now, &mut dropped);
    assert_eq!(fates(&dropped), (0..45).map(|id| (id, Fate::DroppedHead)).collect::<Vec<_>>());
    assert!(dropped.0.iter().all(|passage| passage.sojourn == Some(Duration(1_000))));
    assert_eq!(queue.backlog(), Backlog { bytes: 56 * u64::from(FULL), packets: 56 });
}

/// RFC 8290 section 4.1: at most 64 at a time.
#[test]
fn a_batch_of_drops_is_limited() {
    let (mut queue, mut dropped) = (fq_codel(Buffer::Packets(1_000)), Dropped::default());
    fill(&mut queue, 0, 1_000, BULK, Time::ZERO);
    queue.enqueue(item(1_000, BULK, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), (0..64).map(|id| (id, Fate::DroppedHead)).collect::<Vec<_>>());
}

/// A packet that is larger than the limit of the queue is refused, and so is one that would have to make room itself.
#[test]
fn a_packet_that_can_never_fit_is_refused() {
    let (mut queue, mut dropped) = (fq_codel(Buffer::Bytes(1_000)), Dropped::default());
    queue.enqueue(item(0, BULK, 900, Time::ZERO), Time::ZERO, &mut dropped);
    queue.enqueue(item(1, SPARSE, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), [(1, Fate::DroppedTail)]);
    assert_eq!(dropped.0[0].sojourn, None, "it was never in");
    assert_eq!(id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap()), 0);
    assert!(queue.dequeue(Time::ZERO, &mut dropped).is_none());
}

/// RFC 8290 sections 4.1.1 and 6.2: flows are hashed into a number of queues by a perturbation, here the seed's; those
/// that collide share a queue, in the order in which they came.
#[test]
fn flows_that_collide_share_a_queue() {
    let (mut queue, mut dropped) = (FqCodel::new(&spec(1, FULL, false), Buffer::Unlimited, 1, "x"), Dropped::default());
    (0..30).for_each(|id| queue.enqueue(item(id, id as u32, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    let order: Vec<u64> = (0..30).map(|_| id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap())).collect();
    assert_eq!(order, (0..30).collect::<Vec<_>>());

    let collide = |seed| {
        let flows = Flows::new(NonZeroU32::new(8).unwrap(), seed, "link/queue");
        flows.bucket(1) == flows.bucket(2)
    };
    // One seed in eight: 512 of 4096, with a standard deviation of 21.
    let collisions = (0..4_096).filter(|&seed| collide(seed)).count();
    assert!((428..596).contains(&collisions), "{collisions} of 4096 seeds");
}

/// RFC 8290 section 6.2: buckets are used evenly, whatever the hashes of flows look like.
#[test]
fn flows_spread_over_all_queues() {
    let flows = Flows::new(NonZeroU32::new(64).unwrap(), 1, "link/queue");
    let mut bins = [0u32; 64];
    (0..64_000).for_each(|hash| bins[flows.bucket(hash) as usize] += 1);
    let chi2: f64 = bins.iter().map(|&seen| (f64::from(seen) - 1_000.0).powi(2) / 1_000.0).sum();
    // The 99.9 % quantile of chi-square with 63 degrees of freedom.
    assert!(chi2 < 103.4, "chi-square {chi2}");
}

/// RFC 8290 section 4.2: each queue has a separate CoDel. The flow whose queue is long gets marks, the one that sends
/// a packet now and then gets none.
#[test]
fn only_the_flow_with_a_standing_queue_is_marked() {
    let queue = FqCodel::new(&spec(1024, FULL, true), Buffer::Unlimited, 1, "link/queue");
    let mut wire = Wire::new(queue, NS_PER_BYTE);
    (0..2_000).for_each(|n| wire.arrive(ect(item(n, BULK, FULL, Time::ZERO))));
    (0..150).for_each(|n| wire.arrive(ect(item(10_000 + n, SPARSE, 200, Time(n as i64 * 10_000_000)))));
    let marked: Vec<u32> =
        wire.left.iter().filter(|(_, i)| i.passage.mark == Some(Mark::Early)).map(|(_, i)| flow(i)).collect();
    assert!(marked.len() > 50 && marked.iter().all(|&hash| hash == BULK), "{} marks", marked.len());
    assert!(wire.dropped.0.is_empty());
}

/// RFC 8289 section 5.6, applied to a queue of RFC 8290: of many flows with a packet or two each none is dropped, though
/// together they take long.
#[test]
fn short_queues_are_not_dropped_from_however_many_there_are() {
    let mut wire = Wire::new(fq_codel(Buffer::Unlimited), NS_PER_BYTE);
    for n in 0..6_000 {
        // Each of 40 flows sends two packets, and one every 40 ms from then on: all that the link can carry.
        wire.arrive(item(n, (n % 40) as u32, FULL, Time((n as i64 / 40 - 1).max(0) * 40_000_000)));
    }
    let longest = wire.left.iter().map(|(at, item)| item.sojourn(*at)).max().unwrap();
    assert!(longest > Duration::from_millis(60));
    assert!(wire.dropped.0.is_empty());
}

/// New parameters keep what waits and what was learned; another number of queues needs another table.
#[test]
fn new_parameters_keep_what_waits() {
    let mut queue = fq_codel(Buffer::Unlimited);
    fill(&mut queue, 0, 100, BULK, Time::ZERO);
    assert!(queue.configure(&spec(1024, 300, true), Buffer::Packets(200)));
    assert_eq!(queue.backlog().packets, 100);
    assert!(!queue.configure(&spec(512, 300, true), Buffer::Packets(200)));
    assert!(!queue.configure(&Queue::default(), Buffer::Packets(200)));
}
