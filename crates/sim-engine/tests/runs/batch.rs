//! Many runs: the same tables however they are carried out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sim::Objects;
use sim_engine::batch::{Batch, Judged, Progress, Run, Screen, Verdict, missing, simulate_many};

/// A plan: two flows on 10 Mbit/s for a second, with random loss, so that each seed is another run.
fn plan(cc: &str) -> Value {
    let link = |name: &str, from: &str, to: &str| {
        json!({"name": name, "from": from, "to": to, "rate_bps": 10_000_000, "delay_ns": 10_000_000,
            "buffer": {"bytes": 25_000}, "overhead_bytes": 0,
            "loss_before": [{"model": "independent", "probability": 0.01}]})
    };
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    let flow = |id: &str, start: i64| {
        json!({"id": id, "from": "a", "to": "b", "start_ns": start, "stop_ns": 1_000_000_000, "port": 5001,
            "workload": {"kind": "tcp", "cc": cc, "bytes": null, "ecn": false}})
    };
    json!({"name": "batch", "duration_ns": 1_000_000_000, "seed": 1,
        "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2")],
        "links": [link("there", "a", "b"), link("back", "b", "a")],
        "flows": [flow("f1", 0), flow("f2", 100_000_000)],
        "record": {"sample_interval_ns": 10_000_000, "packets": false},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}})
}

fn plans() -> Vec<String> {
    vec![plan("cubic").to_string(), plan("bbr").to_string(), plan("no-such").to_string()]
}

fn runs(count: usize) -> Vec<Run> {
    let run = |index: usize| Run {
        cell: (index % 3) as u32,
        plan: (index % 3) as u32,
        repetition: (index / 3) as u32,
        seed: 1 + (index / 3) as u64,
        id: format!("{index:012x}"),
    };
    (0..count).map(run).collect()
}

fn nobody_asks(_: u32, _: &str) -> anyhow::Result<Judged> {
    unreachable!("all are sound")
}

fn carry_out(directory: &Path, runs: &[Run], threads: usize, on_progress: impl FnMut(&Progress) -> bool) -> bool {
    let plans = plans();
    let batch = Batch {
        plans: &plans,
        objects: &Objects::new(),
        runs,
        first: 0,
        own: None,
        directory,
        shard_runs: 4,
        threads,
        quic: None,
        screen: None,
    };
    simulate_many(&batch, nobody_asks, on_progress).unwrap()
}

/// All files below a directory, with their content.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for shard in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        for file in fs::read_dir(shard.path()).unwrap().map(Result::unwrap) {
            let name = format!("{}/{}", shard.file_name().display(), file.file_name().display());
            found.insert(name, fs::read(file.path()).unwrap());
        }
    }
    found
}

#[test]
fn the_same_bytes_whatever_the_number_of_threads() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut last = Progress::default();
    let stopped = carry_out(one.path(), &runs(30), 1, |progress| {
        last = *progress;
        true
    });
    assert!(!stopped);
    assert_eq!((last.runs, last.of, last.found, last.failed), (30, 30, 0, 10));
    assert!(last.packets > 1000 && last.simulated_s == 20.0 && last.cpu_s > 0.0, "{last:?}");
    assert!(!carry_out(many.path(), &runs(30), 4, |_| true));
    let (one, many) = (files(one.path()), files(many.path()));
    assert_eq!(one.len(), 8 * 3);
    assert!(one.contains_key("00000028-00000029/flows.parquet"));
    assert!(one == many, "tables differ");
}

