use anyhow::Result;
use plan::Plan;
use units::Duration;

/// Limit of the delay of reading an arrival: half of the verdict's limit on `read-lag`.
const LONGEST: Duration = Duration::from_micros(500);

/// Time that an arrival may wait to be read without leaving late: half of the least time that any flow's packet takes
/// through the network, there or back. The other half is for waking up. Other traffic between hosts may come out late,
/// which is measured.
///
/// Nodes with interfaces get none: a kernel may forward what it gets over wires that have no delay.
pub(crate) fn longest(plan: &Plan) -> Result<Duration> {
    if plan.has_interfaces() {
        return Ok(Duration::ZERO);
    }
    Ok(Duration(least_delay(plan)?.as_nanos() / 2).min(LONGEST))
}

fn least_delay(plan: &Plan) -> Result<Duration> {
    let delays = plan.least_delays()?.into_iter();
    Ok(delays.map(|delay| delay.there.min(delay.back)).min().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn link(name: &str, from: &str, to: &str, more: Value) -> Value {
        let mut link = json!({"name": name, "from": from, "to": to, "rate_bps": null, "overhead_bytes": 0,
            "buffer": "unlimited", "delay_ns": 0});
        link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        link
    }

    /// Two hosts at a switch; 5 ms and 1 ms there, 2 ms back.
    fn plan(more: Value, events: Value) -> Plan {
        let flow = json!({"id": "f", "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": 5001,
            "workload": {"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false}});
        let host = |name: &str, address: &str| json!({"kind": "host", "name": name, "address": address, "sysctl": {}});
        let plan = json!({"name": "read-delay", "duration_ns": 1, "seed": 1,
            "nodes": [host("a", "10.0.0.1"), host("b", "10.0.0.2"), {"kind": "switch", "name": "s"}],
            "links": [link("as", "a", "s", json!({"delay_ns": 5_000_000})), link("sb", "s", "b", json!({"delay_ns": 1_000_000})),
                link("bs", "b", "s", more), link("sa", "s", "a", json!({}))],
            "events": events, "flows": [flow], "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    #[test]
    fn half_of_the_shortest_way_and_no_more_than_the_longest() {
        let least = |more| least_delay(&plan(more, json!([]))).unwrap();
        assert_eq!(least(json!({"delay_ns": 2_000_000})), Duration::from_millis(2));
        assert_eq!(least(json!({"delay_ns": 9_000_000})), Duration::from_millis(6));
        assert_eq!(longest(&plan(json!({"delay_ns": 2_000_000}), json!([]))).unwrap(), LONGEST);
        let short = plan(json!({"delay_ns": 600_000}), json!([]));
        assert_eq!(longest(&short).unwrap(), Duration::from_micros(300));
    }

    #[test]
    fn counts_what_may_be_skipped_or_changed() {
        let jitter = json!({"distribution": {"kind": "uniform", "min_ns": 0, "max_ns": 1000}, "correlation": 0.0});
        let jittered = plan(json!({"delay_ns": 2_000_000, "jitter": jitter}), json!([]));
        assert_eq!(least_delay(&jittered).unwrap(), Duration::from_millis(2));
        let overtaking = json!({"probability": 0.1, "correlation": 0.0, "gap": 1, "delay_ns": 30_000});
        let overtaken = plan(json!({"delay_ns": 2_000_000, "reorder": overtaking}), json!([]));
        assert_eq!(longest(&overtaken).unwrap(), Duration::from_micros(15));
        let event = json!([{"at_ns": 1, "link": link("bs", "b", "s", json!({"delay_ns": 100_000}))}]);
        assert_eq!(least_delay(&plan(json!({"delay_ns": 2_000_000}), event)).unwrap(), Duration::from_micros(100));
    }
}
