//! Properties of every link, for every arrival pattern.

use std::num::NonZeroU32;

use link::{Ecn, Fate, Link, Packet, Passage};
use plan::{Buffer, Distribution, Jitter, Loss, Policer, Queue, Reorder, Slots, Threshold, Variation};
use proptest::prelude::*;
use units::{Duration, Rate, Time};

const OVERHEAD: u32 = 4;

#[derive(Clone, Debug)]
struct Case {
    spec: plan::Link,
    /// Gap before each packet in ns, and its size.
    arrivals: Vec<(i64, u32)>,
    seed: u64,
}

fn buffers() -> impl Strategy<Value = Buffer> {
    prop_oneof![(0u64..40_000).prop_map(Buffer::Bytes), (0u64..30).prop_map(Buffer::Packets), Just(Buffer::Unlimited)]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0]
}

fn losses() -> impl Strategy<Value = Vec<Loss>> {
    let loss = prop_oneof![
        probability().prop_map(|probability| Loss::Independent { probability }),
        (probability(), 0.0..1.0).prop_map(|(probability, correlation)| Loss::Correlated { probability, correlation }),
        (2u64..20, 0u64..2).prop_map(|(every, offset)| Loss::Periodic { every, offset }),
    ];
    prop::collection::vec(loss, 0..3)
}

fn jitters() -> impl Strategy<Value = Option<Jitter>> {
    let uniform =
        (0i64..1_000_000).prop_map(|max| Distribution::Uniform { min_ns: Duration(0), max_ns: Duration(max) });
    let normal = Just(Distribution::Normal { mean_ns: Duration(300_000), sd_ns: Duration(200_000) });
    let distribution = prop_oneof![uniform, normal];
    prop::option::of(
        (distribution, 0.0..1.0).prop_map(|(distribution, correlation)| Jitter { distribution, correlation }),
    )
}

fn queues() -> impl Strategy<Value = Queue> {
    let ms = Duration::from_millis;
    let (flows, quantum_bytes) = (NonZeroU32::new(8).unwrap(), NonZeroU32::new(1514).unwrap());
    let threshold = prop_oneof![
        Just(None),
        (0u64..20_000).prop_map(|bytes| Some(Threshold::Bytes(bytes))),
        (0i64..3_000_000).prop_map(|wait| Some(Threshold::Sojourn(Duration(wait)))),
    ];
    // Faster than their defaults, so that they act within a case of a few dozen milliseconds.
    let controlled = (any::<bool>(), 1i64..5, 5i64..30).prop_map(move |(ecn, target, interval)| Queue::Codel {
        target_ns: ms(target),
        interval_ns: ms(interval),
        ecn,
        ce_threshold_ns: None,
    });
    let fair = any::<bool>().prop_map(move |ecn| {
        let (target_ns, interval_ns, ce_threshold_ns) = (ms(2), ms(10), Some(ms(4)));
        Queue::FqCodel { target_ns, interval_ns, quantum_bytes, flows, ecn, ce_threshold_ns }
    });
    let red = (any::<bool>(), any::<bool>(), 0.0..1.0).prop_map(|(ecn, gentle, max_p)| Queue::Red {
        min_th_bytes: 3_000,
        max_th_bytes: 12_000,
        max_p,
        weight: 0.1,
        average_packet_bytes: 800,
        gentle,
        ecn,
        adaptive: gentle,
    });
    let pie = any::<bool>().prop_map(move |ecn| Queue::Pie {
        target_ns: ms(1),
        t_update_ns: ms(1),
        alpha: 2.0,
        beta: 20.0,
        max_burst_ns: ms(3),
        ecn,
        mark_ecnth: 0.5,
    });
    let dual = Queue::Dualpi2 {
        target_ns: ms(2),
        t_update_ns: ms(1),
        alpha: 2.0,
        beta: 20.0,
        k: 2.0,
        min_th_ns: Duration(500_000),
        range_ns: ms(1),
        classic_share: 0.1,
    };
    prop_oneof![
        3 => threshold.clone().prop_map(|ce_threshold| Queue::DropTail { ce_threshold }),
        1 => threshold.prop_map(|ce_threshold| Queue::DropHead { ce_threshold }),
        1 => red,
        1 => controlled,
        1 => fair,
        1 => pie,
        1 => Just(Queue::Fq { quantum_bytes, flows }),
        1 => Just(dual),
    ]
}

