use units::Duration;

use super::*;
use crate::packet::Ecn;
use crate::queue::testing::{FULL, ect, fates, fill, id, item};

fn fifo(limit: Buffer, drop_head: bool, ce_threshold: Option<Threshold>) -> Fifo {
    let spec = if drop_head { Queue::DropHead { ce_threshold } } else { Queue::DropTail { ce_threshold } };
    Fifo::new(&spec, limit, 1, "link/queue")
}

/// The ECN-capable packets of `count` that come at once, and are marked on arrival.
fn marked(threshold: Threshold, count: u64) -> Vec<u64> {
    let (mut queue, mut dropped) = (fifo(Buffer::Unlimited, false, Some(threshold)), Dropped::default());
    (0..count).for_each(|id| queue.enqueue(ect(item(id, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped));
    let left = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped));
    left.filter(|item| item.passage.mark == Some(Mark::Threshold)).map(|item| id(&item)).collect()
}

/// RFC 8257 section 3.1: a packet is marked if, when it comes, more than K wait, itself included.
#[test]
fn a_packet_that_finds_more_than_the_threshold_is_marked() {
    assert_eq!(marked(Threshold::Packets(3), 6), [3, 4, 5]);
    assert_eq!(marked(Threshold::Bytes(3 * u64::from(FULL)), 6), [3, 4, 5]);
    assert_eq!(marked(Threshold::Bytes(3 * u64::from(FULL) - 1), 6), [2, 3, 4, 5]);
    assert_eq!(marked(Threshold::Packets(0), 2), [0, 1]);
}

/// RFC 8257 section 3.1: it is the queue at that instant that counts, not an average: the step is taken back at once.
#[test]
fn the_step_follows_the_queue_at_once() {
    let threshold = Some(Threshold::Packets(2));
    let (mut queue, mut dropped) = (fifo(Buffer::Unlimited, false, threshold), Dropped::default());
    let mut come = |queue: &mut Fifo, id| queue.enqueue(ect(item(id, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped);
    (0..3).for_each(|id| come(&mut queue, id));
    let left: Vec<_> = (0..2).map(|_| queue.dequeue(Time::ZERO, &mut Dropped::default()).unwrap()).collect();
    come(&mut queue, 3);
    let rest = queue.drain(Time::ZERO);
    let marks: Vec<bool> = left.iter().chain(&rest).map(|item| item.passage.mark.is_some()).collect();
    assert_eq!(marks, [false, false, true, false]);
}

/// A packet that waited longer than the threshold is marked as it leaves; one that waited exactly that long is not.
#[test]
fn a_packet_that_waited_longer_than_the_threshold_is_marked() {
    let threshold = Some(Threshold::Sojourn(Duration::from_millis(1)));
    let (mut queue, mut dropped) = (fifo(Buffer::Unlimited, false, threshold), Dropped::default());
    (0..3).for_each(|id| queue.enqueue(ect(item(id, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped));
    let marks = [0, 1_000_000, 1_000_001].map(|at| queue.dequeue(Time(at), &mut dropped).unwrap().passage.mark);
    assert_eq!(marks, [None, None, Some(Mark::Threshold)]);
}

/// RFC 3168 section 5: only ECN-capable packets may be marked; CE stays CE and isn't a mark of this link.
#[test]
fn only_capable_packets_are_marked() {
    let threshold = Some(Threshold::Packets(0));
    let (mut queue, mut dropped) = (fifo(Buffer::Unlimited, false, threshold), Dropped::default());
    for (id, ecn) in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce].into_iter().enumerate() {
        let mut item = item(id as u64, 0, FULL, Time::ZERO);
        item.passage.packet.ecn = ecn;
        queue.enqueue(item, Time::ZERO, &mut dropped);
    }
    let left: Vec<_> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut dropped))
        .map(|item| (item.passage.packet.ecn, item.passage.mark))
        .collect();
    let mark = Some(Mark::Threshold);
    assert_eq!(left, [(Ecn::NotEct, None), (Ecn::Ce, mark), (Ecn::Ce, mark), (Ecn::Ce, None)]);
    assert!(dropped.0.is_empty());
}

/// Drop-tail refuses what comes.
#[test]
fn drop_tail_refuses_what_does_not_fit() {
    let (mut queue, mut dropped) = (fifo(Buffer::Packets(3), false, None), Dropped::default());
    (0..5).for_each(|id| queue.enqueue(item(id, 0, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    assert_eq!(fates(&dropped), [(3, Fate::DroppedTail), (4, Fate::DroppedTail)]);
    assert!(dropped.0.iter().all(|passage| passage.sojourn.is_none()));
}

/// Drop-head takes out the oldest until what comes fits (Lakshman, Neidhardt, Ott: "The drop from front strategy in TCP
/// and in TCP over ATM", INFOCOM 1996), and says how long they had waited.
#[test]
fn drop_head_takes_out_the_oldest() {
    let (mut queue, mut dropped) = (fifo(Buffer::Bytes(1_000), true, None), Dropped::default());
    for (id, bytes) in [(0, 300), (1, 400), (2, 300), (3, 600)] {
        let at = Time(id as i64 * 10);
        queue.enqueue(item(id, 0, bytes, at), at, &mut dropped);
    }
    assert_eq!(fates(&dropped), [(0, Fate::DroppedHead), (1, Fate::DroppedHead)]);
    let waits: Vec<_> = dropped.0.iter().map(|passage| passage.sojourn).collect();
    assert_eq!(waits, [Some(Duration(30)), Some(Duration(20))]);
    assert_eq!(queue.inside().iter().map(|passage| passage.packet.id).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(queue.backlog(), Backlog { bytes: 900, packets: 2 });
}

/// A packet larger than the whole buffer is refused; the others have made room for it in vain.
#[test]
fn drop_head_refuses_what_can_never_fit() {
    let (mut queue, mut dropped) = (fifo(Buffer::Bytes(1_000), true, None), Dropped::default());
    queue.enqueue(item(0, 0, 300, Time::ZERO), Time::ZERO, &mut dropped);
    queue.enqueue(item(1, 0, FULL, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), [(0, Fate::DroppedHead), (1, Fate::DroppedTail)]);
    assert_eq!(queue.backlog(), Backlog::default());
}

/// Drop-tail becomes drop-head, with another limit and threshold, while packets wait.
#[test]
fn new_parameters_keep_what_waits() {
    let (mut queue, mut dropped) = (fifo(Buffer::Packets(5), false, None), Dropped::default());
    fill(&mut queue, 0, 5, 0, Time::ZERO);
    assert!(queue.configure(&Queue::DropHead { ce_threshold: Some(Threshold::Packets(1)) }, Buffer::Packets(3)));
    assert_eq!(queue.backlog().packets, 5, "nothing is dropped before something comes");
    queue.enqueue(ect(item(5, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped);
    assert_eq!(fates(&dropped), [(0, Fate::DroppedHead), (1, Fate::DroppedHead), (2, Fate::DroppedHead)]);
    assert_eq!(queue.inside().last().unwrap().mark, Some(Mark::Threshold));
}
