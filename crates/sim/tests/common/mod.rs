//! Plans for tests and benches.

#![allow(dead_code)]

use plan::Plan;
use serde_json::{Value, json};

/// A dumbbell: two hosts, a bottleneck with a drop-tail buffer in each direction, flows from left to right.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    pub rate_bps: u64,
    pub rtt_ms: f64,
    pub buffer_bytes: u64,
    pub seconds: f64,
    pub seed: u64,
    pub flows: Vec<Value>,
    /// More keys of the forward bottleneck, and of the one back.
    pub forward: Value,
    pub back: Value,
}

/// A bulk flow of `cc`.
pub fn bulk(cc: &str) -> Value {
    json!({"kind": "tcp", "cc": cc, "bytes": null, "ecn": false})
}

/// A flow of `bytes`.
pub fn sized(cc: &str, bytes: u64) -> Value {
    json!({"kind": "tcp", "cc": cc, "bytes": bytes, "ecn": false})
}

impl Dumbbell {
    /// 100 Mbit/s, 40 ms, a BDP of buffer, 10 s.
    pub fn new(rate_mbit: u64, rtt_ms: f64) -> Dumbbell {
        let rate_bps = rate_mbit * 1_000_000;
        Dumbbell {
            rate_bps,
            rtt_ms,
            buffer_bytes: (rate_bps as f64 / 8.0 * rtt_ms / 1e3) as u64,
            seconds: 10.0,
            seed: 1,
            flows: Vec::new(),
            forward: json!({}),
            back: json!({}),
        }
    }

    pub fn buffer_bdp(mut self, bdp: f64) -> Dumbbell {
        self.buffer_bytes = (self.rate_bps as f64 / 8.0 * self.rtt_ms / 1e3 * bdp) as u64;
        self
    }

    pub fn seconds(mut self, seconds: f64) -> Dumbbell {
        self.seconds = seconds;
        self
    }

    pub fn seed(mut self, seed: u64) -> Dumbbell {
        self.seed = seed;
        self
    }

    /// A flow that starts at `start_s`.
    pub fn flow(mut self, workload: Value, start_s: f64) -> Dumbbell {
        let id = format!("f{}", self.flows.len() + 1);
        let (start, stop) = ((start_s * 1e9) as i64, (self.seconds * 1e9) as i64);
        let port = 5000 + self.flows.len();
        self.flows.push(json!({"id": id, "from": "a", "to": "b", "start_ns": start, "stop_ns": stop, "port": port,
            "workload": workload}));
        self
    }

    pub fn flows(mut self, count: usize, workload: &Value) -> Dumbbell {
        for _ in 0..count {
            self = self.flow(workload.clone(), 0.0);
        }
        self
    }

    /// More keys of the forward bottleneck.
    pub fn with(mut self, keys: Value) -> Dumbbell {
        self.forward = keys;
        self
    }

    /// More keys of the bottleneck back.
    pub fn with_back(mut self, keys: Value) -> Dumbbell {
        self.back = keys;
        self
    }

    pub fn plan(&self) -> Plan {
        let access = |name: &str, from: &str, to: &str| {
            json!({"name": name, "from": from, "to": to, "rate_bps": null, "delay_ns": 0, "buffer": "unlimited",
                "overhead_bytes": 0})
        };
        let bottleneck = |name: &str, from: &str, to: &str, keys: &Value| {
            let mut link = json!({"name": name, "from": from, "to": to, "rate_bps": self.rate_bps,
                "delay_ns": (self.rtt_ms * 5e5) as i64, "buffer": {"bytes": self.buffer_bytes}, "overhead_bytes": 0});
            link.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
            link
        };
        // A scenario's planner has the same value: eight times the data that the path holds when both buffers are full.
        let held = self.rate_bps as f64 / 8.0 * self.rtt_ms / 1e3 + 2.0 * self.buffer_bytes as f64;
        let memory = ((8.0 * held) as u64).next_power_of_two().clamp(6 << 20, 1 << 30);
        let sysctl = json!({"net.ipv4.tcp_rmem": format!("4096 {memory} {memory}"), "net.ipv4.tcp_wmem": format!("4096 16384 {memory}")});
        let host =
            |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": sysctl});
        Plan::of(json!({
            "name": "dumbbell", "duration_ns": (self.seconds * 1e9) as i64, "seed": self.seed,
            "nodes": [
                host("a", "10.0.0.1"), {"kind": "switch", "name": "left"},
                {"kind": "switch", "name": "right"}, host("b", "10.0.0.2"),
            ],
            "links": [
                access("a-left", "a", "left"), bottleneck("bottleneck", "left", "right", &self.forward),
                access("right-b", "right", "b"), access("b-right", "b", "right"),
                bottleneck("bottleneck-back", "right", "left", &self.back), access("left-a", "left", "a"),
            ],
            "flows": self.flows, "record": {"sample_interval_ns": 10_000_000, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
        }))
        .unwrap()
    }
}

/// Everything at once: losses, `jitter`, reordering, copies, flipped bits, many algorithms, datagrams.
pub fn mixed(jitter: Value) -> Dumbbell {
    let mut plan = Dumbbell::new(20, 20.0).seconds(2.0);
    // The list is not complete: one more algorithm must not change the records of these.
    for cc in ["bbr", "bbr2", "bbr3", "bbr3-draft", "cubic", "dctcp", "reno", "vegas"] {
        plan = plan.flow(bulk(cc), 0.1);
    }
    let udp = json!({"kind": "udp", "rate_bps": 1_000_000, "payload_bytes": 500, "bytes": null});
    plan.flow(sized("cubic", 100_000), 0.5).flow(udp, 0.2).with(json!({
        "loss_before": [{"model": "independent", "probability": 0.005}],
        "jitter": jitter,
        "reordering": true, "duplication": {"probability": 0.002, "correlation": 0.0},
        "corruption": {"probability": 0.002, "correlation": 0.0},
    }))
}
