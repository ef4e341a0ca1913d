//! The effects of an event on a link, and the parts that it leaves alone.

use link::{Fate, Link, Packet, Passage};
use plan::{Buffer, Delays, Queue, Slots, Variation};
use units::{Duration, Rate, Time};

fn ms(n: i64) -> Time {
    Time(n * 1_000_000)
}

/// 12 Mbit/s: a packet of 1500 bytes takes 1 ms.
fn spec() -> plan::Link {
    plan::Link { rate_bps: Rate::from_bps(12_000_000), ..plan::Link::transparent("link", "a", "b") }
}

fn push(link: &mut Link, packets: u64, now: Time) {
    for id in 0..packets {
        link.push(Packet { id, size: 1500, ..Packet::default() }, now);
    }
}

fn until(link: &mut Link, now: Time) -> Vec<Passage> {
    let mut done = Vec::new();
    while link.next_event() <= now {
        let at = link.next_event();
        done.extend(std::iter::from_fn(|| link.poll(at)));
    }
    done
}

#[test]
fn what_a_new_discipline_has_no_room_for_has_waited() {
    let mut link = Link::new(&spec(), 1);
    push(&mut link, 10, Time::ZERO);
    let codel = Queue::Codel {
        target_ns: Duration::from_millis(5),
        interval_ns: Duration::from_millis(100),
        ecn: false,
        ce_threshold_ns: None,
    };
    link.configure(&plan::Link { queue: codel, buffer: Buffer::Packets(4), ..spec() }, Time(500_000));
    let dropped = until(&mut link, Time(500_000));
    assert_eq!(dropped.iter().map(|p| p.packet.id).collect::<Vec<_>>(), [5, 6, 7, 8, 9]);
    assert!(dropped.iter().all(|p| p.fate == Fate::DroppedTail && p.sojourn == Some(Duration(500_000))));
    assert_eq!(until(&mut link, ms(5)).len(), 5);
}

#[test]
fn a_link_that_has_caught_up_has_sent_what_is_due() {
    let mut link = Link::new(&spec(), 1);
    push(&mut link, 3, Time::ZERO);
    for (now, departed, waiting) in [(Time(999_999), 0, 2), (ms(1), 1, 1), (ms(3), 3, 0)] {
        link.catch_up(now);
        assert_eq!((link.counters().departed_packets, link.backlog().packets), (departed, waiting));
    }
}

#[test]
fn a_smaller_buffer_leaves_what_waits() {
    let mut link = Link::new(&spec(), 1);
    push(&mut link, 10, Time::ZERO);
    link.configure(&plan::Link { buffer: Buffer::Packets(4), ..spec() }, Time(500_000));
    push(&mut link, 1, Time(500_000));
    let done = until(&mut link, ms(10));
    assert_eq!(done.iter().filter(|p| p.fate == Fate::DroppedTail).count(), 1);
    assert_eq!(done.len(), 11);
}

#[test]
fn a_slot_stays_where_it_is_when_its_limits_change() {
    let slots = |packets| {
        let interval = Duration::from_millis(10);
        Some(Slots { min_interval_ns: interval, max_interval_ns: interval, packets: Some(packets), bytes: None })
    };
    let mut link = Link::new(&plan::Link { slots: slots(1), ..spec() }, 1);
    link.configure(&plan::Link { slots: slots(2), ..spec() }, ms(15));
    push(&mut link, 3, ms(16));
    assert_eq!(link.next_event(), ms(20));
    let left: Vec<_> = until(&mut link, ms(40)).iter().map(|p| p.departure.unwrap()).collect();
    assert_eq!(left, [ms(21), ms(22), ms(31)]);
}

#[test]
fn a_link_that_is_down_has_no_capacity() {
    let mut link = Link::new(&spec(), 1);
    assert_eq!(link.capacity_bytes(ms(10)), Some(15_000));
    link.configure(&plan::Link { up: false, ..spec() }, ms(10));
    assert_eq!(link.capacity_bytes(ms(1000)), Some(15_000));
    link.configure(&spec(), ms(1000));
    assert_eq!(link.capacity_bytes(ms(1010)), Some(30_000));
}

