//! Properties of every queue discipline, for every pattern of arrivals.

use std::collections::HashMap;

use plan::{Buffer, Isolation, Queue, Threshold};
use proptest::prelude::*;
use units::{Duration, Time};

use super::testing::{ect, id, item};
use super::{Discipline, Dropped, Item, Qdisc};
use crate::packet::{Ecn, Fate, Passage};

/// A packet that comes, and how many leave then.
#[derive(Clone, Debug)]
struct Step {
    /// Since the step before.
    gap: i64,
    flow: u32,
    bytes: u32,
    is_capable: bool,
    leave: u32,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Gaps of up to 20 ms with ever less than a packet leaving for one that comes: CoDel's law comes into force.
    let step = (
        0i64..20_000_000,
        0u32..8,
        60u32..1_515,
        any::<bool>(),
        prop_oneof![2 => Just(0u32), 2 => Just(1), 1 => Just(2)],
    );
    let step = step.prop_map(|(gap, flow, bytes, is_capable, leave)| Step { gap, flow, bytes, is_capable, leave });
    prop::collection::vec(step, 1..400)
}

fn limits() -> impl Strategy<Value = Buffer> {
    prop_oneof![(0u64..40_000).prop_map(Buffer::Bytes), (0u64..40).prop_map(Buffer::Packets), Just(Buffer::Unlimited)]
}

fn durations(to_us: i64) -> impl Strategy<Value = Duration> {
    (1..to_us).prop_map(Duration::from_micros)
}

fn thresholds() -> impl Strategy<Value = Option<Threshold>> {
    prop::option::of(prop_oneof![
        (0u64..30_000).prop_map(Threshold::Bytes),
        (0u64..20).prop_map(Threshold::Packets),
        durations(50_000).prop_map(Threshold::Sojourn),
    ])
}

fn disciplines() -> impl Strategy<Value = Queue> {
    let codel = || (durations(20_000), durations(100_000), any::<bool>(), prop::option::of(durations(50_000)));
    let fair = || (1u32..4_000, 1u32..20).prop_map(|(q, n)| (q.try_into().unwrap(), n.try_into().unwrap()));
    prop_oneof![
        thresholds().prop_map(|ce_threshold| Queue::DropTail { ce_threshold }),
        thresholds().prop_map(|ce_threshold| Queue::DropHead { ce_threshold }),
        codel().prop_map(|(target_ns, interval_ns, ecn, ce_threshold_ns)| Queue::Codel {
            target_ns,
            interval_ns,
            ecn,
            ce_threshold_ns
        }),
        (codel(), fair()).prop_map(|((target_ns, interval_ns, ecn, ce_threshold_ns), (quantum_bytes, flows))| {
            Queue::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn, ce_threshold_ns }
        }),
        fair().prop_map(|(quantum_bytes, flows)| Queue::Fq { quantum_bytes, flows }),
        (codel(), fair(), any::<bool>()).prop_map(|((target_ns, interval_ns, ecn, _), (quantum_bytes, _), hosts)| {
            let isolation = if hosts { Isolation::TripleIsolate } else { Isolation::Flows };
            Queue::Cake { target_ns, interval_ns, quantum_bytes, isolation, ecn }
        }),
    ]
}

/// Everything that happened to a queue.
struct Run {
    queue: Qdisc,
    dropped: Dropped,
    left: Vec<Item>,
    now: Time,
}

/// `check` is called after each step.
fn run(spec: &Queue, limit: Buffer, seed: u64, steps: &[Step], mut check: impl FnMut(&Run)) -> Run {
    let queue = Qdisc::new(spec, limit, seed, "link/queue");
    let mut run = Run { queue, dropped: Dropped::default(), left: Vec::new(), now: Time::ZERO };
    for (n, step) in steps.iter().enumerate() {
        run.now += Duration(step.gap);
        let mut packet = item(n as u64, step.flow, step.bytes, run.now);
        (packet.passage.packet.from, packet.passage.packet.to) = (step.flow as u16 % 3, step.flow as u16 / 3);
        run.queue.enqueue(if step.is_capable { ect(packet) } else { packet }, run.now, &mut run.dropped);
        check(&run);
        for _ in 0..step.leave {
            run.left.extend(run.queue.dequeue(run.now, &mut run.dropped));
            check(&run);
        }
    }
    run
}

