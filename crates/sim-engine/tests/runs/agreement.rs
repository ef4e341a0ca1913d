//! The tables and accounts of a run tell the same story.

use std::collections::BTreeMap;

use crate::common::{Cell, Dumbbell, Row, Run, bulk, run, sized};
use plan::Plan;
use serde_json::{Value, json};

fn plan() -> Plan {
    let udp = json!({"kind": "udp", "rate_bps": 1_000_000, "payload_bytes": 500, "bytes": null});
    let mut plan = Dumbbell::new(20, 20.0).buffer_bdp(0.5).seconds(3.0);
    for cc in ["cubic", "bbr", "bbr3", "reno"] {
        plan = plan.flow(bulk(cc), 0.1);
    }
    let plan = plan.flow(sized("cubic", 100_000), 0.5).flow(udp, 0.2);
    plan.with(json!({
        "loss_before": [{"model": "independent", "probability": 0.005}],
        "jitter": {"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 2_000_000}, "correlation": 0.0},
        "reordering": true, "duplication": {"probability": 0.005, "correlation": 0.0},
        "corruption": {"probability": 0.002, "correlation": 0.0},
        "marking": {"probability": 0.01, "correlation": 0.5},
    }))
    .plan()
}

fn sum<'a>(rows: impl Iterator<Item = Row<'a>>, column: &str) -> i128 {
    rows.map(|row| row.number(column)).sum()
}

/// The entry of an account whose `key` is `name`.
fn entry<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|one| one[key] == name).unwrap()
}

#[test]
fn packets_are_what_links_count() {
    let run = run(&plan());
    let (packets, links, simulator) = (run.table("packets"), run.table("links"), run.json("simulator"));
    for name in ["bottleneck", "bottleneck-back"] {
        let counted = entry(&simulator["links"], "name", name);
        let rows: Vec<Row> = packets.of("link", name).collect();
        let with = |fates: &dyn Fn(&str) -> bool| rows.iter().filter(|row| fates(row.text("fate"))).count() as u64;
        let flag = |column: &str| rows.iter().filter(|row| *row.get(column) == Cell::Flag(true)).count() as u64;
        let dropped: u64 = counted["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        for (what, rows, counter) in [
            ("arrived", rows.len() as u64 - flag("duplicate"), &counted["arrived_packets"]),
            ("delivered", with(&|fate| fate == "delivered"), &counted["delivered_packets"]),
            ("lost", with(&|fate| fate == "lost-before"), &counted["lost_before"]),
            ("inside", with(&|fate| fate == "inside"), &counted["inside"]),
            ("dropped", with(&|fate| fate.starts_with("dropped")), &json!(dropped)),
            ("duplicated", flag("duplicate"), &counted["duplicated"]),
        ] {
            assert_eq!(json!(rows), *counter, "{name}: {what}");
        }
        let last = links.of("link", name).last().unwrap();
        assert_eq!(last.number("time_ns"), 3_000_000_000);
        for (column, counter) in [
            ("arrived_packets", &counted["arrived_packets"]),
            ("delivered_packets", &counted["delivered_packets"]),
            ("dropped_packets", &json!(dropped)),
            ("duplicated_packets", &counted["duplicated"]),
        ] {
            assert_eq!(json!(last.number(column) as u64), *counter, "{name}: {column}");
        }
    }
    // Links on which nothing can happen are counted, not logged.
    assert!(packets.rows().all(|row| row.text("link").starts_with("bottleneck")));
    let counted = |name: &str| &entry(&simulator["links"], "name", name)["delivered_packets"];
    assert_eq!(*counted("a-left"), entry(&simulator["links"], "name", "bottleneck")["arrived_packets"]);
    assert_eq!(counted("right-b"), counted("bottleneck"));
}

#[test]
fn nothing_gets_lost_between_the_accounts() {
    let run = run(&plan());
    let (packets, simulator) = (run.table("packets"), run.json("simulator"));
    let of = |name: &str| simulator[name].as_u64().unwrap();
    assert_eq!(
        of("entered_packets") + of("duplicated_packets"),
        of("left_packets") + of("dropped_packets") + of("inside_packets")
    );
    assert_eq!(of("packets"), of("entered_packets"));
    let sent: Vec<Row> = packets.rows().filter(|row| *row.get("sent_ns") != Cell::Null).collect();
    assert_eq!(sent.len() as u64, of("left_packets"), "sent_ns is on the last logged link");
    assert!(sent.iter().all(|row| row.get("sent_ns") == row.get("delivery_ns")), "nothing is late in virtual time");
    let ids: std::collections::BTreeSet<i128> = packets.rows().map(|row| row.number("packet")).collect();
    assert_eq!(ids.len() as u64, of("packets"));
    for table in crate::common::TABLES {
        assert_eq!(simulator["writers"][table]["rows"], run.table(table).rows().count(), "{table}");
    }
}

