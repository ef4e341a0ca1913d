use super::*;
use crate::packet::Ecn;
use crate::queue::aqm::testing::{Flow, Sender, closed_loop, item, mean, ms};

fn spec(ecn: bool, mark_ecnth: f64) -> Queue {
    Queue::Pie {
        target_ns: Duration::from_millis(15),
        t_update_ns: Duration::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst_ns: Duration::from_millis(150),
        ecn,
        mark_ecnth,
    }
}

fn pie(ecn: bool, mark_ecnth: f64) -> Pie {
    Pie::new(&spec(ecn, mark_ecnth), Buffer::Unlimited, 11, "link/queue")
}

/// A queue that has just been updated and in which `packets` of 1000 bytes wait, above the target.
fn loaded(ecn: bool, drop_prob: f64, packets: u32) -> Pie {
    let mut pie = pie(ecn, 0.1);
    (0..packets).for_each(|_| pie.waiting.push(item(1000, Ecn::NotEct, Time::ZERO)));
    (pie.sojourn, pie.pi.previous) = (Duration::from_millis(20), Duration::from_millis(20));
    (pie.drop_prob, pie.burst_allowance) = (drop_prob, Duration::ZERO);
    pie
}

fn arrive(pie: &mut Pie, ecn: Ecn, now: Time) -> Option<Fate> {
    let mut dropped = Dropped::default();
    pie.enqueue(item(1000, ecn, now), now, &mut dropped);
    dropped.0.pop_front().map(|passage| passage.fate)
}

/// A packet per ms comes and one goes, so that each waits for `delay` ms, until `end`. `observe` is called after each.
fn hold(pie: &mut Pie, delay: i64, end: i64, mut observe: impl FnMut(&Pie, i64)) {
    for t in 0..end {
        arrive(pie, Ecn::Ect0, ms(t));
        if t >= delay {
            pie.dequeue(ms(t), &mut Dropped::default());
        }
        observe(pie, t);
    }
}

/// RFC 8033 section 4.2, and 5.5: the formula, written out a second time, for a delay of 40 ms from 40 ms on.
#[test]
fn the_probability_is_that_of_the_formula() {
    // All are marked, none is dropped, so that the delay stays.
    let mut pie = pie(true, 2.0);
    let (mut p, mut old, mut updates) = (0.0f64, 0.0, 0);
    hold(&mut pie, 40, 6000, |pie, t| {
        if t == 0 || t % 15 != 0 {
            return;
        }
        // Packets that come at the time of an update come after it: packets have left until t - 1.
        let delay = if t > 40 { 0.040 } else { 0.0 };
        let scale = match p {
            p if p < 0.000001 => 1.0 / 2048.0,
            p if p < 0.00001 => 1.0 / 512.0,
            p if p < 0.0001 => 1.0 / 128.0,
            p if p < 0.001 => 1.0 / 32.0,
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        };
        let change = scale * (0.125 * (delay - 0.015) + 1.25 * (delay - old));
        p = (p + if p >= 0.1 && change > 0.02 { 0.02 } else { change }).clamp(0.0, 1.0);
        old = delay;
        updates += 1;
        assert!((pie.drop_prob - p).abs() <= 1e-12, "{} after {t} ms, not {p}", pie.drop_prob);
    });
    assert_eq!(updates, 399);
    // alpha (40 ms - 15 ms) per update at the end.
    assert!(p > 0.8, "{p}");
}

/// RFC 8033 section 4.2: the steps of auto-tuning.
#[test]
fn the_change_is_scaled_by_the_probability() {
    let steps =
        [(0.0, 2048.0), (1e-6, 512.0), (1e-5, 128.0), (1e-4, 32.0), (1e-3, 8.0), (1e-2, 2.0), (0.1, 1.0), (1.0, 1.0)];
    for (from, divisor) in steps {
        assert_eq!(auto_tuning(from), divisor);
        let mut pie = loaded(false, from, 10);
        pie.pi.target = Duration::from_millis(12);
        pie.update();
        // The delay stays at 20 ms: only alpha counts.
        let expected = (from + 0.125 * 0.008 / divisor).min(1.0);
        assert!((pie.drop_prob - expected).abs() < 1e-15, "from {from}: {}", pie.drop_prob);
    }
    for (below, divisor) in [(0.99e-6, 2048.0), (0.99e-5, 512.0), (0.99e-1, 2.0)] {
        assert_eq!(auto_tuning(below), divisor);
    }
}

