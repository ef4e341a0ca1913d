use plan::{Distribution, Jitter, Link, Reorder};
use proptest::prelude::*;
use units::{Duration, Time};

use super::Line;
use crate::packet::{Fate, Packet, Passage, Reordered};
use crate::statistics::{assert_mean, batches, lag_product};

const DELAY: i64 = 10_000;

fn link() -> Link {
    Link { delay_ns: Duration(DELAY), ..Link::transparent("link", "a", "b") }
}

fn jittery(reordering: bool) -> Link {
    let distribution = Distribution::Uniform { min_ns: Duration::ZERO, max_ns: Duration(5_000) };
    Link { jitter: Some(Jitter { distribution, correlation: 0.0 }), reordering, ..link() }
}

fn skipping(probability: f64, correlation: f64, gap: u64) -> Link {
    Link { reorder: Some(Reorder { probability, correlation, gap, delay_ns: Duration(7) }), ..link() }
}

fn passage(id: u64, at: Time, fate: Fate) -> Box<Passage> {
    Box::new(Passage { departure: Some(at), fate, ..Passage::new(Packet { id, ..Packet::default() }, at) })
}

fn send(line: &mut Line, id: u64, at: i64) -> bool {
    line.send(passage(id, Time(at), Fate::Delivered), Time(at)).is_ok()
}

/// Everything that is still to come, in its order.
fn drain(line: &mut Line) -> Vec<Passage> {
    std::iter::from_fn(|| line.pop(Time::NEVER)).map(|passage| *passage).collect()
}

/// Send `n` packets, `gap` ns apart.
fn run(spec: &Link, n: u64, gap: i64) -> Vec<Passage> {
    let mut line = Line::new(spec, 1);
    (0..n).for_each(|id| assert!(send(&mut line, id, id as i64 * gap)));
    drain(&mut line)
}

fn ids(passages: &[Passage]) -> Vec<u64> {
    passages.iter().map(|p| p.packet.id).collect()
}

fn took(passage: &Passage) -> i64 {
    (passage.delivery.unwrap() - passage.departure.unwrap()).as_nanos()
}

#[test]
fn a_constant_delay_is_exact() {
    let mut line = Line::new(&link(), 1);
    assert_eq!(line.next(), Time::NEVER);
    assert!(send(&mut line, 0, 5) && send(&mut line, 1, 5) && send(&mut line, 2, 6));
    assert_eq!(line.next(), Time(5 + DELAY));
    assert!(line.pop(Time(4 + DELAY)).is_none());
    assert_eq!(line.pop(Time(5 + DELAY)).unwrap().packet.id, 0);
    assert_eq!(ids(&line.inside()), [1, 2]);
    assert_eq!(ids(&drain(&mut line)), [1, 2]);
    assert_eq!(line.next(), Time::NEVER);
}

#[test]
fn jitter_overtakes_only_where_it_may() {
    let ordered = run(&jittery(false), 10_000, 100);
    assert!(ordered.is_sorted_by_key(|p| p.packet.id) && ordered.iter().all(|p| p.reordered.is_none()));
    assert!(ordered.iter().all(|p| (DELAY..=DELAY + 5_000).contains(&took(p))));
    let free = run(&jittery(true), 10_000, 100);
    assert!(!free.is_sorted_by_key(|p| p.packet.id) && free.is_sorted_by_key(|p| p.delivery));
    // A packet that overtakes no other arrives at the same time on both lines; kept order means waiting for the slowest
    // before.
    for p in &free {
        let held = ordered[p.packet.id as usize].delivery;
        assert!(if p.reordered.is_some() { p.delivery < held } else { p.delivery == held });
    }
}

#[test]
fn every_gapth_packet_skips_the_line() {
    let passages = run(&skipping(1.0, 0.0, 5), 20, 100);
    for p in &passages {
        let skips = p.packet.id % 5 == 4;
        assert_eq!((took(p), p.reordered), if skips { (7, Some(Reordered::SkippedDelay)) } else { (DELAY, None) });
    }
}

