//! Networks with bridges: their spanning tree, their VLANs, and the paths that follow.

use crate::common::{Net, routes_of};
use plan::{Plan, Routes};
use serde_json::{Value, json};

trait Bridges {
    /// A bridge with so many ports, with a spanning tree.
    fn bridge(&mut self, name: &str, ports: usize) -> &mut Self;
    fn node_of(&mut self, name: &str) -> &mut Value;
}

impl Bridges for Net {
    fn bridge(&mut self, name: &str, ports: usize) -> &mut Net {
        let stp = json!({"priority": 32768, "hello_ns": 1_000_000_000u64, "forward_delay_ns": 2_000_000_000u64,
            "max_age_ns": 6_000_000_000u64});
        self.node(json!({"kind": "bridge", "name": name, "stp": stp}), &[]);
        let index = self.nodes.len() - 1;
        let port = |number| json!({"name": format!("eth{number}"), "addresses": [], "mac": format!("02:00:00:00:{index:02x}:{number:02x}")});
        self.nodes[index]["interfaces"] = (0..ports).map(port).collect();
        self
    }

    fn node_of(&mut self, name: &str) -> &mut Value {
        self.nodes.iter_mut().find(|node| node["name"] == name).unwrap()
    }
}

/// The nodes on the way between two hosts.
fn way(net: &Net, from: &str, to: &str) -> Vec<String> {
    let plan = net.plan();
    let (routes, nodes) = (Routes::new(&plan).unwrap(), plan.node_indices());
    routes.path(0, nodes[from], nodes[to]).into_iter().map(|link| plan.links[link].to.clone()).collect()
}

/// Why a plan is none.
fn refusal(net: &Net) -> String {
    format!("{:#}", Plan::parse(&net.json().to_string()).unwrap_err())
}

/// A triangle of bridges, with a host at each: s1 is the root.
fn triangle() -> Net {
    let mut net = Net::default();
    net.host("h1", "10.0.0.1/24").host("h2", "10.0.0.2/24").host("h3", "10.0.0.3/24");
    net.bridge("s1", 3).bridge("s2", 3).bridge("s3", 3);
    net.cable("h1", "s1").cable("h2", "s2").cable("h3", "s3").cable("s1", "s2").cable("s2", "s3").cable("s1", "s3");
    net
}

#[test]
fn a_tree_spans_a_loop_of_bridges() {
    let net = triangle();
    assert_eq!(way(&net, "h1", "h2"), ["s1", "s2", "h2"]);
    assert_eq!(way(&net, "h2", "h3"), ["s2", "s1", "s3", "h3"], "s2 - s3 is blocked");
    let networks = net.plan().network().unwrap();
    assert!(networks.paths.is_empty());
}

#[test]
fn the_least_priority_makes_the_root() {
    let mut net = triangle();
    net.node_of("s3")["stp"]["priority"] = json!(4096);
    assert_eq!(way(&net, "h1", "h2"), ["s1", "s3", "s2", "h2"], "s1 - s2 is blocked");
    assert_eq!(way(&net, "h2", "h3"), ["s2", "s3", "h3"]);
}

#[test]
fn costs_choose_the_tree() {
    let mut net = triangle();
    net.link("s3-s1")["cost"] = json!(3);
    assert_eq!(way(&net, "h3", "h1"), ["s3", "s2", "s1", "h1"], "2 are less than 3");
    // The cost of a port counts where messages of the root come in: that of the other direction does not.
    let mut net = triangle();
    net.link("s1-s3")["cost"] = json!(3);
    assert_eq!(way(&net, "h3", "h1"), ["s3", "s1", "h1"]);
}

#[test]
fn of_parallel_cables_one_carries() {
    let mut net = Net::default();
    net.host("h1", "10.0.0.1/24").host("h2", "10.0.0.2/24").bridge("s1", 3).bridge("s2", 3);
    net.cable("h1", "s1").cable("h2", "s2").cable("s1", "s2").cable("s1", "s2");
    assert_eq!(way(&net, "h1", "h2"), ["s1", "s2", "h2"]);
    let plan = net.plan();
    let (routes, nodes) = (Routes::new(&plan).unwrap(), plan.node_indices());
    assert_eq!(routes.path(0, nodes["h2"], nodes["h1"]), [2, 5, 1], "by the least number of a port");
}

#[test]
fn a_link_that_is_down_is_no_part_of_the_tree() {
    let mut net = triangle();
    net.link("s1-s2")["up"] = json!(false);
    assert_eq!(way(&net, "h2", "h3"), ["s2", "s3", "h3"]);
    assert_eq!(way(&net, "h2", "h1"), ["s2", "s3", "s1", "h1"]);
}

