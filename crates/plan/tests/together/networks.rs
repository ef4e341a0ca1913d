//! Lab networks: what a plan of one must be, its paths, and the routes that make kernels take them.

use crate::common::{Net, routes_of};
use plan::{Plan, Routes, Spread};
use serde_json::json;

/// The nodes on the way between two hosts.
fn way(plan: &Plan, from: &str, to: &str) -> Vec<String> {
    way_of_flow(0, plan, from, to)
}

fn way_of_flow(flow: usize, plan: &Plan, from: &str, to: &str) -> Vec<String> {
    let (routes, nodes) = (Routes::new(plan).unwrap(), plan.node_indices());
    let links = routes.path(flow, nodes[from], nodes[to]);
    links.into_iter().map(|link| plan.links[link].to.clone()).collect()
}

/// h1 - r1 - r2 - h2, and a longer way from r1 over r3 to r2.
fn triangle() -> Net {
    let mut net = Net::default();
    net.host("h1", "10.1.0.10/24").host("h2", "10.2.0.10/24");
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.0.12.1/30", "10.0.13.1/30"]);
    net.router("r2", "10.255.0.2", &["10.2.0.1/24", "10.0.12.2/30", "10.0.23.1/30"]);
    net.router("r3", "10.255.0.3", &["10.0.13.2/30", "10.0.23.2/30"]);
    net.cable("h1", "r1").cable("h2", "r2").cable("r1", "r2").cable("r1", "r3").cable("r2", "r3");
    net
}

#[test]
fn packets_take_the_way_of_the_least_cost() {
    let mut net = triangle();
    assert_eq!(way(&net.plan(), "h1", "h2"), ["r1", "r2", "h2"]);
    net.link("r1-r2")["cost"] = json!(3);
    assert_eq!(way(&net.plan(), "h1", "h2"), ["r1", "r3", "r2", "h2"]);
    // Each direction has a cost.
    assert_eq!(way(&net.plan(), "h2", "h1"), ["r2", "r1", "h1"]);
    net.link("r1-r2")["cost"] = json!(2);
    assert_eq!(way(&net.plan(), "h1", "h2"), ["r1", "r2", "h2"], "among equals the first link counts");
}

/// h1 - r1 - (r2 or r3) - r4, where h4 and h5 are in subnets of their own.
fn diamond() -> Net {
    let mut net = Net::default();
    net.host("h1", "10.1.0.10/24").host("h4", "10.4.0.10/24").host("h5", "10.5.0.10/24");
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.0.12.1/30", "10.0.13.1/30"]);
    net.router("r2", "10.255.0.2", &["10.0.12.2/30", "10.0.24.1/30"]);
    net.router("r3", "10.255.0.3", &["10.0.13.2/30", "10.0.34.1/30"]);
    net.router("r4", "10.255.0.4", &["10.4.0.1/24", "10.5.0.1/24", "10.0.24.2/30", "10.0.34.2/30"]);
    net.cable("h1", "r1").cable("r1", "r2").cable("r1", "r3").cable("h4", "r4").cable("h5", "r4");
    net.cable("r2", "r4").cable("r3", "r4");
    net
}

#[test]
fn destinations_take_turns_among_equals_if_they_are_spread() {
    let net = diamond();
    assert_eq!(way(&net.plan(), "h1", "h4")[1], way(&net.plan(), "h1", "h5")[1]);
    let spread = Plan { spread: Spread::Destinations, ..net.plan() };
    let (first, second) = (way(&spread, "h1", "h4"), way(&spread, "h1", "h5"));
    assert_ne!(first[1], second[1]);
    // The kernels' routes lead the same ways.
    let routes = routes_of(&spread.static_routes().unwrap()[3]);
    let hop = |node: &str| if node == "r2" { "10.0.12.2" } else { "10.0.13.2" };
    assert!(routes.contains(&format!("10.4.0.0/24 via {}", hop(&first[1]))), "{routes:?}");
    assert!(routes.contains(&format!("10.5.0.0/24 via {}", hop(&second[1]))), "{routes:?}");
}

