//! A plan's algorithms: labels in the records, parameters in force.

use crate::common::{Dumbbell, Run, bulk, run};
use plan::Plan;
use serde_json::{Value, json};

/// A plan whose flows use `algorithms`, pairs of a bundled program's name and its parameters, under these as labels.
fn plan(dumbbell: Dumbbell, algorithms: &[(&str, Value)]) -> Plan {
    let label = |(name, parameters): &(&str, Value)| format!("{name} {parameters}");
    let mut plan = algorithms.iter().fold(dumbbell, |plan, one| plan.flow(bulk(&label(one)), 0.0)).plan();
    let entries = algorithms.iter().map(|one| {
        let source = json!({"kind": "bundled", "name": one.0});
        json!({"label": label(one), "source": source, "parameters": one.1, "sha256": "0"})
    });
    plan.algorithms = serde_json::from_value(entries.collect()).unwrap();
    plan
}

fn flows(run: &Run) -> Vec<Value> {
    run.json("traffic")["flows"].as_array().unwrap().clone()
}

#[test]
fn records_call_an_algorithm_by_its_label_and_run_what_it_means() {
    let gains = [("bbr3", json!({})), ("bbr3", json!({"startup_pacing_gain": 512, "up_pacing_gain": 300}))];
    let run = run(&plan(Dumbbell::new(20, 20.0).seconds(6.0), &gains));
    let labels: Vec<_> = flows(&run).iter().map(|flow| flow["cc_actual"].as_str().unwrap().to_owned()).collect();
    assert_eq!(labels[0], "bbr3 {}");
    assert!(labels[1].starts_with("bbr3 {") && labels[1].contains("startup_pacing_gain"));
    let acks = run.table("acks");
    for (flow, startup, up) in [("f1", 710.0 / 256.0, 1.25), ("f2", 2.0, 300.0 / 256.0)] {
        let gain = |state: &str| {
            let row = acks.of("flow", flow).find(|row| row.text("bbr_state") == state).expect(state);
            row.get("bbr_pacing_gain").clone()
        };
        assert_eq!(gain("startup"), crate::common::Cell::Float(startup), "{flow}");
        assert_eq!(gain("probe_bw_up"), crate::common::Cell::Float(up), "{flow}");
    }
}

#[test]
fn programs_for_comparison_are_simulated_by_their_twins() {
    let twins = [
        ("bpf_cubic", "cubic"),
        ("bpf_reno", "reno"),
        ("bpf_dctcp", "dctcp"),
        ("bpf_htcp", "htcp"),
        ("bpf_westwood", "westwood"),
    ];
    for (program, twin) in twins {
        let dumbbell = || Dumbbell::new(20, 20.0).seconds(3.0);
        let one = run(&plan(dumbbell(), &[(program, json!({}))]));
        let other = run(&dumbbell().flow(bulk(twin), 0.0).plan());
        assert!(one.bytes("acks") == other.bytes("acks"), "{program} and {twin} differ");
    }
}

#[test]
fn a_bbr_that_answers_marks_gets_each_of_them_echoed() {
    let queue = json!({"kind": "drop-tail", "ce_threshold": {"packets": 5}});
    for name in ["bbr2", "bbr3"] {
        let dumbbell = Dumbbell::new(50, 4.0).buffer_bdp(4.0).seconds(4.0).with(json!({"queue": queue}));
        let run = run(&plan(dumbbell, &[(name, json!({"ecn": true}))]));
        let last = run.table("samples");
        let counted = last.rows().last().unwrap().number("delivered_ce_packets");
        let packets = run.table("packets");
        let marked = packets.of("link", "bottleneck").filter(|row| *row.get("mark") != crate::common::Cell::Null);
        let marked = marked.filter(|row| row.text("fate") == "delivered").count() as i128;
        // Packets whose acknowledgements are still under way are not counted yet.
        assert!(marked > 50 && (marked - counted).abs() <= marked / 10, "{name}: {marked} marked, {counted} counted");
    }
}
