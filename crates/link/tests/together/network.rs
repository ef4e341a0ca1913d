//! Networks of links: paths, order of time, conservation.

use link::{Fate, Network, Packet, Passage, Sink};
use plan::Plan;
use units::Time;

#[derive(Default)]
struct Log {
    passed: Vec<(u32, Passage, bool)>,
    delivered: Vec<(u64, Time)>,
    /// The links that they came out of.
    ends: Vec<u32>,
    filtered: Vec<u64>,
}

impl Sink for Log {
    fn passed(&mut self, link: u32, passage: &Passage, last: bool) {
        self.passed.push((link, *passage, last));
    }
    fn delivered(&mut self, packet: Packet, link: u32, at: Time) {
        self.delivered.push((packet.id, at));
        self.ends.push(link);
    }
    fn copied(&mut self, packet: Packet) -> Option<Packet> {
        Some(Packet { handle: packet.handle + 1, ..packet })
    }
    fn flooded(&mut self, packet: Packet) -> Option<Packet> {
        self.copied(packet)
    }
    fn filtered(&mut self, packet: Packet) {
        self.filtered.push(packet.id);
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
    Plan::of(serde_json::json!({
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
    assert!(net.enter(Packet { id: 9, size: 1514, receiver: 3, ..Packet::default() }, 0, Time(1_000), &mut log));
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered, [(9, Time(1_000 + 121_120 + 15_000_000 + 5_000_000))]);
    let seen: Vec<_> = log.passed.iter().map(|(link, p, last)| (*link, p.arrival, *last)).collect();
    assert_eq!(seen, [(1, Time(1_000), false), (2, Time(15_122_120), true)]);
    assert_eq!(net.links()[0].counters().delivered_packets(), 1);
}

#[test]
fn a_packet_without_a_path_is_refused() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    assert!(!net.enter(Packet::default(), 2, Time::ZERO, &mut log));
}

#[test]
fn the_queue_drops_what_does_not_fit_and_the_rest_arrives() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    for id in 0..5 {
        net.enter(Packet { id, size: 1514, receiver: 3, ..Packet::default() }, 0, Time::ZERO, &mut log);
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
fn links_that_have_caught_up_have_sent_what_no_packet_came_out_by() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    for id in 0..3 {
        enter(&mut net, &mut log, id, 0);
    }
    // Each packet is in service for 121,120 ns, and propagates for much longer.
    for (now, departed, waiting) in [(121_119, 0, 2), (242_240, 2, 0), (363_360, 3, 0)] {
        net.advance(Time(now), &mut log);
        net.catch_up(&mut log);
        let bottleneck = &net.links()[1];
        assert_eq!((bottleneck.counters().departed_packets, bottleneck.backlog().packets), (departed, waiting));
    }
    assert!(log.delivered.is_empty());
}

#[test]
fn what_is_due_happens_before_what_enters() {
    let (mut net, mut log) = (Network::new(&plan()).unwrap(), Log::default());
    net.enter(Packet { id: 1, size: 1514, receiver: 3, ..Packet::default() }, 0, Time::ZERO, &mut log);
    // The wire is free at the very end of its service: the next packet doesn't wait.
    net.enter(Packet { id: 2, size: 1514, receiver: 3, ..Packet::default() }, 0, Time(121_120), &mut log);
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
    assert!(net.enter(Packet { id, size: 1514, receiver: 3, ..Packet::default() }, 0, Time(at), log));
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
            net.enter(
                Packet { id, size: 1514, receiver: 3, ..Packet::default() },
                0,
                Time(id as i64 * 130_000),
                &mut log,
            );
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

/// h1 and h2 at s1, h3 at s2, a cable of 1 ms between the switches; the first link of each pair leads to a switch.
fn wires() -> Plan {
    let host = |n: u8| {
        serde_json::json!({"kind": "host", "name": format!("h{n}"), "address": format!("10.0.0.{n}"), "sysctl": {},
            "interfaces": [{"name": "eth0", "mac": format!("02:00:00:00:00:0{n}"), "addresses": [format!("10.0.0.{n}/24")]}]})
    };
    let link = |from: &str, to: &str, delay: i64| {
        let mut link = serde_json::json!({"name": format!("{from}-{to}"), "from": from, "to": to, "rate_bps": null,
            "delay_ns": delay, "buffer": "unlimited", "overhead_bytes": 0});
        for (key, node) in [("from_interface", from), ("to_interface", to)] {
            if node.starts_with('h') {
                link[key] = "eth0".into();
            }
        }
        link
    };
    let plan = serde_json::json!({
        "name": "wires", "duration_ns": 1_000_000_000, "seed": 1,
        "nodes": [host(1), host(2), host(3), {"kind": "switch", "name": "s1"}, {"kind": "switch", "name": "s2"}],
        "links": [
            link("h1", "s1", 0), link("s1", "h1", 0), link("h2", "s1", 0), link("s1", "h2", 0),
            link("h3", "s2", 0), link("s2", "h3", 0), link("s1", "s2", 1_000_000), link("s2", "s1", 1_000_000),
        ],
        "flows": [], "record": {"sample_interval_ns": 10_000_000, "packets": true},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
    });
    Plan::parse(&plan.to_string()).unwrap()
}

/// Station n is host n; 9 is nobody.
fn send(net: &mut Network, log: &mut Log, from: u16, to: u16, at: i64) -> Vec<(u32, i64)> {
    let packet = Packet { id: at as u64, size: 100, sender: from, receiver: to, ..Packet::default() };
    assert!(net.enter(packet, 2 * u32::from(from - 1), Time(at), log));
    net.advance(Time(at + 10_000_000), log);
    let ends = std::mem::take(&mut log.ends);
    ends.into_iter().zip(log.delivered.drain(..)).map(|(link, (_, when))| (link, when.as_nanos() - at)).collect()
}

#[test]
fn a_switch_learns_where_stations_are_and_floods_what_it_does_not_know() {
    let (mut net, mut log) = (Network::new(&wires()).unwrap(), Log::default());
    let everywhere = vec![(3, 0), (5, 1_000_000)];
    assert_eq!(send(&mut net, &mut log, 1, 3, 0), everywhere, "nobody has heard of h3");
    assert_eq!(send(&mut net, &mut log, 3, 1, 20_000_000), [(1, 1_000_000)], "both switches have heard of h1");
    assert_eq!(send(&mut net, &mut log, 1, 3, 40_000_000), [(5, 1_000_000)]);
    assert_eq!(send(&mut net, &mut log, 1, Packet::UNKNOWN, 60_000_000), everywhere, "a broadcast");
    assert_eq!(send(&mut net, &mut log, 1, 9, 80_000_000), everywhere);
    let forgotten = 40_000_000 + 301_000_000_000;
    assert_eq!(send(&mut net, &mut log, 1, 3, forgotten), everywhere, "h3 was silent for 300 s");
    assert!(log.filtered.is_empty());
}

#[test]
fn a_switch_sends_nothing_back_to_where_it_came_from() {
    let (mut net, mut log) = (Network::new(&wires()).unwrap(), Log::default());
    // h2 moves to h3's cable: its frames come from there, and s2 learns that h1 is behind s1.
    send(&mut net, &mut log, 1, Packet::UNKNOWN, 0);
    send(&mut net, &mut log, 2, Packet::UNKNOWN, 20_000_000);
    let packet = Packet { id: 7, size: 100, sender: 1, receiver: 1, ..Packet::default() };
    assert!(net.enter(packet, 0, Time(40_000_000), &mut log));
    assert_eq!((log.filtered.as_slice(), log.delivered.len()), ([7].as_slice(), 0));
}

#[test]
fn the_last_link_on_which_something_can_happen_is_known_on_wires() {
    let (mut net, mut log) = (Network::new(&wires()).unwrap(), Log::default());
    send(&mut net, &mut log, 1, 3, 0);
    // Behind s2 is a plain cable.
    assert_eq!(log.passed.iter().map(|(link, _, last)| (*link, *last)).collect::<Vec<_>>(), [(6, true)]);
}