#[test]
fn a_trace_goes_on_with_what_is_left_of_a_packet() {
    let trace = |bytes| plan::Link {
        variation: Some(Variation::Opportunities {
            times: vec![(ms(1), 1)],
            bytes,
            period_ns: Duration::from_millis(1),
        }),
        ..spec()
    };
    // Two thirds are sent when the trace takes over; then 100 bytes each millisecond.
    let mut link = Link::new(&spec(), 1);
    push(&mut link, 1, Time::ZERO);
    link.configure(&trace(100), Time(666_667));
    assert_eq!(until(&mut link, ms(100))[0].departure, Some(ms(5)));
    // The change back: 10 opportunities carry 1000 bytes, the rest takes a third of a millisecond.
    let mut link = Link::new(&trace(100), 1);
    push(&mut link, 1, Time::ZERO);
    link.configure(&spec(), Time(10_500_000));
    assert_eq!(until(&mut link, ms(100))[0].departure, Some(Time(10_500_000 + 333_333)));
}

#[test]
fn overhead_is_for_the_whole_run() {
    let mut link = Link::new(&spec(), 1);
    push(&mut link, 1, Time::ZERO);
    link.configure(&plan::Link { overhead_bytes: 1000, ..spec() }, Time(500_000));
    until(&mut link, ms(100));
    let c = link.counters();
    assert_eq!((c.arrived_bytes, c.departed_bytes, c.delivered_bytes), (1500, 1500, 1500));
}

#[test]
fn to_red_an_outage_is_idle_time() {
    let red = Queue::Red {
        min_th_bytes: 15_000,
        max_th_bytes: 45_000,
        max_p: 0.1,
        weight: 0.02,
        average_packet_bytes: 1500,
        gentle: true,
        ecn: false,
        adaptive: false,
    };
    let spec = plan::Link { queue: red, buffer: Buffer::Packets(1000), ..spec() };
    let early = |outage: bool| {
        let mut link = Link::new(&spec, 1);
        push(&mut link, 150, Time::ZERO);
        if outage {
            link.configure(&plan::Link { up: false, ..spec.clone() }, ms(100));
            link.configure(&spec, ms(60_100));
        }
        until(&mut link, ms(60_200));
        let before = link.counters().of(Fate::DroppedEarly);
        push(&mut link, 100, ms(60_200));
        until(&mut link, ms(60_200));
        link.counters().of(Fate::DroppedEarly) - before
    };
    // After a minute in which nothing waited the average is gone, whether the link was up or down.
    assert_eq!(early(true), early(false));
}

#[test]
fn a_delay_follows_its_steps() {
    let steps = [(0, 10), (2, 30), (3, 5)].map(|(at, delay)| (ms(at), Duration::from_millis(delay))).to_vec();
    let delays = Some(Delays::Steps { steps, period_ns: Some(Duration::from_millis(100)) });
    let plain = plan::Link { delay_ns: Duration::from_millis(5), delays, ..spec() };
    for (reordering, wanted) in [(true, [8, 9, 11, 32, 111]), (false, [11, 32, 32, 32, 111])] {
        let mut link = Link::new(&plan::Link { reordering, ..plain.clone() }, 1);
        push(&mut link, 4, Time::ZERO);
        let mut passed = until(&mut link, ms(90));
        push(&mut link, 1, ms(100));
        passed.extend(until(&mut link, ms(200)));
        let arrived: Vec<_> = passed.iter().map(|passage| passage.delivery.unwrap()).collect();
        assert_eq!(arrived, wanted.map(ms), "they leave at 1, 2, 3, 4 and 101 ms");
    }
    // Another delay is that from then on; the former course goes on where it would be.
    let mut link = Link::new(&plain, 1);
    link.configure(&plan::Link { delays: None, ..plain.clone() }, ms(1));
    push(&mut link, 1, ms(1));
    assert_eq!(until(&mut link, ms(50))[0].delivery, Some(ms(7)));
    link.configure(&plain, ms(102));
    push(&mut link, 1, ms(102));
    assert_eq!(until(&mut link, ms(200))[0].delivery, Some(ms(108)));
}
