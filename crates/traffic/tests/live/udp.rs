//! UDP flows over loopback.

use crate::common::{MS, flow, plan, run, tcp};
use serde_json::json;

#[test]
fn every_datagram_of_the_schedule_is_sent_and_received() {
    // 1472 + 42 bytes at 10 Mbit/s: one each 1.2112 ms, at 0, 1.2112, ... 499.0144 ms.
    let udp = json!({"kind": "udp", "rate_bps": 10_000_000, "payload_bytes": 1472, "bytes": null});
    let ran = run(&plan(500 * MS, json!([flow("f0", 0, 500 * MS, udp)])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    let udp = f0.udp.unwrap();
    println!("{udp:?}");
    assert_eq!((udp.sent_packets, udp.refused_packets, udp.received_packets), (413, 0, 413));
    assert_eq!((udp.lost_packets, udp.reordered_packets, udp.duplicate_packets, udp.socket_drops), (0, 0, 0, 0));
    assert_eq!(udp.ce_packets, 0);
    assert_eq!((f0.sent_bytes, f0.received_bytes), (413 * 1472, 413 * 1472));
    assert!(f0.completed && f0.cc_actual.is_none());
    assert!(udp.schedule_error_us.max > 0.0 && udp.one_way_delay_us.max > 0.0);

    let rows = ran.samples(0);
    assert!(rows.len() >= 20);
    assert!(rows.column::<u32>("cwnd_packets").iter().all(Option::is_none), "UDP has no window");
    assert_eq!(rows.column::<u64>("received_bytes").last().copied().flatten(), Some(f0.received_bytes));
}

#[test]
fn datagrams_go_when_they_are_due() {
    let udp = json!({"kind": "udp", "rate_bps": 10_000_000, "payload_bytes": 1472, "bytes": null});
    let plan = plan(300 * MS, json!([flow("f0", 0, 300 * MS, udp)]));
    // A machine that pauses makes half of a run late, now and then; a wrong schedule makes it late each time.
    let late = || run(&plan, None).report.as_ref().unwrap().flows[0].udp.unwrap().schedule_error_us.p50;
    assert!((0..5).any(|_| late() < 5_000.0));
}

#[test]
fn a_flow_of_so_many_bytes_ends_with_them() {
    let udp = json!({"kind": "udp", "rate_bps": 100_000_000, "payload_bytes": 1000, "bytes": 99_001});
    let ran = run(&plan(150 * MS, json!([flow("f0", 10 * MS, 150 * MS, udp)])), None);
    let f0 = &ran.report.as_ref().unwrap().flows[0];
    assert_eq!((f0.udp.unwrap().sent_packets, f0.received_bytes, f0.completed), (100, 100_000, true));
    assert!(f0.start_ns >= Some(10 * MS));
}

#[test]
fn a_busy_tcp_flow_takes_no_datagram_away() {
    let udp = json!({"kind": "udp", "rate_bps": 20_000_000, "payload_bytes": 1472, "bytes": null});
    let flows = json!([flow("f0", 0, 300 * MS, udp), flow("f1", 0, 300 * MS, tcp("reno", None))]);
    let ran = run(&plan(300 * MS, flows), None);
    let udp = ran.report.as_ref().unwrap().flows[0].udp.unwrap();
    println!("{udp:?}");
    assert_eq!((udp.sent_packets, udp.received_packets), (496, 496));
}

#[test]
fn a_datagram_too_small_for_its_header_is_refused() {
    let udp = json!({"kind": "udp", "rate_bps": 1_000_000, "payload_bytes": 15, "bytes": null});
    let ran = run(&plan(100 * MS, json!([flow("f0", 0, 100 * MS, udp)])), None);
    assert_eq!(ran.failure().what, "flow f0: datagrams of 15 bytes");
}
