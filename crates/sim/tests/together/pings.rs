//! Flows that ping: exact round trips, losses, and what load adds to them.

use crate::common::{Dumbbell, bulk};
use rows::kinds::{KindRow, PingRow};
use serde_json::{Value, json};
use sim::{Observer, Options, Simulation};
use units::{Duration, Time};

#[derive(Default)]
struct Echoes(Vec<PingRow>);

impl Observer for Echoes {
    fn kind(&mut self, row: &KindRow) {
        if let KindRow::PingRow(row) = row {
            self.0.push(*row);
        }
    }
}

fn ping(interval_ms: i64) -> Value {
    json!({"kind": "ping", "interval_ns": interval_ms * 1_000_000, "payload_bytes": 56})
}

/// Hosts take no time, so that round trips are exact.
fn run(plan: &Dumbbell) -> (Vec<PingRow>, sim::FlowReport) {
    let options = Options { turnaround: false, ..Options::default() };
    let mut simulation = Simulation::new(&plan.plan(), options, Echoes::default()).unwrap();
    simulation.run();
    simulation.finish();
    let report = simulation.reports().next().unwrap();
    (simulation.into_observer().0, report)
}

#[test]
fn an_idle_path_takes_its_delays_and_two_transmissions() {
    // 56 + 42 bytes at 10 Mbit/s take 78.4 us each way, besides 40 ms.
    let (echoes, report) = run(&Dumbbell::new(10, 40.0).seconds(1.0).flow(ping(100), 0.05));
    let counts = report.echoes.unwrap();
    // Requests go at 50, 150, ... 950 ms; the last answer comes after 990.2 ms.
    assert_eq!((counts.sent, counts.answered, counts.lost, counts.duplicates), (10, 10, 0, 0));
    assert_eq!((report.sent_bytes, report.received_bytes), (560, 560));
    for (n, echo) in (0..).zip(&echoes) {
        let sent = Time(50_000_000 + 100_000_000 * n);
        let rtt = Some(Duration(40_000_000 + 2 * 78_400));
        assert_eq!(*echo, PingRow { flow: 0, number: n as u64, sent, rtt, is_lost: false });
    }
}

#[test]
fn a_request_under_way_at_the_end_is_neither_answered_nor_lost() {
    let (echoes, report) = run(&Dumbbell::new(10, 300.0).seconds(1.0).flow(ping(200), 0.0));
    let counts = report.echoes.unwrap();
    assert_eq!((counts.sent, counts.answered, counts.lost), (5, 4, 0));
    assert_eq!(echoes.last().unwrap().rtt, None);
}

#[test]
fn a_link_that_is_cut_loses_requests() {
    let mut plan = Dumbbell::new(10, 40.0).seconds(4.0).flow(ping(100), 0.0);
    plan = plan.with(json!({"loss_before": [{"model": "periodic", "every": 5, "offset": 2}]}));
    let (echoes, report) = run(&plan);
    let counts = report.echoes.unwrap();
    assert_eq!((counts.sent, counts.answered, counts.lost), (40, 32, 8));
    let lost: Vec<u64> = echoes.iter().filter(|echo| echo.is_lost).map(|echo| echo.number % 5).collect();
    assert_eq!(lost.len(), 8);
    assert!(lost.windows(2).all(|pair| pair[0] == pair[1]), "every fifth one: {lost:?}");
}

#[test]
fn a_bulk_flow_fills_the_buffer_before_pings() {
    // CUBIC fills a buffer of 2 BDP: 80 ms at most on top of 40.
    let plan = Dumbbell::new(10, 40.0).buffer_bdp(2.0).flow(ping(50), 0.0).flow(bulk("cubic"), 1.0);
    let (echoes, _) = run(&plan);
    let rtt_ms = |from: i64, to: i64| {
        let within = echoes.iter().filter(|e| (from..to).contains(&(e.sent.as_nanos() / 1_000_000)));
        let rtts: Vec<f64> = within.filter_map(|e| e.rtt).map(|rtt| rtt.as_nanos() as f64 / 1e6).collect();
        rtts.iter().sum::<f64>() / rtts.len() as f64
    };
    let (idle, loaded) = (rtt_ms(0, 900), rtt_ms(3000, 9800));
    assert!((40.0..40.2).contains(&idle), "{idle}");
    assert!((80.0..=120.3).contains(&loaded), "{loaded}");
    assert!(
        echoes.iter().filter_map(|e| e.rtt).all(|rtt| rtt.as_nanos() <= 121_500_000),
        "never more than both buffers"
    );
}
