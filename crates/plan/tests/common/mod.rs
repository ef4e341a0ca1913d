//! Plans of lab networks.

use plan::{Plan, Route};
use serde_json::{Value, json};

/// The nodes and links of a network, as a plan has them.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub nodes: Vec<Value>,
    pub links: Vec<Value>,
    /// The interfaces of each node that have a cable.
    used: Vec<usize>,
}

impl Net {
    /// A host with one interface.
    pub fn host(&mut self, name: &str, address: &str) -> &mut Net {
        let own = address.split('/').next().unwrap();
        self.node(json!({"kind": "host", "name": name, "address": own, "sysctl": {}}), &[address])
    }

    /// A router with an interface for each address.
    pub fn router(&mut self, name: &str, id: &str, addresses: &[&str]) -> &mut Net {
        self.node(json!({"kind": "router", "name": name, "address": id, "sysctl": {}}), addresses)
    }

    pub fn switch(&mut self, name: &str) -> &mut Net {
        self.nodes.push(json!({"kind": "switch", "name": name}));
        self.used.push(0);
        self
    }

    pub fn node(&mut self, mut node: Value, addresses: &[&str]) -> &mut Net {
        let index = self.nodes.len();
        let interface = |(number, address): (usize, &&str)| json!({"name": format!("eth{number}"), "mac": format!("02:00:00:00:{index:02x}:{number:02x}"), "addresses": [address]});
        node["interfaces"] = addresses.iter().enumerate().map(interface).collect();
        self.nodes.push(node);
        self.used.push(0);
        self
    }

    /// A plain cable between the next free interfaces of two nodes; its links are called `a-b` and `b-a`.
    pub fn cable(&mut self, a: &str, b: &str) -> &mut Net {
        let [near, far] = [a, b].map(|name| self.free(name));
        for (from, from_interface, to, to_interface) in [(a, &near, b, &far), (b, &far, a, &near)] {
            let mut link = serde_json::to_value(plan::Link::transparent(&format!("{from}-{to}"), from, to)).unwrap();
            for (key, interface) in [("from_interface", from_interface), ("to_interface", to_interface)] {
                if let Some(interface) = interface {
                    link[key] = json!(interface);
                }
            }
            self.links.push(link);
        }
        self
    }

    fn free(&mut self, name: &str) -> Option<String> {
        let node = self.nodes.iter().position(|node| node["name"] == name).unwrap();
        self.used[node] += 1;
        (self.nodes[node]["kind"] != "switch").then(|| format!("eth{}", self.used[node] - 1))
    }

    pub fn link(&mut self, name: &str) -> &mut Value {
        self.links.iter_mut().find(|link| link["name"] == name).unwrap()
    }

    pub fn json(&self) -> Value {
        json!({"name": "lab", "duration_ns": 1, "seed": 1, "nodes": self.nodes, "links": self.links, "flows": [],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}})
    }

    pub fn plan(&self) -> Plan {
        Plan::parse(&self.json().to_string()).unwrap()
    }
}

/// Routes as text.
pub fn routes_of(routes: &[Route]) -> Vec<String> {
    let via = |route: &Route| route.via.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    routes.iter().map(|route| format!("{} via {}", route.to, via(route))).collect()
}
