use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;
use crate::queue::Fifo;
use crate::queue::testing::{FULL, Wire, fates, fill, id, item};

fn spec(quantum: u32) -> Queue {
    Queue::Fq { quantum_bytes: NonZeroU32::new(quantum).unwrap(), flows: NonZeroU32::new(1024).unwrap() }
}

fn fq(quantum: u32, limit: Buffer) -> Fq {
    Fq::new(&spec(quantum), limit, 1, "link/queue")
}

/// Packets of these flows leave one after another while each flow has some waiting: flow and bytes of each.
fn order(quantum: u32, sizes: &[u32], count: usize) -> Vec<(usize, i64)> {
    let (mut queue, mut dropped) = (fq(quantum, Buffer::Unlimited), Dropped::default());
    for n in 0..count {
        for (flow, &bytes) in sizes.iter().enumerate() {
            queue.enqueue(item(n as u64, flow as u32, bytes, Time::ZERO), Time::ZERO, &mut dropped);
        }
    }
    let mut left = vec![count; sizes.len()];
    let mut order = Vec::new();
    while left.iter().all(|&packets| packets > 0) {
        let item = queue.dequeue(Time::ZERO, &mut dropped).unwrap();
        let flow = item.passage.packet.flow_hash as usize;
        left[flow] -= 1;
        order.push((flow, i64::from(item.bytes)));
    }
    order
}

/// Shreedhar and Varghese 1996, section IV: as a queue's deficit stays between 0 and the largest packet, flows with any
/// sizes of packets have sent the same but for a quantum and a packet; since any time, but for a quantum and two packets
/// (their Theorem on the fairness measure, 2 Max + Quantum).
#[test]
fn flows_with_any_packets_get_the_same() {
    let max = i64::from(FULL);
    for quantum in [64, 300, 1_500, 10_000] {
        let order = order(quantum, &[1_500, 600, 64, 1_499], 400);
        assert!(order.len() > 400);
        let (a, b) = (i64::from(quantum) + max, i64::from(quantum) + 2 * max);
        for (start, bound) in [(0, a), (7, b), (100, b), (150, b), (301, b)] {
            let mut sent = [0i64; 4];
            for &(flow, bytes) in &order[start..] {
                sent[flow] += bytes;
                let spread = sent.iter().max().unwrap() - sent.iter().min().unwrap();
                assert!(spread <= bound, "quantum {quantum}: {sent:?} since packet {start}");
            }
        }
    }
}

/// Shreedhar and Varghese 1996, section III, the example of figures 3 and 4: a queue sends what its deficit allows and
/// keeps the rest for its next turn.
#[test]
fn what_a_turn_leaves_is_kept_for_the_next() {
    let (mut queue, mut dropped) = (fq(500, Buffer::Unlimited), Dropped::default());
    for (id, flow, bytes) in [(0, 1, 200), (1, 1, 750), (2, 1, 20), (3, 2, 500), (4, 2, 500), (5, 3, 200), (6, 3, 600)]
    {
        queue.enqueue(item(id, flow, bytes, Time::ZERO), Time::ZERO, &mut dropped);
    }
    // 1: 200 of 500, 300 kept. 2: 500. 3: 200, 300 kept. 1: 750 of 800, 20 of 50. 2: 500. 3: 600 of 800.
    let order: Vec<u64> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped)).map(|item| id(&item)).collect();
    assert_eq!(order, [0, 3, 5, 1, 2, 4, 6]);
}

/// Shreedhar and Varghese 1996, section III: a queue that has become empty keeps nothing for later.
#[test]
fn an_idle_flow_saves_nothing() {
    let (mut queue, mut dropped) = (fq(1_000, Buffer::Unlimited), Dropped::default());
    queue.enqueue(item(0, 1, 100, Time::ZERO), Time::ZERO, &mut dropped);
    queue.dequeue(Time::ZERO, &mut dropped);
    for id in 0..4 {
        queue.enqueue(item(10 + id, 1, 600, Time::ZERO), Time::ZERO, &mut dropped);
        queue.enqueue(item(20 + id, 2, 600, Time::ZERO), Time::ZERO, &mut dropped);
    }
    // The first flow could send three packets with the 900 bytes of its first turn before the other's first.
    let order: Vec<u64> = (0..3).map(|_| id(&queue.dequeue(Time::ZERO, &mut dropped).unwrap())).collect();
    assert_eq!(order, [10, 20, 11]);
}

