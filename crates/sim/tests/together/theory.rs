//! Whole connections, compared with theory.

use crate::common::{Dumbbell, bulk, sized};
use serde_json::json;
use sim::tcp::Sender;
use sim::{AckRow, FlowReport, Observer, Options, Simulation};
use units::Time;

/// The window after each ACK of each flow.
#[derive(Default)]
struct Windows(Vec<(Time, u16, u32)>);

impl Observer for Windows {
    const ACKS: bool = true;
    fn ack(&mut self, row: &AckRow<'_>) {
        self.0.push((row.time, row.flow, row.sender.socket().snd_cwnd));
    }
}

fn run(plan: &Dumbbell) -> (Vec<FlowReport>, Windows) {
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), Windows::default()).unwrap();
    simulation.run();
    (simulation.reports().collect(), simulation.into_observer())
}

/// Goodput as a share of what a link could carry: 1448 of 1514 bytes.
fn utilisation(plan: &Dumbbell, reports: &[FlowReport]) -> f64 {
    let received: u64 = reports.iter().map(|report| report.received_bytes).sum();
    received as f64 * 8.0 * 1514.0 / 1448.0 / plan.seconds / plan.rate_bps as f64
}

/// The maxima of the windows from `from_s` on, just before they fall by a fifth at least, and the minima after these
/// falls.
fn teeth(windows: &Windows, from_s: i64) -> Vec<(u32, u32)> {
    let windows: Vec<u32> = windows.0.iter().filter(|w| w.0 > Time(from_s * 1_000_000_000)).map(|w| w.2).collect();
    let (mut teeth, mut max, mut min, mut falls) = (Vec::new(), 0, u32::MAX, false);
    for &cwnd in &windows {
        if !falls {
            max = max.max(cwnd);
            if cwnd * 5 < max * 4 {
                (falls, min) = (true, cwnd);
            }
        } else if cwnd > min + min / 20 + 2 {
            teeth.push((max, min));
            (falls, max) = (false, cwnd);
        } else {
            min = min.min(cwnd);
        }
    }
    teeth
}

#[test]
fn reno_saws_between_a_full_and_an_empty_buffer() {
    // BDP 33 packets, as much of a buffer: from 33 + 33 down to half of it.
    let plan = Dumbbell::new(10, 40.0).seconds(60.0).flow(bulk("reno"), 0.0);
    let (reports, windows) = run(&plan);
    let teeth = teeth(&windows, 5);
    assert!(teeth.len() > 8, "{teeth:?}");
    // Only a part of the first one was seen.
    for &(max, min) in &teeth[1..] {
        assert!((66..=70).contains(&max), "down from {max}");
        assert!(min.abs_diff(max / 2) <= 2, "from {max} to {min}");
    }
    assert!(utilisation(&plan, &reports) > 0.98, "{}", utilisation(&plan, &reports));
    // A tooth of 33 RTTs that grow from 40 to 80 ms: about 2 s, and a loss or two each, after a slow start that lost 60.
    assert!(reports[0].retransmitted_segments < 150, "{}", reports[0].retransmitted_segments);
}

#[test]
fn cubic_goes_down_to_seven_tenths_and_comes_back_to_the_last_maximum() {
    let plan = Dumbbell::new(100, 40.0).seconds(60.0).flow(bulk("cubic"), 0.0);
    let (reports, windows) = run(&plan);
    let teeth = teeth(&windows, 10);
    assert!(teeth.len() >= 3, "{teeth:?}");
    for pair in teeth.windows(2) {
        let ((max, min), next) = (pair[0], pair[1].0);
        // beta = 717/1024 (RFC 9438 section 4.6).
        assert!((f64::from(min) / f64::from(max) - 0.7).abs() < 0.02, "from {max} to {min}");
        assert!(next.abs_diff(max) < max / 20, "from {max} to {next}");
    }
    assert!(utilisation(&plan, &reports) > 0.98);
}

#[test]
fn reno_under_random_loss_gets_what_the_square_root_law_says() {
    // Mathis, Semke, Mahdavi, Ott 1997: MSS/RTT * C / sqrt(p), with C = sqrt(3/2) when every packet is acknowledged, and
    // sqrt(3/4) = 0.87 with delayed ACKs that count as one; Linux counts packets.
    let p: f64 = 0.001;
    let plan = Dumbbell::new(1000, 40.0).seconds(200.0).flow(bulk("reno"), 0.0);
    let plan = plan.with(json!({"loss_before": [{"model": "independent", "probability": p}]}));
    let (reports, _) = run(&plan);
    let rate = reports[0].received_bytes as f64 / 200.0;
    let law = 1448.0 / 0.040 * (1.5 / p).sqrt();
    assert!((0.85..1.15).contains(&(rate / law)), "{rate} of {law} bytes a second");
}

#[test]
fn bbr_fills_the_pipe_and_leaves_the_buffer_alone() {
    for cc in ["bbr", "bbr2", "bbr3"] {
        for rate in [10, 100] {
            let plan = Dumbbell::new(rate, 40.0).buffer_bdp(4.0).seconds(30.0).flow(bulk(cc), 0.0);
            let mut simulation = Simulation::new(&plan.plan(), Options::default(), Rtts::default()).unwrap();
            simulation.run();
            let reports: Vec<_> = simulation.reports().collect();
            let share = utilisation(&plan, &reports);
            assert!(share > 0.93, "{cc} at {rate} Mbit/s: {share}");
            let mut rtts = simulation.into_observer().0;
            rtts.sort_unstable();
            let median = rtts[rtts.len() / 2];
            // At most a quarter of a BDP waits, on the whole.
            assert!(median < 50_000, "{cc} at {rate} Mbit/s: a median RTT of {median} us");
        }
    }
}

