//! Parts of a plan that can't be simulated.

use std::collections::HashMap;
use std::fmt;

use messages::Failure;
use plan::{Node, Plan, Transport};

use crate::algorithm::Algorithms;
use crate::kinds::Kind;
use crate::network::Network;
use crate::simulation::Options;
use crate::tcp::{HEADERS_IN_VIRTUAL_TIME, Settings};
use crate::traffic::Traffic;
use units::Mtu;

/// Something of a plan that can't be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The flow that it is about.
    pub flow: Option<String>,
    /// The host that it is about.
    pub host: Option<String>,
    /// The problem, its reason, and what to do.
    pub failure: Failure,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(flow) = &self.flow {
            write!(f, "flow {flow}: ")?;
        }
        if let Some(host) = &self.host {
            write!(f, "host {host}: ")?;
        }
        self.failure.fmt(f)
    }
}

impl std::error::Error for Problem {}

/// All problems that keep `plan` from being simulated; empty if there are none.
pub fn check(plan: &Plan, options: Options<'_>) -> Vec<Problem> {
    let (_, mut problems) = traffic(plan, options);
    if let Err(error) = Network::new(plan) {
        problems.push(Problem { flow: None, host: None, failure: Failure::of(&error) });
    }
    problems
}

/// The plan's flows, and what keeps the others from being simulated.
pub(crate) fn traffic(plan: &Plan, options: Options<'_>) -> (Vec<Traffic>, Vec<Problem>) {
    let mut problems = Vec::new();
    for (what, count) in [("flows", plan.flows.len()), ("nodes", plan.nodes.len())] {
        if count >= usize::from(u16::MAX) {
            let failure = Failure::new(format!("{count} {what}"), "records number them by 16 bits: at most 65534");
            problems.push(Problem { flow: None, host: None, failure });
        }
    }
    for node in &plan.nodes {
        if let Node::Router { name, routing: Some(_), .. } = node {
            let failure =
                Failure::new("its routes come from routing daemons", "the simulator knows static routes only")
                    .hint("use the engine `emulate` or `virtual`, or static routes");
            problems.push(Problem { flow: None, host: Some(name.clone()), failure });
        }
    }
    let mut hosts = HashMap::new();
    for (name, _, sysctls) in plan.hosts() {
        let mut settings = Settings { tso: options.tso, mtu: plan.mtu, ..Settings::default() };
        if plan.simulate.hosts == Some(plan::Hosts::Virtual) {
            settings.max_header = HEADERS_IN_VIRTUAL_TIME;
            settings.reads_late = true;
        }
        for (sysctl, value) in sysctls {
            if let Err(failure) = settings.set(sysctl, value) {
                problems.push(Problem { flow: None, host: Some(name.to_owned()), failure });
            }
        }
        hosts.insert(name, settings);
    }
    let mut made = Vec::with_capacity(plan.flows.len());
    let algorithms = Algorithms::new(&plan.algorithms, options.objects).traced(options.tracer).held(options.held);
    let algorithms = algorithms.with_quic(options.quic);
    // A flow without a path is a problem of the network's.
    let mtus = plan.flow_mtus().unwrap_or_else(|_| vec![plan.mtu; plan.flows.len()]);
    let mut ideals = plan.network().map(|network| plan.ideals(&network)).unwrap_or_default();
    ideals.resize(plan.flows.len(), None);
    for ((index, flow), (mtu, ideal)) in (0..).zip(&plan.flows).zip(mtus.into_iter().zip(ideals)) {
        // Both ends know the path's MTU from the start: there are no ICMP messages that would tell them.
        if let Some(failure) = cut_again(plan, flow, mtu) {
            problems.push(Problem { flow: Some(flow.id.clone()), host: None, failure });
            continue;
        }
        let of = |host: &str| Settings { mtu, ip: flow.ip, ..hosts.get(host).copied().unwrap_or_default() };
        match Kind::new(index, flow, of(&flow.from), of(&flow.to), &algorithms, plan.seed, ideal) {
            Ok(kind) => made.push(Traffic::new(flow, kind)),
            Err(error) => {
                problems.push(Problem { flow: Some(flow.id.clone()), host: None, failure: Failure::of(&error) });
            }
        }
    }
    (made, problems)
}