#[test]
fn flows_choose_among_equals_if_they_are_spread() {
    let plan = Plan { spread: Spread::Flows, ..diamond().plan() };
    let ways: Vec<String> = (0..400).map(|flow| way_of_flow(flow, &plan, "h1", "h4")[1].clone()).collect();
    // Binomial: 200 of 400 on average, with a standard deviation of 10.
    let first = ways.iter().filter(|way| *way == "r2").count();
    assert!((150..=250).contains(&first) && ways.iter().all(|way| ["r2", "r3"].contains(&way.as_str())), "{first}");
    let another = Plan { seed: plan.seed + 1, ..plan.clone() };
    let same = (0..400).filter(|&flow| way_of_flow(flow, &another, "h1", "h4")[1] == ways[flow]).count();
    assert!((150..=250).contains(&same), "another seed chooses anew: {same}");
    assert_eq!(way_of_flow(7, &plan, "h1", "h4")[1], way_of_flow(7, &plan.clone(), "h1", "h4")[1]);
    let routes = plan.static_routes().unwrap();
    assert!(routes_of(&routes[3]).contains(&"10.4.0.0/24 via 10.0.12.2, 10.0.13.2".to_owned()), "{:?}", routes[3]);
    assert_eq!(routes_of(&routes[0]), ["0.0.0.0/0 via 10.1.0.1"]);
}

/// The routers r2 and r3 of the diamond are at one switch with r1.
#[test]
fn flows_choose_among_routers_behind_a_switch() {
    let mut net = Net::default();
    net.host("h1", "10.1.0.10/24").host("h4", "10.4.0.10/24");
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.0.1.1/24"]);
    net.router("r2", "10.255.0.2", &["10.0.1.2/24", "10.0.24.1/30"]);
    net.router("r3", "10.255.0.3", &["10.0.1.3/24", "10.0.34.1/30"]);
    net.router("r4", "10.255.0.4", &["10.4.0.1/24", "10.0.24.2/30", "10.0.34.2/30"]);
    net.switch("s1");
    net.cable("h1", "r1").cable("r1", "s1").cable("r2", "s1").cable("r3", "s1").cable("h4", "r4");
    net.cable("r2", "r4").cable("r3", "r4");
    let plan = Plan { spread: Spread::Flows, ..net.plan() };
    let ways: std::collections::BTreeSet<String> =
        (0..40).map(|flow| way_of_flow(flow, &plan, "h1", "h4")[2].clone()).collect();
    assert_eq!(ways.into_iter().collect::<Vec<_>>(), ["r2", "r3"]);
    let routes = plan.static_routes().unwrap();
    assert!(routes_of(&routes[2]).contains(&"10.4.0.0/24 via 10.0.1.2, 10.0.1.3".to_owned()), "{:?}", routes[2]);
}

/// The way over r3 is shorter in time, and costs as much.
#[test]
fn the_least_delay_is_that_of_the_fastest_of_the_paths_that_a_flow_may_take() {
    let mut net = diamond();
    net.link("r1-r2")["delay_ns"] = json!(5_000_000);
    let mut json = net.json();
    let ping = json!({"kind": "ping", "interval_ns": 1, "payload_bytes": 56});
    json["flows"] =
        json!([{"id": "f1", "from": "h1", "to": "h4", "start_ns": 0, "stop_ns": 1, "port": 1, "workload": ping}]);
    json["spread"] = json!("flows");
    let plan = Plan::parse(&json.to_string()).unwrap();
    for delays in plan.least_delays().unwrap() {
        assert_eq!((delays.there.as_nanos(), delays.back.as_nanos()), (0, 0));
    }
    assert!(plan.network().unwrap().paths.iter().all(|path| path.least_rtt.as_nanos() == 0));
}

