//! The bottlenecks of simulated parking lots, where it is known in advance which they are.

use crate::common::{Run, bulk, run};
use plan::Plan;
use serde_json::{Value, json};
use units::Time;

const LINKS: usize = 3;
const END_S: f64 = 12.0;

/// Three links in a row, each of a rate (Mbit/s) and 5 ms. A flow of `cc` crosses all of them from `a` to `b`. Datagrams cross
/// one each: (link, from, to, Mbit/s), in seconds.
fn parking_lot(rates: [u64; LINKS], cc: &str, cross: &[(usize, f64, f64, u64)], events: Value) -> Plan {
    let host = |name: String, at: usize| {
        let memory = "4096 33554432 33554432";
        json!({"kind": "host", "name": name, "address": format!("10.0.0.{}", at + 1), "sysctl": {"net.ipv4.tcp_rmem": memory}})
    };
    let mut hosts = vec![host("a".into(), 0), host("b".into(), 1)];
    let mut links = vec![plain("a", "s0"), plain("s0", "a"), plain("b", "s3"), plain("s3", "b")];
    for (link, rate) in rates.into_iter().enumerate() {
        links.extend([shaped(link, rate, 15_000), {
            let (from, to) = (format!("s{}", link + 1), format!("s{link}"));
            json!({"name": format!("back{link}"), "from": from, "to": to, "rate_bps": null, "delay_ns": 5_000_000,
                "buffer": "unlimited", "overhead_bytes": 0})
        }]);
        for (side, at) in [("u", link), ("v", link + 1)] {
            let (name, switch) = (format!("{side}{link}"), format!("s{at}"));
            hosts.push(host(name.clone(), hosts.len()));
            links.extend([plain(&name, &switch), plain(&switch, &name)]);
        }
    }
    let ns = |s: f64| (s * 1e9) as i64;
    let mut flows = vec![flow("long", "a", "b", 0, ns(END_S), 5000, bulk(cc))];
    for (number, &(link, from, until, rate)) in (1_u16..).zip(cross) {
        let workload = json!({"kind": "udp", "rate_bps": rate * 1_000_000, "payload_bytes": 1458, "bytes": null});
        let (sender, receiver) = (format!("u{link}"), format!("v{link}"));
        flows.push(flow(&format!("cross{number}"), &sender, &receiver, ns(from), ns(until), 5000 + number, workload));
    }
    hosts.extend((0..=LINKS).map(|at| json!({"kind": "switch", "name": format!("s{at}")})));
    Plan::of(json!({
        "name": "parking-lot", "duration_ns": ns(END_S), "seed": 1, "nodes": hosts, "links": links, "events": events,
        "flows": flows, "record": {"sample_interval_ns": 10_000_000, "packets": false},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
    }))
    .unwrap()
}

fn plain(from: &str, to: &str) -> Value {
    json!({"name": format!("{from}-{to}"), "from": from, "to": to, "rate_bps": null, "delay_ns": 0, "buffer": "unlimited",
        "overhead_bytes": 0})
}

fn shaped(link: usize, rate_mbit: u64, buffer_bytes: u64) -> Value {
    json!({"name": format!("link{link}"), "from": format!("s{link}"), "to": format!("s{}", link + 1),
        "rate_bps": rate_mbit * 1_000_000, "delay_ns": 5_000_000, "buffer": {"bytes": buffer_bytes}, "overhead_bytes": 0})
}

fn flow(id: &str, from: &str, to: &str, start_ns: i64, stop_ns: i64, port: u16, workload: Value) -> Value {
    json!({"id": id, "from": from, "to": to, "start_ns": start_ns, "stop_ns": stop_ns, "port": port, "workload": workload})
}

/// Share of the time between two moments (s) in which each of the three links was the flow's bottleneck, and none.
fn shares(run: &Run, plan: &Plan, flow: &str, from: f64, until: f64) -> [f64; LINKS + 1] {
    let open = |name: &str| std::fs::File::open(run.directory.path().join(name));
    let found = figures::directory::bottlenecks(&open, plan, &|| Ok(())).unwrap();
    let at = plan.flows.iter().position(|one| one.id == flow).unwrap();
    let course = &found.paths()[found.path_of(at)].course;
    let ends = course.iter().skip(1).map(|&(since, _)| since).chain([Time((END_S * 1e9) as i64)]);
    let mut shares = [0.0; LINKS + 1];
    for (&(since, link), end) in course.iter().zip(ends) {
        let lasted = (end.0 as f64 / 1e9).min(until) - (since.0 as f64 / 1e9).max(from);
        let name = link.map_or("none", |link| &plan.links[usize::from(link)].name);
        let place = (0..LINKS).find(|link| name == format!("link{link}")).unwrap_or(LINKS);
        shares[place] += lasted.max(0.0) / (until - from);
    }
    shares
}

#[test]
fn the_slowest_of_three_links_is_the_bottleneck() {
    for (slowest, rates) in [(0, [10, 20, 30]), (1, [30, 10, 20]), (2, [20, 30, 10])] {
        for cc in ["cubic", "bbr"] {
            let plan = parking_lot(rates, cc, &[], json!([]));
            let found = shares(&run(&plan), &plan, "long", 1.0, END_S);
            assert!(found[slowest] > 0.95, "{cc} over {rates:?}: {found:?}");
        }
    }
}

#[test]
fn cross_traffic_moves_the_bottleneck() {
    let periods = [(0, 0.0, 4.0), (1, 4.0, 8.0), (2, 8.0, END_S)];
    let cross = periods.map(|(link, from, until)| (link, from, until, 12));
    for cc in ["cubic", "bbr"] {
        let plan = parking_lot([20; LINKS], cc, &cross, json!([]));
        let run = run(&plan);
        for (link, from, until) in periods {
            // The queue of the period before drains, and the flow's rate settles. BBR sends hardly anything for 0.2 s now and
            // then, to measure the RTT.
            let found = shares(&run, &plan, "long", from + 1.0, until);
            assert!(found[link] > 0.85, "{cc} from {from} s: {found:?}");
            let beside = shares(&run, &plan, &format!("cross{}", link + 1), from + 1.0, until);
            assert!(beside[link] > 0.85, "datagrams beside {cc} from {from} s: {beside:?}");
        }
    }
}

#[test]
fn an_event_moves_the_bottleneck() {
    let slow = shaped(2, 5, 15_000);
    let plan = parking_lot([10, 20, 20], "cubic", &[], json!([{"at_ns": 6_000_000_000_i64, "link": slow}]));
    let run = run(&plan);
    let (before, after) = (shares(&run, &plan, "long", 1.0, 6.0), shares(&run, &plan, "long", 7.0, END_S));
    assert!(before[0] > 0.9 && after[2] > 0.9, "{before:?}, then {after:?}");
}

#[test]
fn a_flow_that_its_application_limits_has_no_bottleneck() {
    let plan = parking_lot([20; LINKS], "cubic", &[(1, 0.0, END_S, 8)], json!([]));
    let mut plan = Plan { flows: plan.flows[1..].to_vec(), ..plan };
    plan.flows[0].id = "alone".into();
    let found = shares(&run(&plan), &plan, "alone", 1.0, END_S);
    assert_eq!(found[LINKS], 1.0, "8 of 20 Mbit/s: {found:?}");
}