proptest! {
    /// Each packet that came has left, was dropped or waits, once.
    #[test]
    fn packets_are_conserved(spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps()) {
        let run = run(&spec, limit, seed, &steps, |_| ());
        let inside = run.queue.inside();
        let mut seen: Vec<u64> = run.left.iter().map(id).collect();
        seen.extend(run.dropped.0.iter().map(|passage| passage.packet.id).chain(inside.iter().map(|passage| passage.packet.id)));
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..steps.len() as u64).collect::<Vec<_>>());
    }

    /// The backlog is the sum of what waits, and never above the limit.
    #[test]
    fn the_backlog_is_right_and_within_the_limit(
        spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps(),
    ) {
        run(&spec, limit, seed, &steps, |run| {
            let (inside, backlog) = (run.queue.inside(), run.queue.backlog());
            assert_eq!(backlog.packets as usize, inside.len());
            assert_eq!(backlog.bytes, inside.iter().map(|passage| u64::from(passage.packet.size)).sum::<u64>());
            match limit {
                Buffer::Bytes(limit) => assert!(backlog.bytes <= limit),
                Buffer::Packets(limit) => assert!(u64::from(backlog.packets) <= limit),
                Buffer::Unlimited => (),
            }
        });
    }

    /// Packets of a flow leave in the order in which they came, whatever is dropped between them.
    #[test]
    fn the_order_within_a_flow_is_kept(
        spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps(),
    ) {
        let mut run = run(&spec, limit, seed, &steps, |_| ());
        run.left.extend(run.queue.drain(run.now));
        let mut last = HashMap::new();
        for item in &run.left {
            let before = last.insert(item.passage.packet.flow_hash, id(item));
            prop_assert!(before.is_none_or(|before| before < id(item)));
        }
    }

    /// A queue that has packets gives one unless it drops the rest, and what it drops is accounted for by its reason: an
    /// arriving packet never waited, and a control law drops none of a queue without one.
    #[test]
    fn drops_have_their_reasons(spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps()) {
        let run = run(&spec, limit, seed, &steps, |_| ());
        let controlled = matches!(spec, Queue::Codel { .. } | Queue::FqCodel { .. } | Queue::Cake { .. });
        for Passage { fate, sojourn, arrival, packet, .. } in run.dropped.0.iter().map(|passage| &**passage) {
            match fate {
                Fate::DroppedTail => prop_assert_eq!(*sojourn, None),
                Fate::DroppedHead => prop_assert!(sojourn.is_some_and(|wait| *arrival + wait <= run.now)),
                Fate::DroppedEarly => prop_assert!(controlled && sojourn.is_some()),
                _ => prop_assert!(false, "packet {}: {:?}", packet.id, fate),
            }
            prop_assert!(limit != Buffer::Unlimited || *fate == Fate::DroppedEarly);
        }
    }

    /// A mark is on a packet that may bear it, and says why.
    #[test]
    fn marks_are_on_capable_packets(
        spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps(),
    ) {
        let run = run(&spec, limit, seed, &steps, |_| ());
        for item in &run.left {
            let is_capable = steps[id(item) as usize].is_capable;
            prop_assert_eq!(item.passage.mark.is_some(), item.passage.packet.ecn == Ecn::Ce);
            prop_assert!(is_capable || item.passage.mark.is_none());
        }
    }

    /// The same seed and arrivals give the same, whatever else happened before.
    #[test]
    fn it_is_determined_by_the_seed(spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps()) {
        let all = |run: Run| {
            let left: Vec<Passage> = run.left.iter().map(|item| *item.passage).collect();
            (left, run.dropped.0, run.queue.inside())
        };
        prop_assert_eq!(all(run(&spec, limit, seed, &steps, |_| ())), all(run(&spec, limit, seed, &steps, |_| ())));
    }

    /// `drain` gives what `inside` shows and leaves an empty queue, which works on as before.
    #[test]
    fn draining_empties_the_queue(spec in disciplines(), limit in limits(), seed in any::<u64>(), steps in steps()) {
        let mut run = run(&spec, limit, seed, &steps, |_| ());
        let inside = run.queue.inside();
        let drained: Vec<Passage> = run.queue.drain(run.now).iter().map(|item| *item.passage).collect();
        prop_assert_eq!(drained, inside);
        prop_assert_eq!(run.queue.backlog(), super::Backlog::default());
        prop_assert!(run.queue.dequeue(run.now, &mut run.dropped).is_none());
        if limit == Buffer::Unlimited {
            run.queue.enqueue(item(0, 3, 100, run.now), run.now, &mut run.dropped);
            prop_assert!(run.queue.dequeue(run.now, &mut run.dropped).is_some());
        }
    }
}
