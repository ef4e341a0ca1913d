//! Runs that end before their time, and the records that they leave.

use crate::common::{Dumbbell, TABLES, bulk, directory, run_with, time_of};
use anyhow::bail;
use plan::Plan;
use sim::Options;

fn plan() -> Plan {
    Dumbbell::new(100, 20.0).seconds(2.0).flow(bulk("cubic"), 0.0).plan()
}

#[test]
fn progress_is_told_from_the_start_to_the_end() {
    let mut times = Vec::new();
    let run = run_with(&plan(), &mut |event| {
        times.push(time_of(event));
        Ok(true)
    });
    assert!(!run.unwrap().interrupted);
    assert_eq!((times.first(), times.last()), (Some(&0), Some(&2_000_000_000)));
    assert!(times.is_sorted());
}

#[test]
fn a_run_that_is_stopped_at_once_has_simulated_nothing() {
    let run = run_with(&plan(), &mut |_| Ok(false)).unwrap();
    assert!(run.interrupted);
    let (traffic, simulator) = (run.json("traffic"), run.json("simulator"));
    assert_eq!((&traffic["interrupted"], &traffic["wall_s"]), (&true.into(), &0.0.into()));
    assert_eq!(traffic["flows"][0]["start_ns"], serde_json::Value::Null);
    assert_eq!(simulator["packets"], 0);
    for table in TABLES {
        assert_eq!(run.table(table).rows().count(), 0, "{table}");
    }
}

#[test]
fn a_run_that_is_stopped_in_the_middle_keeps_what_was_simulated() {
    // An hour, of which nobody waits for more than a part.
    let plan = Dumbbell::new(100, 20.0).seconds(3600.0).flow(bulk("bbr"), 0.0).plan();
    let mut told = 0;
    let run = run_with(&plan, &mut |_| {
        told += 1;
        Ok(told < 3)
    });
    let run = run.unwrap();
    assert!(run.interrupted);
    let (traffic, samples, links) = (run.json("traffic"), run.table("samples"), run.table("links"));
    let end_ns = (traffic["wall_s"].as_f64().unwrap() * 1e9).round() as i128;
    assert!((1..3_600_000_000_000).contains(&end_ns));
    assert_eq!(samples.rows().last().unwrap().number("time_ns"), end_ns, "the last sample is of the end");
    assert!(links.rows().last().unwrap().number("time_ns") <= end_ns);
    assert_eq!(run.json("simulator")["simulated_s"], traffic["wall_s"]);
    assert_eq!(traffic["flows"][0]["completed"], false);
    let packets = run.table("packets");
    let inside = packets.of("fate", "inside").count();
    assert_eq!(run.json("simulator")["inside_packets"], inside);
    assert!(inside > 0);
}

#[test]
fn who_is_told_may_fail_and_the_records_are_there() {
    let directory = directory(&plan());
    let error = sim_engine::simulate(directory.path(), Options::default(), &mut |_| bail!("no more"));
    assert_eq!(error.unwrap_err().to_string(), "no more");
    let left = |name: &str| directory.path().join(name).exists();
    assert!(left("samples.parquet") && left("traffic.json") && left("simulator.json"));
}

#[test]
fn a_panic_becomes_an_error_that_keeps_the_tables() {
    let directory = directory(&Dumbbell::new(100, 20.0).seconds(3600.0).flow(bulk("cubic"), 0.0).plan());
    let mut told = 0;
    let error = sim_engine::simulate(directory.path(), Options::default(), &mut |_| {
        told += 1;
        assert!(told < 3, "out of its mind");
        Ok(true)
    });
    let error = format!("{:#}", error.unwrap_err());
    assert!(error.contains("the simulation stopped: a bug in the simulator: out of its mind"), "{error}");
    for table in TABLES {
        let table = crate::common::Table::read(&directory.path().join(format!("{table}.parquet")));
        assert!(table.rows().count() > 0);
    }
}

#[test]
fn what_cannot_be_simulated_leaves_nothing_behind() {
    let refused = |plan: &Plan| {
        let directory = directory(plan);
        let error = sim_engine::simulate(directory.path(), Options::default(), &mut |_| Ok(true)).unwrap_err();
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "plan.json alone");
        format!("{error:#}")
    };
    let mut plan = Dumbbell::new(100, 20.0).flow(bulk("illinois"), 0.0).plan();
    assert!(refused(&plan).starts_with("flow f1: the congestion control illinois: "), "{}", refused(&plan));
    plan.flows[0].from = "nobody".into();
    assert!(refused(&plan).contains("nobody"), "{}", refused(&plan));
}
