//! Applications that write and pause.

use crate::common::{Dumbbell, bulk};
use plan::Plan;
use serde_json::{Value, json};
use sim::{FlowRow, Observer, Options, Simulation};
use units::Time;

/// Payload sent and received, and cwnd, of the first flow at each sample.
#[derive(Default)]
struct Samples(Vec<(Time, u64, u64, u32)>);

impl Observer for Samples {
    const SAMPLES: bool = true;
    fn flow(&mut self, row: &FlowRow<'_>) {
        if row.flow == 0 {
            let cwnd = row.sender.map_or(0, |sender| sender.socket().snd_cwnd);
            self.0.push((row.time, row.bytes_sent, row.received_bytes, cwnd));
        }
    }
}

impl Samples {
    /// Payload sent by a time.
    fn sent_by(&self, ms: i64) -> u64 {
        self.0.iter().take_while(|row| row.0 <= Time(ms * 1_000_000)).last().map_or(0, |row| row.1)
    }

    fn received_by(&self, ms: i64) -> u64 {
        self.0.iter().take_while(|row| row.0 <= Time(ms * 1_000_000)).last().map_or(0, |row| row.2)
    }

    fn cwnd_at(&self, ms: i64) -> u32 {
        self.0.iter().take_while(|row| row.0 <= Time(ms * 1_000_000)).last().map_or(0, |row| row.3)
    }
}

fn run(plan: &Plan) -> (sim::FlowReport, Samples) {
    let mut simulation = Simulation::new(plan, Options::default(), Samples::default()).unwrap();
    simulation.run();
    simulation.finish();
    let report = simulation.reports().next().unwrap();
    (report, simulation.into_observer())
}

fn tcp(on: Value, off_ms: u64) -> Value {
    let mut workload = bulk("cubic");
    workload["on_off"] = json!({"on": on, "off_ns": off_ms * 1_000_000});
    workload
}

/// 1 s on and 1 s off, at 10 Mbit/s and 40 ms, with room for all that slow start sends too much.
fn seconds(sysctl: Value) -> Plan {
    let plan = Dumbbell::new(10, 40.0).buffer_bdp(8.0).seconds(6.0);
    let mut plan = plan.flow(tcp(json!({"ns": 1_000_000_000}), 1000), 0.0).plan();
    for node in &mut plan.nodes {
        if let plan::Node::Host { sysctl: settings, .. } = node {
            *settings = serde_json::from_value(sysctl.clone()).unwrap();
        }
    }
    plan
}

#[test]
fn nothing_is_sent_in_a_pause_but_what_was_written() {
    let (report, samples) = run(&seconds(json!({})));
    assert!(report.completed && report.retransmitted_segments == 0, "{report:?}");
    for second in [1, 3, 5] {
        let (begin, end) = (samples.sent_by(second * 1000), samples.sent_by(second * 1000 + 999));
        assert!(end - begin <= u64::from(plan::OnOff::AHEAD_BYTES) + 2 * 1448, "{second} s: {} bytes", end - begin);
        assert_eq!(samples.sent_by(second * 1000 + 300), end, "{second} s");
        let burst = samples.received_by(second * 1000) - samples.received_by(second * 1000 - 999);
        // 10 Mbit/s are 1.2 MB of payload; slow start and the handshake take some of it.
        assert!((900_000..=1_250_000).contains(&burst), "{second} s: {burst} bytes");
    }
    assert_eq!(report.received_bytes, report.sent_bytes, "all of it arrives in the last pause");
}

#[test]
fn after_a_pause_the_window_begins_anew_unless_the_host_says_otherwise() {
    for (setting, restarts) in [("1", true), ("0", false)] {
        let (_, samples) = run(&seconds(json!({"net.ipv4.tcp_slow_start_after_idle": setting})));
        let (before, after) = (samples.cwnd_at(1_990), samples.cwnd_at(2_010));
        assert!(before > 30, "{before}");
        // RFC 5681 section 4.1: the initial window at most, 10 segments here.
        assert_eq!((after <= 10, after >= before), (restarts, !restarts), "{setting}: {before}, {after}");
    }
}

#[test]
fn a_burst_of_bytes_ends_when_it_has_arrived() {
    let plan = Dumbbell::new(10, 40.0).seconds(5.0).flow(tcp(json!({"bytes": 100_000}), 500), 0.0).plan();
    let (report, samples) = run(&plan);
    assert_eq!(report.received_bytes % 100_000, 0, "{report:?}");
    let times: Vec<i64> = (1..=report.received_bytes / 100_000)
        .map(|n| samples.0.iter().find(|row| row.2 == n * 100_000).unwrap().0.as_nanos() / 1_000_000)
        .collect();
    // A pause, and a burst of 100 kB: 80 ms at 10 Mbit/s, and some round trips of slow start.
    assert!(times.len() >= 5, "{times:?}");
    assert!(times.windows(2).all(|pair| (600..850).contains(&(pair[1] - pair[0]))), "{times:?}");
}

#[test]
fn datagrams_come_in_bursts() {
    // 500 datagrams a second, every other 100 ms.
    let udp = json!({"kind": "udp", "rate_bps": 4_000_000, "payload_bytes": 958, "bytes": null,
        "on_off": {"on": {"ns": 100_000_000}, "off_ns": 100_000_000}});
    let plan = Dumbbell::new(10, 20.0).seconds(1.0).flow(udp, 0.0).plan();
    let (report, samples) = run(&plan);
    assert_eq!(report.datagrams.unwrap().sent, 250);
    let sent = |ms| samples.sent_by(ms) / 958;
    assert_eq!([100, 190, 300, 390].map(sent), [50, 50, 100, 100]);
}

#[test]
fn on_and_off_is_the_same_each_time() {
    let plan = || Dumbbell::new(10, 40.0).seconds(3.0).flow(tcp(json!({"bytes": 50_000}), 100), 0.0).plan();
    assert_eq!(run(&plan()).0, run(&plan()).0);
    assert!(run(&plan()).0.received_bytes > 300_000);
}
