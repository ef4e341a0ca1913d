//! TCP flows over loopback.

use crate::common::{MS, flow, plan, run, tcp};
use serde_json::json;

#[test]
fn a_bulk_flow_moves_bytes_and_is_sampled() {
    let ran = run(&plan(300 * MS, json!([flow("f0", 0, 300 * MS, tcp("reno", None))])), None);
    let report = ran.report.as_ref().unwrap();
    let f0 = &report.flows[0];
    assert!(f0.completed && f0.error.is_none(), "{f0:?}");
    assert_eq!((f0.cc_requested.as_deref(), f0.cc_actual.as_deref()), (Some("reno"), Some("reno")));
    assert!(f0.received_bytes > 1_000_000 && f0.received_bytes <= f0.sent_bytes, "{f0:?}");
    assert!(f0.first_byte_ns < f0.end_ns && f0.end_ns <= Some(400 * MS), "{f0:?}");
    assert!(f0.busy_us > 100_000, "{f0:?}");

    // One row per tick from the handshake on, and one at the end.
    assert_eq!(report.sampling.expected, 30);
    let (rows, taken) = (ran.samples(0), report.sampling.taken as usize);
    assert!(taken >= 15, "{:?}", report.sampling);
    assert!((taken - 1..=taken + 1).contains(&rows.len()), "{} rows of {taken} ticks", rows.len());
    assert!(rows.times().is_sorted());
    let received = rows.column::<u64>("received_bytes");
    assert!(received.is_sorted());
    assert_eq!(received.last().copied().flatten(), Some(f0.received_bytes));
    assert!(rows.column::<u32>("cwnd_packets").iter().all(|cwnd| cwnd.is_some_and(|c| c >= 1)));
    assert!(rows.column::<u64>("bbr_bw_bps").iter().all(Option::is_none), "reno has no model of bandwidth");
    assert!(rows.column::<u16>("socket").iter().all(|port| port.is_some_and(|p| p > 0)));

    assert_eq!(ran.events.first().unwrap()["event"], "ready");
    assert_eq!(ran.events.last().unwrap()["event"], "done");
    let live = ran.live[0].expect("it was published");
    assert!(live.time_ns >= 200 * MS && live.received_bytes > 0 && live.cwnd_packets > Some(0), "{live:?}");
    let written: serde_json::Value = serde_json::from_str(&ran.text("traffic.json")).unwrap();
    assert_eq!(written["flows"][0]["received_bytes"], f0.received_bytes);
}

#[test]
fn a_flow_of_so_many_bytes_arrives_to_the_byte() {
    let bytes = 1_000_003;
    let flows =
        json!([flow("f0", 20 * MS, 400 * MS, tcp("reno", Some(bytes))), flow("f1", 0, 400 * MS, tcp("reno", Some(0)))]);
    let ran = run(&plan(400 * MS, flows), None);
    let flows = &ran.report.as_ref().unwrap().flows;
    assert!(flows[0].completed && flows[1].completed, "{flows:?}");
    assert_eq!((flows[0].received_bytes, flows[0].sent_bytes, flows[1].received_bytes), (bytes, bytes, 0));
    assert!(flows[0].start_ns >= Some(20 * MS) && flows[0].end_ns < Some(400 * MS), "{flows:?}");
    // The last row was taken when everything had been acknowledged, not when everything had been written.
    let acked = ran.samples(0).column::<u64>("bytes_acked");
    assert_eq!(acked.last().copied().flatten(), Some(bytes));
}

#[test]
fn bbr_tells_its_model() {
    let ran = run(&plan(200 * MS, json!([flow("f0", 0, 200 * MS, tcp("bbr", None))])), None);
    if ran.report.is_err() {
        let allowed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").unwrap();
        let failure = ran.failure();
        assert!(!allowed.contains("bbr") && failure.what.contains("bbr"), "{failure}");
        return;
    }
    assert_eq!(ran.report.as_ref().unwrap().flows[0].cc_actual.as_deref(), Some("bbr"));
    let bandwidth = ran.samples(0).column::<u64>("bbr_bw_bps");
    assert!(bandwidth.iter().all(Option::is_some) && bandwidth.last().copied().flatten() > Some(1_000_000));
}

#[test]
fn an_unknown_algorithm_fails_the_run_before_it_starts() {
    let ran = run(&plan(100 * MS, json!([flow("f0", 0, 100 * MS, tcp("nosuch", None))])), None);
    let failure = ran.failure();
    assert!(ran.events.is_empty(), "it was not even ready: {:?}", ran.events);
    assert!(failure.what.ends_with("flow f0: setting its congestion control to nosuch"), "{failure}");
    assert_eq!(failure.why, "this kernel has no such algorithm loaded");
    assert!(failure.hint.contains("modprobe tcp_nosuch"), "{failure}");
}

#[test]
fn stopping_early_keeps_what_was_measured() {
    let ran = run(&plan(5_000 * MS, json!([flow("f0", 0, 5_000 * MS, tcp("reno", None))])), Some(100 * MS));
    let report = ran.report.as_ref().unwrap();
    assert!(report.interrupted && report.wall_s < 2.0, "{report:?}");
    assert!(!report.flows[0].completed && report.flows[0].received_bytes > 0);
    assert!(ran.samples(0).len() >= 3);
    assert_eq!(ran.events.last().unwrap()["event"], "done");
}

#[test]
fn a_flow_stops_at_its_time_and_others_go_on() {
    let flows = json!([flow("f0", 0, 100 * MS, tcp("reno", None)), flow("f1", 0, 250 * MS, tcp("reno", None))]);
    let ran = run(&plan(250 * MS, flows), None);
    let flows = &ran.report.as_ref().unwrap().flows;
    assert!(flows.iter().all(|f| f.completed && f.error.is_none()), "{flows:?}");
    assert!(flows[0].end_ns < Some(170 * MS) && flows[1].end_ns > Some(170 * MS), "{flows:?}");
    assert!(ran.samples(0).times().iter().all(|time| *time < 170 * MS));
}

#[test]
fn five_hundred_flows_share_the_loop() {
    let n = 500;
    let bytes = 100_000;
    let flows: Vec<_> =
        (0..n).map(|i| flow(&format!("f{i}"), i * 400_000, 1_500 * MS, tcp("reno", Some(bytes)))).collect();
    let ran = run(&plan(1_500 * MS, json!(flows)), None);
    let report = ran.report.as_ref().unwrap();
    let unfinished: Vec<_> = report.flows.iter().filter(|f| !f.completed || f.received_bytes != bytes).collect();
    assert!(unfinished.is_empty(), "{unfinished:?}");
    let late = report.flows.iter().zip(0..).map(|(f, i)| f.start_ns.unwrap() - i * 400_000).max();
    println!("sampling {:?}, latest start {late:?} ns, cpu {:.3} s", report.sampling, report.cpu_s);
    assert!(ran.samples(499).len() >= 1);
}
