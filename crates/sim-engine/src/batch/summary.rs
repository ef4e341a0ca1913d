use plan::{Plan, Workload};
use records::accounts::{FlowReport, LinkReport};
use units::{Duration, Time};

use super::recorder::{FlowSamples, LinkSamples, Recorder, is_bulk};
use super::statistics::{jain_index, quantile, share, sorted};
use crate::{Accounts, convergence};

/// The figures of a run: those of a single run's `summary.json` that don't take a row per packet.
#[derive(Debug)]
pub(super) struct Summary {
    pub flows: Vec<FlowSummary>,
    pub links: Vec<LinkSummary>,
    pub jain_index: Option<f64>,
    pub jain_window: Option<(Time, Time)>,
    /// Sent by hosts.
    pub packets: u64,
    pub simulated: Time,
    /// What is to be judged; `None` if it is sound.
    pub question: Option<String>,
}

/// Of a flow. See `docs/reference/metrics.md`.
#[derive(Debug)]
pub(super) struct FlowSummary {
    pub report: FlowReport,
    pub label: String,
    pub group: String,
    pub from: String,
    pub to: String,
    pub protocol: &'static str,
    pub port: u16,
    pub start: Time,
    pub stop: Time,
    pub goodput_bps: Option<f64>,
    pub rtt_min_ms: Option<f64>,
    pub rtt_p50_ms: Option<f64>,
    pub rtt_p95_ms: Option<f64>,
    pub fct_s: Option<f64>,
    /// Of a bulk flow, whether and when it came to its fair share; `None` if that can't be told.
    pub converged: Option<Option<Duration>>,
}

/// Of a link on which something can happen to a packet.
#[derive(Debug)]
pub(super) struct LinkSummary {
    pub report: LinkReport,
    pub utilisation: Option<f64>,
    pub marked_share: Option<f64>,
    pub queue_p50_ms: Option<f64>,
    pub queue_p95_ms: Option<f64>,
    pub queue_max_ms: Option<f64>,
}

impl Summary {
    /// Of a run that has come to its end.
    pub(super) fn of(plan: &Plan, accounts: Accounts, mut recorder: Recorder) -> Summary {
        let Accounts { flows, links, ledger, simulated } = accounts;
        let converged = convergence::times(&recorder.received());
        let bulk = || plan.flows.iter().zip(&flows).zip(&recorder.flows).filter(|((flow, _), _)| is_bulk(flow));
        // Of a flow that never began there is no fairness.
        let window = recorder.window.filter(|_| bulk().all(|((_, report), _)| report.start_ns.is_some()));
        let received: Vec<u64> = bulk().map(|(_, samples)| samples.received_in_window()).collect();
        let jain_window = window.filter(|_| received.len() >= 2);
        let mut converged = converged.filter(|_| window.is_some()).map(Vec::into_iter);
        let is_transparent = plan.transparent_links();
        Summary {
            jain_index: jain_window.and_then(|_| jain_index(&received)),
            jain_window,
            packets: ledger.entered_packets,
            simulated,
            question: None,
            flows: (plan.flows.iter().zip(flows).zip(recorder.flows))
                .map(|((flow, report), samples)| {
                    let converged = converged.as_mut().filter(|_| is_bulk(flow)).and_then(Iterator::next);
                    FlowSummary { converged, ..FlowSummary::of(plan, flow, report, samples) }
                })
                .collect(),
            links: (links.into_iter().zip(recorder.links).zip(is_transparent))
                .filter(|(_, is_transparent)| !is_transparent)
                .map(|((report, samples), _)| LinkSummary::of(report, samples))
                .collect(),
        }
    }
}

impl FlowSummary {
    fn of(plan: &Plan, flow: &plan::Flow, report: FlowReport, mut samples: FlowSamples) -> FlowSummary {
        let (protocol, size) = match &flow.workload {
            Workload::Tcp { bytes, .. } => ("tcp", *bytes),
            Workload::Udp { bytes, .. } => ("udp", *bytes),
            Workload::Command { .. } => ("command", None),
        };
        let run_end = Time::ZERO + plan.duration_ns;
        let start = report.start_ns.map_or(flow.start_ns, Time);
        let completion = report.end_ns.map(Time).filter(|_| size.is_some() && report.completed);
        // A flow that failed, which is one that didn't connect, was active until its stop.
        let ended = completion.filter(|_| report.error.is_none()).map(|end| end.min(run_end));
        let stop = ended.unwrap_or_else(|| flow.stop_ns.min(run_end));
        let srtt_us = sorted(&mut samples.srtt_us, 1.0);
        let ms = |us: f64| us / 1000.0;
        FlowSummary {
            label: format!("{} {}", flow.id, report.cc().unwrap_or(protocol)),
            group: flow.group().to_owned(),
            from: flow.from.clone(),
            to: flow.to.clone(),
            protocol,
            port: flow.port,
            start,
            stop,
            goodput_bps: (report.start_ns.is_some() && stop > start)
                .then(|| goodput_bps(report.received_bytes, stop - start)),
            rtt_min_ms: samples.min_rtt_us.map(f64::from).map(ms),
            rtt_p50_ms: quantile(&srtt_us, 0.50).map(ms),
            rtt_p95_ms: quantile(&srtt_us, 0.95).map(ms),
            fct_s: completion.map(|end| seconds(end - start)),
            converged: None,
            report,
        }
    }

    /// What only TCP has.
    pub(super) fn retransmitted_segments(&self) -> Option<u64> {
        (self.protocol != "udp").then(|| u64::from(self.report.retransmitted_segments))
    }

    pub(super) fn rwnd_limited_share(&self) -> Option<f64> {
        share(self.report.rwnd_limited_us, self.report.busy_us)
    }
}

impl LinkSummary {
    fn of(report: LinkReport, samples: LinkSamples) -> LinkSummary {
        let LinkSamples { ms_per_byte, mut queue_bytes, queue_bytes_max, first, last, was_unlimited } = samples;
        let used = |row: sim::LinkRow| (row.counters.departed_bytes, row.capacity_bytes.unwrap_or(0));
        let before = first.map_or((0, 0), used);
        let utilisation = last.filter(|_| !was_unlimited).map(used);
        let waits = ms_per_byte.map_or_else(Vec::new, |ms| sorted(&mut queue_bytes, ms));
        let sampled = last.or(first).map(|row| row.counters);
        LinkSummary {
            report,
            utilisation: utilisation.and_then(|(sent, possible)| share(sent - before.0, possible - before.1)),
            marked_share: sampled.and_then(|counters| share(counters.marked_packets, counters.departed_packets)),
            queue_p50_ms: quantile(&waits, 0.50),
            queue_p95_ms: quantile(&waits, 0.95),
            queue_max_ms: waits.last().map(|&most| most.max(queue_bytes_max as f64 * ms_per_byte.unwrap_or(0.0))),
        }
    }
}

fn goodput_bps(bytes: u64, active: Duration) -> f64 {
    (8 * u128::from(bytes) * 1_000_000_000) as f64 / active.as_nanos() as f64
}

/// A span in seconds.
pub(super) fn seconds(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e9
}
