//! Applications that write and pause, over loopback.

use crate::common::{MS, flow, plan, run};
use serde_json::{Value, json};

fn tcp(on: Value, off_ms: i64) -> Value {
    json!({"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false, "on_off": {"on": on, "off_ns": off_ms * MS}})
}

#[test]
fn nothing_arrives_in_a_pause() {
    let flows = json!([flow("f0", 0, 600 * MS, tcp(json!({"ns": 100 * MS}), 200))]);
    let ran = run(&plan(600 * MS, flows), None);
    let report = ran.report.as_ref().unwrap();
    assert!(report.flows[0].completed && report.flows[0].error.is_none(), "{:?}", report.flows[0]);
    let rows = ran.samples(0);
    let received = rows.column::<u64>("received_bytes");
    let by = |ms: i64| {
        let at = rows.times().iter().take_while(|&&time| time <= ms * MS).count();
        at.checked_sub(1).and_then(|at| received[at]).unwrap_or(0)
    };
    // A loaded machine may be late with a turn, but not by half a pause.
    assert!(by(90) > 100_000 && by(200) == by(290) && by(400) > by(290), "{received:?}");
    assert_eq!(by(500), by(590), "{received:?}");
}

#[test]
fn bursts_of_bytes_are_whole() {
    let flows = json!([flow("f0", 0, 500 * MS, tcp(json!({"bytes": 100_000}), 50))]);
    let ran = run(&plan(500 * MS, flows), None);
    let flow = &ran.report.as_ref().unwrap().flows[0];
    assert!(flow.completed && flow.error.is_none(), "{flow:?}");
    assert_eq!(flow.received_bytes % 100_000, 0);
    // One each 50 ms, and the time that a burst takes.
    assert!((3..=10).contains(&(flow.received_bytes / 100_000)), "{flow:?}");
}

#[test]
fn datagrams_come_in_bursts() {
    // 1000 a second, in the first 50 ms of each 100 ms.
    let udp = json!({"kind": "udp", "rate_bps": 8_000_000, "payload_bytes": 958, "bytes": null, "ecn": "not-ect",
        "on_off": {"on": {"ns": 50 * MS}, "off_ns": 50 * MS}});
    let ran = run(&plan(400 * MS, json!([flow("f0", 0, 400 * MS, udp)])), None);
    let flow = &ran.report.as_ref().unwrap().flows[0];
    assert!(flow.completed, "{flow:?}");
    assert_eq!(flow.udp.unwrap().sent_packets, 200);
}