#[test]
fn kernels_get_a_route_for_each_subnet_and_router_and_hosts_a_default_route() {
    let routes = triangle().plan().static_routes().unwrap();
    assert_eq!(routes_of(&routes[0]), ["0.0.0.0/0 via 10.1.0.1"]);
    assert_eq!(
        routes_of(&routes[2]),
        [
            "10.2.0.0/24 via 10.0.12.2",
            "10.0.23.0/30 via 10.0.12.2",
            "10.255.0.2/32 via 10.0.12.2",
            "10.255.0.3/32 via 10.0.13.2"
        ]
    );
}

/// Two routers to the same network, each at another switch: the subnet has one route, whichever host is meant.
#[test]
fn the_way_to_a_subnet_does_not_depend_on_the_host_in_it() {
    let mut net = Net::default();
    net.host("h1", "10.1.0.10/24").host("h2", "10.2.0.10/24").host("h3", "10.2.0.11/24");
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.2.0.1/24"]);
    net.router("r2", "10.255.0.2", &["10.1.0.2/24", "10.2.0.2/24"]);
    net.switch("s0").switch("s1").switch("s2");
    net.cable("h1", "s0").cable("r1", "s0").cable("r2", "s0");
    net.cable("r1", "s1").cable("r2", "s2").cable("s1", "s2").cable("h2", "s1").cable("h3", "s2");
    let plan = net.plan();
    assert_eq!(way(&plan, "h1", "h2"), ["s0", "r1", "s1", "h2"]);
    assert_eq!(way(&plan, "h1", "h3"), ["s0", "r1", "s1", "s2", "h3"]);
    assert_eq!(way(&plan, "h2", "h3"), ["s1", "s2", "h3"]);
    assert_eq!(way(&plan, "h3", "h1"), ["s2", "r2", "s0", "h1"]);
    let routes = plan.static_routes().unwrap();
    assert_eq!(routes_of(&routes[0]), ["0.0.0.0/0 via 10.1.0.1", "10.255.0.2/32 via 10.1.0.2"]);
}

#[test]
fn ipv6_has_routes_where_it_has_addresses() {
    let mut net = triangle();
    for (node, interface, address) in [
        (0, 0, "fd00:1::10/64"),
        (2, 0, "fd00:1::1/64"),
        (2, 1, "fd00:12::1/64"),
        (3, 1, "fd00:12::2/64"),
        (3, 0, "fd00:2::1/64"),
        (1, 0, "fd00:2::10/64"),
    ] {
        net.nodes[node]["interfaces"][interface]["addresses"].as_array_mut().unwrap().push(json!(address));
    }
    let routes = net.plan().static_routes().unwrap();
    assert_eq!(routes_of(&routes[0]), ["0.0.0.0/0 via 10.1.0.1", "::/0 via fd00:1::1"]);
    assert!(routes_of(&routes[2]).contains(&"fd00:2::/64 via fd00:12::2".to_owned()));
    assert!(routes_of(&routes[4]).iter().all(|route| !route.contains("fd00")), "r3 speaks IPv4 alone");
}

/// A router with a host in each of 40 subnets, behind another router.
#[test]
fn many_routes_to_one_next_hop_are_gathered() {
    let mut net = Net::default();
    net.router("r1", "10.255.0.1", &["10.0.12.1/30"]);
    let subnets: Vec<String> = (0..40).map(|n| format!("10.1.{n}.1/24")).chain(["10.0.12.2/30".to_owned()]).collect();
    net.router("r2", "10.255.0.2", &subnets.iter().map(String::as_str).collect::<Vec<_>>());
    for n in 0..40 {
        net.host(&format!("h{n}"), &format!("10.1.{n}.10/24")).cable("r2", &format!("h{n}"));
    }
    net.cable("r2", "r1");
    let routes = net.plan().static_routes().unwrap();
    assert_eq!(
        routes_of(&routes[0]),
        ["10.1.0.0/19 via 10.0.12.2", "10.1.32.0/21 via 10.0.12.2", "10.255.0.2/32 via 10.0.12.2"]
    );
}