/// McKenney 1990 (as taken over by Shreedhar and Varghese 1996, section III): the longest queue makes room, whoever
/// comes.
#[test]
fn the_longest_queue_makes_room() {
    let (mut queue, mut dropped) = (fq(FULL, Buffer::Packets(10)), Dropped::default());
    fill(&mut queue, 0, 9, 1, Time::ZERO);
    fill(&mut queue, 100, 1, 2, Time::ZERO);
    queue.enqueue(item(101, 2, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    queue.enqueue(item(9, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), [(8, Fate::DroppedHead), (9, Fate::DroppedTail)]);
    assert_eq!(queue.backlog(), Backlog { bytes: 15_000, packets: 10 });
}

/// A queue that made room with its only packet loses its turn, and the others go on.
#[test]
fn a_queue_that_was_emptied_is_passed_over() {
    let (mut queue, mut dropped) = (fq(100, Buffer::Bytes(1_000)), Dropped::default());
    queue.enqueue(item(0, 1, 700, Time::ZERO), Time::ZERO, &mut dropped);
    queue.enqueue(item(1, 2, 300, Time::ZERO), Time::ZERO, &mut dropped);
    queue.enqueue(item(2, 3, 600, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), [(0, Fate::DroppedHead)]);
    let order: Vec<u64> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped)).map(|item| id(&item)).collect();
    assert_eq!(order, [1, 2]);
}

/// The bound of the scheduler holds for what leaves a busy link too: two flows that send too much share it evenly,
/// though one sends twice as much, and the wait of a flow below its share is bounded by a round.
#[test]
fn a_full_link_is_shared_evenly() {
    let mut wire = Wire::new(fq(FULL, Buffer::Packets(100)), 1_000);
    let mut next = 0;
    for n in 0..4_000 {
        for flow in [1, 2, 2] {
            wire.arrive(item(next, flow, FULL, Time(n * 1_000_000)));
            next += 1;
        }
        if n % 10 == 0 {
            wire.arrive(item(next, 3, 300, Time(n * 1_000_000)));
            next += 1;
        }
    }
    let sent = |flow| wire.left.iter().filter(|(_, i)| i.passage.packet.flow_hash == flow).count() as i64;
    assert!((sent(1) - sent(2)).abs() <= 1 && sent(1) > 1_250, "{} and {} packets", sent(1), sent(2));
    assert_eq!(sent(3), 400);
    let waits = wire.left.iter().filter(|(_, i)| i.passage.packet.flow_hash == 3).map(|(at, i)| i.sojourn(*at));
    // The one in service and one of each other flow.
    assert!(waits.max().unwrap().as_nanos() <= 3 * i64::from(FULL) * 1_000);
}

/// New parameters keep what waits; another number of queues needs another table.
#[test]
fn new_parameters_keep_what_waits() {
    let mut queue = fq(FULL, Buffer::Unlimited);
    fill(&mut queue, 0, 100, 1, Time::ZERO);
    assert!(queue.configure(&spec(300), Buffer::Packets(200)));
    assert_eq!(queue.backlog().packets, 100);
    let mut dropped = Dropped::default();
    queue.configure(&spec(300), Buffer::Packets(98));
    queue.enqueue(item(100, 1, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    let expected = [(100, Fate::DroppedTail), (99, Fate::DroppedHead), (98, Fate::DroppedHead)];
    assert_eq!(fates(&dropped), expected, "what waits makes room as soon as one comes");
    let other = Queue::Fq { quantum_bytes: NonZeroU32::MIN, flows: NonZeroU32::MIN };
    assert!(!queue.configure(&other, Buffer::Unlimited) && !queue.configure(&Queue::default(), Buffer::Unlimited));
}

proptest! {
    /// One flow alone finds a drop-tail queue: dropping the last packet of the longest queue is refusing it.
    #[test]
    fn one_flow_finds_drop_tail(
        steps in prop::collection::vec((60u32..1_515, any::<bool>()), 1..200),
        limit in prop_oneof![(0u64..20).prop_map(Buffer::Packets), (0u64..20_000).prop_map(Buffer::Bytes)],
        quantum in 1u32..3_000,
    ) {
        let (mut fair, mut plain) = (fq(quantum, limit), Fifo::new(&Queue::default(), limit, 1, "link/queue"));
        let (mut fair_drops, mut plain_drops) = (Dropped::default(), Dropped::default());
        for (n, (bytes, leaves)) in steps.into_iter().enumerate() {
            let packet = item(n as u64, 7, bytes, Time::ZERO);
            fair.enqueue(packet.clone(), Time::ZERO, &mut fair_drops);
            plain.enqueue(packet, Time::ZERO, &mut plain_drops);
            prop_assert_eq!(fair.backlog(), plain.backlog());
            if leaves {
                let left = (fair.dequeue(Time::ZERO, &mut fair_drops), plain.dequeue(Time::ZERO, &mut plain_drops));
                prop_assert_eq!(left.0.map(|item| item.passage), left.1.map(|item| item.passage));
            }
        }
        prop_assert_eq!(fair_drops.0, plain_drops.0);
    }
}