#[test]
fn parts_of_a_study_by_themselves_have_the_bytes_of_the_whole() {
    let (whole, parts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    carry_out(whole.path(), &runs(10), 2, |_| true);
    let (plans, runs) = (plans(), runs(10));
    for numbers in missing(parts.path(), 0..10, 4).unwrap() {
        let first = numbers.start;
        let batch = Batch {
            plans: &plans,
            objects: &Objects::new(),
            runs: &runs[numbers],
            first,
            own: None,
            directory: parts.path(),
            shard_runs: 4,
            threads: 1,
            quic: None,
            screen: None,
        };
        assert!(!simulate_many(&batch, nobody_asks, |_| true).unwrap());
    }
    assert!(files(whole.path()) == files(parts.path()), "tables differ");
}

#[test]
fn a_batch_of_two_programs_has_the_rows_of_one() {
    let (alone, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (plans, runs) = (plans(), runs(12));
    let objects = Objects::new();
    let batch = |runs, first, own, directory| Batch {
        plans: &plans,
        objects: &objects,
        runs,
        first,
        own,
        directory,
        shard_runs: 4,
        threads: 2,
        quic: None,
        screen: None,
    };
    let first: Vec<bool> = (0..12).map(|index| [0, 1, 5, 6, 7, 11].contains(&index)).collect();
    let second: Vec<bool> = first.iter().map(|own| !own).collect();
    // The first program again: its runs are there.
    for (own, found) in [(&first, 0), (&second, 0), (&first, 6)] {
        let mut last = Progress::default();
        let stopped = simulate_many(&batch(&runs, 0, Some(own.as_slice()), shared.path()), nobody_asks, |progress| {
            last = *progress;
            true
        });
        assert!(!stopped.unwrap());
        assert_eq!((last.runs, last.of, last.found), (6, 6, found));
    }
    for stretch in [0..2, 2..4, 4..5, 5..8, 8..11, 11..12] {
        simulate_many(&batch(&runs[stretch.clone()], stretch.start, None, alone.path()), nobody_asks, |_| true)
            .unwrap();
    }
    assert!(files(alone.path()) == files(shared.path()), "tables differ");
}

#[test]
fn a_run_may_have_another_plan_than_its_cells() {
    let directory = tempfile::tempdir().unwrap();
    let mut last = Progress::default();
    // The third plan can't be simulated.
    let runs: Vec<Run> = runs(1).into_iter().map(|run| Run { plan: 2, ..run }).collect();
    carry_out(directory.path(), &runs, 1, |progress| {
        last = *progress;
        true
    });
    assert_eq!((last.runs, last.failed), (1, 1));
}

#[test]
fn who_does_not_look_sound_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let sound = |cc| {
        let mut plan = plan(cc);
        for link in plan["links"].as_array_mut().unwrap() {
            link["loss_before"] = json!([]);
        }
        plan.to_string()
    };
    let (plans, runs) = ([sound("cubic"), sound("bbr"), sound("no-such")], runs(6));
    // Windows of one packet: no run with TCP has less.
    let screen = |window_packets| Some(Screen { limited_share: 1.0, window_packets });
    let batch = Batch {
        plans: &plans,
        objects: &Objects::new(),
        runs: &runs,
        first: 0,
        own: None,
        directory: directory.path(),
        shard_runs: 6,
        threads: 2,
        quic: None,
        screen: screen(1),
    };
    let mut asked = Vec::new();
    let mut last = Progress::default();
    let judge = |plan: u32, evidence: &str| {
        let told: Value = serde_json::from_str(evidence)?;
        assert_eq!(told["network"]["links"][0]["name"], "there");
        assert_eq!(told["traffic"]["flows"][1]["id"], "f2");
        assert!(told["min_rtt_us"]["f1"].as_u64().unwrap() >= 20_000, "{evidence}");
        assert!(told["largest_window"].as_u64().unwrap() >= 10, "{evidence}");
        asked.push(plan);
        let verdict = if plan == 0 { Verdict::Suspect } else { Verdict::Invalid };
        Ok(Judged { verdict, reasons: Some("why".into()) })
    };
    simulate_many(&batch, judge, |progress| {
        last = *progress;
        true
    })
    .unwrap();
    asked.sort_unstable();
    // The third plan can't be simulated; the second is invalid, which counts as failed.
    assert_eq!((asked, last.failed), (vec![0, 0, 1, 1], 4));
    let nobody = tempfile::tempdir().unwrap();
    let batch = Batch { directory: nobody.path(), screen: screen(1 << 20), ..batch };
    simulate_many(&batch, nobody_asks, |_| true).unwrap();
}

#[test]
fn what_is_there_is_not_done_again() {
    let directory = tempfile::tempdir().unwrap();
    carry_out(directory.path(), &runs(8), 2, |_| true);
    let before = files(directory.path());
    let mut first = None;
    carry_out(directory.path(), &runs(10), 2, |progress| {
        first.get_or_insert(*progress);
        true
    });
    assert_eq!(first.map(|progress| (progress.runs, progress.found, progress.of)), Some((8, 8, 10)));
    let after = files(directory.path());
    assert_eq!(after.len(), before.len() + 3);
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)));
}

#[test]
fn a_batch_that_was_stopped_goes_on_where_it_was() {
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(carry_out(stopped.path(), &runs(100_000), 2, |progress| progress.wall_s == 0.0));
    let kept = files(stopped.path());
    // The same number of runs again: shards that were cut short stay, and others fill the gaps.
    let count = 8 * kept.len();
    let mut found = 0;
    carry_out(stopped.path(), &runs(count), 2, |progress| {
        found = progress.found;
        true
    });
    carry_out(whole.path(), &runs(count), 2, |_| true);
    assert!(found > 0, "nothing was kept");
    let (now, whole) = (files(stopped.path()), files(whole.path()));
    assert!(kept.iter().all(|(name, bytes)| now.get(name) == Some(bytes)));
    let same = whole.iter().filter(|(name, bytes)| now.get(*name) == Some(*bytes)).count();
    assert!(same > whole.len() / 2, "{same} of {} files are the same", whole.len());
}

#[test]
fn a_disk_that_takes_nothing_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let (plans, runs) = (plans(), runs(3));
    let batch = Batch {
        plans: &plans,
        objects: &Objects::new(),
        runs: &runs,
        first: 0,
        own: None,
        directory: &file,
        shard_runs: 4,
        threads: 1,
        quic: None,
        screen: None,
    };
    let error = simulate_many(&batch, nobody_asks, |_| true).unwrap_err();
    assert!(format!("{error:#}").contains("file"), "{error:#}");
}
