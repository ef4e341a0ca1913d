use std::fs::{self, File};
use std::path::Path;

use link::{Counters, Ecn, Fate, Packet, Passage};
use plan::{Spread, Workload};
use records::links::LinkRow;
use records::packets::PacketRow;
use records::routes::{Change, RouteRow};
use records::samples::Sample;
use records::{Names, Row, Writer};
use serde_json::{Value, json};
use units::Rate;

use super::*;
use crate::rerouting::tests::plan as rerouted;

const MS: i64 = 1_000_000;

/// The rerouted network with queues of 8 Mbit/s on both ways, a flow without an end, and one of 50 kB.
fn plan() -> Plan {
    let mut plan = rerouted();
    plan.spread = Spread::Flows;
    plan.record.sample_interval_ns = Duration::from_millis(100);
    for link in plan.links.iter_mut().filter(|link| ["near", "far1", "far2"].contains(&link.name.as_str())) {
        link.rate_bps = Rate::from_bps(8_000_000);
    }
    let mut sized = plan::Flow { id: "f2".into(), port: 5002, ..plan.flows[0].clone() };
    sized.workload = Workload::Tcp { cc: "cubic".into(), bytes: Some(50_000), ecn: false, on_off: None };
    plan.flows.push(sized);
    plan
}

fn write<R: Row>(directory: &Path, plan: &Plan, rows: impl IntoIterator<Item = R>) {
    let mut table = Writer::create(&directory.join(R::TABLE).with_extension("parquet"), Names::of(plan)).unwrap();
    rows.into_iter().for_each(|row| table.push(row));
    table.finish().unwrap();
}

fn index(plan: &Plan, name: &str) -> u16 {
    plan.links.iter().position(|link| link.name == name).unwrap() as u16
}

/// All of a run but its packets. `far1` has a queue for 600 ms, in which it sends all that it can, then half of that.
fn write_run(directory: &Path, plan: &Plan) {
    let report = |id: &str, end_ms: i64| FlowReport {
        id: id.into(),
        start_ns: Some(0),
        end_ns: Some(end_ms * MS),
        completed: true,
        received_bytes: 50_000,
        ..FlowReport::default()
    };
    let links = plan.links.iter().rev().map(|spec| LinkReport::from((spec, &link::Link::new(spec, 1))));
    let traffic = json!({"wall_s": 1.0, "interrupted": false, "flows": [report("f2", 400), report("f1", 899)]});
    fs::write(directory.join("traffic.json"), traffic.to_string()).unwrap();
    fs::write(directory.join("simulator.json"), json!({"links": links.collect::<Vec<_>>()}).to_string()).unwrap();
    let sample = |flow| Sample {
        time: Time(400 * MS),
        flow,
        socket: 1,
        bytes_sent: 100_000,
        received_bytes: Some(50_000),
        lost_packets: 0,
        account: None,
    };
    write(directory, plan, [0, 1].map(sample));
    write(
        directory,
        plan,
        (1..=10_u64).map(|step| {
            let counters = Counters {
                departed_bytes: 100_000 * step.min(6) + 50_000 * step.saturating_sub(6),
                departed_packets: 100 * step,
                marked_packets: 25 * step,
                ..Counters::default()
            };
            LinkRow {
                time: Time(step as i64 * 100 * MS),
                link: index(plan, "far1"),
                counters,
                backlog: link::Backlog { bytes: if step <= 6 { 3_000 } else { 0 }, packets: 0 },
                queue_bytes_max: 4_500,
                capacity_bytes: Some(100_000 * step),
            }
        }),
    );
    let route = |(ms, router): (i64, &str)| RouteRow {
        time: Time(ms * MS),
        router: router.into(),
        prefix: "10.0.2.0/24".into(),
        via: None,
        interface: None,
        metric: 20,
        protocol: "ospf".into(),
        change: Change::Replaced,
    };
    write(directory, plan, [(-5, "r3"), (150, "r1"), (180, "r2"), (200, "r1")].map(route));
}

/// Packets on the far way: their flow, codepoint, and times in its two queues, ms.
fn write_packets(directory: &Path, plan: &Plan, packets: &[(u16, Ecn, [i64; 2])]) {
    let row = |id: u64, (flow, ecn): (u16, Ecn), name: &str, arrival_ms: i64, wait_ms: i64| {
        let arrival = Time(arrival_ms * MS);
        let departure = arrival + Duration::from_millis(wait_ms);
        let passage = Passage {
            packet: Packet { id, size: 1000, flow, ecn, ..Packet::default() },
            arrival,
            queue_bytes: 0,
            queue_packets: 0,
            sojourn: Some(Duration::from_millis(wait_ms)),
            departure: Some(departure),
            delivery: Some(departure + Duration::from_millis(1)),
            fate: Fate::Delivered,
            mark: None,
            duplicate: false,
            reordered: None,
            corruption: None,
        };
        PacketRow { link: index(plan, name), payload_bytes: 900, tcp_seq: None, passage, sent: None }
    };
    let both = |(id, &(flow, ecn, [first, second])): (u64, &(u16, Ecn, [i64; 2]))| {
        let start = 150 + 20 * id as i64;
        [row(id, (flow, ecn), "far1", start, first), row(id, (flow, ecn), "far2", start + first + 1, second)]
    };
    write(directory, plan, (0..).zip(packets).flat_map(both));
}

