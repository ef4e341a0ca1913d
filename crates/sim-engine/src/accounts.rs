//! The accounts of flows and links, in memory.

use std::time::Instant;

use anyhow::Result;
use plan::Plan;
use records::accounts::{FlowReport, LinkReport, PingReport, QuicReport, UdpReport};
use serde::Serialize;
use sim::{Observer, Options, QuicAccount, Simulation};
use units::Time;

use crate::delays::Delays;
use crate::drive::Stride;

/// The accounts of a run.
#[derive(Clone, Debug)]
pub struct Accounts {
    /// The account of each flow, in the plan's order.
    pub flows: Vec<FlowReport>,
    /// The account of each link, in the plan's order.
    pub links: Vec<LinkReport>,
    /// Over all links.
    pub ledger: Ledger,
    /// The virtual time at which the simulation ended.
    pub simulated: Time,
}

/// The balance of packets: those that entered and were made equal those that left, were dropped, or are inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// Packets that hosts sent into the links.
    pub entered_packets: u64,
    /// Copies that links made.
    pub duplicated_packets: u64,
    /// Packets that reached their hosts.
    pub left_packets: u64,
    /// Packets that were dropped or lost.
    pub dropped_packets: u64,
    /// Packets in the links at the end.
    pub inside_packets: u64,
}

impl Ledger {
    /// True if no packet has vanished or come from nowhere.
    pub fn is_balanced(&self) -> bool {
        let out = self.left_packets + self.dropped_packets + self.inside_packets;
        self.entered_packets + self.duplicated_packets == out
    }
}

/// Carry out `plan` and write nothing.
///
/// # Errors
/// The plan can't be simulated.
pub fn summarize(plan: &Plan, options: Options<'_>) -> Result<Accounts> {
    Ok(observe(plan, options, ())?.0)
}

/// Carry out `plan`, write nothing, and tell `observer` what happens.
///
/// # Errors
/// The plan can't be simulated.
pub fn observe<O: Observer>(plan: &Plan, options: Options<'_>, observer: O) -> Result<(Accounts, O)> {
    let observed = observe_while(plan, options, observer, || true)?;
    Ok(observed.expect("nobody stops it"))
}

/// Like [`observe`], as long as `goes_on` says so: `None` if it was stopped.
pub(crate) fn observe_while<O: Observer>(
    plan: &Plan,
    options: Options<'_>,
    observer: O,
    goes_on: impl Fn() -> bool,
) -> Result<Option<(Accounts, O)>> {
    let mut simulation = Simulation::new(plan, options, (Delays::of(plan), observer))?;
    // Rates decide how long a virtual second takes, and whoever stops runs does not want to wait.
    let mut stride = Stride::default();
    while simulation.now() < simulation.end() {
        if !goes_on() {
            return Ok(None);
        }
        let began = Instant::now();
        simulation.run_until(simulation.now() + stride.0);
        stride.adapt(began.elapsed());
    }
    simulation.finish();
    let accounts = Accounts::of(plan, &simulation, &simulation.observer().0);
    Ok(Some((accounts, simulation.into_observer().1)))
}

impl Accounts {
    /// The accounts of a simulation at its present time.
    pub(crate) fn of<O: Observer>(plan: &Plan, simulation: &Simulation<O>, delays: &Delays) -> Accounts {
        let flows = plan.flows.iter().zip(simulation.reports()).zip(simulation.quic_accounts()).enumerate();
        let report = |(at, ((flow, report), quic)): (usize, ((&plan::Flow, sim::FlowReport), Option<&QuicAccount>))| {
            let reported = flow_report(at, flow, &report, delays);
            match quic {
                Some(quic) => with_quic(reported, quic),
                None => reported,
            }
        };
        Accounts {
            flows: flows.map(report).collect(),
            links: links(plan, simulation),
            ledger: ledger(simulation),
            simulated: simulation.now(),
        }
    }
}

