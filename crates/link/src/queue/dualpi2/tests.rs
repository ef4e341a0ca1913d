use super::*;
use crate::queue::aqm::testing::{Flow, Seen, Sender, closed_loop, item, mean, ms};

fn spec(alpha: f64, beta: f64, classic_share: f64) -> Queue {
    Queue::Dualpi2 {
        target_ns: Duration::from_millis(15),
        t_update_ns: Duration::from_millis(16),
        alpha,
        beta,
        k: 2.0,
        min_th_ns: Duration::from_millis(1),
        range_ns: Duration::ZERO,
        classic_share,
    }
}

fn dualpi2() -> DualPi2 {
    DualPi2::new(&spec(0.16, 3.2, 0.1), Buffer::Unlimited, 1, "link/queue")
}

/// A queue with a constant p'.
fn held(base: f64) -> DualPi2 {
    let mut queue = DualPi2::new(&spec(0.0, 0.0, 0.1), Buffer::Unlimited, 1, "link/queue");
    queue.base = base;
    queue
}

fn put(queue: &mut DualPi2, bytes: u32, ecn: Ecn, now: Time) {
    queue.enqueue(item(bytes, ecn, now), now, &mut Dropped::default());
}

/// 10,000 packets pass one by one without waiting: those that were marked, and those dropped.
fn pass(queue: &mut DualPi2, ecn: Ecn, why: Mark) -> (usize, usize) {
    let (mut marked, mut dropped) = (0, Dropped::default());
    for _ in 0..10_000 {
        put(queue, 1000, ecn, Time::ZERO);
        let mark = queue.dequeue(Time::ZERO, &mut dropped).and_then(|item| item.passage.mark);
        assert!(mark.is_none_or(|mark| mark == why));
        marked += usize::from(mark.is_some());
    }
    assert!(dropped.0.iter().all(|passage| passage.fate == Fate::DroppedEarly && passage.sojourn.is_some()));
    (marked, dropped.0.len())
}

/// RFC 9332 section 2.1 and appendix A.1: p_C = p'^2, p_CL = k p', so p_CL = k sqrt(p_C). The intervals are even: exact
/// to one.
#[test]
fn the_queues_are_coupled_by_the_square() {
    for base in [0.01f64, 0.1, 0.2, 0.37] {
        let classic = 10_000.0 * base * base;
        let low = 10_000.0 * 2.0 * (base * base).sqrt();
        let near = |(marked, dropped): (usize, usize), marks: f64, drops: f64| {
            assert!(
                (marked as f64 - marks).abs() <= 1.0 && (dropped as f64 - drops).abs() <= 1.0,
                "{marked} {dropped}"
            );
        };
        near(pass(&mut held(base), Ecn::NotEct, Mark::Early), 0.0, classic);
        near(pass(&mut held(base), Ecn::Ect0, Mark::Early), classic, 0.0);
        near(pass(&mut held(base), Ecn::Ect1, Mark::Coupled), low, 0.0);
    }
}

/// RFC 9332 appendix A.2: at p_Cmax = 25 % of k = 2, where L marks all, ECN-capable packets are dropped too, in both.
#[test]
fn overload_drops_in_both_queues() {
    for base in [0.5f64, 0.7, 1.0] {
        let drops = 10_000.0 * base * base;
        for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
            let (marked, dropped) = pass(&mut held(base), ecn, Mark::Coupled);
            assert!((dropped as f64 - drops).abs() <= 1.0, "{dropped} of {ecn:?}");
            assert_eq!(marked, if ecn == Ecn::Ect1 { 10_000 - dropped } else { 0 });
        }
    }
    let mut weak = DualPi2 { k: 0.5, ..held(0.999) };
    let (marked, dropped) = pass(&mut weak, Ecn::Ect1, Mark::Coupled);
    assert!(dropped == 0 && (4994..=4996).contains(&marked), "k below 1 has p_Cmax = 1: {marked} {dropped}");
    weak.base = 1.0;
    assert_eq!(pass(&mut weak, Ecn::Ect0, Mark::Early), (0, 10_000));
}

/// RFC 9332 appendix A.1: p' += alpha (delay - target) + beta (delay - last delay) every Tupdate, of the packet at the
/// head; appendix A.2: of the longer wait. The values are computed by hand, first for C, then for an L that has waited
/// longer.
#[test]
fn the_controller_is_that_of_the_appendix() {
    let mut queue = dualpi2();
    put(&mut queue, 1000, Ecn::NotEct, Time::ZERO);
    queue.update_until(ms(33));
    // 16 ms, then 32 ms.
    let classic = (0.16 * 0.001 + 3.2 * 0.016) + (0.16 * 0.017 + 3.2 * 0.016);
    assert!((queue.base - classic).abs() < 1e-12, "{}", queue.base);
    let mut queue = dualpi2();
    put(&mut queue, 1000, Ecn::Ect1, Time::ZERO);
    put(&mut queue, 1000, Ecn::NotEct, ms(15));
    queue.update_until(ms(17));
    assert!((queue.base - (0.16 * 0.001 + 3.2 * 0.016)).abs() < 1e-12, "{}", queue.base);
    queue.drain(Time::ZERO);
    queue.update_until(ms(32));
    assert_eq!(queue.base, 0.0, "never below");
    put(&mut queue, 1000, Ecn::NotEct, ms(32));
    queue.update_until(ms(10_000));
    assert_eq!(queue.base, 1.0, "never above");
}

