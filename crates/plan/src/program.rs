use std::collections::HashSet;
use std::num::NonZero;

use anyhow::{Context, Result, ensure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Plan;

/// A program that is of no flow, such as a server of several clients. It begins before time 0, behind those that are listed
/// before it, and is ended with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Unique among programs and flows.
    pub name: String,
    /// The host or router in which it runs.
    pub node: String,
    /// Shell command line.
    pub command: String,
    /// The next program, and time 0, wait for this; `None`: for nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
}

/// The condition in which a program is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Ready {
    /// A socket of its node listens on a TCP port.
    Tcp {
        /// The port.
        port: NonZero<u16>,
    },
    /// A socket of its node is bound to a UDP port.
    Udp {
        /// The port.
        port: NonZero<u16>,
    },
    /// Ended, with exit code 0.
    Exit {},
}

impl Plan {
    pub(crate) fn check_programs(&self) -> Result<()> {
        let mut names: HashSet<&str> = self.flows.iter().map(|flow| flow.id.as_str()).collect();
        for Program { name, node, .. } in &self.programs {
            ensure!(names.insert(name), "two programs or flows have the name {name}");
            let found = self.nodes.iter().find(|one| one.name() == node);
            let found = found.with_context(|| format!("program {name}: no node {node}"))?;
            ensure!(!found.is_switch(), "program {name}: {node} is a switch, which runs no programs");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn parse(programs: Value) -> Result<Plan> {
        let host = json!({"kind": "host", "name": "h1", "address": "10.0.0.1", "sysctl": {}});
        let switch = json!({"kind": "switch", "name": "s1"});
        let plan = json!({"name": "programs", "duration_ns": 1, "seed": 1, "flows": [], "nodes": [host, switch],
            "links": [crate::Link::transparent("there", "h1", "s1"), crate::Link::transparent("back", "s1", "h1")],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}, "programs": programs});
        Plan::parse(&plan.to_string())
    }

    #[test]
    fn programs_run_in_hosts_and_have_names_of_their_own() {
        let program = |name: &str, node: &str| json!({"name": name, "node": node, "command": "true"});
        let found = parse(json!([program("a", "h1"), program("b", "h1")])).unwrap();
        assert_eq!(found.programs.len(), 2);
        for (programs, why) in [
            (json!([program("a", "h1"), program("a", "h1")]), "two programs or flows have the name a"),
            (json!([program("a", "h2")]), "no node h2"),
            (json!([program("a", "s1")]), "s1 is a switch"),
        ] {
            let error = format!("{:#}", parse(programs).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn port_0_is_no_server() {
        let with = |ready| parse(json!([{"name": "a", "node": "h1", "command": "true", "ready": ready}]));
        assert_eq!(with(json!({"kind": "exit"})).unwrap().programs[0].ready, Some(Ready::Exit {}));
        assert!(with(json!({"kind": "tcp", "port": 80})).is_ok());
        assert!(with(json!({"kind": "tcp", "port": 0})).is_err());
    }
}