#[test]
fn candidates_skip_the_line_at_their_rate_and_with_their_correlation() {
    for (probability, correlation, gap) in [(0.25, 0.0, 1), (0.25, 0.5, 1), (0.1, 0.5, 3)] {
        let mut passages = run(&skipping(probability, correlation, gap), 1 << 18, 100);
        passages.sort_by_key(|p| p.packet.id);
        assert!(passages.iter().all(|p| took(p) != 7 || (p.packet.id + 1).is_multiple_of(gap)));
        let candidates = passages.iter().skip(gap as usize - 1).step_by(gap as usize);
        let skipped: Vec<f64> = candidates.map(|p| f64::from(u8::from(took(p) == 7))).collect();
        let share = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        assert_mean(&batches(&skipped, share), probability, &format!("rate with gap {gap}"));
        let expected = correlation * probability * (1.0 - probability);
        let autocovariance = |x: &[f64]| lag_product(x, probability, 1);
        assert_mean(&batches(&skipped, autocovariance), expected, &format!("correlation with gap {gap}"));
    }
}

#[test]
fn who_skips_a_faster_line_is_overtaken() {
    let slow = Reorder { probability: 1.0, correlation: 0.0, gap: 2, delay_ns: Duration(3 * DELAY) };
    let passages = run(&Link { reorder: Some(slow), ..link() }, 4, 100);
    assert_eq!(ids(&passages), [0, 2, 1, 3]);
    assert_eq!(
        passages.iter().map(|p| p.reordered).collect::<Vec<_>>(),
        [None, Some(Reordered::ShorterDelay), None, None]
    );
}

#[test]
fn the_lost_are_not_reordered_and_reorder_nobody() {
    let mut line = Line::new(&skipping(1.0, 0.0, 2), 1);
    for (id, fate) in [Fate::LostAfter, Fate::Delivered, Fate::Delivered, Fate::LostAfter].into_iter().enumerate() {
        line.send(passage(id as u64, Time(id as i64), fate), Time(id as i64)).unwrap();
    }
    let passages = drain(&mut line);
    assert_eq!(ids(&passages), [1, 3, 0, 2]);
    assert!(passages.iter().all(|p| p.reordered.is_none()));
}

#[test]
fn a_full_line_refuses_until_one_has_left() {
    let mut line = Line::new(&Link { delay_line_packets: Some(2), ..link() }, 1);
    assert!(send(&mut line, 0, 0) && send(&mut line, 1, 10));
    assert!(!send(&mut line, 2, DELAY - 1));
    // A packet that is due leaves before one that comes at that time, whether the driver has asked for it or not.
    assert!(send(&mut line, 3, DELAY) && !send(&mut line, 4, DELAY));
    assert_eq!(ids(&drain(&mut line)), [0, 1, 3]);
    let mut none = Line::new(&Link { delay_line_packets: Some(0), ..link() }, 1);
    assert!(!send(&mut none, 0, 0));
}

#[test]
fn a_shorter_delay_does_not_disturb_packets_on_the_way() {
    let arrivals = |reordering| {
        let mut line = Line::new(&link(), 1);
        assert!(send(&mut line, 0, 0));
        line.configure(&Link { delay_ns: Duration(10), reordering, ..link() });
        assert!(send(&mut line, 1, 100) && send(&mut line, 2, DELAY));
        drain(&mut line).iter().map(|p| (p.packet.id, p.delivery.unwrap().as_nanos())).collect::<Vec<_>>()
    };
    assert_eq!(arrivals(false), [(0, DELAY), (1, DELAY), (2, DELAY + 10)]);
    assert_eq!(arrivals(true), [(1, 110), (0, DELAY), (2, DELAY + 10)]);
}

#[test]
fn delays_do_not_depend_on_other_packets_fates() {
    let spec = Link { reorder: skipping(0.3, 0.4, 1).reorder, ..jittery(true) };
    let all = run(&spec, 1000, 100);
    let mut line = Line::new(&Link { delay_line_packets: Some(3), ..spec }, 1);
    (0..1000).for_each(|id| _ = send(&mut line, id, id as i64 * 3_000));
    let some = drain(&mut line);
    assert!(some.len() < 1000);
    for p in &some {
        assert_eq!(took(p), took(all.iter().find(|other| other.packet.id == p.packet.id).unwrap()));
    }
}

