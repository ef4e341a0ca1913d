//! Networks of links: paths, order of time, conservation.

use link::{Fate, Network, Packet, Passage, Sink};
use plan::Plan;
use units::Time;

#[derive(Default)]
struct Log {
    passed: Vec<(u32, Passage, bool)>,
    delivered: Vec<(u64, Time)>,
}

impl Sink for Log {
    fn passed(&mut self, link: u32, passage: &Passage, last: bool) {
        self.passed.push((link, *passage, last));
    }
    fn delivered(&mut self, packet: Packet, at: Time) {
        self.delivered.push((packet.id, at));
    }
    fn copied(&mut self, packet: Packet) -> Option<Packet> {
        Some(Packet { handle: packet.handle + 1, ..packet })
    }
}

/// a - left - right - b: a transparent link, 100 Mbit/s with 15 ms, 5 ms.
fn plan() -> Plan {
    with_events(&[])
}

fn with_events(events: &[serde_json::Value]) -> Plan {
    let link = |name: &str, from: &str, to: &str, rate: serde_json::Value, delay: i64| {
        serde_json::json!({"name": name, "from": from, "to": to, "rate_bps": rate, "delay_ns": delay,
            "buffer": {"bytes": 3100}, "overhead_bytes": 0})
    };
    serde_json::from_value(serde_json::json!({
        "name": "test", "duration_ns": 1_000_000_000, "seed": 1,
        "nodes": [
            {"kind": "host", "name": "a", "address": "10.0.0.1", "sysctl": {}},
            {"kind": "switch", "name": "left"}, {"kind": "switch", "name": "right"},
            {"kind": "host", "name": "b", "address": "10.0.0.2", "sysctl": {}},
        ],
        "links": [
            link("a-left", "a", "left", serde_json::Value::Null, 0),
            link("bottleneck", "left", "right", 100_000_000.into(), 15_000_000),
            link("right-b", "right", "b", serde_json::Value::Null, 5_000_000),
        ],
        "flows": [], "events": events, "record": {"sample_interval_ns": 10_000_000, "packets": true},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
    }))
    .unwrap()
}

#[test]
fn a_packet_crosses_three_links() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    assert!(net.enter(Packet { id: 9, size: 1514, to: 3, ..Packet::default() }, 0, Time(1_000), &mut log));
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered, [(9, Time(1_000 + 121_120 + 15_000_000 + 5_000_000))]);
    let seen: Vec<_> = log.passed.iter().map(|(link, p, last)| (*link, p.arrival, *last)).collect();
    assert_eq!(seen, [(1, Time(1_000), false), (2, Time(15_122_120), true)]);
    assert_eq!(net.links()[0].counters().delivered_packets(), 1);
}

#[test]
fn a_packet_without_a_path_is_refused() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    assert!(!net.enter(Packet { to: 0, ..Packet::default() }, 3, Time::ZERO, &mut log));
}

#[test]
fn the_queue_drops_what_does_not_fit_and_the_rest_arrives() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    for id in 0..5 {
        net.enter(Packet { id, size: 1514, to: 3, ..Packet::default() }, 0, Time::ZERO, &mut log);
    }
    // One in service, two wait in 3100 bytes, two are dropped.
    let dropped: Vec<u64> =
        log.passed.iter().filter(|(_, p, _)| p.fate == Fate::DroppedTail).map(|(_, p, _)| p.packet.id).collect();
    assert_eq!(dropped, [3, 4]);
    assert_eq!(net.inside().count(), 3);
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered.iter().map(|d| d.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(net.inside().count(), 0);
}

#[test]
fn what_is_due_happens_before_what_enters() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    net.enter(Packet { id: 1, size: 1514, to: 3, ..Packet::default() }, 0, Time::ZERO, &mut log);
    // The wire is free at the very end of its service: the next packet doesn't wait.
    net.enter(Packet { id: 2, size: 1514, to: 3, ..Packet::default() }, 0, Time(121_120), &mut log);
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered[1].1, Time(2 * 121_120 + 20_000_000));
}

/// The bottleneck from a time on, with `changes` to its keys.
fn event(at: i64, changes: serde_json::Value) -> serde_json::Value {
    let mut link = serde_json::json!({"name": "bottleneck", "from": "left", "to": "right", "rate_bps": 100_000_000,
        "delay_ns": 15_000_000, "buffer": {"bytes": 3100}, "overhead_bytes": 0});
    link.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::json!({"at_ns": at, "link": link})
}

fn enter(net: &mut Network, log: &mut Log, id: u64, at: i64) {
    assert!(net.enter(Packet { id, size: 1514, to: 3, ..Packet::default() }, 0, Time(at), log));
}

#[test]
fn a_lower_rate_holds_for_the_rest_of_a_packet_in_service() {
    let half = event(60_560, serde_json::json!({"rate_bps": 10_000_000}));
    let (mut net, mut log) = (Network::new(&with_events(&[half])).unwrap(), Log::default());
    enter(&mut net, &mut log, 1, 0);
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered, [(1, Time(60_560 + 605_600 + 20_000_000))]);
}

