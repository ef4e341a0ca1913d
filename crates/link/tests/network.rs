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
}

/// a - left - right - b: a transparent link, 100 Mbit/s with 15 ms, 5 ms.
fn plan() -> Plan {
    let link = |name: &str, from: &str, to: &str, rate: serde_json::Value, delay: i64| {
        serde_json::json!({"name": name, "from": from, "to": to, "rate_bps": rate, "delay_ns": delay,
            "buffer": {"bytes": 3100}, "loss_before": 0.0, "loss_after": 0.0, "overhead_bytes": 0})
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
        "flows": [], "record": {"sample_interval_ns": 10_000_000, "packets": true},
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
    assert_eq!(net.links()[0].counters().delivered_packets, 1);
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
    // At the very end of its service the wire is free: the next packet doesn't wait.
    net.enter(Packet { id: 2, size: 1514, to: 3, ..Packet::default() }, 0, Time(121_120), &mut log);
    net.advance(Time(1_000_000_000), &mut log);
    assert_eq!(log.delivered[1].1, Time(2 * 121_120 + 20_000_000));
}