/// A subnet behind both ends of a line of routers.
#[test]
fn routes_lead_to_the_nearest_of_several_places() {
    let mut net = Net::default();
    net.host("west", "192.0.2.10/24").host("east", "192.0.2.10/24").host("h1", "10.1.0.10/24");
    net.router("r1", "10.255.0.1", &["192.0.2.1/24", "10.0.12.1/30"]);
    net.router("r2", "10.255.0.2", &["10.0.12.2/30", "10.0.23.1/30", "10.1.0.1/24"]);
    net.router("r3", "10.255.0.3", &["10.0.23.2/30", "10.0.34.1/30"]);
    net.router("r4", "10.255.0.4", &["10.0.34.2/30", "192.0.2.1/24"]);
    net.cable("west", "r1").cable("r1", "r2").cable("r2", "r3").cable("h1", "r2").cable("r3", "r4").cable("r4", "east");
    let error = format!("{:#}", Plan::parse(&net.json().to_string()).unwrap_err());
    assert!(error.contains("west and east have the same address, 192.0.2.10"), "{error}");
    let mut plan = net.json();
    plan["anycast"] = json!(["192.0.2.0/24"]);
    let plan = Plan::parse(&plan.to_string()).unwrap();
    let routes = plan.static_routes().unwrap();
    let of =
        |node: usize| routes_of(&routes[node]).into_iter().filter(|one| one.starts_with("192")).collect::<Vec<_>>();
    assert_eq!(
        [3, 4, 5, 6].map(of),
        [vec![], vec!["192.0.2.0/24 via 10.0.12.1".to_owned()], vec!["192.0.2.0/24 via 10.0.34.2".to_owned()], vec![]]
    );
    // A flow's way leads to the host that it names.
    assert_eq!(way(&plan, "h1", "east"), ["r2", "r3", "r4", "east"]);
}

fn refusal(change: impl FnOnce(&mut Net)) -> String {
    let mut net = triangle();
    change(&mut net);
    format!("{:#}", Plan::parse(&net.json().to_string()).expect_err("should be refused"))
}

#[test]
fn impossible_networks_are_refused() {
    type Change = fn(&mut Net);
    let cases: [(Change, &str); 13] = [
        (|net| net.link("r1-r2")["from_interface"] = json!("eth9"), "link r1-r2: r1 has no interface eth9"),
        (|net| net.link("r1-r2")["from_interface"] = json!(null), "which interface of r1"),
        (|net| net.nodes[2]["interfaces"][1]["name"] = json!("eth0"), "r1 has two interfaces eth0"),
        (|net| net.nodes[2]["interfaces"][1]["mac"] = json!("02:00:00:00:00:00"), "another interface has the MAC"),
        (|net| net.nodes[2]["interfaces"][1]["mac"] = json!("ff:00:00:00:00:00"), "cannot be the MAC address"),
        (|net| net.nodes[2]["interfaces"][1]["mac"] = json!("zz"), "not a MAC address"),
        (
            |net| net.nodes[3]["interfaces"][1]["addresses"] = json!(["10.0.12.1/30"]),
            "r1 and r2 have the same address, 10.0.12.1",
        ),
        (|net| net.nodes[3]["address"] = json!("10.255.0.1"), "r1 and r2 have the same address, 10.255.0.1"),
        (
            |net| net.nodes[3]["interfaces"][1]["addresses"] = json!(["10.1.0.2/24"]),
            "are in the subnet 10.1.0.0/24, but no cables",
        ),
        (|net| net.nodes[0]["address"] = json!("10.1.0.11"), "none of the interfaces of h1 has its address, 10.1.0.11"),
        (
            |net| net.nodes[0]["routes"] = json!([{"to": "0.0.0.0/0", "via": ["10.9.0.1"]}]),
            "10.9.0.1, which is in none of its subnets",
        ),
        (|net| net.nodes[0]["routes"] = json!([{"to": "0.0.0.0/0", "via": []}]), "leads to no next hop"),
        (|net| drop(net.links.pop()), "no link leads back"),
    ];
    for (change, why) in cases {
        let error = refusal(change);
        assert!(error.contains(why), "{error:?} lacks {why:?}");
    }
}