/// RFC 9332 section 2.3 and appendix A.1: ECT(1) and CE go to L, not-ECT and ECT(0) to C. RFC 9331 section 5.1.
#[test]
fn packets_are_classified_by_ecn() {
    let mut queue = held(0.0);
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        put(&mut queue, 1000, ecn, Time::ZERO);
    }
    let codepoints = |queue: &Waiting| queue.passages().map(|passage| passage.packet.ecn).collect::<Vec<_>>();
    assert_eq!(codepoints(&queue.low), [Ecn::Ect1, Ecn::Ce]);
    assert_eq!(codepoints(&queue.classic), [Ecn::NotEct, Ecn::Ect0]);
}

/// RFC 9332 appendix A.1: the native AQM of L, as a step, marks what has waited longer, but not a lone packet (Th_len).
#[test]
fn the_step_marks_what_waited_longer() {
    let mark = |wait: i64, packets: u32| {
        let mut queue = held(0.0);
        (0..packets).for_each(|_| put(&mut queue, 1000, Ecn::Ect1, Time::ZERO));
        queue.dequeue(Time(wait), &mut Dropped::default()).unwrap().passage.mark
    };
    assert_eq!(mark(1_000_000, 2), None);
    assert_eq!(mark(1_000_001, 2), Some(Mark::Threshold));
    assert_eq!(mark(5_000_000, 1), None);
}

/// RFC 9332 appendix A.1, `laqm`: the probability rises in a straight line from minTh on, over the range.
#[test]
fn the_ramp_rises_in_a_line() {
    let Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, classic_share, .. } = spec(0.0, 0.0, 0.1) else {
        unreachable!()
    };
    let (min_th_ns, range_ns) = (Duration(800_000), Duration(400_000));
    let spec = Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, min_th_ns, range_ns, classic_share };
    for (wait, marked) in [(800_000, 0), (900_000, 250), (1_000_000, 500), (1_100_000, 750), (1_200_000, 1000)] {
        let mut queue = DualPi2::new(&spec, Buffer::Unlimited, 1, "link/queue");
        (0..1001).for_each(|_| put(&mut queue, 1000, Ecn::Ect1, Time::ZERO));
        let leave = |_| queue.dequeue(Time(wait), &mut Dropped::default()).unwrap().passage.mark.is_some();
        assert_eq!((0..1000).map(leave).filter(|&mark| mark).count(), marked, "{wait} ns");
    }
}

/// RFC 9332 sections 2.4 and 4.2.2 (conditional priority): L goes first, but while both wait C gets its share of the
/// bytes, whatever the sizes of packets; and what it had earned ends when either is empty.
#[test]
fn priority_is_conditional() {
    for (share, low, classic) in [(0.1, 1500, 1500), (0.0625, 200, 1500), (0.5, 1500, 100), (1.0, 1500, 1500)] {
        let mut queue = DualPi2::new(&spec(0.0, 0.0, share), Buffer::Unlimited, 1, "link/queue");
        for _ in 0..20_000 {
            put(&mut queue, low, Ecn::Ect1, Time::ZERO);
            put(&mut queue, classic, Ecn::NotEct, Time::ZERO);
        }
        let mut bytes = [0.0, 0.0];
        while queue.low.backlog().packets > 1000 && queue.classic.backlog().packets > 1000 {
            let item = queue.dequeue(Time::ZERO, &mut Dropped::default()).unwrap();
            bytes[usize::from(item.passage.packet.ecn == Ecn::NotEct)] += f64::from(item.bytes);
            // C is never ahead of its share by a packet, or behind it by one and a packet of L.
            let owed: f64 = share * (bytes[0] + bytes[1]) - bytes[1];
            assert!(-1e-6 <= owed && owed <= f64::from(low + classic), "share {share}: {owed}");
        }
    }
    let mut queue = held(0.0);
    put(&mut queue, 1500, Ecn::NotEct, Time::ZERO);
    for _ in 0..8 {
        put(&mut queue, 1500, Ecn::Ect1, Time::ZERO);
        assert_eq!(queue.dequeue(Time::ZERO, &mut Dropped::default()).unwrap().passage.packet.ecn, Ecn::Ect1);
    }
    assert!(queue.credit > 0.0);
    assert!(queue.dequeue(Time::ZERO, &mut Dropped::default()).is_some());
    assert_eq!(queue.credit, 0.0);
}

fn run(queue: &mut DualPi2, flows: &[Flow]) -> Vec<Seen> {
    // 24 Mbit/s, 20 ms besides the queue, the first 20 s left out.
    let seen = closed_loop(queue, Duration(500_000), Duration::from_millis(20), flows, ms(60_000), |_, _| ());
    seen.into_iter().filter(|seen| seen.at > ms(20_000)).collect()
}

