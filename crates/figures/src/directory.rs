//! The figures of a run that lies on disk, from its tables and its engine's accounts.

#[cfg(test)]
mod tests;

use std::io::{self, Read};

use anyhow::{Context, Result};
use plan::Plan;
use records::accounts::{FlowReport, LinkReport};
use records::kinds::MEASURES;
use records::reader::{self, Index, Open, Rows};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use units::{Duration, Time};

use crate::activity::{Active, measured_window};
use crate::bottleneck::Bottlenecks;
use crate::flow_samples::FlowSample;
use crate::link_samples::LinkSample;
use crate::packet_samples::PacketSample;
use crate::recorder::Recorder;
use crate::rerouting;
use crate::run::{Run, Span};
use crate::summary::base_rtts;
use crate::ways;

/// Bytes of an account. That of 10,000 flows has a hundredth of that.
const LARGEST: u64 = 256 << 20;

#[derive(Deserialize)]
struct Traffic {
    wall_s: f64,
    interrupted: bool,
    flows: Vec<FlowReport>,
}

#[derive(Deserialize)]
struct Network {
    links: Vec<LinkReport>,
}

/// The figures of the run whose files `open` opens, and whose engine accounts for links in the file `network`. `go_on` is asked again
/// and again: an error of it ends the work.
///
/// # Errors
/// A file is missing, cannot be read, or is not of the plan. `go_on` fails.
pub fn read(open: Open, plan: &Plan, network: &str, go_on: &dyn Fn() -> Result<()>) -> Result<Run> {
    let traffic: Traffic = json(open, "traffic.json")?;
    let network: Network = json(open, network)?;
    let flows = in_order(plan.flows.iter().map(|flow| &flow.id), traffic.flows, |report| &report.id)?;
    let links = in_order(plan.links.iter().map(|link| &link.name), network.links, |report| &report.name)?;
    let planned = Time::ZERO + plan.duration_ns;
    let interrupted = Time((traffic.wall_s * 1e9).round_ties_even() as i64);
    let run_end = if traffic.interrupted { planned.min(interrupted) } else { planned };
    let window = window(open, plan, &flows, run_end, go_on)?;
    let ways = ways::network(open, plan, go_on)?;
    let mut recorder = Recorder::new(plan, &ways, window, (Time::ZERO, planned));
    let has_packets = reader::has_table(open, "packets");
    if has_packets {
        recorder = recorder.with_packets(&ways);
    }
    samples(open, plan, go_on, |sample| recorder.flow(&sample))?;
    link_samples(open, plan, go_on, |sample| recorder.link(&sample))?;
    kinds(open, plan, go_on, &mut recorder)?;
    if has_packets {
        packets(open, plan, go_on, |packet| recorder.packet(&packet))?;
    }
    let mut run = Run::of(plan, flows, links, run_end, recorder);
    run.base_rtts = Some(base_rtts(plan, &ways));
    let active: Vec<Active> = run.flows.iter().map(|flow| flow.active).collect();
    run.rerouting = rerouting::read(open, plan, &active, go_on)?;
    Ok(run)
}

/// The events of a run between two times. `go_on` is asked again and again: an error of it ends the work.
///
/// # Errors
/// A table is missing or cannot be read. `go_on` fails.
pub fn between(open: Open, plan: &Plan, start: Time, end: Time, go_on: &dyn Fn() -> Result<()>) -> Result<Span> {
    let mut recorder = Recorder::new(plan, &plan.network()?, Some((start, end)), (start, end));
    samples(open, plan, go_on, |sample| recorder.flow(&sample))?;
    link_samples(open, plan, go_on, |sample| recorder.link(&sample))?;
    Ok(Span::of(plan, &recorder))
}

/// The bottleneck of each path of a run over time. `go_on` is asked again and again: an error of it ends the
/// work.
///
/// # Errors
/// The table of links is missing or cannot be read. `go_on` fails.
pub fn bottlenecks(open: Open, plan: &Plan, go_on: &dyn Fn() -> Result<()>) -> Result<Bottlenecks> {
    let mut found = Bottlenecks::new(plan, &ways::network(open, plan, go_on)?);
    link_samples(open, plan, go_on, |sample| found.add(&sample))?;
    Ok(found.finish())
}

