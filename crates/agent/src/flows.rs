//! Flows on demand: the traffic process of a run, for a while.

use std::fs;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use lab::Host;
use messages::Order;
use plan::{Flow, Plan};
use units::Duration;

use crate::Setting;
use crate::request::Answer;

/// Time between "all are ready" and time 0.
const LEAD_NS: i64 = 10_000_000;

/// Carry out `flows` until their end, or until `control` is closed. `start` is the other end of `control`.
pub(crate) fn carry_out(
    setting: &Setting<'_>,
    flows: Vec<Flow>,
    duration_ns: i64,
    control: OwnedFd,
    start: File,
) -> Result<Answer> {
    let plan = Plan { flows, duration_ns: Duration(duration_ns), events: Vec::new(), ..setting.plan.clone() };
    let dir = setting.dir.join(format!("traffic-{}", std::process::id()));
    fs::create_dir(&dir).with_context(|| format!("creating {}", dir.display()))?;
    let report = in_directory(setting, &plan, &dir, control, start);
    let _ = fs::remove_dir_all(&dir);
    Ok(Answer::Flows { report: report? })
}

fn in_directory(
    setting: &Setting<'_>,
    plan: &Plan,
    dir: &Path,
    control: OwnedFd,
    start: File,
) -> Result<serde_json::Value> {
    let doors = |node: &str| setting.node(node).map(Host::doors);
    let mut starter = Starter(Some(start));
    let report = traffic::run(plan, &doors, setting.names, dir, control, &mut starter, None)?;
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