prop_compose! {
    fn specs()(
        delay in 0i64..20_000,
        jitter in prop::option::of((0i64..10_000, 0.0f64..=1.0)),
        reordering: bool,
        reorder in prop::option::of((0.0f64..=1.0, 0.0f64..=1.0, 1u64..5, 0i64..30_000)),
        delay_line_packets in prop::option::of(0u64..40),
    ) -> Link {
        let uniform = |max| Distribution::Uniform { min_ns: Duration::ZERO, max_ns: Duration(max) };
        Link {
            delay_ns: Duration(delay),
            jitter: jitter.map(|(max, correlation)| Jitter { distribution: uniform(max), correlation }),
            reordering,
            reorder: reorder.map(|(probability, correlation, gap, ns)| {
                Reorder { probability, correlation, gap, delay_ns: Duration(ns) }
            }),
            delay_line_packets,
            ..link()
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Send { gap: i64, lost: bool },
    Collect { gap: i64 },
    Configure(Box<Link>),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0i64..2_000, any::<bool>()).prop_map(|(gap, lost)| Step::Send { gap, lost }),
        4 => (0i64..4_000).prop_map(|gap| Step::Collect { gap }),
        1 => specs().prop_map(|spec| Step::Configure(Box::new(spec))),
    ]
}

proptest! {
    #[test]
    fn it_is_a_sorted_list(
        first in specs(), steps in prop::collection::vec(steps(), 1..200), seed: u64,
    ) {
        let mut line = Line::new(&first, seed);
        let mut spec = first;
        let mut now = Time::ZERO;
        // The packets on the way, as sent; and all deliveries that were scheduled.
        let mut model: Vec<Passage> = Vec::new();
        let (mut latest, mut latest_in_line) = (Time(i64::MIN), Time(i64::MIN));
        for (id, step) in steps.into_iter().enumerate() {
            match step {
                Step::Configure(to) => {
                    line.configure(&to);
                    spec = *to;
                }
                Step::Send { gap, lost } => {
                    now += Duration(gap);
                    let fate = if lost { Fate::LostAfter } else { Fate::Delivered };
                    let on_the_way = model.iter().filter(|p| p.delivery.unwrap() > now).count() as u64;
                    let sent = line.send(passage(id as u64, now, fate), now).is_ok();
                    prop_assert_eq!(sent, spec.delay_line_packets.is_none_or(|limit| on_the_way < limit));
                    if !sent {
                        continue;
                    }
                    let entered = *line.inside().last().unwrap();
                    let delivery = entered.delivery.unwrap();
                    let takes = delivery - now;
                    let skipped = spec.reorder.is_some_and(|r| takes == r.delay_ns);
                    prop_assert!(takes >= spec.delay_ns || skipped);
                    prop_assert!(spec.reordering || skipped || delivery >= latest_in_line);
                    prop_assert_eq!(entered.reordered.is_some(), !lost && delivery < latest);
                    if !lost {
                        latest = latest.max(delivery);
                    }
                    if spec.reorder.is_none() {
                        latest_in_line = latest_in_line.max(delivery);
                    }
                    model.push(entered);
                }
                Step::Collect { gap } => {
                    now += Duration(gap);
                    let (mut due, rest): (Vec<_>, Vec<_>) = model.into_iter().partition(|p| p.delivery.unwrap() <= now);
                    model = rest;
                    due.sort_by_key(|p| p.delivery);
                    let came: Vec<Passage> = std::iter::from_fn(|| line.pop(now)).map(|passage| *passage).collect();
                    prop_assert_eq!(came, due);
                }
            }
            prop_assert_eq!(line.inside(), model.clone());
            prop_assert_eq!(line.next(), model.iter().filter_map(|p| p.delivery).min().unwrap_or(Time::NEVER));
        }
        model.sort_by_key(|p| p.delivery);
        prop_assert_eq!(drain(&mut line), model);
    }

    #[test]
    fn the_same_seed_gives_the_same_passages(spec in specs(), gaps in prop::collection::vec(0i64..2_000, 1..100), seed: u64) {
        let run = || {
            let mut line = Line::new(&spec, seed);
            let mut now = 0;
            for (id, gap) in gaps.iter().enumerate() {
                now += gap;
                send(&mut line, id as u64, now);
            }
            drain(&mut line)
        };
        prop_assert_eq!(run(), run());
    }
}
