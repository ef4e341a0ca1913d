//! Captures of simulated runs: what the analysis finds in them is what the senders did.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use crate::common::{Dumbbell, bulk, run, sized};
use crate::rows::Rows;
use capture::Capture;
use connections::rows::{Cause, Class};
use connections::{Limits, Table};
use plan::Plan;
use serde_json::json;
use sim::{AckRow, Observer, Options, PacketRow, Resent, Simulation};
use units::Duration;

/// Where a capture is taken: the end of a link, and one of the way back.
#[derive(Clone, Copy, Debug)]
struct Point {
    name: &'static str,
    forward: (u16, &'static str),
    is_out: bool,
    back: &'static str,
}

/// The links of [`Dumbbell`] in its order: `a-left`, `bottleneck`, `right-b`, `b-right`, `bottleneck-back`, `left-a`.
const POINTS: [Point; 3] = [
    Point { name: "sender", forward: (0, "a-left:in"), is_out: false, back: "left-a:out" },
    Point { name: "middle", forward: (1, "bottleneck:in"), is_out: false, back: "bottleneck-back:out" },
    Point { name: "receiver", forward: (2, "right-b:out"), is_out: true, back: "b-right:in" },
];

/// A packet with data as it passed the point.
#[derive(Clone, Copy, Debug)]
struct Passed {
    at_ns: i64,
    id: u64,
    flow: u16,
    start: i64,
    bytes: i64,
    resent: Resent,
}

/// Packets that passed each of [`POINTS`], and what was in flight after each ACK.
#[derive(Default)]
struct Truth([Vec<Passed>; 3], InFlight);

/// Segments in flight of a flow's sender after the last ACK at a time, before it let anything out; and bytes of a segment.
type InFlight = BTreeMap<(u16, i64), (u32, u32)>;

impl Observer for Truth {
    const PACKETS: bool = true;
    const ACKS: bool = true;

    fn ack(&mut self, row: &AckRow<'_>) {
        let now = (row.report.in_flight, row.sender.socket().mss_cache);
        self.1.insert((row.flow, row.time.as_nanos()), now);
    }

