//! A driver that asks only when a passage is due misses nothing.

use link::{Link, Packet, Passage};
use plan::{Buffer, Distribution, Jitter, Queue};
use proptest::prelude::*;
use units::{Duration, Rate, Time};

/// All passages of packets that come at `arrivals`, if the link is polled whenever `next` says so.
fn drive(spec: &plan::Link, arrivals: &[i64], next: fn(&Link) -> Time) -> Vec<Passage> {
    let mut link = Link::new(spec, 1);
    let mut passages = Vec::new();
    let mut poll_until = |link: &mut Link, until: Time| {
        while next(link) <= until {
            let at = next(link);
            passages.extend(std::iter::from_fn(|| link.poll(at)));
        }
    };
    let mut now = Time::ZERO;
    for (id, gap) in arrivals.iter().enumerate() {
        now += Duration(*gap);
        poll_until(&mut link, now);
        link.push(Packet { id: id as u64, size: 1514, ..Packet::default() }, now);
    }
    poll_until(&mut link, now + Duration::from_secs(100));
    assert_eq!(link.counters().inside(), 0);
    passages.sort_by_key(|passage| passage.packet.id);
    passages
}

proptest! {
    #[test]
    fn as_one_that_asks_for_every_event(
        arrivals in prop::collection::vec(0..400_000i64, 1..300),
        delay_us in 0..20_000i64,
        has_jitter in any::<bool>(),
        reordering in any::<bool>(),
        is_codel in any::<bool>(),
    ) {
        let (target_ns, interval_ns) = (Duration::from_millis(1), Duration::from_millis(10));
        let distribution = Distribution::Uniform { min_ns: Duration::ZERO, max_ns: Duration::from_millis(3) };
        let spec = plan::Link {
            rate_bps: Rate::from_bps(50_000_000),
            buffer: Buffer::Bytes(60_000),
            delay_ns: Duration::from_micros(delay_us),
            jitter: has_jitter.then_some(Jitter { distribution, correlation: 0.0 }),
            reordering,
            queue: match is_codel {
                true => Queue::Codel { target_ns, interval_ns, ecn: false, ce_threshold_ns: None },
                false => Queue::default(),
            },
            ..plan::Link::transparent("bottleneck", "a", "b")
        };
        let every = drive(&spec, &arrivals, Link::next_event);
        prop_assert_eq!(every.len(), arrivals.len());
        prop_assert_eq!(drive(&spec, &arrivals, Link::next_passage), every);
    }
}
