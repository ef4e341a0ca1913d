//! Run a plan and say what became of its flows, a JSON object a line: `run PLAN.json`.

use std::path::Path;
use std::time::Instant;

use plan::Plan;
use serde_json::json;
use sim::{FlowRow, Observer, Options, Simulation};

/// Smoothed RTTs of each flow, once per sample interval.
#[derive(Default)]
struct Rtts(Vec<Vec<u32>>);

impl Observer for Rtts {
    const SAMPLES: bool = true;
    fn flow(&mut self, row: &FlowRow<'_>) {
        let flow = usize::from(row.flow);
        self.0.resize(self.0.len().max(flow + 1), Vec::new());
        if let Some(sender) = row.sender
            && sender.socket().srtt_us > 0
        {
            self.0[flow].push(sender.socket().srtt_us >> 3);
        }
    }
}

fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).expect("a plan");
    let plan = Plan::read(Path::new(&path))?;
    let mut simulation = Simulation::new(&plan, Options::default(), Rtts::default())?;
    let began = Instant::now();
    simulation.run();
    let took = began.elapsed().as_secs_f64();
    for (index, (flow, report)) in plan.flows.iter().zip(simulation.reports()).enumerate() {
        let mut rtts = simulation.observer().0.get(index).cloned().unwrap_or_default();
        rtts.sort_unstable();
        println!(
            "{}",
            json!({
                "id": flow.id, "received_bytes": report.received_bytes, "completed": report.completed,
                "retransmitted_segments": report.retransmitted_segments, "end_ns": report.end.map(|end| end.0),
                "rtt_p50_us": rtts.get(rtts.len() / 2), "busy_us": report.busy_us,
                "rwnd_limited_us": report.rwnd_limited_us, "wall_s": took,
            })
        );
    }
    Ok(())
}