#[test]
fn a_loop_of_switches_is_refused_and_one_of_routers_is_not() {
    let mut net = Net::default();
    net.switch("s1").switch("s2").switch("s3").host("h1", "10.0.0.1/24");
    net.cable("s1", "s2").cable("s2", "s3").cable("h1", "s1");
    assert!(Plan::parse(&net.json().to_string()).is_ok());
    net.cable("s3", "s1");
    let error = format!("{:#}", Plan::parse(&net.json().to_string()).unwrap_err());
    assert!(
        error.contains("link s3-s1 closes a loop of switches") && error.contains("make one of the switches a router")
    );
    let mut twice = Net::default();
    twice.switch("s1").switch("s2").host("h1", "10.0.0.1/24").cable("h1", "s1").cable("s1", "s2").cable("s1", "s2");
    assert!(format!("{:#}", Plan::parse(&twice.json().to_string()).unwrap_err()).contains("closes a loop of switches"));
    triangle().plan();
}

#[test]
fn a_core_network_knows_no_routers_and_costs() {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    let mut net = Net::default();
    net.nodes = vec![host("a", "10.0.0.1"), host("b", "10.0.0.2")];
    let mut link = serde_json::to_value(plan::Link::transparent("ab", "a", "b")).unwrap();
    net.links = vec![link.clone()];
    assert!(Plan::parse(&net.json().to_string()).is_ok());
    link["cost"] = json!(2);
    net.links = vec![link];
    assert!(
        format!("{:#}", Plan::parse(&net.json().to_string()).unwrap_err()).contains("link ab has interfaces or a cost")
    );
}

#[test]
fn a_plan_of_a_core_network_keeps_its_bytes() {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    let mut net = Net::default();
    net.nodes = vec![host("a", "10.0.0.1"), host("b", "10.0.0.2"), json!({"kind": "switch", "name": "s"})];
    net.links = vec![serde_json::to_value(plan::Link::transparent("ab", "a", "b")).unwrap()];
    let text = serde_json::to_string(&net.plan()).unwrap();
    for key in ["interface", "routes", "routing", "cost", "neighbours", "wait"] {
        assert!(!text.contains(key), "{text} has {key}");
    }
}

#[test]
fn numbers_with_which_no_engine_can_work_are_refused() {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    let refused = |key: &str, value: serde_json::Value| {
        let mut net = Net::default();
        net.nodes = vec![host("a", "10.0.0.1"), host("b", "10.0.0.2")];
        let mut link = serde_json::to_value(plan::Link::transparent("ab", "a", "b")).unwrap();
        link[key] = value;
        net.links = vec![link];
        Plan::parse(&net.json().to_string()).is_err()
    };
    let opportunities =
        |period: i64| json!({"kind": "opportunities", "times": [[1, 1]], "bytes": 1, "period_ns": period});
    for (key, sound, broken) in [
        ("delay_ns", json!(i64::MAX), json!(-1)),
        ("slots", slots(4, 4), slots(5, 4)),
        ("slots", slots(1, 2), slots(0, 2)),
        ("variation", opportunities(1), opportunities(0)),
        ("policer", json!({"rate_bps": 1, "burst_bytes": 1}), json!({"rate_bps": 1, "burst_bytes": 0})),
        ("duplication", chance(1.0), chance(1.5)),
        ("loss_after", json!([periodic(1, 0)]), json!([periodic(0, 0)])),
        ("queue", fair(1 << 16), fair(1 << 30)),
    ] {
        assert!(!refused(key, sound.clone()), "{key} = {sound}");
        assert!(refused(key, broken.clone()), "{key} = {broken}");
    }
    for (key, broken) in [("/duration_ns", -1), ("/record/sample_interval_ns", 0)] {
        let mut json = triangle().json();
        *json.pointer_mut(key).unwrap() = json!(broken);
        assert!(Plan::parse(&json.to_string()).is_err(), "{key} = {broken}");
    }
}