/// RFC 8033 section 4.2: without delay the probability decays by 2 % per update and ends at 0. Section 5.5: from 10 %
/// on it rises by no more than 2 points per update.
#[test]
fn the_probability_decays_when_idle_and_rises_slowly_when_high() {
    let mut idle = pie(false, 0.1);
    idle.drop_prob = 0.5;
    idle.update();
    assert!((idle.drop_prob - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-15);
    (0..1000).for_each(|_| idle.update());
    assert_eq!(idle.drop_prob, 0.0);
    let mut sudden = loaded(false, 0.1, 10);
    sudden.sojourn = Duration::from_secs(2);
    sudden.update();
    assert!((sudden.drop_prob - 0.12).abs() < 1e-15, "{}", sudden.drop_prob);
}

/// RFC 8033 section 4.4: nothing is dropped while the allowance lasts, which is MAX_BURST of updates; it is renewed
/// when the probability is 0 and the delay below half of the target.
#[test]
fn a_burst_is_let_through() {
    let mut pie = loaded(false, 0.5, 10);
    (pie.accu_prob, pie.burst_allowance) = (8.5, Duration::from_millis(150));
    let first = (0..1000).find(|&t| arrive(&mut pie, Ecn::NotEct, ms(t)).is_some());
    assert_eq!(first, Some(150), "the tenth update");
    pie.drain(Time::ZERO);
    (0..1000).for_each(|_| pie.update());
    assert_eq!(pie.drop_prob, 0.0);
    assert_eq!(pie.burst_allowance, Duration::ZERO);
    let now = ms(1000);
    assert_eq!(arrive(&mut pie, Ecn::NotEct, now), None);
    assert_eq!(pie.burst_allowance, Duration::from_millis(150));
}

/// RFC 8033 section 4.1: no drop while the delay is below half of the target and the probability below 20 %, nor while
/// no more than two packets of the mean size wait.
#[test]
fn a_light_load_is_left_alone() {
    let drops = |mut pie: Pie| {
        pie.accu_prob = 8.5;
        arrive(&mut pie, Ecn::NotEct, Time::ZERO) == Some(Fate::DroppedEarly)
    };
    let with_delay = |drop_prob: f64, delay: i64| {
        let mut pie = loaded(false, drop_prob, 10);
        pie.pi.previous = Duration(delay);
        pie
    };
    assert!(!drops(with_delay(0.199, 7_499_999)));
    assert!(drops(with_delay(0.199, 7_500_000)));
    assert!(drops(with_delay(0.2, 0)));
    assert!(!drops(loaded(false, 0.5, 2)));
    assert!(drops(loaded(false, 0.5, 3)));
}

/// RFC 8033 section 5.1: ECN-capable packets are marked as long as the probability is below mark_ecnth.
#[test]
fn ecn_marks_up_to_its_threshold() {
    let outcome = |ecn: bool, drop_prob: f64, codepoint: Ecn| {
        let mut pie = loaded(ecn, drop_prob, 10);
        pie.accu_prob = 8.5;
        let fate = arrive(&mut pie, codepoint, Time::ZERO);
        (fate, pie.inside().last().and_then(|passage| passage.mark))
    };
    assert_eq!(outcome(true, 0.0999, Ecn::Ect0), (None, Some(Mark::Early)));
    assert_eq!(outcome(true, 0.0999, Ecn::Ect1), (None, Some(Mark::Early)));
    assert_eq!(outcome(true, 0.0999, Ecn::Ce), (None, None));
    let dropped = (Some(Fate::DroppedEarly), None);
    assert_eq!(outcome(true, 0.1, Ecn::Ect0), dropped);
    assert_eq!(outcome(true, 0.0999, Ecn::NotEct), dropped);
    assert_eq!(outcome(false, 0.0999, Ecn::Ect0), dropped);
}

/// RFC 8033 section 5.4: from one drop to the next the probabilities add up to 0.85 at least and 8.5 at most; between
/// the two each packet is dropped with the probability p: the spacing is 0.85 / p - 1 and a geometric one, of mean 1 /
/// p. Within 4.5 standard errors (7e-6).
#[test]
fn drops_are_neither_close_nor_far_apart() {
    // 85 packets of a hundredth are not quite 0.85 in binary: the 86th is the first that may be dropped.
    let (p, first) = (0.01, 86);
    let mut pie = loaded(false, p, 10);
    let (mut spacings, mut since) = (Vec::new(), 0);
    for _ in 0..2_000_000 {
        since += 1;
        if arrive(&mut pie, Ecn::NotEct, Time::ZERO).is_some() {
            spacings.push(f64::from(std::mem::take(&mut since)));
        }
    }
    assert!(spacings.iter().all(|&spacing| (f64::from(first) - 1.0..=851.0).contains(&spacing)));
    let shortest = spacings.iter().copied().fold(f64::MAX, f64::min);
    let expected = shortest - 1.0 + 1.0 / p;
    let error = (1.0 - p).sqrt() / p / (spacings.len() as f64).sqrt();
    let measured = mean(spacings.iter().copied());
    assert!((measured - expected).abs() < 4.5 * error, "{measured}, not {expected} +- {error}");
}

/// RFC 8033 section 1: the delay is held near the target, 15 ms, under Reno flows (12 Mbit/s, 50 ms) with and without
/// ECN, from the 20th second on.
#[test]
fn the_delay_settles_near_the_target() {
    for (ecn, flows) in [(Ecn::NotEct, 5), (Ecn::NotEct, 20), (Ecn::Ect0, 5)] {
        let mut pie = pie(ecn == Ecn::Ect0, 0.1);
        let flows = vec![Flow { sender: Sender::Reno, ecn }; flows];
        let rtt = Duration::from_millis(50);
        let seen = closed_loop(&mut pie, Duration::from_millis(1), rtt, &flows, ms(80_000), |_, _| ());
        let late = || seen.iter().filter(|seen| seen.at > ms(20_000));
        let delay = mean(late().filter(|seen| !seen.dropped).map(|seen| seen.wait));
        assert!((0.012..0.018).contains(&delay), "{} flows: {delay}", flows.len());
        let signals = (late().any(|seen| seen.marked), late().any(|seen| seen.dropped));
        assert_eq!(signals, (ecn == Ecn::Ect0, ecn == Ecn::NotEct));
    }
}

/// RFC 8033 section 4: under a constant overload of 10 % a tenth of the load is dropped early, and the delay is still
/// held.
#[test]
fn an_overload_is_dropped_at_the_target_delay() {
    let mut pie = pie(false, 0.1);
    let flow = Flow { sender: Sender::Constant(Duration(1_000_000_000 / 1100)), ecn: Ecn::NotEct };
    let rtt = Duration::from_millis(50);
    let seen = closed_loop(&mut pie, Duration::from_millis(1), rtt, &[flow], ms(120_000), |_, _| ());
    let late = || seen.iter().filter(|seen| seen.at > ms(60_000));
    let share = mean(late().map(|seen| f64::from(u8::from(seen.dropped))));
    assert!((share - 1.0 / 11.0).abs() < 0.002, "{share} dropped");
    let delay = mean(late().filter(|seen| !seen.dropped).map(|seen| seen.wait));
    assert!((0.013..0.017).contains(&delay), "{delay}");
}

/// Waiting packets and learned values stay when other parameters change.
#[test]
fn new_parameters_keep_what_was_learned() {
    let mut pie = loaded(false, 0.07, 10);
    assert!(pie.configure(&spec(true, 0.5), Buffer::Bytes(1)));
    assert_eq!((pie.drop_prob, pie.backlog().packets, pie.mark_ecnth), (0.07, 10, 0.5));
    assert_eq!(arrive(&mut pie, Ecn::NotEct, Time::ZERO), Some(Fate::DroppedTail));
    assert!(!pie.configure(&Queue::DropTail { ce_threshold: None }, Buffer::Unlimited));
}