    fn packet(&mut self, row: &PacketRow<'_>) {
        if row.segment.is_reply || row.segment.len == 0 || row.tcp_seq.is_none() {
            return;
        }
        let Some(place) = POINTS.iter().position(|point| point.forward.0 == row.link) else { return };
        let at = if POINTS[place].is_out {
            row.passage.delivery.filter(|_| row.passage.fate == link::Fate::Delivered)
        } else {
            Some(row.passage.arrival)
        };
        if let Some(at) = at {
            self.0[place].push(Passed {
                at_ns: at.as_nanos(),
                id: row.passage.packet.id,
                flow: row.passage.packet.flow,
                start: row.segment.seq as i64 - 1,
                bytes: row.segment.len.into(),
                resent: row.segment.resent,
            });
        }
    }
}

/// Truth of packets that are not new data in order, by flow, time and first byte. A link doubles a packet at once.
type Found = BTreeMap<(u16, i64, i64), VecDeque<(Class, Cause)>>;

fn truth(plan: &Plan) -> (Vec<Found>, InFlight) {
    let mut simulation = Simulation::new(plan, Options::default(), Truth::default()).unwrap();
    simulation.run();
    simulation.finish();
    let Truth(passed, in_flight) = simulation.into_observer();
    (passed.into_iter().zip(POINTS).map(|(passed, point)| judged(passed, point)).collect(), in_flight)
}

fn judged(mut passed: Vec<Passed>, point: Point) -> Found {
    passed.sort_by_key(|one| (one.at_ns, if point.is_out { 0 } else { one.id }));
    let mut seen: BTreeMap<u16, (i64, BTreeSet<i64>, BTreeSet<u64>)> = BTreeMap::new();
    let mut found = Found::new();
    for one in passed {
        let (highest, starts, ids) = seen.entry(one.flow).or_default();
        let is_known = !starts.insert(one.start);
        let is_copy = !ids.insert(one.id);
        if is_copy {
            let key = (one.flow, one.at_ns, one.start);
            found.entry(key).or_default().push_back((Class::Duplicate, Cause::NetworkDuplicate));
        } else if one.start < *highest {
            let class = if is_known { Class::Repeat } else { Class::Fill };
            let cause = match one.resent {
                Resent::No => Cause::Reordered,
                Resent::Fast => Cause::Fast,
                Resent::Probe => Cause::TailLossProbe,
                Resent::Timeout => Cause::Timeout,
                Resent::AfterTimeout => Cause::AfterTimeout,
            };
            found.entry((one.flow, one.at_ns, one.start)).or_default().push_back((class, cause));
        }
        *highest = (*highest).max(one.start + one.bytes);
    }
    found
}

fn analysed(file: &Path, point: Point) -> (Rows, i64) {
    let only = [point.forward.1.to_owned(), point.back.to_owned()];
    let mut capture = Capture::open(&[file.to_owned()], &only).unwrap();
    let mut table = Table::new(Limits::default());
    let mut rows = Rows { segments: Some(Vec::new()), ..Rows::default() };
    while let Some(mut segment) = capture.next_segment().unwrap() {
        table.take(&mut segment, &mut rows);
    }
    table.finish(&mut rows);
    let notes = capture.notes();
    assert_eq!((notes.damages, notes.cut_files, notes.backward_steps), (0, 0, 0));
    (rows, table.origin_ns().unwrap())
}

/// A path with half of its delay on both sides of the bottleneck, where a capture in the middle is taken.
fn path(dumbbell: &Dumbbell) -> Plan {
    let mut plan = dumbbell.plan();
    let quarter = Duration((dumbbell.rtt_ms * 5e5 / 4.0) as i64);
    for link in [0, 2, 3, 5] {
        plan.links[link].delay_ns = quarter;
    }
    for link in [1, 4] {
        plan.links[link].delay_ns = Duration(2 * quarter.as_nanos());
    }
    // What reorders and doubles packets does so on both sides of the middle.
    let (first, bottleneck) = plan.links.split_at_mut(1);
    first[0].jitter = bottleneck[0].jitter.clone();
    first[0].reordering = bottleneck[0].reordering;
    first[0].reorder = bottleneck[0].reorder;
    first[0].duplication = bottleneck[0].duplication;
    (plan.record.capture, plan.record.packets) = (true, false);
    plan
}

/// Shares of time in which the receiver's window, and the application, held a flow back: as the analysis of a capture at a point
/// says, and as the sender knows.
fn limits(dumbbell: &Dumbbell, receive_buffer: Option<&str>, point: Point) -> [(f64, f64); 2] {
    let mut plan = path(dumbbell);
    if let (Some(sizes), plan::Node::Host { sysctl, .. }) = (receive_buffer, &mut plan.nodes[3]) {
        sysctl.insert("net.ipv4.tcp_rmem".to_owned(), sizes.to_owned());
    }
    let directory = run(&plan).directory;
    let (rows, _) = analysed(&directory.path().join("capture.pcapng"), point);
    let found = &rows.directions.iter().find(|row| row.direction == 0).unwrap().stream;
    let [window, application, recovery, network] =
        [found.limited_window_ns, found.limited_application_ns, found.limited_recovery_ns, found.limited_network_ns]
            .map(|ns| ns.unwrap() as f64);
    let whole = window + application + recovery + network;
    let mut simulation = Simulation::new(&plan, Options::default(), ()).unwrap();
    simulation.run();
    let known = simulation.senders().next().unwrap().unwrap().counters();
    let of_whole = |us: u64| 1e3 * us as f64 / whole;
    [(window / whole, of_whole(known.rwnd_limited_us)), (application / whole, 1.0 - of_whole(known.busy_us))]
}

#[test]
fn what_limits_a_sender_is_what_limited_it() {
    let bulk_flow = |cc: &str| Dumbbell::new(20, 40.0).buffer_bdp(1.0).flow(bulk(cc), 0.0);
    let mut pausing = bulk("cubic");
    pausing["on_off"] = json!({"on": {"ns": 300_000_000}, "off_ns": 700_000_000});
    let pausing = Dumbbell::new(20, 40.0).buffer_bdp(1.0).flow(pausing, 0.0);
    let short = Dumbbell::new(100, 40.0).buffer_bdp(1.0).flow(sized("cubic", 200_000), 0.0);
    let cases = [
        ("bulk, CUBIC", bulk_flow("cubic"), None),
        ("bulk, BBR", bulk_flow("bbr"), None),
        ("a small receive buffer", bulk_flow("cubic"), Some("4096 65536 65536")),
        ("a receive buffer of half a BDP", bulk_flow("reno"), Some("4096 131072 131072")),
        ("pauses", pausing, None),
        ("slow start alone", short, None),
    ];
    for (name, dumbbell, receive_buffer) in cases {
        for point in POINTS {
            let at = point.name;
            for (what, (said, known)) in ["window", "application"].iter().zip(limits(&dumbbell, receive_buffer, point))
            {
                // A flow is shorter where its first data come late, and the sender's time is a share of that.
                let known = known.max(0.0);
                let all = format!("{name}, at the {at}: limited by {what} for {said:.3}, in truth for {known:.3}");
                assert!((said - known).abs() <= 0.01, "{all}");
            }
        }
    }
}

/// Paths with shallow and deep buffers, competition, random loss of 1 % and 10 %, lost ACKs, short flows with losses at
/// their tails, reordering, jitter that reorders, and copies.
fn paths(cc: &str) -> [(&'static str, Dumbbell); 11] {
    let flow = bulk(cc);
    let chance = |probability: f64| json!({"loss_before": [{"model": "independent", "probability": probability}]});
    let one = |rate, rtt| Dumbbell::new(rate, rtt).seconds(10.0).flow(flow.clone(), 0.0);
    let short = (0..12)
        .fold(Dumbbell::new(10, 40.0).seconds(8.0), |plan, at| plan.flow(sized(cc, 60_000), 0.5 * f64::from(at)));
    let reorder = json!({"probability": 0.005, "correlation": 0.0, "gap": 1, "delay_ns": 0});
    let jitter = json!({"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 2_000_000}, "correlation": 0.9});
    let doubled = json!({"probability": 0.01, "correlation": 0.0});
    let lost = json!([{"model": "independent", "probability": 0.005}]);
    [
        ("shallow buffer", one(20, 30.0).buffer_bdp(0.3)),
        ("deep buffer", one(10, 20.0).buffer_bdp(2.0)),
        ("competition", one(20, 40.0).buffer_bdp(0.5).flow(bulk("cubic"), 0.4)),
        ("1 % loss", one(20, 30.0).with(chance(0.01))),
        ("10 % loss", one(5, 30.0).with(chance(0.1))),
        ("lost ACKs", one(10, 30.0).with(chance(0.005)).with_back(chance(0.1))),
        ("short flows", short.with(chance(0.05))),
        ("reordering", one(20, 30.0).with(json!({"reorder": reorder}))),
        ("jitter", one(10, 30.0).with(json!({"jitter": jitter, "reordering": true, "loss_before": lost}))),
        ("copies", one(20, 30.0).with(json!({"duplication": doubled}))),
        ("all at once", one(10, 30.0).with(json!({"reorder": reorder, "duplication": doubled, "loss_before": lost}))),
    ]
}

/// Events of which the analysis says what is true.
#[derive(Default)]
struct Score {
    all: u64,
    right_classes: u64,
    right_causes: u64,
    /// Events by what is true and by what the analysis says; `none`: it does not see them, or there is no such.
    matrix: BTreeMap<(String, String), u64>,
    confused: BTreeMap<String, u64>,
}

fn named(class: Class, cause: Option<Cause>) -> String {
    let cause = cause.map_or("none", |cause| Cause::NAMES[cause as usize]);
    format!("{} {cause}", Class::NAMES[class as usize])
}

impl Score {
    /// Compare the rows of a capture with what is true.
    fn add(&mut self, path: &str, rows: &Rows, origin_ns: i64, mut truth: Found) {
        let flows = flows_of(rows);
        for event in rows.events.iter().filter(|event| event.direction == 0 && event.bytes > 0) {
            let key = (flows[&event.connection], event.time_ns + origin_ns, event.seq);
            let real = truth.get_mut(&key).and_then(VecDeque::pop_front);
            // A copy is a repeat, too: what of it is not remembered any more cannot be told.
            let is_class = real.is_some_and(|(class, _)| {
                class == event.class || (class == Class::Duplicate && event.class == Class::Repeat)
            });
            let is_cause = real.is_some_and(|(_, cause)| Some(cause) == event.cause);
            self.all += 1;
            self.right_classes += u64::from(is_class);
            self.right_causes += u64::from(is_cause);
            let said = named(event.class, event.cause);
            let real = real.map_or("none".to_owned(), |(class, cause)| named(class, Some(cause)));
            if !(is_class && is_cause) {
                let key = format!("{path}: {real} is {said} by {:?}", event.evidence);
                *self.confused.entry(key).or_default() += 1;
            }
            *self.matrix.entry((real, said)).or_default() += 1;
        }
        for (class, cause) in truth.into_values().flatten() {
            self.all += 1;
            let real = named(class, Some(cause));
            *self.confused.entry(format!("{path}: {real} is not found")).or_default() += 1;
            *self.matrix.entry((real, "none".to_owned())).or_default() += 1;
        }
    }
}

/// Flows by the numbers of their connections.
fn flows_of(rows: &Rows) -> BTreeMap<u64, u16> {
    let first_port = 32_768;
    rows.connections.iter().map(|row| (row.connection, row.client.1 - first_port)).collect()
}

/// ACKs of data, and those after which no more than a segment more or less is in flight than the sender knows.
fn in_flight(rows: &Rows, origin_ns: i64, truth: &InFlight) -> (u64, u64) {
    let flows = flows_of(rows);
    let mut said: BTreeMap<(u16, i64), u64> = BTreeMap::new();
    for row in rows.segments.iter().flatten().filter(|row| row.direction == 1 && row.bytes == 0) {
        if let Some(bytes) = row.in_flight_bytes {
            said.insert((flows[&row.connection], row.time_ns + origin_ns), bytes);
        }
    }
    let mut right = 0;
    let mut all = 0;
    for (key, &(segments, mss)) in truth {
        let Some(&bytes) = said.get(key) else { continue };
        all += 1;
        right += u64::from(bytes.abs_diff(u64::from(segments) * u64::from(mss)) <= u64::from(mss));
    }
    (right, all)
}

#[test]
fn classes_and_causes_are_those_of_the_senders() {
    let mut scores: [Score; 3] = Default::default();
    let mut flights: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for cc in ["reno", "cubic", "bbr", "bbr3", "vegas", "westwood", "htcp"] {
        for (name, dumbbell) in paths(cc) {
            let plan = path(&dumbbell);
            let directory = run(&plan).directory;
            let (truths, flight) = truth(&plan);
            for ((score, point), truth) in scores.iter_mut().zip(POINTS).zip(truths) {
                let (rows, origin_ns) = analysed(&directory.path().join("capture.pcapng"), point);
                if point.name == "sender" {
                    let (right, all) = in_flight(&rows, origin_ns, &flight);
                    let sum = flights.entry(name).or_default();
                    *sum = (sum.0 + right, sum.1 + all);
                }
                score.add(name, &rows, origin_ns, truth);
            }
        }
    }
    let mut wrong = Vec::new();
    for (Score { all, right_classes, right_causes, confused, matrix }, Point { name, .. }) in
        scores.into_iter().zip(POINTS)
    {
        println!("{name}: of {all}, {right_classes} classes and {right_causes} causes are right; {confused:#?}");
        for ((real, said), count) in &matrix {
            println!("matrix: {name}\t{real}\t{said}\t{count}");
        }
        assert!(all > 1000, "too few to prove anything");
        wrong.extend((right_classes < all).then(|| format!("{name}: {right_classes} classes of {all}")));
        let least = if name == "sender" { 0.99 } else { 0.95 };
        let is_wrong = (right_causes as f64) < least * all as f64;
        wrong.extend(is_wrong.then(|| format!("{name}: {right_causes} causes of {all}")));
    }
    println!("in flight: {flights:?}");
    let whole = flights.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    for (name, &(right, all)) in flights.iter().chain([(&"all paths", &whole)]) {
        // Where ACKs are lost it is a little less; why was not looked for.
        let least = if *name == "lost ACKs" { 0.98 } else { 0.99 };
        assert!(all > 3_000 && right as f64 >= least * all as f64, "{name}: right after {right} of {all} ACKs");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}