#[test]
fn a_run_on_disk_has_the_figures_of_its_tables() {
    let (plan, directory) = (plan(), tempfile::tempdir().unwrap());
    write_run(directory.path(), &plan);
    let summary = || {
        read(&|name| File::open(directory.path().join(name)), &plan, "simulator.json", &|| Ok(()))
            .unwrap()
            .summary(&plan)
            .unwrap()
    };
    let far1 = usize::from(index(&plan, "far1"));
    let expect = |of: &Value, figures: &[(&str, Value)]| {
        figures.iter().for_each(|(key, value)| assert_eq!(&of[*key], value, "{key}"));
    };

    // Without packets, ways are the plan's, and waiting bytes tell for how long packets wait.
    let found = summary();
    expect(
        &found["links"][far1],
        &[
            ("utilisation", json!(0.8)),
            ("utilisation_busy", json!(1.0)),
            ("marked_share", json!(0.25)),
            ("queue_ms", json!({"p50": 3.0, "p95": 3.0, "max": 4.5})),
            ("bottleneck_share", Value::Null),
        ],
    );
    expect(
        &found["flows"][0],
        &[
            ("id", json!("f1")),
            ("protocol", json!("tcp")),
            ("base_rtt_ms", json!(2.0)),
            ("queue_ms", Value::Null),
            ("fct_s", Value::Null),
        ],
    );
    expect(&found["flows"][1], &[("fct_s", json!(0.4)), ("goodput_bps", json!(1e6)), ("throughput_bps", json!(2e6))]);
    let event = &found["rerouting"][0];
    expect(event, &[("converged_s", json!(0.1)), ("changes", json!(3)), ("routers", json!(2))]);
    expect(event, &[("lost_packets", Value::Null)]);

    // Packets tell the ways that were really taken, and their own waits.
    let packets = [(0, Ecn::Ect0, [1, 2]), (0, Ecn::Ce, [2, 3]), (1, Ecn::NotEct, [0, 0])];
    write_packets(directory.path(), &plan, &packets);
    let found = summary();
    expect(
        &found["links"][far1],
        &[("queue_ms", json!({"p50": 1.0, "p95": 1.9, "max": 2.0})), ("bottleneck_share", json!(10.0 / 13.0))],
    );
    expect(
        &found["flows"][0],
        &[
            ("base_rtt_ms", json!(3.0)),
            ("queue_ms", json!({"p50": 4.0, "p95": 4.9, "max": 5.0})),
            ("ce_packets", json!(1)),
            ("ce_share", json!(0.5)),
            ("bottleneck", json!("far1")),
            ("bottleneck_share", json!(2.0 / 3.0)),
        ],
    );
    expect(&found["flows"][1], &[("bottleneck_share", json!(1.0)), ("ce_packets", Value::Null)]);
    expect(&found["rerouting"][0], &[("lost_packets", json!(0)), ("looped_packets", json!(0))]);
}

/// The utilisation of `far1` until flows are complete, after `change` of the plan and of the ends of flows with a size.
fn busy(change: impl Fn(&mut Plan, &mut Value)) -> Value {
    let (mut plan, directory) = (plan(), tempfile::tempdir().unwrap());
    write_run(directory.path(), &plan);
    let path = directory.path().join("traffic.json");
    let mut traffic: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut plan, &mut traffic["flows"]);
    fs::write(path, traffic.to_string()).unwrap();
    let run = read(&|name| File::open(directory.path().join(name)), &plan, "simulator.json", &|| Ok(())).unwrap();
    run.summary(&plan).unwrap()["links"][usize::from(index(&plan, "far1"))]["utilisation_busy"].clone()
}

#[test]
fn a_link_is_busy_until_the_last_flow_with_a_size_is_complete() {
    let ends = |ms: i64| move |_: &mut Plan, flows: &mut Value| flows[0]["end_ns"] = json!(ms * MS);
    // All that it can send until 600 ms, and half of that from then on; samples are 100 ms apart.
    assert_eq!([ends(600), ends(801), ends(1000)].map(busy), [json!(1.0), json!(7.0 / 8.0), json!(0.8)]);
    assert_eq!(busy(ends(99)), Value::Null, "no sample before");
    assert_eq!(busy(|_, flows| flows[0]["completed"] = json!(false)), Value::Null);
    let endless = |plan: &mut Plan, _: &mut Value| plan.flows[1].workload = plan.flows[0].workload.clone();
    assert_eq!(busy(endless), Value::Null, "no flow has a size");
}
