use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::*;
use crate::packet::Ecn;
use crate::queue::Fifo;
use crate::queue::testing::{FULL, Wire, ect, fates, fill, item};

const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);
/// Time between packets that leave in most tests.
const STEP: Duration = Duration::from_micros(100);

fn codel(ecn: bool, ce_threshold_ns: Option<Duration>) -> Codel {
    let spec = Queue::Codel { target_ns: TARGET, interval_ns: INTERVAL, ecn, ce_threshold_ns };
    Codel::new(&spec, Buffer::Unlimited, 1, "link/queue")
}

/// floor(INTERVAL / sqrt(count)), the largest d for which d^2 count <= INTERVAL^2, by bisection.
fn spacing(count: u128) -> Duration {
    let interval = INTERVAL.as_nanos() as u128;
    let (mut low, mut high) = (0, interval + 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle * middle * count <= interval * interval { low = middle } else { high = middle }
    }
    Duration(low as i64)
}

/// A packet leaves at `from` and each [`STEP`] after, before `until`. When packets were dropped.
fn leave(queue: &mut Codel, from: Time, until: Time) -> Vec<Time> {
    let mut times = Vec::new();
    let mut now = from;
    while now < until {
        let mut dropped = Dropped::default();
        queue.dequeue(now, &mut dropped).expect("enough was put in");
        times.extend(dropped.0.iter().map(|_| now));
        now += STEP;
    }
    times
}

/// The first time a packet leaves at `due` or after.
fn tick(due: Time) -> Time {
    let step = STEP.as_nanos();
    Time((due.as_nanos() + step - 1) / step * step)
}

/// RFC 8289 section 5.6: a sojourn time below TARGET is never too long, one of TARGET is.
#[test]
fn nothing_is_dropped_below_target() {
    for (wait, is_dropped) in [(TARGET.as_nanos() - 1, false), (TARGET.as_nanos(), true)] {
        let mut wire = (codel(false, None), Dropped::default());
        for n in 0..20_000 {
            let at = Time(n * 500_000);
            wire.0.enqueue(item(n as u64, 0, FULL, at), at, &mut wire.1);
            if n >= 10 {
                // The oldest came ten packets ago; it leaves when it has waited for `wait`.
                let leaves = Time((n - 10) * 500_000 + wait);
                wire.0.dequeue(leaves, &mut wire.1);
            }
        }
        assert_eq!(!wire.1.0.is_empty(), is_dropped, "after waits of {wait} ns");
    }
}

/// RFC 8289 sections 4.1 and 5.6: a queue is good while no more than an MTU waits behind a packet, however long it took.
#[test]
fn nothing_is_dropped_when_at_most_one_mtu_waits() {
    for (behind, is_dropped) in [(FULL, false), (FULL + 1, true)] {
        let (mut queue, mut dropped) = (codel(false, None), Dropped::default());
        for n in 0..100 {
            let at = Time(n * 1_000_000_000);
            for (id, bytes) in [(0, FULL), (1, FULL), (2, behind - FULL)] {
                queue.enqueue(item(id, 0, bytes, at), at, &mut dropped);
            }
            queue.dequeue(at + Duration::from_millis(500), &mut dropped);
            drop(queue.waiting.drain());
        }
        assert_eq!(!dropped.0.is_empty(), is_dropped, "{behind} bytes behind");
    }
}

/// RFC 8289 section 5.6: the first drop comes an INTERVAL after the sojourn time was first seen above TARGET.
#[test]
fn the_first_drop_comes_after_an_interval_above_target() {
    let mut queue = codel(false, None);
    fill(&mut queue, 0, 10_000, 0, Time::ZERO);
    let drops = leave(&mut queue, Time::ZERO, Time::ZERO + TARGET + INTERVAL + STEP);
    assert_eq!(drops, [Time::ZERO + TARGET + INTERVAL]);
}

/// RFC 8289 sections 3.3 and 5.6: drops are INTERVAL / sqrt(count) apart, each counted from when the last one was due.
#[test]
fn drops_follow_the_control_law() {
    let mut queue = codel(false, None);
    fill(&mut queue, 0, 100_000, 0, Time::ZERO);
    let drops = leave(&mut queue, Time::ZERO, Time(5_000_000_000));
    let mut due = Time::ZERO + TARGET + INTERVAL;
    let mut expected = vec![due];
    for count in 1.. {
        due += spacing(count);
        if due >= Time(5_000_000_000) - STEP {
            break;
        }
        expected.push(tick(due));
    }
    assert!(expected.len() > 500, "{} drops", expected.len());
    assert_eq!(drops, expected);
}

