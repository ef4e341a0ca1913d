//! Flows on demand: the traffic process of a run, for a while.

use std::collections::HashMap;
use std::fs;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use lab::Host;
use messages::{FlowCounts, FlowProgress, Meter, Order};
use plan::{Flow, Plan};
use realtime::Gauges;
use traffic::FlowGauges;
use units::Duration;

use crate::Setting;
use crate::request::Answer;

/// Time between "all are ready" and time 0.
const LEAD_NS: i64 = 10_000_000;

/// Flows while they go on: the process that carries them out publishes their counts in memory that it shares with ours.
pub(crate) struct Flowing {
    gauges: Gauges<{ FlowCounts::WORDS }>,
    meter: Meter,
}

impl Flowing {
    /// Before the process begins that carries out `flows`.
    pub(crate) fn of(flows: &[Flow]) -> Result<Flowing> {
        let gauges = Gauges::new(flows.len()).context("sharing memory")?;
        // Ids are unique within one request only.
        let names = flows.iter().map(|flow| format!("{} > {}", flow.from, flow.to));
        Ok(Flowing { gauges, meter: Meter::new(names, []) })
    }

    /// Where they publish.
    pub(crate) fn gauges(&self) -> &FlowGauges {
        &self.gauges
    }

    /// The flows' figures since the call before; none before all of them have begun.
    fn progress(&mut self) -> Vec<FlowProgress> {
        let counts: Option<Vec<FlowCounts>> = self.gauges.iter().map(|gauge| gauge.read().map(Into::into)).collect();
        self.meter.flows(counts.unwrap_or_default().into_iter())
    }
}

/// The figures of all flows that go on. Of several between the same nodes, all but the first have a number behind their
/// name.
pub(crate) fn progress<'a>(all: impl Iterator<Item = &'a mut Flowing>) -> Vec<FlowProgress> {
    let mut count = HashMap::new();
    let mut found: Vec<_> = all.flat_map(Flowing::progress).collect();
    for flow in &mut found {
        let number = count.entry(flow.id.clone()).or_insert(0);
        *number += 1;
        if *number > 1 {
            flow.id = format!("{} ({number})", flow.id);
        }
    }
    found
}

/// Carry out `flows` until their end, or until `control` is closed. `start` is the other end of `control`; `live` gets
/// their progress.
pub(crate) fn run_flows(
    setting: &Setting<'_>,
    flows: Vec<Flow>,
    duration_ns: i64,
    control: OwnedFd,
    start: File,
    live: &FlowGauges,
) -> Result<Answer> {
    let plan = Plan { flows, duration_ns: Duration(duration_ns), events: Vec::new(), ..setting.plan.clone() };
    let dir = setting.dir.join(format!("traffic-{}", std::process::id()));
    fs::create_dir(&dir).with_context(|| format!("creating {}", dir.display()))?;
    let report = in_directory(setting, &plan, &dir, control, start, live);
    let _ = fs::remove_dir_all(&dir);
    Ok(Answer::Flows { report: report? })
}

fn in_directory(
    setting: &Setting<'_>,
    plan: &Plan,
    dir: &Path,
    control: OwnedFd,
    start: File,
    live: &FlowGauges,
) -> Result<serde_json::Value> {
    let doors = |node: &str| setting.node(node).map(Host::doors);
    let mut starter = Starter(Some(start));
    let report = traffic::run(plan, &doors, setting.names, dir, control, &mut starter, Some(live))?;
    serde_json::to_value(report).context("spelling the report of the traffic")
}

/// Gives the order to start to whoever says `ready`.
struct Starter(Option<File>);

impl Write for Starter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        // The first event is `ready`.
        if let Some(mut start) = self.0.take() {
            let order = Order::Start { origin_ns: realtime::monotonic_ns() + LEAD_NS };
            start.write_all(&order.line().map_err(io::Error::other)?)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
