//! What holds for every link and every arrival pattern.

use link::{Fate, Link, Packet, Passage};
use plan::Buffer;
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

prop_compose! {
    fn cases()(
        rate in prop_oneof![Just(None), (1_000u64..2_000_000_000).prop_map(Rate::from_bps)],
        delay in 0i64..50_000_000,
        buffer in buffers(),
        loss_before in prop_oneof![Just(0.0), 0.0..1.0],
        loss_after in prop_oneof![Just(0.0), 0.0..1.0],
        arrivals in prop::collection::vec((0i64..300_000, 60u32..1515), 1..300),
        seed in any::<u64>(),
    ) -> Case {
        let spec = plan::Link {
            name: "link".into(), from: "a".into(), to: "b".into(),
            rate_bps: rate, delay_ns: Duration(delay), buffer, loss_before, loss_after, overhead_bytes: OVERHEAD,
        };
        Case { spec, arrivals, seed }
    }
}

/// Every packet's passage, in the order in which the link was done with them, and the link.
fn run(case: &Case) -> (Vec<Passage>, Link) {
    let mut link = Link::new(&case.spec, case.seed);
    let mut done = Vec::new();
    let mut now = Time::ZERO;
    for (id, &(gap, size)) in case.arrivals.iter().enumerate() {
        now += Duration(gap);
        loop {
            let at = link.next_event();
            if at > now {
                break;
            }
            done.extend(std::iter::from_fn(|| link.poll(at)));
        }
        let packet = Packet { id: id as u64, size, ..Packet::default() };
        done.extend(link.push(packet, now).err());
    }
    while link.next_event() != Time::NEVER {
        let at = link.next_event();
        done.extend(std::iter::from_fn(|| link.poll(at)));
    }
    (done, link)
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
        prop_assert_eq!(done.len(), case.arrivals.len());
        let c = link.counters();
        prop_assert_eq!(c.inside(), 0);
        prop_assert_eq!(c.arrived_packets, case.arrivals.len() as u64);
        let count = |fate| done.iter().filter(|p| p.fate == fate).count() as u64;
        prop_assert_eq!(count(Fate::Delivered), c.delivered_packets);
        prop_assert_eq!(count(Fate::DroppedTail), c.dropped_tail);
        prop_assert_eq!(count(Fate::LostBefore), c.lost_before);
        prop_assert_eq!(count(Fate::LostAfter), c.lost_after);
        prop_assert_eq!(link.backlog(), link::Backlog::default());
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
            done += std::iter::from_fn(|| link.poll(now)).count();
            done += usize::from(link.push(Packet { size, ..Packet::default() }, now).is_err());
        }
        prop_assert_eq!(link.inside().count() + done, cut.arrivals.len());
        prop_assert_eq!(link.counters().inside(), link.inside().count() as u64);
    }

    #[test]
    fn order_is_kept(case in cases()) {
        let (done, _) = run(&case);
        let through: Vec<_> = done.iter().filter(|p| matches!(p.fate, Fate::Delivered | Fate::LostAfter)).collect();
        prop_assert!(through.windows(2).all(|w| w[0].packet.id < w[1].packet.id && w[0].delivery <= w[1].delivery));
    }

    #[test]
    fn never_faster_than_its_rate(case in cases()) {
        let Some(rate) = case.spec.rate_bps else { return Ok(()) };
        let (done, _) = run(&case);
        let out: Vec<_> = done.iter().filter_map(|p| Some((p.departure?, p.packet.size + OVERHEAD))).collect();
        for i in 0..out.len() {
            // Between the departure of packet i and of packet j, exactly the bytes of i+1..=j are sent. One nanosecond
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
    fn a_busy_link_keeps_its_rate(case in cases()) {
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
            if p.fate == Fate::DroppedTail {
                let size = u64::from(p.packet.size + OVERHEAD);
                prop_assert!(p.queue_bytes + size > bytes || u64::from(p.queue_packets) + 1 > packets);
            }
        }
    }

    #[test]
    fn delivery_is_departure_plus_propagation(case in cases()) {
        let (done, _) = run(&case);
        for p in done.iter().filter(|p| p.departure.is_some()) {
            prop_assert!(p.departure.unwrap() >= p.arrival);
            prop_assert_eq!(p.delivery.unwrap(), p.departure.unwrap() + case.spec.delay_ns);
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
