//! A machine that stops and goes on computes the run that one without a stop computes, and says what it can't.

use serde_json::json;
use sim_wasm::{Asked, Machine};

fn plan(cc: &str) -> String {
    let link = |name: &str, from: &str, to: &str| {
        json!({"name": name, "from": from, "to": to, "rate_bps": 10_000_000, "delay_ns": 10_000_000,
            "buffer": {"bytes": 50_000}, "overhead_bytes": 0})
    };
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    json!({
        "name": "p", "duration_ns": 2_000_000_000i64, "seed": 1,
        "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
        "links": [link("there", "a", "b"), link("back", "b", "a")],
        "flows": [{"id": "f1", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 2_000_000_000i64, "port": 5001,
            "workload": {"kind": "tcp", "cc": cc, "bytes": null, "ecn": false}}],
        "record": {"sample_interval_ns": 10_000_000, "packets": true, "acks": "auto"},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
    })
    .to_string()
}

fn asked() -> Asked {
    let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Asked { samples: columns(&["time_ns", "flow", "srtt_us"]), links: columns(&["link", "queue_bytes"]), digests: true }
}

fn machine(cc: &str) -> Machine {
    Machine::new(&plan(cc), &asked()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn stops_make_no_difference() {
    let (mut whole, mut pieces) = (machine("cubic"), machine("cubic"));
    whole.run_until(i64::MAX / 2);
    let mut samples = Vec::new();
    while pieces.now_ns() < pieces.end_ns() {
        pieces.run_until(pieces.now_ns() + 7_654_321);
        samples.extend(pieces.samples());
    }
    let (one, other) = (whole.report(), pieces.report());
    assert_eq!(one.digests, other.digests);
    assert_eq!(one.packets, other.packets);
    assert_eq!(one.digests.keys().copied().collect::<Vec<_>>(), ["acks", "links", "packets", "samples"]);
    // Rows without a first RTT have NaN, which equals nothing.
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&whole.samples()), bits(&samples));
    assert!(samples.len() >= 3 * 190, "{}", samples.len());
    assert!(whole.samples().is_empty(), "rows are told once");
}

#[test]
fn digests_tell_runs_apart_and_cost_nothing_unasked() {
    let digests = |cc: &str| {
        let mut machine = machine(cc);
        machine.run_until(i64::MAX / 2);
        machine.report().digests
    };
    let (cubic, reno) = (digests("cubic"), digests("reno"));
    for (table, digest) in &cubic {
        assert_ne!(digest, &reno[table], "{table}");
    }
    let mut quiet = Machine::new(&plan("cubic"), &Asked { digests: false, ..asked() }).expect("it can be simulated");
    quiet.run_until(i64::MAX / 2);
    assert!(quiet.report().digests.is_empty());
    assert!(!quiet.links().is_empty());
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let refused = |plan: &str, asked: &Asked| Machine::new(plan, asked).err().expect("it is refused");
    assert!(refused(&plan("illinois"), &asked())[0].hint.contains("--engine emulate"));
    assert!(!refused("no plan", &asked())[0].what.is_empty());
    let unknown = Asked { samples: vec!["cwnd".into()], ..asked() };
    let [problem] = &refused(&plan("cubic"), &unknown)[..] else { panic!("one problem") };
    assert!(format!("{problem}").contains("no column cwnd"), "{problem}");
}