#[test]
fn the_last_sample_is_what_the_flow_has_come_to() {
    let run = run(&plan());
    let (samples, traffic) = (run.table("samples"), run.json("traffic"));
    assert_eq!((&traffic["wall_s"], &traffic["interrupted"]), (&json!(3.0), &json!(false)));
    for flow in traffic["flows"].as_array().unwrap() {
        let id = flow["id"].as_str().unwrap();
        let rows: Vec<Row> = samples.of("flow", id).collect();
        let last = rows.last().unwrap();
        assert!(rows.is_sorted_by(|a, b| a.number("time_ns") < b.number("time_ns")), "{id}");
        assert_eq!(json!(last.number("received_bytes") as u64), flow["received_bytes"], "{id}");
        if flow["udp"].is_null() {
            for (column, key) in [("retransmitted_segments", "retransmitted_segments"), ("busy_us", "busy_us")] {
                assert_eq!(json!(last.number(column) as u64), flow[key], "{id}: {column}");
            }
            let sent = last.number("bytes_sent") - last.number("bytes_retransmitted");
            assert_eq!(json!(sent as u64), flow["sent_bytes"], "{id}");
            assert_eq!(flow["cc_actual"], flow["cc_requested"], "{id}");
        } else {
            assert_eq!(json!(last.number("lost_packets") as u64), flow["udp"]["lost_packets"], "{id}");
            assert_eq!(json!(last.number("bytes_sent") as u64), flow["sent_bytes"], "{id}");
            assert_eq!(*last.get("cwnd_packets"), Cell::Null, "{id}");
        }
        assert!(rows.iter().all(|row| row.number("socket") == last.number("socket")), "{id}: one socket");
    }
    let sized = entry(&traffic["flows"], "id", "f5");
    assert_eq!((&sized["completed"], &sized["received_bytes"]), (&json!(true), &json!(100_000)));
    assert!(sized["end_ns"].as_i64().unwrap() < 3_000_000_000);
}

#[test]
fn packets_are_what_flows_send_and_receive() {
    let run = run(&plan());
    let (packets, traffic) = (run.table("packets"), run.json("traffic"));
    for flow in traffic["flows"].as_array().unwrap() {
        let id = flow["id"].as_str().unwrap();
        let rows = || packets.of("link", "bottleneck").filter(|row| row.text("flow") == id);
        let originals = rows().filter(|row| *row.get("duplicate") == Cell::Flag(false));
        let mut by_seq: BTreeMap<i128, i128> = BTreeMap::new();
        let mut sent = 0;
        for row in originals {
            sent += row.number("payload_bytes");
            if let Cell::Number(seq) = row.get("tcp_seq") {
                let bytes = by_seq.entry(*seq).or_default();
                *bytes = row.number("payload_bytes").max(*bytes);
            }
        }
        let arrived = sum(rows().filter(|row| *row.get("sent_ns") != Cell::Null), "payload_bytes");
        assert!(arrived >= i128::from(flow["received_bytes"].as_u64().unwrap()), "{id}");
        if flow["udp"].is_null() {
            let last = run.table("samples");
            let last = last.of("flow", id).last().unwrap();
            assert_eq!(sent, last.number("bytes_sent"), "{id}");
            let first: i128 = by_seq.values().sum();
            assert_eq!(json!(first as u64), flow["sent_bytes"], "{id}: each byte once");
        } else {
            assert_eq!(json!(sent as u64), flow["sent_bytes"], "{id}");
            let udp = &flow["udp"];
            assert_eq!(
                json!(rows().count() as u64),
                json!(udp["sent_packets"].as_u64().unwrap() + duplicates(&run, id))
            );
            assert!(udp["one_way_delay_us"]["p50"].as_f64().unwrap() > 10_000.0, "{udp}");
            assert!(
                udp["reordered_packets"].as_u64().unwrap() + udp["duplicate_packets"].as_u64().unwrap() > 0,
                "{udp}"
            );
        }
    }
}

fn duplicates(run: &Run, flow: &str) -> u64 {
    let packets = run.table("packets");
    let copies = packets.of("link", "bottleneck").filter(|row| row.text("flow") == flow);
    copies.filter(|row| *row.get("duplicate") == Cell::Flag(true)).count() as u64
}

#[test]
fn samples_show_what_the_acknowledgements_before_them_have_made() {
    let run = run(&plan());
    let (samples, acks) = (run.table("samples"), run.table("acks"));
    for id in ["f1", "f2", "f3", "f4", "f5"] {
        let rows: Vec<Row> = acks.of("flow", id).collect();
        assert!(rows.len() > 40 && rows.iter().all(|row| row.text("moment") == "after"), "{id}");
        for counter in ["delivered_packets", "snd_una_bytes", "lost_total_packets", "retransmitted_segments", "time_ns"]
        {
            assert!(rows.is_sorted_by_key(|row| row.number(counter)), "{id}: {counter}");
        }
        assert!(rows.iter().all(|row| row.number("snd_una_bytes") <= row.number("snd_nxt_bytes")), "{id}");
        let mut compared = 0;
        for sample in samples.of("flow", id) {
            let before = rows.iter().rev().find(|row| row.number("time_ns") <= sample.number("time_ns"));
            let Some(before) = before else { continue };
            // Only an acknowledgement can change these. A timer may have changed the rest meanwhile.
            for column in ["delivered_packets", "srtt_us", "min_rtt_us", "delivery_rate_bps", "delivered_ce_packets"] {
                assert_eq!(before.get(column), sample.get(column), "{id}: {column} at {}", sample.number("time_ns"));
            }
            let acked = before.number("snd_una_bytes");
            assert!((0..=1).contains(&(acked - sample.number("bytes_acked"))), "{id}: a FIN is no payload");
            compared += 1;
        }
        assert!(compared > 10, "{id}: {compared}");
    }
}

#[test]
fn a_flow_that_never_connects_says_so() {
    let lost = json!({"loss_before": [{"model": "independent", "probability": 1.0}]});
    let run = run(&Dumbbell::new(10, 20.0).seconds(2.0).flow(bulk("cubic"), 0.0).with(lost).plan());
    let traffic = run.json("traffic");
    let flow = &traffic["flows"][0];
    assert_eq!((&flow["cc_requested"], &flow["cc_actual"]), (&json!("cubic"), &Value::Null));
    assert_eq!((&flow["error"], &flow["completed"]), (&json!("it was not connected when it stopped"), &json!(false)));
    assert_eq!(run.table("samples").rows().count(), 0, "no socket, no sample");
}
