//! Properties of the active queue managements, for any arrivals.

use plan::{Buffer, Queue};
use proptest::prelude::*;
use units::{Duration, Time};

use super::testing::item;
use crate::packet::{Ecn, Fate, Passage};
use crate::queue::{Backlog, Discipline, Dropped, Qdisc};

fn queues() -> impl Strategy<Value = Queue> {
    let red = (0u64..20_000, 1u64..20_000, 0.0..1.0, 0.0001..1.0, any::<[bool; 3]>()).prop_map(
        |(min_th_bytes, span, max_p, weight, [gentle, ecn, adaptive])| Queue::Red {
            min_th_bytes,
            max_th_bytes: min_th_bytes + span,
            max_p,
            weight,
            average_packet_bytes: 1500,
            gentle,
            ecn,
            adaptive,
        },
    );
    let gains = (1i64..20_000_000, 100_000i64..20_000_000, 0.0..100.0, 0.0..1000.0);
    let pie = (gains.clone(), 0i64..150_000_000, any::<bool>(), 0.0..1.0).prop_map(
        |((target, t_update, alpha, beta), max_burst, ecn, mark_ecnth)| Queue::Pie {
            target_ns: Duration(target),
            t_update_ns: Duration(t_update),
            alpha,
            beta,
            max_burst_ns: Duration(max_burst),
            ecn,
            mark_ecnth,
        },
    );
    let dualpi2 = (gains, 0.1..10.0, (0i64..5_000_000, 0i64..1_000_000), 0.0..1.0).prop_map(
        |((target, t_update, alpha, beta), k, (min_th, range), classic_share)| Queue::Dualpi2 {
            target_ns: Duration(target),
            t_update_ns: Duration(t_update),
            alpha,
            beta,
            k,
            min_th_ns: Duration(min_th),
            range_ns: Duration(range),
            classic_share,
        },
    );
    prop_oneof![red, pie, dualpi2]
}

#[derive(Clone, Debug)]
enum Step {
    /// After a while in ns, a packet of so many bytes.
    Arrive(i64, u32, Ecn),
    /// After a while in ns, the link takes one.
    Take(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let arrive = (0i64..2_000_000, 60u32..1515, ecn).prop_map(|(gap, bytes, ecn)| Step::Arrive(gap, bytes, ecn));
    let step = prop_oneof![3 => arrive, 2 => (0i64..2_000_000).prop_map(Step::Take)];
    prop::collection::vec(step, 1..400)
}

fn buffers() -> impl Strategy<Value = Buffer> {
    prop_oneof![(0u64..40_000).prop_map(Buffer::Bytes), (0u64..30).prop_map(Buffer::Packets), Just(Buffer::Unlimited)]
}

fn is_within(backlog: Backlog, limit: Buffer) -> bool {
    match limit {
        Buffer::Bytes(bytes) => backlog.bytes <= bytes,
        Buffer::Packets(packets) => u64::from(backlog.packets) <= packets,
        Buffer::Unlimited => true,
    }
}

/// Ids are numbers of arrival. Returns all packets that came out, were dropped, and are inside.
fn run(qdisc: &mut Qdisc, limit: Buffer, steps: &[Step]) -> (Vec<Passage>, Vec<Passage>, Vec<Passage>) {
    let (mut out, mut dropped, mut now, mut arrivals) = (Vec::new(), Dropped::default(), Time::ZERO, 0);
    for step in steps {
        match *step {
            Step::Arrive(gap, bytes, ecn) => {
                now += Duration(gap);
                let mut item = item(bytes, ecn, now);
                item.passage.packet.id = arrivals;
                arrivals += 1;
                qdisc.enqueue(item, now, &mut dropped);
            }
            Step::Take(gap) => {
                now += Duration(gap);
                let waits = qdisc.backlog().packets;
                let drops = dropped.0.len();
                let taken = qdisc.dequeue(now, &mut dropped).map(|item| *item.passage);
                assert!(taken.is_some() || dropped.0.len() - drops == waits as usize, "works while anything waits");
                out.extend(taken);
            }
        }
        let inside = qdisc.inside();
        let bytes = inside.iter().map(|passage| u64::from(passage.packet.size)).sum();
        assert_eq!(qdisc.backlog(), Backlog { bytes, packets: inside.len() as u32 });
        assert!(is_within(qdisc.backlog(), limit));
    }
    (out, dropped.0.into_iter().map(|passage| *passage).collect(), qdisc.inside())
}

/// ECT(1) and CE pass the rest in DualPI2; within each of the two, and in the others, order is kept.
fn is_in_order(passages: &[Passage], spec: &Queue, came: &[Ecn]) -> bool {
    let is_low = |p: &&Passage| matches!(came[p.packet.id as usize], Ecn::Ect1 | Ecn::Ce);
    let (low, classic): (Vec<_>, Vec<_>) = match spec {
        Queue::Dualpi2 { .. } => passages.iter().partition(is_low),
        _ => (passages.iter().collect(), Vec::new()),
    };
    [low, classic].iter().all(|queue| queue.windows(2).all(|pair| pair[0].packet.id < pair[1].packet.id))
}

proptest! {
    #[test]
    fn what_comes_leaves_in_order_or_is_dropped_or_inside(spec in queues(), limit in buffers(), steps in steps()) {
        let came: Vec<Ecn> = (steps.iter())
            .filter_map(|step| if let Step::Arrive(_, _, ecn) = step { Some(*ecn) } else { None })
            .collect();
        let mut qdisc = Qdisc::new(&spec, limit, 3, "link/queue");
        let (out, dropped, inside) = run(&mut qdisc, limit, &steps);
        prop_assert!(is_in_order(&out, &spec, &came) && is_in_order(&inside, &spec, &came));
        prop_assert!(dropped.iter().all(|p| matches!(p.fate, Fate::DroppedTail | Fate::DroppedEarly)));
        for passage in out.iter().chain(&inside) {
            let before = came[passage.packet.id as usize];
            prop_assert_eq!(passage.mark.is_some(), before != Ecn::Ce && passage.packet.ecn == Ecn::Ce);
            prop_assert!(before != Ecn::NotEct || passage.mark.is_none());
        }
        let drained: Vec<Passage> = qdisc.drain(Time::ZERO).iter().map(|item| *item.passage).collect();
        prop_assert_eq!(&drained, &inside);
        prop_assert_eq!(qdisc.backlog(), Backlog::default());
        let mut ids: Vec<u64> = out.iter().chain(&dropped).chain(&inside).map(|p| p.packet.id).collect();
        ids.sort_unstable();
        prop_assert!(ids.into_iter().eq(0..came.len() as u64));
    }

    #[test]
    fn the_same_seed_gives_the_same(spec in queues(), limit in buffers(), steps in steps(), seed in any::<u64>()) {
        let once = || run(&mut Qdisc::new(&spec, limit, seed, "link/queue"), limit, &steps);
        prop_assert_eq!(once(), once());
    }

    #[test]
    fn parameters_of_its_own_kind_change_nothing_that_waits(spec in queues(), to in queues(), steps in steps()) {
        let mut qdisc = Qdisc::new(&spec, Buffer::Unlimited, 1, "link/queue");
        let (_, _, inside) = run(&mut qdisc, Buffer::Unlimited, &steps);
        let same = std::mem::discriminant(&spec) == std::mem::discriminant(&to);
        prop_assert_eq!(qdisc.configure(&to, Buffer::Bytes(1)), same);
        prop_assert_eq!(qdisc.inside(), inside);
    }
}
