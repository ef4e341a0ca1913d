//! Properties of every run: it repeats, and nothing gets lost that the links don't account for, whatever the network
//! does.

use crate::common::{Dumbbell, bulk, sized};
use link::{Fate, Passage};
use plan::{Hosts, Plan};
use proptest::prelude::*;
use serde_json::{Value, json};
use sim::{AckRow, FlowRow, LinkRow, Observer, Options, PacketRow, Simulation};

/// All events of an observer, as text: the same text for the same run.
#[derive(Default)]
struct Transcript(Vec<String>);

impl Observer for Transcript {
    const ACKS: bool = true;
    const PACKETS: bool = true;
    const SAMPLES: bool = true;
    fn ack(&mut self, row: &AckRow<'_>) {
        self.0.push(format!("{row:?}"));
    }
    fn packet(&mut self, row: &PacketRow<'_>) {
        self.0.push(format!("{row:?}"));
    }
    fn flow(&mut self, row: &FlowRow<'_>) {
        self.0.push(format!("{row:?}"));
    }
    fn link(&mut self, row: &LinkRow) {
        self.0.push(format!("{row:?}"));
    }
}

fn transcript(plan: &Plan) -> Vec<String> {
    let mut simulation = Simulation::new(plan, Options::default(), Transcript::default()).unwrap();
    simulation.run();
    simulation.into_observer().0
}

