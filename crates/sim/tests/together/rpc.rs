//! Requests and answers: completion times against a calculation by hand, and what a seed decides.

use crate::common::Dumbbell;
use rows::Row;
use rows::kinds::{KindRow, RequestRow};
use serde_json::{Value, json};
use sim::{Observer, Options, Simulation};
use units::{Duration, Time};

#[derive(Default)]
struct Rows(Vec<RequestRow>);

impl Observer for Rows {
    fn kind(&mut self, row: &KindRow) {
        if let KindRow::RequestRow(row) = row {
            self.0.push(*row);
        }
    }
}

fn constant(bytes: u64) -> Value {
    json!({"kind": "constant", "bytes": bytes})
}

fn rpc(request: Value, answer: Value, pace: Value, requests: Option<u64>) -> Value {
    json!({"kind": "rpc", "cc": "cubic", "ecn": false, "request": request, "answer": answer, "pace": pace,
           "requests": requests})
}

fn closed(think_ms: i64) -> Value {
    json!({"kind": "closed", "outstanding": 1, "think_ns": think_ms * 1_000_000})
}

/// Hosts take no time, so that completion times are exact.
fn run(plan: &Dumbbell) -> (Vec<RequestRow>, sim::FlowReport) {
    let options = Options { turnaround: false, ..Options::default() };
    let mut simulation = Simulation::new(&plan.plan(), options, Rows::default()).unwrap();
    simulation.run();
    simulation.finish();
    let report = simulation.reports().next().unwrap();
    (simulation.into_observer().0, report)
}

#[test]
fn a_request_on_an_idle_path_takes_its_ideal_time() {
    let workload = rpc(constant(100), constant(1000), closed(7), Some(3));
    let (rows, report) = run(&Dumbbell::new(10, 40.0).seconds(1.0).flow(workload, 0.1));
    // Frames of 166 and 1066 B at 10 Mbit/s take 132.8 and 852.8 us, besides 40 ms. The server's quick ACK of 66 B goes
    // before its answer, and the handshake's before the first request: 52.8 us each.
    let (ideal, ack) = (Duration(40_000_000 + 132_800 + 852_800), Duration(52_800));
    assert_eq!(rows.len(), 3);
    // The handshake takes SYN and SYN-ACK of 74 B: 59.2 us each, besides 40 ms.
    let mut issued = Time(100_000_000 + 40_000_000 + 2 * 59_200);
    for (number, row) in (0..).zip(&rows) {
        let completion = if number == 0 { ideal + ack + ack } else { ideal + ack };
        let expected = RequestRow {
            flow: 0,
            number,
            issued,
            request_bytes: 100,
            answer_bytes: 1000,
            completion: Some(completion),
            ideal: Some(ideal),
        };
        assert_eq!(*row, expected);
        issued = issued + completion + Duration(7_000_000);
    }
    assert_eq!((report.completed, report.received_bytes, report.sent_bytes), (true, 3300, 3300));
    let fast =
        Dumbbell::new(1_000_000, 40.0).seconds(1.0).flow(rpc(constant(100), constant(1000), closed(7), None), 0.0);
    let column = RequestRow::COLUMNS.iter().find(|column| column.name == "slowdown").unwrap();
    let slowdowns =
        run(&fast).0.iter().map(|row| column.number(row)).filter(|slowdown| !slowdown.is_nan()).collect::<Vec<_>>();
    assert!(
        slowdowns.len() > 15 && slowdowns.iter().all(|slowdown| (1.0..1.000_001).contains(slowdown)),
        "{slowdowns:?}"
    );
}

#[test]
fn a_long_answer_takes_what_its_slow_start_adds() {
    let workload = rpc(constant(100), constant(100_000), closed(0), Some(1));
    let (rows, _) = run(&Dumbbell::new(100, 40.0).seconds(2.0).flow(workload, 0.0));
    // 70 segments go in rounds of 10, 20 and 40: two round trips more than the ideal, give or take what the last
    // window's transmission takes less than the whole.
    let (completion, ideal) = (rows[0].completion.unwrap(), rows[0].ideal.unwrap());
    let more = (completion.as_nanos() - ideal.as_nanos()) as f64 / 1e6;
    assert!((72.0..84.0).contains(&more), "{more} ms more than {ideal:?}");
}

#[test]
fn an_open_loop_keeps_its_rate_whatever_is_answered() {
    let pace = json!({"kind": "open", "interval_ns": 1_000_000, "is_random": true});
    let workload = rpc(constant(100), constant(200), pace, None);
    let plan = |seed: u64| {
        let mut plan = Dumbbell::new(100, 10.0).seconds(20.0).flow(workload.clone(), 0.0).plan();
        plan.seed = seed;
        let mut simulation = Simulation::new(&plan, Options::default(), Rows::default()).unwrap();
        simulation.run();
        simulation.finish();
        simulation.into_observer().0
    };
    let rows = plan(1);
    // 20,000 arrivals of a Poisson process: standard deviation 141.
    assert!((rows.len() as i64 - 20_000).abs() < 4 * 141, "{}", rows.len());
    assert!(rows.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
    assert_eq!(rows, plan(1));
    assert_ne!(rows[..100], plan(2)[..100]);
    // Times between them: the share above the mean is 1/e.
    let gaps = rows.windows(2).map(|pair| pair[1].issued - pair[0].issued);
    let long = gaps.filter(|gap| gap.as_nanos() > 1_000_000).count() as f64 / rows.len() as f64;
    assert!((long - (-1f64).exp()).abs() < 0.015, "{long}");
}

#[test]
fn data_go_both_ways_through_losses() {
    let workload = rpc(constant(50_000), constant(50_000), closed(0), Some(40));
    let lossy = json!({"loss_before": [{"model": "periodic", "every": 37, "offset": 2}]});
    let (rows, report) = run(&Dumbbell::new(20, 10.0).seconds(60.0).flow(workload, 0.0).with(lossy));
    assert!(rows.len() == 40 && rows.iter().all(|row| row.completion >= row.ideal), "{rows:?}");
    assert!(report.completed && report.retransmitted_segments >= 20, "{report:?}");
    assert_eq!((report.received_bytes, report.sent_bytes), (4_000_000, 4_000_000));
}

#[test]
fn dctcp_marks_answers_and_requests() {
    for cc in cc::NAMES {
        let mut workload = rpc(constant(200_000), constant(200_000), closed(0), Some(10));
        workload["cc"] = json!(cc);
        let (rows, report) = run(&Dumbbell::new(50, 5.0).seconds(20.0).flow(workload, 0.0));
        assert!(report.completed && rows.len() == 10, "{cc}: {report:?}");
    }
}