fn waits(seen: &[Seen], flows: std::ops::Range<usize>) -> Vec<f64> {
    let mut waits: Vec<f64> =
        seen.iter().filter(|seen| !seen.dropped && flows.contains(&seen.flow)).map(|seen| seen.wait).collect();
    waits.sort_by(f64::total_cmp);
    waits
}

const RENO: Flow = Flow { sender: Sender::Reno, ecn: Ecn::NotEct };
const SCALABLE: Flow = Flow { sender: Sender::Dctcp, ecn: Ecn::Ect1 };

/// RFC 9332 section 1: under scalable flows alone L's delay is about the step, and the link is full but for some
/// percent: a step below a seventh of the round trip is DCTCP's to regret (RFC 8257 section 3.1).
#[test]
fn low_latency_is_about_the_step() {
    let seen = run(&mut dualpi2(), &[SCALABLE; 3]);
    let waits = waits(&seen, 0..3);
    assert!((0.0002..0.0015).contains(&mean(waits.iter().copied())), "{}", mean(waits.iter().copied()));
    assert!(waits[waits.len() * 99 / 100] < 0.003, "{}", waits[waits.len() * 99 / 100]);
    assert!(seen.iter().all(|seen| !seen.dropped));
    assert!(waits.len() > 76_000, "{} of 80,000", waits.len());
}

/// RFC 9332 appendix A.1: under Reno flows alone C's delay is held near the target, 15 ms.
#[test]
fn the_classic_delay_is_near_the_target() {
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let waits = waits(&run(&mut dualpi2(), &[Flow { ecn, ..RENO }; 5]), 0..5);
        let delay = mean(waits.iter().copied());
        assert!((0.013..0.017).contains(&delay), "{ecn:?}: {delay}");
    }
}

/// RFC 9332 section 2.1: coupled, Reno and scalable flows get about the same: with a window of about 1.22 / sqrt(p_C)
/// against 2 / (k sqrt(p_C)), and round trips of 35 ms against 21 ms, 0.73 of it. L's delay stays low meanwhile.
#[test]
fn reno_and_scalable_flows_share_the_link() {
    let seen = run(&mut dualpi2(), &[RENO, RENO, SCALABLE, SCALABLE]);
    let (classic, low) = (waits(&seen, 0..2), waits(&seen, 2..4));
    let ratio = classic.len() as f64 / low.len() as f64;
    assert!((0.5..1.0).contains(&ratio), "{ratio}");
    assert!((0.012..0.018).contains(&mean(classic.iter().copied())), "{}", mean(classic.iter().copied()));
    assert!(low[low.len() * 99 / 100] < 0.003, "{}", low[low.len() * 99 / 100]);
}

/// RFC 9332 section 4.2.3 and appendix A.2: of 150 % of the link, in either queue, a third is dropped if it doesn't
/// respond, and the delay is held; a steady classic flow beside an overload of L gets through but for p_C of it.
#[test]
fn an_unresponsive_overload_is_bounded() {
    for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
        let flood = Flow { sender: Sender::Constant(Duration(333_333)), ecn };
        let seen = run(&mut dualpi2(), &[flood]);
        let share = mean(seen.iter().map(|seen| f64::from(u8::from(seen.dropped))));
        assert!((share - 1.0 / 3.0).abs() < 0.01, "{ecn:?}: {share}");
        let delay = mean(waits(&seen, 0..1).into_iter());
        assert!((0.012..0.018).contains(&delay), "{ecn:?}: {delay}");
    }
    let flood = Flow { sender: Sender::Constant(Duration(333_333)), ecn: Ecn::Ect1 };
    let steady = Flow { sender: Sender::Constant(Duration(5_000_000)), ecn: Ecn::NotEct };
    let seen = run(&mut dualpi2(), &[flood, steady]);
    let classic = seen.iter().filter(|seen| seen.flow == 1);
    let passed = mean(classic.map(|seen| f64::from(u8::from(!seen.dropped))));
    assert!(passed > 0.5, "{passed} of a classic flow at its share");
}

/// Waiting packets and learned values stay when other parameters change.
#[test]
fn new_parameters_keep_what_was_learned() {
    let mut queue = held(0.3);
    put(&mut queue, 1000, Ecn::Ect1, Time::ZERO);
    assert!(queue.configure(&spec(0.16, 3.2, 0.5), Buffer::Packets(1)));
    assert_eq!((queue.base, queue.backlog().packets, queue.classic_share), (0.3, 1, 0.5));
    let mut dropped = Dropped::default();
    queue.enqueue(item(1000, Ecn::Ect0, Time::ZERO), Time::ZERO, &mut dropped);
    assert_eq!(dropped.0[0].fate, Fate::DroppedTail);
    assert!(!queue.configure(&Queue::DropTail { ce_threshold: None }, Buffer::Unlimited));
}