#[test]
fn a_loop_needs_a_bridge_with_a_spanning_tree() {
    let mut net = triangle();
    for name in ["s1", "s2", "s3"] {
        net.node_of(name).as_object_mut().unwrap().remove("stp");
        let broken = Plan::parse(&net.json().to_string()).is_ok();
        assert_eq!(broken, name != "s3", "one is enough, as messages cross the others");
    }
    assert!(refusal(&net).contains("closes a loop of switches"), "{}", refusal(&net));
    // A plain switch between two bridges is one LAN.
    let mut net = Net::default();
    net.host("h1", "10.0.0.1/24").host("h2", "10.0.0.2/24").bridge("s1", 3).bridge("s2", 3).switch("s3");
    net.cable("h1", "s1").cable("h2", "s2").cable("s1", "s2").cable("s1", "s3").cable("s3", "s2");
    assert_eq!(way(&net, "h1", "h2"), ["s1", "s2", "h2"]);
}

/// Two bridges with a trunk. h1 and h3 are in VLAN 10, h2 and h4 in VLAN 20; r1 has a port in each.
fn vlans() -> Net {
    let mut net = Net::default();
    net.host("h1", "10.0.10.1/24").host("h2", "10.0.20.1/24").host("h3", "10.0.10.3/24").host("h4", "10.0.20.4/24");
    net.router("r1", "10.255.0.1", &["10.0.10.254/24", "10.0.20.254/24"]);
    net.bridge("s1", 5).bridge("s2", 3);
    net.cable("h1", "s1").cable("h2", "s1").cable("s1", "s2").cable("h3", "s2").cable("h4", "s2");
    net.cable("r1", "s1").cable("r1", "s1");
    let access = |vlan: u16| json!({"untagged": vlan, "tagged": []});
    let trunk = json!({"untagged": null, "tagged": [10, 20]});
    let of_ports = [
        ("s1", vec![access(10), access(20), trunk.clone(), access(10), access(20)]),
        ("s2", vec![trunk, access(10), access(20)]),
    ];
    for (name, ports) in of_ports {
        for (port, vlans) in ports.into_iter().enumerate() {
            net.node_of(name)["interfaces"][port]["vlans"] = vlans;
        }
    }
    net
}

#[test]
fn a_vlan_is_a_broadcast_domain() {
    let net = vlans();
    assert_eq!(way(&net, "h1", "h3"), ["s1", "s2", "h3"]);
    assert_eq!(way(&net, "h2", "h4"), ["s1", "s2", "h4"]);
    assert_eq!(way(&net, "h1", "h4"), ["s1", "r1", "s1", "s2", "h4"], "from one VLAN to another through the router");
    let routes = net.plan().static_routes().unwrap();
    assert_eq!(routes.len(), 7);
    assert_eq!(routes_of(&routes[0]), ["0.0.0.0/0 via 10.0.10.254"]);
    assert_eq!(routes_of(&routes[3]), ["0.0.0.0/0 via 10.0.20.254"]);
}

#[test]
fn a_subnet_is_in_one_vlan() {
    let mut net = vlans();
    net.node_of("s2")["interfaces"][1]["vlans"]["untagged"] = json!(20);
    let said = refusal(&net);
    assert!(said.contains("are in the subnet 10.0.10.0/24, but no cables and switches join them"), "{said}");
    // A router that is in both parts could not tell them apart; nobody else takes one for the other.
    let mut net = Net::default();
    net.host("h1", "10.0.0.1/24").host("h2", "10.0.0.2/24").host("h3", "10.0.0.3/24").switch("s1").switch("s2");
    net.cable("h1", "s1").cable("h2", "s2").cable("h3", "s2");
    assert_eq!(way(&net, "h2", "h3"), ["s2", "h3"]);
    assert!(net.plan().static_routes().unwrap().iter().all(Vec::is_empty));
    net.router("r1", "10.255.0.1", &["10.1.0.1/24", "10.2.0.1/24"]);
    net.cable("r1", "s1").cable("r1", "s2");
    assert!(refusal(&net).contains("no cables and switches join them"));
}

#[test]
fn bridges_that_no_kernel_has_are_refused() {
    type Change = fn(&mut Net);
    let cases: [(Change, &str); 6] = [
        (|net| net.node_of("s1")["interfaces"][0]["vlans"] = json!(null), "some ports of bridges have VLANs"),
        (|net| net.node_of("s1")["interfaces"][0]["vlans"]["untagged"] = json!(4095), "4095 is no number of a VLAN"),
        (|net| net.node_of("s1")["interfaces"][2]["vlans"]["tagged"] = json!([10, 10]), "has the VLAN 10 twice"),
        (|net| net.node_of("s1")["interfaces"][0]["addresses"] = json!(["10.0.0.9/24"]), "eth0 has an address"),
        (|net| net.node_of("s1")["stp"]["hello_ns"] = json!(1), "its hello is no time from 1 to 10 s"),
        (|net| net.node_of("h1")["interfaces"][0]["vlans"] = json!({"untagged": 1, "tagged": []}), "is no bridge"),
    ];
    for (change, wanted) in cases {
        let mut net = vlans();
        change(&mut net);
        let said = refusal(&net);
        assert!(said.contains(wanted), "{said}");
    }
}