fn mixed() -> Dumbbell {
    crate::common::mixed(
        json!({"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 2_000_000}, "correlation": 0.0}),
    )
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_another() {
    let plan = mixed();
    let first = transcript(&plan.plan());
    assert!(first.len() > 5_000);
    assert!(first == transcript(&plan.plan()), "two runs differ");
    assert!(first != transcript(&plan.clone().seed(2).plan()), "the seed makes no difference");
}

#[test]
fn nothing_depends_on_how_far_it_is_run_at_a_time() {
    for hosts in [None, Some(Hosts::Virtual)] {
        let mut plan = mixed().plan();
        plan.simulate.hosts = hosts;
        let mut simulation = Simulation::new(&plan, Options::default(), Transcript::default()).unwrap();
        for ms in 0..2_100 {
            simulation.run_until(units::Time(ms * 1_000_000));
        }
        assert!(simulation.into_observer().0 == transcript(&plan), "a run in steps differs");
    }
}

/// The times at which packets enter the links.
#[derive(Default)]
struct Entries(Vec<i64>);

impl Observer for Entries {
    const PACKETS: bool = true;
    fn packet(&mut self, row: &PacketRow<'_>) {
        self.0.push(row.passage.arrival.0);
    }
}

/// A kernel in virtual time does nothing between two steps: it takes frames, paces, waits with ACKs and times out by its clock.
#[test]
fn hosts_in_virtual_time_send_at_steps_of_their_clock() {
    let mut plan = mixed().plan();
    plan.simulate.hosts = Some(Hosts::Virtual);
    let mut simulation = Simulation::new(&plan, Options::default(), Entries::default()).unwrap();
    simulation.run();
    let entries = simulation.into_observer().0;
    assert!(entries.len() > 5_000);
    assert!(entries.iter().all(|at| at % 256 == 0));
}

/// Counts what hosts and links do.
#[derive(Default)]
struct Ledger {
    ended: u64,
    inside: u64,
    delivered_last: u64,
    passages: Vec<Passage>,
}

impl Observer for Ledger {
    const PACKETS: bool = true;
    fn packet(&mut self, row: &PacketRow<'_>) {
        if row.passage.fate == Fate::Inside {
            self.inside += 1;
            return;
        }
        self.ended += u64::from(row.passage.fate != Fate::Delivered || row.is_last);
        self.delivered_last += u64::from(row.passage.fate == Fate::Delivered && row.is_last);
        self.passages.push(*row.passage);
    }
}

/// Run, and check that all packets are accounted for.
fn check(plan: &Plan, options: Options) -> (Vec<sim::FlowReport>, Ledger) {
    let mut simulation = Simulation::new(plan, options, Ledger::default()).unwrap();
    simulation.run();
    simulation.finish();
    let duplicated: u64 = simulation.links().iter().map(|link| link.counters().duplicated_packets).sum();
    let inside = simulation.packets_inside() as u64;
    assert_eq!(inside, simulation.inside().count() as u64);
    assert_eq!(simulation.packets() + duplicated, simulation.observer().ended + inside);
    let ended =
        simulation.links().iter().map(|link| link.counters().dropped_packets() + link.counters().lost_packets());
    assert_eq!(simulation.packets() + duplicated, simulation.packets_arrived() + ended.sum::<u64>() + inside);
    assert_eq!(simulation.observer().inside, inside);
    for link in simulation.links() {
        assert_eq!(link.counters().inside(), link.inside().count() as u64);
    }
    for (report, flow) in simulation.reports().zip(&plan.flows) {
        assert!(report.received_bytes <= report.sent_bytes, "{}: {report:?}", flow.id);
    }
    let reports = simulation.reports().collect();
    (reports, simulation.into_observer())
}

#[test]
fn all_packets_are_accounted_for() {
    let (reports, ledger) = check(&mixed().plan(), Options::default());
    assert!(reports.iter().all(|report| report.received_bytes > 0), "{reports:?}");
    assert!(ledger.delivered_last > 1_000);
}

#[test]
fn links_on_which_nothing_can_happen_are_counted_as_if_they_were_passed() {
    let plan = mixed().plan();
    let mut simulation = Simulation::new(&plan, Options::default(), ()).unwrap();
    simulation.run();
    let crossed = |name: &str| simulation.crossed()[plan.links.iter().position(|link| link.name == name).unwrap()];
    let counters =
        |name: &str| simulation.links()[plan.links.iter().position(|link| link.name == name).unwrap()].counters();
    for (before, link, after) in [("a-left", "bottleneck", "right-b"), ("b-right", "bottleneck-back", "left-a")] {
        let counted = counters(link);
        let [before, after] = [before, after].map(|name| (crossed(name).packets, crossed(name).bytes));
        assert_eq!(before, (counted.arrived_packets, counted.arrived_bytes), "{link}");
        assert_eq!(after, (counted.delivered_packets(), counted.delivered_bytes), "{link}");
        assert_eq!((crossed(link).packets, before.0 > 1000), (0, true));
    }
}

/// The times at which each flow was sampled.
#[derive(Default)]
struct Samples(Vec<(u16, units::Time)>);

impl Observer for Samples {
    const SAMPLES: bool = true;
    fn flow(&mut self, row: &FlowRow<'_>) {
        self.0.push((row.flow, row.time));
    }
}

#[test]
fn a_flow_is_sampled_once_at_a_time_and_last_at_its_end() {
    let plan = Dumbbell::new(10, 20.0).seconds(2.0).flow(bulk("cubic"), 0.0).flow(sized("reno", 50_000), 0.5).plan();
    for until_ms in [2_000, 1_000, 1_234] {
        let mut simulation = Simulation::new(&plan, Options::default(), Samples::default()).unwrap();
        let until = units::Time(until_ms * 1_000_000);
        simulation.run_until(until);
        simulation.finish();
        let reports: Vec<_> = simulation.reports().collect();
        let samples = simulation.into_observer().0;
        let of = |flow| samples.iter().filter(move |row| row.0 == flow).map(|row| row.1);
        assert_eq!(of(0).next_back(), Some(until), "{until_ms}");
        assert!(of(0).is_sorted_by(|a, b| a < b), "{until_ms}");
        // The sender learns of the end when the receiver's FIN arrives, half a round trip later.
        let end = reports[1].end.unwrap();
        assert!(reports[1].completed && of(1).next_back().unwrap() > end, "{until_ms}");
    }
}

/// The times that datagrams were under way.
#[derive(Default)]
struct Delays(Vec<i64>);

impl Observer for Delays {
    const DATAGRAMS: bool = true;
    fn datagram(&mut self, row: &sim::DatagramRow) {
        self.0.push(row.delay.as_nanos());
    }
}

#[test]
fn datagrams_are_counted_and_timed() {
    let udp = json!({"kind": "udp", "rate_bps": 4_000_000, "payload_bytes": 958, "bytes": null, "ecn": "ect0"});
    let queue = json!({"kind": "drop-tail", "ce_threshold": {"packets": 0}});
    // 500 datagrams a second; each other one is doubled. A copy waits behind its original, and is marked for that.
    let plan = Dumbbell::new(10, 20.0).seconds(2.0).flow(udp, 0.0).with(json!({
        "duplication": {"probability": 0.5, "correlation": 0.0}, "queue": queue,
        "loss_after": [{"model": "periodic", "every": 10, "offset": 0}],
    }));
    let mut simulation = Simulation::new(&plan.plan(), Options::default(), Delays::default()).unwrap();
    simulation.run();
    let datagrams = simulation.reports().next().unwrap().datagrams.unwrap();
    let delays = simulation.into_observer().0;
    assert_eq!(datagrams.sent, 1000);
    assert!((300..500).contains(&datagrams.duplicates) && datagrams.lost > 20, "{datagrams:?}");
    assert_eq!((datagrams.reordered, delays.len() as u64), (0, datagrams.received));
    // 1000 bytes at 10 Mbit/s and 10 ms: a copy that arrives in the place of its lost original has waited for it.
    let [originals, copies] =
        [10_800_000, 11_600_000].map(|ns| delays.iter().filter(|&&delay| delay == ns).count() as u64);
    assert_eq!((originals + copies, copies), (datagrams.received, datagrams.congestion_experienced));
    assert!(copies > 10, "{copies}");
}

/// Rows of `acks` and `samples`.
#[derive(Default)]
struct Rows(Vec<rows::acks::Ack>, Vec<rows::samples::Sample>);

impl Observer for Rows {
    const ACKS: bool = true;
    const SAMPLES: bool = true;
    fn ack(&mut self, row: &AckRow<'_>) {
        self.0.push(sim::rows::ack(row));
    }
    fn flow(&mut self, row: &FlowRow<'_>) {
        self.1.extend(sim::rows::sample(row));
    }
}

/// Ten segments, each acknowledged alone, and none is lost.
#[test]
fn rows_count_bytes_from_the_first_one_on() {
    let plan = Dumbbell::new(10, 40.0).seconds(1.0).flow(sized("reno", 10 * 1448), 0.0).plan();
    let mut simulation = Simulation::new(&plan, Options::default(), Rows::default()).unwrap();
    simulation.run();
    let Rows(acks, samples) = simulation.into_observer();
    // After the first ACK a FIN, which counts as a byte, is in flight, too.
    for (number, ack) in (2..).zip(&acks[1..9]) {
        let facts = (ack.socket, ack.snd_una_bytes, ack.snd_nxt_bytes, ack.delivered_packets, ack.bytes_in_flight);
        // The SYN is delivered, too.
        assert_eq!(facts, (32_768, 1448 * number, 14_481, number as u32 + 1, 1448 * (11 - number)), "{ack:?}");
    }
    let last = samples.last().unwrap();
    assert_eq!((last.socket, last.bytes_sent, last.received_bytes), (32_768, 14_480, Some(14_480)));
    assert_eq!(last.tcp().unwrap().bytes_acked, 14_480);
}

#[test]
fn datagrams_are_complete_when_all_were_sent() {
    let udp = |bytes: u64| json!({"kind": "udp", "rate_bps": 800_000, "payload_bytes": 958, "bytes": bytes});
    let plan = Dumbbell::new(10, 20.0).seconds(1.0).flow(udp(9_580), 0.0).flow(udp(958_000), 0.0);
    let (reports, _) = check(&plan.plan(), Options::default());
    assert_eq!([0, 1].map(|flow| reports[flow].completed), [true, false], "{reports:?}");
}

#[test]
fn a_queue_never_holds_more_than_its_buffer() {
    let plan = Dumbbell::new(50, 20.0).buffer_bdp(0.5).flows(5, &bulk("cubic"));
    let (_, ledger) = check(&plan.plan(), Options::default());
    assert!(ledger.passages.iter().all(|passage| passage.queue_bytes <= plan.buffer_bytes));
    assert!(ledger.passages.iter().any(|passage| passage.fate == Fate::DroppedTail));
}

#[test]
fn sized_flows_deliver_every_byte_in_every_way() {
    for bytes in [0, 1, 1447, 1448, 1449, 100_000, 3_000_001] {
        for tso in [true, false] {
            let plan = Dumbbell::new(10, 10.0).flow(sized("cubic", bytes), 0.0);
            let plan = plan.with(json!({"loss_before": [{"model": "independent", "probability": 0.02}]}));
            let (reports, _) = check(&plan.plan(), Options { tso, ..Options::default() });
            assert_eq!((reports[0].received_bytes, reports[0].completed), (bytes, true), "{bytes} bytes");
        }
    }
}

#[test]
fn a_lost_handshake_costs_a_second_and_a_lost_close_nothing() {
    let lost = |packets: &[u64]| json!({"loss_before": [{"model": "trace", "lost": packets, "period": null}]});
    let took = |plan: Dumbbell| {
        let (reports, _) = check(&plan.plan(), Options::default());
        assert!(reports[0].completed, "{reports:?}");
        let ms = (reports[0].end.unwrap() - reports[0].start.unwrap()).as_nanos() / 1_000_000;
        (ms, reports[0].retransmitted_segments)
    };
    let plan = || Dumbbell::new(100, 20.0).flow(sized("cubic", 5_000), 0.0);
    assert_eq!(took(plan()), (30, 0));
    // A second is 250 ticks: the kernel's wheel lets it end at 1024 ms, and the next at 2048 ms.
    assert_eq!(took(plan().with(lost(&[0]))), (1_054, 1), "the SYN");
    assert_eq!(took(plan().with(lost(&[0, 1]))), (2_118, 2), "two SYNs: the timeout is still a second, the window one");
    assert_eq!(
        took(plan().with_back(lost(&[0]))),
        (1_044, 1),
        "the SYN-ACK: it and the SYN are sent again in the same tick"
    );
    assert_eq!(took(plan().with(lost(&[1]))), (30, 0), "the handshake's last ACK");
    assert_eq!(took(plan().with_back(lost(&[5, 6]))), (30, 0), "the receiver's FIN");
}

#[test]
fn single_segments_reach_about_the_same_rate_as_trains() {
    for cc in ["cubic", "bbr"] {
        let plan = Dumbbell::new(100, 40.0).flow(bulk(cc), 0.0).plan();
        let [trains, single] =
            [true, false].map(|tso| check(&plan, Options { tso, ..Options::default() }).0[0].received_bytes as f64);
        assert!((single / trains - 1.0).abs() < 0.05, "{cc}: {single} and {trains}");
    }
}

#[test]
fn what_cannot_be_simulated_is_refused_by_name() {
    let refuse = |workload: Value| {
        let plan = Dumbbell::new(10, 10.0).flow(workload, 0.0).plan();
        format!("{:#}", Simulation::new(&plan, Options::default(), ()).unwrap_err())
    };
    assert!(refuse(bulk("illinois")).contains("illinois"));
    assert!(refuse(json!({"kind": "command", "command": "true", "server_command": null})).contains("--engine emulate"));
}

/// The effects of the network on packets.
fn impairments() -> impl Strategy<Value = Value> {
    let loss = prop_oneof![
        Just(json!([])),
        (0.0..0.3).prop_map(|p| json!([{"model": "independent", "probability": p}])),
        (1..200u64).prop_map(|n| json!([{"model": "burst", "probability": 0.05, "packets": n}])),
    ];
    let jitter = prop_oneof![
        Just(json!(null)),
        (0..200i64).prop_map(|ms| json!({"correlation": 0.0,
            "distribution": {"kind": "uniform", "min_ns": 0, "max_ns": ms * 1_000_000}})),
    ];
    let queue = prop_oneof![
        Just(json!({"kind": "drop-tail", "ce_threshold": null})),
        Just(json!({"kind": "drop-tail", "ce_threshold": {"packets": 5}})),
        Just(json!({"kind": "fq-codel", "target_ns": 5_000_000, "interval_ns": 100_000_000, "quantum_bytes": 1514,
            "flows": 16, "ecn": true, "ce_threshold_ns": null})),
    ];
    (loss, jitter, any::<bool>(), 0.0..0.1f64, 0.0..0.05f64, queue).prop_map(
        |(loss, jitter, reordering, duplicated, corrupted, queue)| {
            json!({"loss_before": loss, "jitter": jitter, "reordering": reordering, "queue": queue,
            "duplication": {"probability": duplicated, "correlation": 0.0},
            "corruption": {"probability": corrupted, "correlation": 0.0}})
        },
    )
}

/// A flow of any kind.
fn workload() -> impl Strategy<Value = Value> {
    let tcp = (prop::sample::select(&cc::NAMES[..]), prop::option::of(0..2_000_000u64), any::<bool>())
        .prop_map(|(cc, bytes, ecn)| json!({"kind": "tcp", "cc": cc, "bytes": bytes, "ecn": ecn}));
    let udp = (1_000..50_000_000u64, 1..1472u32)
        .prop_map(|(rate, payload)| json!({"kind": "udp", "rate_bps": rate, "payload_bytes": payload, "bytes": null}));
    prop_oneof![8 => tcp, 1 => udp]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_algorithm_survives_every_network(
        rate in prop::sample::select(vec![1u64, 10, 200]),
        rtt_ms in 0.1..300.0f64,
        buffer in 3_028..200_000u64,
        forward in impairments(),
        back in impairments(),
        flows in prop::collection::vec((workload(), 0.0..2.0f64), 1..6),
        seed in any::<u32>(),
        tso in any::<bool>(),
    ) {
        let mut plan = Dumbbell::new(rate, rtt_ms).seconds(4.0).seed(u64::from(seed)).with(forward).with_back(back);
        plan.buffer_bytes = buffer;
        for (workload, start) in flows {
            plan = plan.flow(workload, start);
        }
        check(&plan.plan(), Options { tso, ..Options::default() });
    }
}

#[test]
fn frames_that_a_host_has_yet_to_take_at_the_end_are_accounted_for() {
    // A full frame is due each 12 us, and taken up to half a microsecond later: some of these ends fall between.
    for end in 0..100 {
        let mut plan = Dumbbell::new(1000, 1.0).seconds(0.05 + f64::from(end) * 120e-9).flows(1, &bulk("reno")).plan();
        plan.simulate.hosts = Some(Hosts::Virtual);
        check(&plan, Options::default());
    }
}

/// A kernel's Reno reaches 3.3 Mbit/s on this path, whose buffer holds two packets. If each ACK comes exactly one service
/// time after the one before it, each packet finds the place that has just become free.
#[test]
fn time_that_hosts_take_breaks_the_order_that_lets_windows_grow_beyond_a_small_buffer() {
    let plan = Dumbbell::new(10, 10.0).buffer_bdp(0.3).seconds(12.0).flows(1, &bulk("reno")).plan();
    let [with, without] = [true, false].map(|turnaround| {
        let mut simulation = Simulation::new(&plan, Options { turnaround, ..Options::default() }, ()).unwrap();
        simulation.run();
        simulation.reports().next().unwrap().received_bytes as f64 * 8e-6 / 12.0
    });
    assert!((3.0..4.0).contains(&with), "{with} Mbit/s");
    assert!(without > 1.25 * with, "{without} Mbit/s");
}
