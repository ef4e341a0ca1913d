//! The figures of a run, from its engine's accounts and what was recorded of its rows.

use std::collections::BTreeMap;

use plan::Plan;
use records::accounts::{FlowReport, LinkReport};
use units::{Duration, Time};

use crate::activity::{Active, last_completion, measured_window};
use crate::arithmetic::{jain_index, share};
use crate::bottleneck::Bottlenecks;
use crate::convergence;
use crate::flow::Flow;
use crate::link::Link;
use crate::recorder::Recorder;
use crate::rerouting::Rerouting;
use crate::responsiveness::Responsiveness;

/// All facts about a run at its end.
#[derive(Debug)]
pub struct Run {
    /// The flows in the plan's order.
    pub flows: Vec<Flow>,
    /// The links in the plan's order.
    pub links: Vec<Link>,
    /// Fairness of the bulk flows; `None` with fewer than two.
    pub jain_index: Option<f64>,
    /// The time in which it was measured.
    pub jain_window: Option<(Time, Time)>,
    /// The responsiveness of a run with pings beside bulk flows.
    pub responsiveness: Option<Responsiveness>,
    /// Effects of each failure of a network whose routers have daemons; `None` of other networks.
    pub rerouting: Option<Vec<Rerouting>>,
    /// The propagation delay of each flow's way there and back, if that is not the plan's.
    pub base_rtts: Option<Vec<Duration>>,
}

impl Run {
    /// Accounts are in the plan's order. `run_end`: the plan's, or when the run was interrupted.
    pub fn of(
        plan: &Plan,
        flows: Vec<FlowReport>,
        links: Vec<LinkReport>,
        run_end: Time,
        mut recorder: Recorder,
    ) -> Run {
        let active: Vec<Active> = (plan.flows.iter().zip(&flows).zip(&recorder.flows))
            .map(|((flow, report), samples)| Active::measured(flow, report, run_end, samples.last()))
            .collect();
        // A run with a flow that never began has no fairness index.
        let window = measured_window(plan, &active).filter(|&window| recorder.window == Some(window));
        let bulk = || plan.flows.iter().enumerate().filter(|(_, flow)| flow.workload.is_bulk()).map(|(at, _)| at);
        let received: Vec<u64> = bulk().map(|at| recorder.flows[at].received_in_window()).collect();
        let jain_window = window.filter(|_| received.len() >= 2);
        let steps: Vec<Vec<u64>> = recorder.flows.iter_mut().filter_map(|flow| flow.steps()).collect();
        let loaded_ns = recorder.flows.iter_mut().flat_map(|flow| flow.loaded_ns()).collect();
        let foreign_ns = recorder.kinds.iter().flat_map(|rows| &rows.under_load_ns).copied().collect();
        let busy_until = last_completion(plan, &flows, &active);
        let mut run = Run {
            flows: (plan.flows.iter().zip(flows).zip(active).zip(&mut recorder.flows))
                .map(|(((flow, report), active), samples)| Flow::new(flow.clone(), report, active, samples.total()))
                .collect(),
            links: (links.into_iter().zip(&mut recorder.links))
                .map(|(report, samples)| Link {
                    report,
                    utilisation: samples.utilisation(),
                    utilisation_busy: busy_until.and_then(|end| samples.utilisation_until(end)),
                    marked_share: samples.marked_share(),
                    waits: samples.waits(),
                    bottleneck_share: None,
                })
                .collect(),
            jain_index: jain_window.and_then(|_| jain_index(&received)),
            jain_window,
            responsiveness: window.and_then(|_| Responsiveness::of(foreign_ns, loaded_ns)),
            rerouting: None,
            base_rtts: None,
        };
        run.find_bottlenecks(recorder.bottlenecks.finish());
        for (flow, gathered) in run.flows.iter_mut().zip(recorder.kinds) {
            flow.measured = gathered.values;
            flow.measured.values_mut().for_each(|values| values.sort_unstable_by(f64::total_cmp));
        }
        if window.is_some() {
            run.find_convergence(bulk().zip(steps));
        }
        if let Some(packets) = &mut recorder.packets {
            for (at, flow) in run.flows.iter_mut().enumerate() {
                (flow.waits, flow.marked) = (packets.flow_waits(at), packets.marked(at));
            }
            for (at, link) in run.links.iter_mut().enumerate() {
                link.waits = packets.link_waits(at);
            }
        }
        run
    }

    /// Flows that share a bottleneck have shares of it to come to. `received`: bulk flows, with their bytes at each step.
    fn find_convergence(&mut self, received: impl Iterator<Item = (usize, Vec<u64>)>) {
        /// Flows, and the bytes of each at each step.
        type Group = (Vec<usize>, Vec<Vec<u64>>);
        let mut groups: BTreeMap<Option<&str>, Group> = BTreeMap::new();
        for (at, bytes) in received {
            let link = self.flows[at].bottleneck.as_ref().map(|(link, _)| link.as_str());
            let (flows, steps) = groups.entry(link).or_default();
            flows.push(at);
            steps.push(bytes);
        }
        let times = |(flows, steps): Group| flows.into_iter().zip(convergence::times(&steps).into_iter().flatten());
        let found: Vec<_> = groups.into_values().flat_map(times).collect();
        for (at, time) in found {
            self.flows[at].converged = Some(time);
        }
    }

    fn find_bottlenecks(&mut self, bottlenecks: Bottlenecks) {
        // For each link: the time as a bottleneck, and the active time of all flows that cross it, ns.
        let mut totals = vec![(0_u64, 0_u64); self.links.len()];
        for (at, flow) in self.flows.iter_mut().enumerate() {
            if !flow.active.has_begun {
                continue;
            }
            let active = (flow.active.stop - flow.active.start).as_nanos().max(0).unsigned_abs();
            let mut longest = None;
            for (link, time) in bottlenecks.times(at, &flow.active) {
                let (link, time) = (usize::from(link), time.as_nanos().unsigned_abs());
                (totals[link].0, totals[link].1) = (totals[link].0 + time, totals[link].1 + active);
                if longest.map_or(0, |(_, most)| most) < time {
                    longest = Some((link, time));
                }
            }
            flow.bottleneck =
                longest.and_then(|(link, time)| Some((self.links[link].report.name.clone(), share(time, active)?)));
        }
        for (link, (time, active)) in self.links.iter_mut().zip(totals) {
            link.bottleneck_share = share(time, active);
        }
    }
}

/// The events between two times of a run.
#[derive(Debug)]
pub struct Span {
    /// The bytes that the receiver of each flow got, in the plan's order.
    pub received_bytes: Vec<u64>,
    /// Fairness of the bulk flows; `None` with fewer than two.
    pub jain_index: Option<f64>,
    /// The utilisation of each link, in the plan's order.
    pub utilisation: Vec<Option<f64>>,
}

impl Span {
    /// The span of the rows that a recorder of it has taken.
    pub(crate) fn of(plan: &Plan, recorder: &Recorder) -> Span {
        let received = || recorder.flows.iter().map(|flow| flow.received_in_window());
        let bulk: Vec<u64> = plan
            .flows
            .iter()
            .zip(received())
            .filter(|(flow, _)| flow.workload.is_bulk())
            .map(|(_, bytes)| bytes)
            .collect();
        Span {
            received_bytes: received().collect(),
            jain_index: jain_index(&bulk),
            utilisation: recorder.links.iter().map(|link| link.utilisation()).collect(),
        }
    }
}