/// Datagrams that a router would have to cut: hosts know the MTU of their own links alone when they send the first.
fn cut_again(plan: &Plan, flow: &plan::Flow, mtu: Mtu) -> Option<Failure> {
    let Some(Transport::Udp(payload_bytes)) = flow.workload.transport() else { return None };
    let most = mtu.datagram_bytes(flow.ip);
    let why = "routers would cut them, where links have MTUs of their own: the simulator's routers don't";
    let failure = || Failure::new(format!("datagrams of {payload_bytes} bytes"), why);
    let hint = || format!("at most {most} bytes fit into a packet of its path; or use --engine emulate");
    (payload_bytes > most && !plan.has_one_mtu()).then(|| failure().hint(hint()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(sysctl: Value, workloads: &[Value]) -> Plan {
        let host = |name: &str, address: &str, sysctl: &Value| {
            json!({"kind": "host", "name": name, "address": address,
            "sysctl": sysctl})
        };
        let flows: Vec<Value> = workloads
            .iter()
            .enumerate()
            .map(|(at, workload)| {
                json!({"id": format!("f{}", at + 1), "from": "a", "to": "b", "start_ns": 0, "stop_ns": 1, "port": at + 1,
                    "workload": workload})
            })
            .collect();
        let link = |name: &str, from: &str, to: &str| {
            json!({"name": name, "from": from, "to": to, "rate_bps": null,
            "delay_ns": 0, "buffer": "unlimited", "overhead_bytes": 0})
        };
        Plan::of(json!({
            "name": "p", "duration_ns": 1, "seed": 1,
            "nodes": [host("a", "10.0.0.1", &sysctl), host("b", "10.0.0.2", &json!({}))],
            "links": [link("there", "a", "b"), link("back", "b", "a")], "flows": flows,
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
        }))
        .unwrap()
    }

    #[test]
    fn all_problems_are_told_each_with_its_place() {
        let tcp = |cc: &str| json!({"kind": "tcp", "cc": cc, "bytes": null, "ecn": false});
        let udp = |payload: u32| json!({"kind": "udp", "rate_bps": 1000, "payload_bytes": payload, "bytes": null});
        let command = json!({"kind": "command", "command": "true", "server_command": null});
        let sysctl = json!({"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_frto": "0", "net.core.somaxconn": "1"});
        let plan = plan(sysctl, &[tcp("cubic"), tcp("illinois"), udp(65_507), udp(65_508), command]);
        let problems = check(&plan, Options::default());
        let places: Vec<_> = problems.iter().map(|one| (one.host.as_deref(), one.flow.as_deref())).collect();
        assert_eq!(
            places,
            [(Some("a"), None), (Some("a"), None), (None, Some("f2")), (None, Some("f4")), (None, Some("f5"))]
        );
        // No engine has datagrams that are longer than an IP packet.
        let others = problems.iter().filter(|one| one.flow.as_deref() != Some("f4"));
        assert!(others.clone().all(|one| one.failure.hint.contains("--engine emulate")), "{problems:#?}");
        assert_eq!(others.count(), 4);
        assert_eq!(problems[2].to_string().lines().next().unwrap().split(':').next(), Some("flow f2"));
        assert!(crate::Simulation::new(&plan, Options::default(), ()).is_err());
    }

    #[test]
    fn a_plan_without_a_way_is_a_problem_of_its_own() {
        let mut plan = plan(json!({}), &[json!({"kind": "tcp", "cc": "reno", "bytes": null, "ecn": false})]);
        assert_eq!(check(&plan, Options::default()), []);
        plan.links.pop();
        let problems = check(&plan, Options::default());
        assert_eq!(problems.len(), 1);
        assert_eq!((&problems[0].flow, &problems[0].host), (&None, &None));
    }
}