fn variations() -> impl Strategy<Value = Option<Variation>> {
    let steps = (prop::collection::vec((1i64..3_000_000, 0u64..200_000_000), 0..5), 1_000_000u64..200_000_000)
        .prop_map(|(rest, first)| {
            let mut at = Time::ZERO;
            let mut steps = vec![(at, first)];
            for (gap, rate) in rest {
                at += Duration(gap);
                steps.push((at, rate));
            }
            Variation::Steps { steps, period_ns: Some(at - Time::ZERO + Duration(1_000_000)) }
        });
    let trace = prop::collection::vec((0i64..5, 1u32..4), 1..20).prop_map(|gaps| {
        let mut at = Time::ZERO;
        let times: Vec<_> = gaps
            .into_iter()
            .map(|(gap, count)| {
                at += Duration::from_millis(gap);
                (at, count)
            })
            .collect();
        Variation::Opportunities { times, bytes: 1514, period_ns: at - Time::ZERO + Duration(1_000) }
    });
    prop_oneof![3 => Just(None), 1 => steps.prop_map(Some), 1 => trace.prop_map(Some)]
}

prop_compose! {
    fn plain_cases()(
        rate in prop_oneof![Just(None), (1_000u64..2_000_000_000).prop_map(Rate::from_bps)],
        delay in 0i64..50_000_000,
        buffer in buffers(),
        loss_before in losses(),
        loss_after in losses(),
        arrivals in prop::collection::vec((0i64..300_000, 60u32..1515), 1..300),
        seed in any::<u64>(),
    ) -> Case {
        let spec = plan::Link {
            rate_bps: rate, delay_ns: Duration(delay), buffer, loss_before, loss_after, overhead_bytes: OVERHEAD,
            ..plan::Link::transparent("link", "a", "b")
        };
        Case { spec, arrivals, seed }
    }
}

prop_compose! {
    /// Everything at once.
    fn cases()(
        plain in plain_cases(),
        queue in queues(),
        variation in variations(),
        jitter in jitters(),
        reordering in any::<bool>(),
        reorder in prop::option::of((probability(), 1u64..5)),
        delay_line_packets in prop::option::of(1u64..50),
        duplication in probability(),
        corruption in probability(),
        policer in prop::option::of((1_000_000u64..100_000_000, 1_518u64..100_000)),
        slots in prop::option::of((1_000i64..3_000_000, 0i64..1_000_000, 1u32..20)),
    ) -> Case {
        let mut case = plain;
        if let Some(variation) = variation {
            case.spec.rate_bps = Rate::from_bps(1_000_000);
            case.spec.variation = Some(variation);
        }
        if !matches!(case.spec.variation, Some(Variation::Opportunities { .. })) {
            case.spec.slots = slots.map(|(min, more, packets)| Slots {
                min_interval_ns: Duration(min), max_interval_ns: Duration(min + more), packets: Some(packets), bytes: None,
            });
        }
        case.spec.queue = queue;
        case.spec.jitter = jitter;
        case.spec.reordering = reordering;
        case.spec.reorder = reorder.map(|(probability, gap)| Reorder {
            probability, correlation: 0.0, gap, delay_ns: Duration(10_000),
        });
        case.spec.delay_line_packets = delay_line_packets;
        case.spec.duplication = Some(plan::Chance { probability: duplication, correlation: 0.2 });
        case.spec.marking = Some(plan::Chance { probability: corruption, correlation: 0.2 });
        case.spec.corruption = Some(plan::Chance { probability: corruption, correlation: 0.2 });
        case.spec.policer = policer.map(|(rate, burst_bytes)| Policer { rate_bps: Rate::from_bps(rate).unwrap(), burst_bytes });
        case
    }
}

/// Every packet's passage, in the order in which the link was done with them, and the link.
fn run(case: &Case) -> (Vec<Passage>, Link) {
    let mut link = Link::new(&case.spec, case.seed);
    let mut done = Vec::new();
    let mut now = Time::ZERO;
    for (id, &(gap, size)) in case.arrivals.iter().enumerate() {
        now += Duration(gap);
        settle_until(&mut link, now, &mut done);
        if link.push(packet(id as u64, size), now) {
            link.push_copy(packet(id as u64, size), now);
        }
        done.extend(std::iter::from_fn(|| link.poll(now)));
    }
    settle_until(&mut link, Time::NEVER - Duration(1), &mut done);
    (done, link)
}

/// A packet of one of five flows, of which one is not ECN-capable and two are for a queue of low latency.
fn packet(id: u64, size: u32) -> Packet {
    let flow = id % 5;
    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1][flow as usize];
    Packet { id, size, flow_hash: flow as u32, flow: flow as u16, ecn, ..Packet::default() }
}

fn settle_until(link: &mut Link, now: Time, done: &mut Vec<Passage>) {
    while link.next_event() <= now {
        let at = link.next_event();
        done.extend(std::iter::from_fn(|| link.poll(at)));
    }
}

