//! Flows that ping over loopback. ICMP needs CAP_NET_RAW: `namespaces.rs` has that one.

use crate::common::{MS, flow, plan, run};
use serde_json::json;

#[test]
fn every_request_is_sent_when_it_is_due_and_answered() {
    let ping = json!({"kind": "ping", "echo": "udp", "interval_ns": 20 * MS, "payload_bytes": 56});
    let ran = run(&plan(500 * MS, json!([flow("f0", 0, 480 * MS, ping)])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    let ping = f0.ping.unwrap();
    println!("{ping:?}");
    assert_eq!((ping.sent_packets, ping.refused_packets, ping.answered_packets), (24, 0, 24));
    assert_eq!((ping.lost_packets, ping.duplicate_packets), (0, 0));
    assert_eq!((f0.sent_bytes, f0.received_bytes, f0.completed), (24 * 56, 24 * 56, true));

    let rows = ran.table("pings");
    let (sent, rtt) = (rows.column::<i64>("time_ns"), rows.column::<i64>("rtt_ns"));
    assert_eq!(rows.len(), 24);
    assert!(rtt.iter().all(|rtt| rtt.is_some_and(|ns| ns > 0)));
    for (n, at) in (0..).zip(&sent) {
        assert!(at.is_some_and(|at| at >= n * 20 * MS), "request {n} left before it was due: {at:?}");
    }
}

#[test]
fn without_pings_there_is_no_table_of_them() {
    let udp = json!({"kind": "udp", "rate_bps": 1_000_000, "payload_bytes": 100, "bytes": null});
    let ran = run(&plan(50 * MS, json!([flow("f0", 0, 50 * MS, udp)])), None);
    assert!(!ran.dir.path().join("pings.parquet").exists());
}