fn links<O: Observer>(plan: &Plan, simulation: &Simulation<O>) -> Vec<LinkReport> {
    let counted = plan.links.iter().zip(simulation.links()).zip(simulation.crossed());
    let report = |((spec, link), crossed): ((&plan::Link, &link::Link), sim::Tally)| {
        let report = LinkReport::from((spec, link));
        // No event can happen on this link, so packets passed it by.
        let bytes = crossed.bytes + crossed.packets * u64::from(spec.overhead_bytes);
        LinkReport {
            arrived_packets: report.arrived_packets + crossed.packets,
            arrived_bytes: report.arrived_bytes + bytes,
            delivered_packets: report.delivered_packets + crossed.packets,
            delivered_bytes: report.delivered_bytes + bytes,
            ..report
        }
    };
    counted.map(report).collect()
}

fn ledger<O: Observer>(simulation: &Simulation<O>) -> Ledger {
    let mut ledger = Ledger {
        entered_packets: simulation.packets(),
        left_packets: simulation.packets_arrived(),
        ..Ledger::default()
    };
    for counters in simulation.links().iter().map(link::Link::counters) {
        ledger.duplicated_packets += counters.duplicated_packets;
        ledger.dropped_packets += counters.dropped_packets() + counters.lost_packets();
        ledger.inside_packets += counters.inside();
    }
    ledger
}

/// The report of a QUIC flow, as its two programs would give it.
fn with_quic(report: FlowReport, quic: &QuicAccount) -> FlowReport {
    let unconnected = || "it was not connected when it stopped".to_owned();
    let is_unconnected = report.start_ns.is_some() && quic.connected.is_none();
    let handshake_ns = quic.connected.zip(report.start_ns).map(|(at, start)| at.as_nanos() - start);
    FlowReport {
        cc_requested: Some(quic.algorithm.clone()),
        cc_actual: Some(quic.algorithm.clone()),
        error: quic.failure.clone().or_else(|| is_unconnected.then(unconnected)),
        quic: Some(QuicReport {
            version: quic.version.clone(),
            handshake_ns,
            sent_packets: quic.sent.sent_packets,
            sent_bytes: quic.sent.sent_bytes,
            lost_packets: quic.sent.lost_packets,
            ..QuicReport::default()
        }),
        ..report
    }
}

/// `at`: the flow's index in the plan.
fn flow_report(at: usize, flow: &plan::Flow, report: &sim::FlowReport, delays: &Delays) -> FlowReport {
    let cc = flow.workload.cc().map(str::to_owned);
    let nanos = |time: Option<Time>| time.map(Time::as_nanos);
    let is_unconnected = cc.is_some() && report.start.is_some() && !report.is_connected;
    FlowReport {
        id: flow.id.clone(),
        cc_actual: cc.clone().filter(|_| report.is_connected),
        cc_requested: cc,
        received_bytes: report.received_bytes,
        sent_bytes: report.sent_bytes,
        start_ns: nanos(report.start),
        first_byte_ns: nanos(report.first_byte),
        end_ns: nanos(report.end),
        completed: report.completed,
        retransmitted_segments: report.retransmitted_segments as u32,
        busy_us: report.busy_us,
        rwnd_limited_us: report.rwnd_limited_us,
        sndbuf_limited_us: report.sndbuf_limited_us,
        error: match report.is_unreachable {
            // As a kernel's connect(2) fails.
            true => Some("connecting: No route to host".to_owned()),
            false => is_unconnected.then(|| "it was not connected when it stopped".to_owned()),
        },
        udp: report.datagrams.map(|datagrams| UdpReport {
            sent_packets: datagrams.sent,
            refused_packets: 0,
            received_packets: datagrams.received,
            ce_packets: datagrams.congestion_experienced,
            lost_packets: datagrams.lost,
            reordered_packets: datagrams.reordered,
            duplicate_packets: datagrams.duplicates,
            socket_drops: 0,
            schedule_error_us: realtime::Quantiles::default(),
            one_way_delay_us: delays.quantiles(at),
            jitter_us: delays.jitter_us(at),
        }),
        ping: report.echoes.map(|echoes| PingReport {
            sent_packets: echoes.sent,
            refused_packets: 0,
            answered_packets: echoes.answered,
            lost_packets: echoes.lost,
            duplicate_packets: echoes.duplicates,
            schedule_error_us: realtime::Quantiles::default(),
        }),
        ..FlowReport::default()
    }
}