#[derive(Default)]
struct Rtts(Vec<i64>);

impl Observer for Rtts {
    const ACKS: bool = true;
    fn ack(&mut self, row: &AckRow<'_>) {
        if row.time > Time(5_000_000_000) && row.report.sample.rtt_us >= 0 {
            self.0.push(row.report.sample.rtt_us);
        }
    }
}

#[test]
fn bbr_v1_keeps_losing_in_a_shallow_buffer_and_v3_hardly_does() {
    let share = |cc: &str| {
        let plan = Dumbbell::new(100, 40.0).buffer_bdp(0.2).seconds(30.0).flow(bulk(cc), 0.0).flow(bulk(cc), 0.1);
        let (reports, _) = run(&plan);
        let resent: u64 = reports.iter().map(|report| report.retransmitted_segments).sum();
        let packets: u64 = reports.iter().map(|report| report.received_bytes / 1448).sum();
        resent as f64 / packets as f64
    };
    let (v1, v3, cubic) = (share("bbr"), share("bbr3"), share("cubic"));
    assert!(v1 > 0.05, "BBRv1 {v1}");
    assert!(v3 < 0.02, "BBRv3 {v3}");
    assert!(cubic < 0.01, "CUBIC {cubic}");
}

#[test]
fn flows_of_one_kind_share() {
    for cc in ["reno", "cubic", "bbr", "bbr3", "dctcp"] {
        let plan = Dumbbell::new(100, 40.0).seconds(60.0).flow(bulk(cc), 0.0).flow(bulk(cc), 1.0);
        let (reports, _) = run(&plan);
        let shares: Vec<f64> = reports.iter().map(|report| report.received_bytes as f64).collect();
        let jain = shares.iter().sum::<f64>().powi(2) / (2.0 * shares.iter().map(|share| share * share).sum::<f64>());
        // A late CUBIC flow catches up slowly: in a kernel in virtual time they have 64.5 and 31.3 Mbit/s, 0.89.
        assert!(jain > 0.8, "{cc}: {shares:?}");
    }
}

#[test]
fn dctcp_keeps_the_queue_at_its_threshold() {
    let threshold = 20 * 1514;
    let dctcp = json!({"kind": "tcp", "cc": "dctcp", "bytes": null, "ecn": true});
    let plan = Dumbbell::new(100, 4.0).buffer_bdp(10.0).seconds(10.0).flow(dctcp, 0.0);
    let plan = plan.with(json!({"queue": {"kind": "drop-tail", "ce_threshold": {"bytes": threshold}}}));
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), Rtts::default()).unwrap();
    simulation.run();
    let reports: Vec<_> = simulation.reports().collect();
    assert_eq!(reports[0].retransmitted_segments, 0);
    assert!(utilisation(&plan, &reports) > 0.97);
    let mut rtts = simulation.into_observer().0;
    rtts.sort_unstable();
    let (median, base) = (rtts[rtts.len() / 2] as f64, 4_000.0);
    let queue = (median - base) * 100.0 / 8.0 / 1514.0;
    assert!((5.0..30.0).contains(&queue), "{queue} packets wait");
}

#[test]
fn a_short_flow_takes_its_round_trips() {
    // Handshake, 10, 20, 40 packets: the first byte of the last batch leaves after 4 RTTs, the last one arrives half later.
    let plan = Dumbbell::new(1000, 100.0).flow(sized("cubic", 70 * 1448), 0.0);
    let (reports, _) = run(&plan);
    let fct = (reports[0].end.unwrap() - reports[0].start.unwrap()).as_nanos() as f64 / 1e6;
    assert!(reports[0].completed);
    assert!((350.0..353.0).contains(&fct), "{fct} ms");
}

#[test]
fn ecn_spares_the_losses_that_an_aqm_would_inflict() {
    let codel = |ecn: bool| {
        let workload = json!({"kind": "tcp", "cc": "cubic", "bytes": null, "ecn": ecn});
        let plan = Dumbbell::new(50, 40.0).buffer_bdp(8.0).seconds(20.0).flow(workload, 1.0);
        let queue = json!({"kind": "codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "ecn": true,
            "ce_threshold_ns": null});
        let (reports, _) = run(&plan.with(json!({"queue": queue})));
        (reports[0].retransmitted_segments, reports[0].received_bytes)
    };
    let ((marked, with), (dropped, without)) = (codel(true), codel(false));
    assert_eq!(marked, 0);
    assert!(dropped > 0);
    assert!(with as f64 > 0.95 * without as f64);
}

/// The sender sees what a separate test of it would see.
#[test]
fn the_retransmission_timeout_is_an_rtt_and_200_ms() {
    struct Last(u64);
    impl Observer for Last {
        const ACKS: bool = true;
        fn ack(&mut self, row: &AckRow<'_>) {
            self.0 = Sender::rto_us(row.sender);
        }
    }
    let plan = Dumbbell::new(100, 40.0).flow(sized("reno", 1_000_000), 0.0);
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), Last(0)).unwrap();
    simulation.run();
    assert!((240_000..260_000).contains(&simulation.observer().0), "{}", simulation.observer().0);
}