/// RFC 8289 section 5.5: when several drops are due, they are all done before a packet leaves.
#[test]
fn drops_that_are_overdue_are_made_up_for() {
    let mut queue = codel(false, None);
    fill(&mut queue, 0, 100_000, 0, Time::ZERO);
    leave(&mut queue, Time::ZERO, Time::ZERO + TARGET + INTERVAL + STEP);
    // Due after the first at 105 ms: at 205 ms, and by 70.7, 57.7, 50, 44.7 ... ms each.
    let mut dropped = Dropped::default();
    queue.dequeue(Time(400_000_000), &mut dropped);
    assert_eq!(dropped.0.len(), 4, "those due at 205.0, 275.7, 333.4 and 383.4 ms");
}

/// A packet bears one mark: those that are overdue come one after another.
#[test]
fn marks_that_are_overdue_are_made_up_for_packet_by_packet() {
    let (mut queue, mut dropped) = (codel(true, None), Dropped::default());
    (0..2_000).for_each(|id| queue.enqueue(ect(item(id, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped));
    leave(&mut queue, Time::ZERO, Time::ZERO + TARGET + INTERVAL + STEP);
    // The marks are as above: those due at 205.0, 275.7, 333.4 and 383.4 ms.
    let marks = [0, 1, 2, 3, 4, 5].map(|n| {
        let item = queue.dequeue(Time(400_000_000 + n), &mut dropped).unwrap();
        item.passage.mark.is_some()
    });
    assert_eq!(marks, [true, true, true, true, false, false]);
}

/// RFC 8289 section 5.5: a packet that has waited less than TARGET ends the dropping state; the next drop then needs
/// another whole INTERVAL above it.
#[test]
fn a_short_wait_ends_the_dropping_state() {
    let (mut queue, mut dropped) = (codel(false, None), Dropped::default());
    fill(&mut queue, 0, 10_000, 0, Time::ZERO);
    assert_eq!(leave(&mut queue, Time::ZERO, Time(200_000_000)).len(), 1, "dropping since 105 ms");
    drop(queue.waiting.drain());
    let fresh = Time(249_000_000);
    fill(&mut queue, 0, 10_000, 0, fresh);
    let leaves = fresh + Duration::from_millis(1);
    queue.dequeue(leaves, &mut dropped);
    assert!(dropped.0.is_empty(), "a drop was due at 205 ms, but the wait was short");
    let drops = leave(&mut queue, leaves + STEP, fresh + TARGET + INTERVAL + STEP);
    assert_eq!(drops, [fresh + TARGET + INTERVAL]);
}

/// One episode of dropping that ends when `drops` were made, and when it ended.
fn episode(queue: &mut Codel, from: Time, drops: usize) -> (Vec<Time>, Time) {
    fill(queue, 0, 100_000, 0, from);
    let (mut times, mut now) = (Vec::new(), from);
    while times.len() < drops {
        times.extend(leave(queue, now, now + STEP));
        now += STEP;
    }
    drop(queue.waiting.drain());
    queue.dequeue(now, &mut Dropped::default());
    (times, now)
}

/// RFC 8289 section 5.5: the dropping state that is entered again within 16 INTERVALs begins at the rate that controlled
/// the queue before, its drops less those that it had begun with; later it begins anew.
#[test]
fn an_episode_soon_after_another_begins_at_its_rate() {
    for (pause, expected) in [(Duration::from_millis(200), 10), (Duration::from_secs(2), 1)] {
        let mut queue = codel(false, None);
        // The first drop, and ten more: count went from 1 to 11.
        let (first, end) = episode(&mut queue, Time::ZERO, 11);
        assert_eq!(first[1], tick(first[0] + spacing(1)));
        let (second, end) = episode(&mut queue, end + pause, 6);
        assert_eq!(second[1], tick(second[0] + spacing(expected)), "after {pause}");
        assert_eq!(second[2], tick(second[0] + spacing(expected) + spacing(expected + 1)), "after {pause}");
        // The drops go from 10 to 15, or from 1 to 6: five more.
        let (third, _) = episode(&mut queue, end + Duration::from_millis(200), 2);
        assert_eq!(third[1], tick(third[0] + spacing(5)), "after {pause}");
    }
}

/// RFC 8289 section 5.5: the empty queue ends the dropping state.
#[test]
fn an_empty_queue_ends_the_dropping_state() {
    let mut queue = codel(false, None);
    let (_, end) = episode(&mut queue, Time::ZERO, 3);
    fill(&mut queue, 0, 10_000, 0, end);
    let drops = leave(&mut queue, end, end + TARGET + INTERVAL + STEP);
    assert_eq!(drops, [tick(end + TARGET + INTERVAL)]);
}

/// RFC 8289 section 3 ("drops (or marks)") and RFC 3168 section 5: ECN-capable packets are marked when others would be
/// dropped, at the same times; others still are dropped.
#[test]
fn marks_come_when_drops_would() {
    let until = Time(3_000_000_000);
    let mut plain = codel(false, None);
    fill(&mut plain, 0, 100_000, 0, Time::ZERO);
    let drops = leave(&mut plain, Time::ZERO, until);

    let (mut queue, mut dropped) = (codel(true, None), Dropped::default());
    (0..100_000).for_each(|id| queue.enqueue(ect(item(id, 0, FULL, Time::ZERO)), Time::ZERO, &mut dropped));
    let (mut marks, mut now) = (Vec::new(), Time::ZERO);
    while now < until {
        let item = queue.dequeue(now, &mut dropped).unwrap();
        assert_eq!(item.passage.mark.is_some(), item.passage.packet.ecn == Ecn::Ce);
        if item.passage.mark == Some(Mark::Early) {
            marks.push(now);
        }
        now += STEP;
    }
    assert!(dropped.0.is_empty());
    assert_eq!(marks, drops);

    let mut queue = codel(true, None);
    fill(&mut queue, 0, 100_000, 0, Time::ZERO);
    assert_eq!(leave(&mut queue, Time::ZERO, until), drops, "not ECN-capable");
}

/// A packet that is already marked counts as a mark of ours, but isn't one.
#[test]
fn a_packet_that_came_marked_takes_the_place_of_a_mark() {
    let (mut queue, mut dropped) = (codel(true, None), Dropped::default());
    for id in 0..2_000 {
        let mut item = item(id, 0, FULL, Time::ZERO);
        item.passage.packet.ecn = Ecn::Ce;
        queue.enqueue(item, Time::ZERO, &mut dropped);
    }
    let left: Vec<Item> = (0..1_990).filter_map(|n| queue.dequeue(Time(n * STEP.as_nanos()), &mut dropped)).collect();
    assert_eq!((left.len(), dropped.0.len()), (1_990, 0));
    assert!(left.iter().all(|item| item.passage.mark.is_none()));
}

/// `ce_threshold`: what has waited longer is marked, with or without the control law; what can't be marked isn't dropped
/// for it.
#[test]
fn the_threshold_marks_what_has_waited_longer() {
    for ecn in [false, true] {
        let (mut queue, mut dropped) = (codel(ecn, Some(Duration::from_millis(1))), Dropped::default());
        for id in 0..4 {
            let packet = item(id, 0, FULL, Time::ZERO);
            queue.enqueue(if id == 3 { packet } else { ect(packet) }, Time::ZERO, &mut dropped);
        }
        let marks: Vec<_> = [1_000_000, 1_000_001, 2_000_000, 3_000_000]
            .map(|at| queue.dequeue(Time(at), &mut dropped).unwrap().passage.mark)
            .to_vec();
        assert_eq!(marks, [None, Some(Mark::Threshold), Some(Mark::Threshold), None]);
        assert!(dropped.0.is_empty());
    }
}

/// A packet that doesn't fit is refused; packets that the law drops have another fate (RFC 8289 section 5.4 leaves the
/// limit open).
#[test]
fn a_full_queue_refuses() {
    let spec = Queue::Codel { target_ns: TARGET, interval_ns: INTERVAL, ecn: false, ce_threshold_ns: None };
    let (mut queue, mut dropped) = (Codel::new(&spec, Buffer::Packets(3), 1, "link/queue"), Dropped::default());
    (0..5).for_each(|id| queue.enqueue(item(id, 0, FULL, Time::ZERO), Time::ZERO, &mut dropped));
    assert_eq!(fates(&dropped), [(3, Fate::DroppedTail), (4, Fate::DroppedTail)]);
    assert_eq!(queue.inside().len(), 3);
}

/// New parameters leave what waits and the state of the law alone.
#[test]
fn new_parameters_keep_the_state() {
    let mut queue = codel(false, None);
    fill(&mut queue, 0, 100_000, 0, Time::ZERO);
    let (half, end) = (Time(1_000_000_000), Time(2_000_000_000));
    leave(&mut queue, Time::ZERO, half);
    let mut other = queue.clone();
    let same = Queue::Codel { target_ns: TARGET, interval_ns: INTERVAL, ecn: false, ce_threshold_ns: None };
    assert!(other.configure(&same, Buffer::Packets(7)));
    assert_eq!(leave(&mut other, half, end), leave(&mut queue.clone(), half, end));
    let patient =
        Queue::Codel { target_ns: Duration::from_secs(9), interval_ns: INTERVAL, ecn: false, ce_threshold_ns: None };
    assert!(queue.configure(&patient, Buffer::Unlimited));
    assert_eq!(leave(&mut queue, half, end), [], "the wait is long, but no longer than the new target");
    assert!(!queue.configure(&Queue::default(), Buffer::Unlimited));
}

/// A source that opens its window by a packet a round trip and halves it when it learns of a drop or a mark, at most
/// once a round trip, over `queue` at 10 Mbit/s with 50 ms of propagation. The longest wait in the second half, and how
/// much of that time the link was busy.
fn closed_loop(queue: impl Discipline, is_capable: bool) -> (Duration, f64) {
    const RTT: Duration = Duration::from_millis(50);
    const NS_PER_BYTE: i64 = 800;
    let end = Time(60_000_000_000);
    let mut wire = Wire::new(queue, NS_PER_BYTE);
    // Reports to the sender: the time, the packet, and whether it was dropped or marked.
    let mut reports: BinaryHeap<Reverse<(Time, u64, bool)>> = BinaryHeap::new();
    let (mut window, mut in_flight, mut next, mut seen) = (2.0f64, 0u32, 0, (0, 0));
    let (mut now, mut halved) = (Time::ZERO, Time::ZERO);
    while now < end {
        while f64::from(in_flight) < window {
            let packet = item(next, 0, FULL, now);
            wire.arrive(if is_capable { ect(packet) } else { packet });
            (next, in_flight) = (next + 1, in_flight + 1);
        }
        let heard = reports.peek().map_or(Time::NEVER, |Reverse((at, ..))| *at);
        now = heard.min(wire.free_at().unwrap_or(Time::NEVER));
        wire.run_until(now);
        for (at, item) in &wire.left[seen.0..] {
            let arrives = *at + Duration(i64::from(item.bytes) * NS_PER_BYTE) + RTT;
            reports.push(Reverse((arrives, item.passage.packet.id, item.passage.mark.is_some())));
        }
        for passage in wire.dropped.0.range(seen.1..) {
            reports.push(Reverse((now + RTT, passage.packet.id, true)));
        }
        seen = (wire.left.len(), wire.dropped.0.len());
        while let Some(Reverse((_, _, is_signal))) = reports.peek().copied().filter(|Reverse((at, ..))| *at <= now) {
            reports.pop();
            in_flight -= 1;
            if !is_signal {
                window += 1.0 / window;
            } else if now - halved > RTT {
                (window, halved) = ((window / 2.0).max(2.0), now);
            }
        }
    }
    let half: Vec<_> = wire.left.iter().filter(|(at, _)| *at >= Time(end.as_nanos() / 2)).collect();
    let longest = half.iter().map(|(at, item)| item.sojourn(*at)).max().expect("some left");
    let busy: i64 = half.iter().map(|(_, item)| i64::from(item.bytes) * NS_PER_BYTE).sum();
    (longest, busy as f64 / (end.as_nanos() / 2) as f64)
}

/// RFC 8289 section 4.3: with one responsive flow the standing queue is held near TARGET while the link stays busy, by
/// drops as by marks. The same source fills any drop-tail buffer.
///
/// A window that is halved at 1.16 x the BDP (8 ms of queue) and grows from 0.58 x evenly keeps a link busy for 85 % of
/// the time.
#[test]
fn a_responsive_source_is_held_near_target() {
    for is_capable in [false, true] {
        let (longest, utilisation) = closed_loop(codel(true, None), is_capable);
        assert!(longest > TARGET && longest < Duration::from_millis(10), "waits up to {longest}");
        assert!(utilisation > 0.8, "{utilisation} of the link");
    }
    let (longest, _) = closed_loop(Fifo::new(&Queue::default(), Buffer::Packets(200), 1, "link/queue"), false);
    assert!(longest > Duration::from_millis(200), "drop-tail: waits up to {longest}");
}