fn limit(buffer: Buffer) -> (u64, u64) {
    match buffer {
        Buffer::Bytes(bytes) => (bytes, u64::MAX),
        Buffer::Packets(packets) => (u64::MAX, packets),
        Buffer::Unlimited => (u64::MAX, u64::MAX),
    }
}

proptest! {
    #[test]
    fn packets_are_conserved(case in cases()) {
        let (done, link) = run(&case);
        let c = link.counters();
        prop_assert_eq!(c.arrived_packets, case.arrivals.len() as u64);
        prop_assert_eq!(done.len() as u64, c.arrived_packets + c.duplicated_packets);
        prop_assert_eq!(done.iter().filter(|p| p.duplicate).count() as u64, c.duplicated_packets);
        prop_assert_eq!(c.inside(), 0);
        for fate in [Fate::Delivered, Fate::LostBefore, Fate::LostAfter].iter().chain(&Fate::DROPS) {
            prop_assert_eq!(done.iter().filter(|p| p.fate == *fate).count() as u64, c.of(*fate));
        }
        prop_assert_eq!(link.backlog(), link::Backlog::default());
    }

    #[test]
    fn changes_at_any_time_lose_no_packet(case in cases(), other in cases(), up in any::<bool>()) {
        let mut link = Link::new(&case.spec, case.seed);
        let (mut done, mut now) = (Vec::new(), Time::ZERO);
        let specs = [plan::Link { up, ..other.spec.clone() }, case.spec.clone()];
        for (id, &(gap, size)) in case.arrivals.iter().enumerate() {
            now += Duration(gap);
            settle_until(&mut link, now, &mut done);
            if id % 50 == 49 {
                link.configure(&specs[id / 50 % 2], now);
            }
            if link.push(packet(id as u64, size), now) {
                link.push_copy(packet(id as u64, size), now);
            }
            done.extend(std::iter::from_fn(|| link.poll(now)));
        }
        link.configure(&case.spec, now);
        settle_until(&mut link, Time::NEVER - Duration(1), &mut done);
        let c = link.counters();
        prop_assert_eq!(done.len() as u64, case.arrivals.len() as u64 + c.duplicated_packets);
        prop_assert_eq!(c.inside(), 0);
        prop_assert_eq!(link.backlog(), link::Backlog::default());
        for p in &done {
            prop_assert!(p.departure.is_none_or(|at| at >= p.arrival + p.sojourn.unwrap()));
            prop_assert!(p.fate != Fate::DroppedHead || p.sojourn.is_some());
        }
        let bytes = |of: &dyn Fn(&Passage) -> bool| {
            done.iter().filter(|&p| of(p)).map(|p| u64::from(p.packet.size + OVERHEAD)).sum::<u64>()
        };
        prop_assert_eq!(c.arrived_bytes, bytes(&|p| !p.duplicate));
        prop_assert_eq!(c.departed_bytes, bytes(&|p| p.departure.is_some()));
        prop_assert_eq!(c.delivered_bytes, bytes(&|p| p.fate == Fate::Delivered));
    }

    #[test]
    fn a_packet_stopped_at_any_time_is_delivered_dropped_or_inside(case in cases(), stop in 0usize..300) {
        let mut cut = case.clone();
        cut.arrivals.truncate(stop.max(1));
        let mut link = Link::new(&cut.spec, cut.seed);
        let mut now = Time::ZERO;
        let mut done = 0;
        for &(gap, size) in &cut.arrivals {
            now += Duration(gap);
            if link.push(packet(0, size), now) {
                link.push_copy(packet(0, size), now);
            }
            done += std::iter::from_fn(|| link.poll(now)).count();
        }
        let came = cut.arrivals.len() as u64 + link.counters().duplicated_packets;
        prop_assert_eq!((link.inside().count() + done) as u64, came);
        prop_assert_eq!(link.counters().inside(), link.inside().count() as u64);
    }

    #[test]
    fn order_is_kept_unless_reordering_is_asked_for(case in cases()) {
        let case = Case { spec: plan::Link { reordering: false, reorder: None, ..case.spec.clone() }, ..case };
        let (done, _) = run(&case);
        prop_assert!(done.iter().all(|p| p.reordered.is_none()));
        let through: Vec<_> = done.iter().filter(|p| matches!(p.fate, Fate::Delivered | Fate::LostAfter)).collect();
        prop_assert!(through.windows(2).all(|w| w[0].delivery <= w[1].delivery));
        // Disciplines with several queues keep the order of each flow, others that of all.
        let many = !case.spec.queue.is_first_in_first_out();
        for flow in 0..5 {
            let ids = through.iter().filter(|p| !many || p.packet.flow == flow).map(|p| p.packet.id);
            prop_assert!(ids.is_sorted());
        }
    }

    #[test]
    fn never_faster_than_its_rate(case in plain_cases()) {
        let Some(rate) = case.spec.rate_bps else { return Ok(()) };
        let (done, _) = run(&case);
        let out: Vec<_> = done.iter().filter_map(|p| Some((p.departure?, p.packet.size + OVERHEAD))).collect();
        for i in 0..out.len() {
            // The bytes of i+1..=j are sent between the departures of packets i and j. One nanosecond
            // of rounding is allowed.
            let mut bits = 0u128;
            for j in i + 1..out.len() {
                bits += u128::from(out[j].1) * 8;
                let span = (out[j].0 - out[i].0).as_nanos() as u128 + 1;
                prop_assert!(bits * 1_000_000_000 <= u128::from(rate.as_bps()) * span);
            }
        }
    }

    #[test]
    fn a_busy_link_keeps_its_rate(case in plain_cases()) {
        let Some(rate) = case.spec.rate_bps else { return Ok(()) };
        let (done, _) = run(&case);
        // A packet that had to wait leaves exactly its serialisation time after the one before it.
        let out: Vec<_> = done.iter().filter(|p| p.departure.is_some()).collect();
        for pair in out.windows(2) {
            let (before, p) = (pair[0].departure.unwrap(), pair[1]);
            if p.arrival < before {
                let exact = u128::from(p.packet.size + OVERHEAD) * 8_000_000_000 / u128::from(rate.as_bps());
                let took = (p.departure.unwrap() - before).as_nanos() as u128;
                prop_assert!(took == exact || took == exact + 1, "{took} ns instead of {exact}");
            }
        }
    }

    #[test]
    fn the_buffer_is_never_exceeded(case in cases()) {
        let (done, _) = run(&case);
        let (bytes, packets) = limit(case.spec.buffer);
        for p in &done {
            prop_assert!(p.queue_bytes <= bytes && u64::from(p.queue_packets) <= packets);
            if p.fate == Fate::DroppedTail && !matches!(case.spec.queue, Queue::Fq { .. }) {
                let size = u64::from(p.packet.size + OVERHEAD);
                prop_assert!(p.queue_bytes + size > bytes || u64::from(p.queue_packets) + 1 > packets);
            }
        }
    }

    #[test]
    fn delivery_is_departure_plus_propagation(case in plain_cases()) {
        let (done, _) = run(&case);
        for p in done.iter().filter(|p| p.departure.is_some()) {
            prop_assert!(p.departure.unwrap() >= p.arrival);
            prop_assert_eq!(p.delivery.unwrap(), p.departure.unwrap() + case.spec.delay_ns);
        }
    }

    #[test]
    fn no_packet_is_faster_than_propagation(case in cases()) {
        let case = Case { spec: plan::Link { reorder: None, ..case.spec.clone() }, ..case };
        for p in run(&case).0.iter().filter(|p| p.delivery.is_some()) {
            prop_assert!(p.delivery.unwrap() >= p.departure.unwrap() + case.spec.delay_ns);
        }
    }

    #[test]
    fn times_are_in_order(case in cases()) {
        for p in run(&case).0 {
            let served = p.arrival + p.sojourn.unwrap_or(Duration::ZERO);
            prop_assert!(p.sojourn.is_none_or(|s| s >= Duration::ZERO));
            prop_assert!(p.departure.is_none_or(|at| at >= served));
            prop_assert!(p.delivery.is_none_or(|at| at >= p.departure.unwrap()));
            prop_assert_eq!(p.fate == Fate::Delivered, p.delivery.is_some() && p.fate != Fate::LostAfter);
        }
    }

    #[test]
    fn a_varying_link_never_sends_more_than_its_capacity(case in cases()) {
        let (done, mut link) = run(&case);
        let mut out: Vec<_> = done.iter().filter_map(|p| Some((p.departure?, p.packet.size + OVERHEAD))).collect();
        out.sort();
        let Some(&(end, _)) = out.last() else { return Ok(()) };
        if let Some(capacity) = link.capacity_bytes(end) {
            let sent: u64 = out.iter().map(|&(_, bytes)| u64::from(bytes)).sum();
            prop_assert!(capacity >= sent, "{sent} bytes until {end}, capacity {capacity}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_passages(case in cases()) {
        prop_assert_eq!(run(&case).0, run(&case).0);
    }

    #[test]
    fn loss_does_not_depend_on_timing(case in cases(), stretch in 1i64..5) {
        let mut slow = case.clone();
        slow.arrivals.iter_mut().for_each(|(gap, _)| *gap *= stretch);
        let lost = |case: &Case| -> Vec<u64> {
            run(case).0.iter().filter(|p| p.fate == Fate::LostBefore).map(|p| p.packet.id).collect()
        };
        prop_assert_eq!(lost(&case), lost(&slow));
    }
}