#[test]
fn a_host_without_interfaces_that_sends_into_two_links_is_refused() {
    let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
    let parsed = |from: &str| {
        let mut net = Net::default();
        net.nodes = vec![host("a", "10.0.0.1"), host("b", "10.0.0.2")];
        let links = [("one", "a", "b"), ("other", from, if from == "a" { "b" } else { "a" })];
        let link = |(name, from, to)| serde_json::to_value(plan::Link::transparent(name, from, to)).unwrap();
        net.links = links.map(link).to_vec();
        Plan::parse(&net.json().to_string())
    };
    assert!(parsed("b").is_ok());
    assert!(format!("{:#}", parsed("a").unwrap_err()).contains("a sends into two links"));
}

/// An event is a state of its link from its time on, and the link has one from 0 on.
#[test]
fn an_event_before_the_run_is_refused() {
    let mut json = triangle().json();
    json["events"] = json!([{"at_ns": -1, "link": json["links"][0]}]);
    assert!(format!("{:#}", Plan::parse(&json.to_string()).unwrap_err()).contains("before the run"));
    json["events"][0]["at_ns"] = json!(0);
    assert!(Plan::parse(&json.to_string()).is_ok());
}

/// Each of these delays is 292 years.
#[test]
fn sums_of_long_delays_stay_in_range() {
    let mut net = triangle();
    let hops = net.links.iter().map(|link| link["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    hops.iter().for_each(|name| net.link(name)["delay_ns"] = json!(i64::MAX));
    let mut json = net.json();
    json["flows"] = json!([{"id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": 1,
        "workload": {"kind": "tcp", "cc": "cubic", "bytes": null, "ecn": false}}]);
    let network = Plan::parse(&json.to_string()).unwrap().network().unwrap();
    assert_eq!(network.paths[0].least_rtt.as_nanos(), i64::MAX);
}

fn slots(min: i64, max: i64) -> serde_json::Value {
    json!({"min_interval_ns": min, "max_interval_ns": max, "packets": null, "bytes": null})
}

fn chance(probability: f64) -> serde_json::Value {
    json!({"probability": probability, "correlation": 0.0})
}

fn periodic(every: u64, offset: u64) -> serde_json::Value {
    json!({"model": "periodic", "every": every, "offset": offset})
}

fn fair(flows: u32) -> serde_json::Value {
    json!({"kind": "fq", "quantum_bytes": 1514, "flows": flows})
}

/// h1 - r1 - ... - rN - h2.
fn chain(routers: usize) -> Net {
    let mut net = Net::default();
    net.host("h1", "10.0.0.10/24").host("h2", &format!("10.0.{routers}.10/24"));
    for number in 1..=routers {
        let addresses = [number - 1, number].map(|subnet| format!("10.0.{subnet}.{}/24", 1 + number - subnet));
        net.router(&format!("r{number}"), &format!("10.255.0.{number}"), &[&addresses[0], &addresses[1]]);
    }
    net.cable("h1", "r1");
    for number in 1..routers {
        net.cable(&format!("r{number}"), &format!("r{}", number + 1));
    }
    net.cable(&format!("r{routers}"), "h2");
    net
}

#[test]
fn the_ttl_of_64_runs_out_at_the_64th_router() {
    let ends = |routers: usize, sysctl: serde_json::Value| {
        let mut json = chain(routers).json();
        json["nodes"][0]["sysctl"] = sysctl;
        json["flows"] = json!([{"id": "f1", "from": "h1", "to": "h2", "start_ns": 0, "stop_ns": 1, "port": 1,
            "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}}]);
        let network = Plan::parse(&json.to_string()).unwrap().network().unwrap();
        (network.paths[0].ttl_ends_there.clone(), network.paths[0].ttl_ends_back.clone())
    };
    let named = |there: &str, back: &str| (Some(there.to_owned()), Some(back.to_owned()));
    assert_eq!(ends(63, json!({})), (None, None));
    assert_eq!(ends(64, json!({})), named("r64", "r1"));
    assert_eq!(ends(70, json!({})), named("r64", "r7"));
    assert_eq!(ends(70, json!({"net.ipv4.ip_default_ttl": "71"})), (None, Some("r7".into())));
}

#[test]
fn whatever_has_no_route_leads_to_the_router_with_nat() {
    let mut net = diamond();
    let door = |net: &mut Net, name: &str| {
        let node = net.nodes.iter_mut().find(|node| node["name"] == name).unwrap();
        node["nat"] = json!(true);
    };
    assert_eq!(net.plan().outside(), None);
    door(&mut net, "r2");
    let plan = net.plan();
    let routes = plan.static_routes().unwrap();
    let default = |node: usize| {
        let found = routes_of(&routes[node]).into_iter().filter(|route| route.starts_with("0.0.0.0/0"));
        found.collect::<Vec<_>>()
    };
    // h1, h4, h5, r1, r2, r3, r4.
    assert_eq!(default(0), ["0.0.0.0/0 via 10.1.0.1"]);
    assert_eq!(default(3), ["0.0.0.0/0 via 10.0.12.2"]);
    assert_eq!(default(4), Vec::<String>::new(), "its own has another next hop");
    assert_eq!(default(6), ["0.0.0.0/0 via 10.0.24.1"]);
    let outside = plan.outside().unwrap();
    assert_eq!((outside.router, outside.subnet.to_string().as_str()), (4, "100.64.0.0/24"));
    assert_eq!(outside.gateway().to_string(), "100.64.0.2");
    door(&mut net, "r3");
    let error = Plan::parse(&net.json().to_string()).unwrap_err();
    assert!(format!("{error:#}").contains("two routers lead to the machine's network"), "{error:#}");
}

/// h1 sends most to r1, and only what is outside to r2.
#[test]
fn a_host_between_two_routers_sends_to_the_one_with_nat_what_is_nowhere_else() {
    let mut net = Net::default();
    net.host("h1", "10.1.0.10/24").switch("s1");
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.2.0.1/24", "10.3.0.1/24"]);
    net.router("r2", "10.255.0.2", &["10.1.0.2/24"]);
    net.host("h2", "10.2.0.10/24").host("h3", "10.3.0.10/24");
    net.cable("h1", "s1").cable("r1", "s1").cable("r2", "s1").cable("h2", "r1").cable("h3", "r1");
    net.nodes[3]["nat"] = json!(true);
    let routes = routes_of(&net.plan().static_routes().unwrap()[0]);
    assert_eq!(
        routes,
        [
            "0.0.0.0/0 via 10.1.0.2",
            "10.2.0.0/24 via 10.1.0.1",
            "10.3.0.0/24 via 10.1.0.1",
            "10.255.0.1/32 via 10.1.0.1"
        ]
    );
}

#[test]
fn the_way_outside_has_a_subnet_of_its_own() {
    let mut net = Net::default();
    net.host("h1", "100.64.0.1/23").host("h2", "100.64.3.1/25");
    net.router("r1", "10.255.0.1", &["100.64.0.2/23", "100.64.3.2/25"]);
    net.cable("h1", "r1").cable("h2", "r1");
    net.nodes[2]["nat"] = json!(true);
    assert_eq!(net.plan().outside().unwrap().subnet.to_string(), "100.64.2.0/24");
    let mut all = Net::default();
    all.host("h1", "100.64.0.1/9").router("r1", "10.255.0.1", &["100.64.0.2/9"]).cable("h1", "r1");
    all.nodes[1]["nat"] = json!(true);
    let error = Plan::parse(&all.json().to_string()).unwrap_err();
    assert!(format!("{error:#}").contains("needs a subnet of 100.64.0.0/10"), "{error:#}");
}