#[test]
fn a_link_that_goes_down_drops_what_waits_and_keeps_what_propagates() {
    let down = event(200_000, serde_json::json!({"up": false}));
    let up = event(10_000_000, serde_json::json!({}));
    let (mut net, mut log) = (Network::new(&with_events(&[down, up])).unwrap(), Log::default());
    for id in 0..3 {
        enter(&mut net, &mut log, id, 0);
    }
    enter(&mut net, &mut log, 3, 9_999_999);
    enter(&mut net, &mut log, 4, 10_000_000);
    net.advance(Time(1_000_000_000), &mut log);
    // Packet 0 has left the serializer at 121,120 ns; 1 was in service, 2 waited, 3 came while it was down.
    let dropped: Vec<u64> =
        log.passed.iter().filter(|(_, p, _)| p.fate == Fate::DroppedDown).map(|(_, p, _)| p.packet.id).collect();
    assert_eq!(dropped, [1, 2, 3]);
    assert_eq!(log.delivered, [(0, Time(121_120 + 20_000_000)), (4, Time(10_121_120 + 20_000_000))]);
}

#[test]
fn a_smaller_delay_does_not_disturb_packets_in_flight() {
    let far = |reordering: bool| {
        let near = event(1_000_000, serde_json::json!({"delay_ns": 1_000_000, "reordering": reordering}));
        let (mut net, mut log) = (Network::new(&with_events(&[near])).unwrap(), Log::default());
        enter(&mut net, &mut log, 1, 0);
        enter(&mut net, &mut log, 2, 2_000_000);
        net.advance(Time(1_000_000_000), &mut log);
        log.delivered
    };
    // The second waits for the first at the end of the wire, unless reordering is allowed.
    assert_eq!(far(false), [(1, Time(20_121_120)), (2, Time(20_121_120))]);
    assert_eq!(far(true), [(2, Time(2_121_120 + 6_000_000)), (1, Time(20_121_120))]);
}

#[test]
fn a_transparent_link_that_an_event_changes_is_logged() {
    let mut lossy = event(0, serde_json::json!({"loss_before": [{"model": "independent", "probability": 1.0}]}));
    lossy["link"]["name"] = "a-left".into();
    lossy["link"]["from"] = "a".into();
    lossy["link"]["to"] = "left".into();
    let (mut net, mut log) = (Network::new(&with_events(&[lossy])).unwrap(), Log::default());
    enter(&mut net, &mut log, 1, 5);
    assert_eq!(log.passed.iter().map(|(link, p, _)| (*link, p.fate)).collect::<Vec<_>>(), [(0, Fate::LostBefore)]);
}

#[test]
fn a_duplicate_follows_its_original_with_a_handle_of_its_own() {
    let twice = event(0, serde_json::json!({"duplication": {"probability": 1.0, "correlation": 0.0}}));
    let (mut net, mut log) = (Network::new(&with_events(&[twice])).unwrap(), Log::default());
    enter(&mut net, &mut log, 1, 5);
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered, [(1, Time(20_121_125)), (1, Time(20_242_245))]);
    let over_bottleneck: Vec<_> = log.passed.iter().filter(|(link, ..)| *link == 1).map(|(_, p, _)| p).collect();
    assert_eq!(
        over_bottleneck.iter().map(|p| (p.packet.handle, p.duplicate)).collect::<Vec<_>>(),
        [(0, false), (1, true)]
    );
    let c = net.links()[1].counters();
    assert_eq!((c.arrived_packets, c.duplicated_packets, c.delivered_packets()), (1, 1, 2));
}

#[test]
fn an_order_changes_a_link_as_an_event_of_the_plan_does() {
    let planned: plan::Plan = with_events(&[]);
    let slow = plan::Link { rate_bps: units::Rate::from_bps(10_000_000), ..planned.links[1].clone() };
    let run = |plan: &Plan, order: Option<Time>| {
        let (mut net, mut log) = (Network::new(plan).unwrap(), Log::default());
        for id in 0..40 {
            net.enter(Packet { id, size: 1514, to: 3, ..Packet::default() }, 0, Time(id as i64 * 130_000), &mut log);
            // The order is read late: packets that came before it enter the link as it was.
            if id == 10
                && let Some(at) = order
            {
                net.change_link(1, slow.clone(), at);
            }
        }
        net.advance(Time(1_000_000_000), &mut log);
        log.delivered
    };
    let at = Time(15 * 130_000 + 7);
    let mut changed = planned.clone();
    changed.change_link(at, slow.clone()).unwrap();
    let ordered = run(&planned, Some(at));
    assert_eq!(ordered, run(&changed, None));
    assert_ne!(ordered, run(&planned, None));
}
