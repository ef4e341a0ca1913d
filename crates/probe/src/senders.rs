//! Maps the connection of a row to a flow.

use std::collections::HashMap;
use std::net::IpAddr;

use anyhow::Result;
use plan::Plan;

/// A sender: the network namespace of its host by inode number, and the address and port that it sends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sender {
    pub netns: u32,
    pub address: IpAddr,
    pub port: u16,
}

impl Sender {
    /// Same as `struct db_flow_key` of `<dumbbell/ack.h>`.
    pub fn key(&self) -> [u8; 28] {
        let mut key = [0; 28];
        key[..4].copy_from_slice(&self.netns.to_ne_bytes());
        match self.address {
            IpAddr::V4(address) => key[4..8].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => key[8..24].copy_from_slice(&address.octets()),
        }
        key[24..26].copy_from_slice(&self.port.to_ne_bytes());
        key
    }
}

/// Flows by their senders. A receiving host's port is one flow's, so a sender has one flow.
#[derive(Debug)]
pub(crate) struct Senders(HashMap<Sender, u16>);

impl Senders {
    /// The senders of all flows that have TCP connections. `netns` gives the inode number of a host's network
    /// namespace.
    pub fn of(plan: &Plan, netns: &dyn Fn(&str) -> Result<u32>) -> Result<Senders> {
        let mut senders = HashMap::new();
        for (index, flow) in (0..).zip(&plan.flows) {
            if !flow.workload.may_have_tcp() {
                continue;
            }
            let (_, address) = plan.ends_of(flow)?;
            senders.insert(Sender { netns: netns(&flow.from)?, address, port: flow.port }, index);
        }
        Ok(Senders(senders))
    }

    pub fn flow(&self, sender: &Sender) -> Option<u16> {
        self.0.get(sender).copied()
    }

    pub fn all(&self) -> impl Iterator<Item = &Sender> + Clone {
        self.0.keys()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flows_are_found_by_host_and_destination() {
        let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
        let flow = |id: &str, from: &str, port: u16, workload: serde_json::Value| json!({"id": id, "from": from, "to": "c", "start_ns": 0, "stop_ns": 1, "port": port, "workload": workload});
        let tcp = json!({"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false});
        let udp = json!({"kind": "udp", "rate_bps": 1, "payload_bytes": 1, "bytes": null});
        let program = json!({"kind": "command", "command": "x", "server_command": null});
        let plan: Plan = Plan::of(json!({
            "name": "test", "duration_ns": 1, "seed": 1, "links": [],
            "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2"), host("c", "10.0.0.3")],
            "flows": [flow("f1", "a", 1, tcp), flow("f2", "a", 1, udp), flow("f3", "b", 2, program)],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 0, "spin_ns": 0, "arena_bytes": 0},
        }))
        .unwrap();
        let inode = |host: &str| Ok(u32::from(host.as_bytes()[0]));
        let senders = Senders::of(&plan, &inode).unwrap();
        let sender = |netns: char, port| Sender { netns: netns as u32, address: [10, 0, 0, 3].into(), port };
        assert_eq!(senders.flow(&sender('a', 1)), Some(0));
        assert_eq!(senders.flow(&sender('b', 2)), Some(2));
        assert_eq!(senders.flow(&sender('b', 1)), None);
        assert_eq!(senders.flow(&Sender { address: [127, 0, 0, 1].into(), ..sender('a', 1) }), None);
        assert_eq!(senders.all().count(), 2);
    }

    #[test]
    fn a_key_is_the_headers() {
        let key = |address: &str| Sender { netns: 7, address: address.parse().unwrap(), port: 0x1234 }.key();
        let with = |four: [u8; 4], six: [u8; 16]| {
            [&7u32.to_ne_bytes()[..], &four, &six, &0x1234u16.to_ne_bytes(), &[0, 0]].concat()
        };
        assert_eq!(key("10.0.0.3").to_vec(), with([10, 0, 0, 3], [0; 16]));
        let six = [0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 3];
        assert_eq!(key("fd00:0:0:1::3").to_vec(), with([0; 4], six));
    }
}
