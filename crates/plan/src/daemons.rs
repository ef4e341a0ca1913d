use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Time;

use crate::{Node, Plan};

/// The daemon that every router with daemons has: it writes the others' routes into the kernel.
const ZEBRA: &str = "zebra";

/// A routing daemon is killed, or started with its configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DaemonChange {
    /// When.
    pub at_ns: Time,
    /// The router's name.
    pub router: String,
    /// The daemon, such as `ospfd`.
    pub daemon: String,
    /// True to start the daemon, false to kill it.
    pub up: bool,
}

impl Plan {
    /// A daemon is killed or started, which nobody planned. The plan is then that of the run as it is.
    ///
    /// # Errors
    /// There is no such daemon, or it is already so; the plan is as it was.
    pub fn change_daemon(&mut self, change: DaemonChange) -> Result<()> {
        let behind = self.daemon_events.partition_point(|event| event.at_ns <= change.at_ns);
        self.check_daemon(&self.daemon_events[..behind], &change)?;
        self.daemon_events.insert(behind, change);
        Ok(())
    }

    pub(crate) fn check_daemons(&self) -> Result<()> {
        let events = &self.daemon_events;
        ensure!(events.is_sorted_by_key(|event| event.at_ns), "events of daemons are not in the order of time");
        events.iter().enumerate().try_for_each(|(index, event)| self.check_daemon(&events[..index], event))
    }

    /// `before`: the events until then.
    fn check_daemon(&self, before: &[DaemonChange], change: &DaemonChange) -> Result<()> {
        let DaemonChange { router, daemon, up, .. } = change;
        let known = self.nodes.iter().find_map(|node| match node {
            Node::Router { name, routing: Some(routing), .. } if name == router => Some(&routing.daemons),
            _ => None,
        });
        let known = known.with_context(|| format!("no router {router} has daemons"))?;
        ensure!(daemon == ZEBRA || known.contains(daemon), "router {router} has no {daemon}");
        let is_it = |event: &&DaemonChange| (&event.router, &event.daemon) == (router, daemon);
        let runs = before.iter().rev().find(is_it).is_none_or(|event| event.up);
        ensure!(runs != *up, "router {router}: {daemon} {}", if runs { "runs already" } else { "does not run" });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let port = |name: &str, mac: &str, address: &str| json!({"name": name, "mac": mac, "addresses": [address]});
        let host = json!({"kind": "host", "name": "h1", "address": "10.0.0.1", "sysctl": {},
            "interfaces": [port("eth0", "02:00:00:00:00:01", "10.0.0.1/24")]});
        let router = json!({"kind": "router", "name": "r1", "address": "10.255.0.1", "sysctl": {},
            "interfaces": [port("eth0", "02:00:00:00:00:02", "10.0.0.2/24")],
            "routing": {"config": "", "daemons": ["ospfd"], "expect": []}});
        let link = |name: &str, from: &str, to: &str| {
            let mut link = json!(crate::Link::transparent(name, from, to));
            link["from_interface"] = json!("eth0");
            link["to_interface"] = json!("eth0");
            link
        };
        let plan = json!({"name": "daemons", "duration_ns": 1, "seed": 1, "flows": [], "nodes": [host, router],
            "links": [link("there", "h1", "r1"), link("back", "r1", "h1")],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}});
        Plan::parse(&plan.to_string()).unwrap()
    }

    fn change(at: i64, daemon: &str, up: bool) -> DaemonChange {
        DaemonChange { at_ns: Time(at), router: "r1".into(), daemon: daemon.into(), up }
    }

    #[test]
    fn a_daemon_dies_before_it_is_started_again() {
        let mut plan = plan();
        for (at, daemon, up) in [(5, "ospfd", false), (9, "ospfd", true), (7, "zebra", false)] {
            plan.change_daemon(change(at, daemon, up)).unwrap();
        }
        assert_eq!(plan.daemon_events.iter().map(|event| event.at_ns.as_nanos()).collect::<Vec<_>>(), [5, 7, 9]);
        plan.check_daemons().unwrap();
    }

    #[test]
    fn what_cannot_happen_to_a_daemon_is_refused() {
        let mut plan = plan();
        for (change, why) in [
            (change(1, "bgpd", false), "router r1 has no bgpd"),
            (change(1, "ospfd", true), "ospfd runs already"),
            (DaemonChange { router: "h1".into(), ..change(1, "ospfd", false) }, "no router h1 has daemons"),
        ] {
            let error = plan.change_daemon(change).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        plan.change_daemon(change(1, "ospfd", false)).unwrap();
        let error = plan.change_daemon(change(2, "ospfd", false)).unwrap_err().to_string();
        assert!(error.contains("ospfd does not run"), "{error}");
    }
}