fn json<T: DeserializeOwned>(open: Open, name: &str) -> Result<T> {
    let read = || -> Result<T> { Ok(serde_json::from_str(&io::read_to_string(open(name)?.take(LARGEST))?)?) };
    read().with_context(|| format!("reading {name}"))
}

/// Reports in the order of the plan's `names`.
fn in_order<'a, T>(
    names: impl Iterator<Item = &'a String>,
    reports: Vec<T>,
    name: impl Fn(&T) -> &String,
) -> Result<Vec<T>> {
    let mut reports: Vec<Option<T>> = reports.into_iter().map(Some).collect();
    let places: FxHashMap<String, usize> =
        (0..).zip(reports.iter().flatten()).map(|(place, report)| (name(report).clone(), place)).collect();
    names
        .map(|wanted| {
            let found = places.get(wanted).and_then(|&place| reports[place].take());
            found.with_context(|| format!("the engine's account has nothing of {wanted}"))
        })
        .collect()
}

/// The time in which all bulk flows were active. A flow that failed was active until its last sample.
fn window(
    open: Open,
    plan: &Plan,
    reports: &[FlowReport],
    run_end: Time,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Option<(Time, Time)>> {
    let mut last = vec![None; plan.flows.len()];
    if reports.iter().any(|report| report.error.is_some()) {
        samples(open, plan, go_on, |sample| last[usize::from(sample.flow)] = Some(sample.time))?;
    }
    let active: Vec<Active> = (plan.flows.iter().zip(reports).zip(last))
        .map(|((flow, report), last)| Active::measured(flow, report, run_end, last))
        .collect();
    Ok(measured_window(plan, &active))
}

fn samples(open: Open, plan: &Plan, go_on: &dyn Fn() -> Result<()>, mut take: impl FnMut(FlowSample)) -> Result<()> {
    let columns = ["time_ns", "flow", "socket", "bytes_sent", "bytes_acked", "received_bytes", "srtt_us", "min_rtt_us"];
    let ids = Index::of(plan.flows.iter().map(|flow| flow.id.as_str()));
    reader::read_table(open, "samples", &columns, |rows: &Rows| {
        go_on()?;
        let (time, flow, socket) = (rows.values::<i64>(0)?, rows.words(1, &ids)?, rows.values::<u16>(2)?);
        let (sent, acked) = (rows.values::<u64>(3)?, rows.values::<u64>(4)?);
        let received = rows.values::<u64>(5)?;
        let (srtt, min_rtt) = (rows.values::<u32>(6)?, rows.values::<u32>(7)?);
        for at in 0..rows.len() {
            let Some(flow) = flow.get(at) else { continue };
            take(FlowSample {
                time: Time(time.get(at).unwrap_or(0)),
                flow,
                socket: socket.get(at).unwrap_or(0),
                bytes_sent: sent.get(at).unwrap_or(0),
                bytes_acked: acked.get(at),
                received_bytes: received.get(at),
                srtt_us: srtt.get(at),
                min_rtt_us: min_rtt.get(at),
            });
        }
        Ok(())
    })
}

fn link_samples(
    open: Open,
    plan: &Plan,
    go_on: &dyn Fn() -> Result<()>,
    mut take: impl FnMut(LinkSample),
) -> Result<()> {
    let columns = [
        "time_ns",
        "link",
        "departed_bytes",
        "departed_packets",
        "marked_packets",
        "capacity_bytes",
        "queue_bytes",
        "queue_bytes_max",
    ];
    let names = Index::of(plan.links.iter().map(|link| link.name.as_str()));
    reader::read_table(open, "links", &columns, |rows: &Rows| {
        go_on()?;
        let (time, link) = (rows.values::<i64>(0)?, rows.words(1, &names)?);
        let counter = |column| rows.values::<u64>(column);
        let (bytes, packets, marked) = (counter(2)?, counter(3)?, counter(4)?);
        let (capacity, queue, most) = (counter(5)?, counter(6)?, counter(7)?);
        for at in 0..rows.len() {
            let Some(link) = link.get(at) else { continue };
            take(LinkSample {
                time: Time(time.get(at).unwrap_or(0)),
                link,
                departed_bytes: bytes.get(at).unwrap_or(0),
                departed_packets: packets.get(at).unwrap_or(0),
                marked_packets: marked.get(at).unwrap_or(0),
                capacity_bytes: capacity.get(at),
                queue_bytes: queue.get(at).unwrap_or(0),
                queue_bytes_max: most.get(at).unwrap_or(0),
            });
        }
        Ok(())
    })
}

/// Rows of the tables that only flows of one kind have.
fn kinds(open: Open, plan: &Plan, go_on: &dyn Fn() -> Result<()>, recorder: &mut Recorder) -> Result<()> {
    let ids = Index::of(plan.flows.iter().map(|flow| flow.id.as_str()));
    for (table, measures) in MEASURES.iter().filter(|(table, _)| plan.has_table(table)) {
        let columns = [&["time_ns", "flow"], *measures].concat();
        reader::read_table(open, table, &columns, |rows: &Rows| {
            go_on()?;
            let (time, flow) = (rows.values::<i64>(0)?, rows.words(1, &ids)?);
            let values = (2..columns.len()).map(|column| numbers(rows, columns[column], column));
            let values = values.collect::<Result<Vec<_>>>()?;
            for at in 0..rows.len() {
                let Some(flow) = flow.get(at) else { continue };
                let numbers = values.iter().map(|values| values[at]);
                recorder.gather(table, flow, Time(time.get(at).unwrap_or(0)), numbers);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The values of a column; NaN: there is none.
fn numbers(rows: &Rows, name: &str, column: usize) -> Result<Vec<f64>> {
    fn all<T: reader::Value>(rows: &Rows, column: usize, number: impl Fn(T) -> f64) -> Result<Vec<f64>> {
        let values = rows.values::<T>(column)?;
        Ok((0..rows.len()).map(|at| values.get(at).map_or(f64::NAN, &number)).collect())
    }
    match name.ends_with("_ns") {
        true => all(rows, column, |ns: i64| ns as f64),
        false => all(rows, column, |number: f64| number),
    }
}

fn packets(open: Open, plan: &Plan, go_on: &dyn Fn() -> Result<()>, mut take: impl FnMut(PacketSample)) -> Result<()> {
    let columns = ["link", "flow", "packet", "departure_ns", "sojourn_ns", "fate", "ecn", "duplicate"];
    let ids = Index::of(plan.flows.iter().map(|flow| flow.id.as_str()));
    let names = Index::of(plan.links.iter().map(|link| link.name.as_str()));
    let (fates, codepoints) = (Index::of(link::Fate::NAMES), Index::of(link::Ecn::NAMES));
    let (delivered, not_capable, marked) =
        (link::Fate::Delivered as u16, link::Ecn::NotEct as u16, link::Ecn::Ce as u16);
    reader::read_table(open, "packets", &columns, |rows: &Rows| {
        go_on()?;
        let (link, flow, packet) = (rows.words(0, &names)?, rows.words(1, &ids)?, rows.values::<u64>(2)?);
        let (departure, sojourn) = (rows.values::<i64>(3)?, rows.values::<i64>(4)?);
        let (fate, ecn) = (rows.words(5, &fates)?, rows.words(6, &codepoints)?);
        let copy = rows.values::<bool>(7)?;
        for at in 0..rows.len() {
            let Some(link) = link.get(at) else { continue };
            let ecn = ecn.get(at);
            take(PacketSample {
                link,
                flow: flow.get(at),
                packet: packet.get(at).unwrap_or(0),
                has_departed: departure.get(at).is_some(),
                sojourn: sojourn.get(at).map(Duration),
                is_delivered: fate.get(at) == Some(delivered),
                is_capable: ecn != Some(not_capable),
                is_marked: ecn == Some(marked),
                is_copy: copy.get(at) == Some(true),
            });
        }
        Ok(())
    })
}
