//! Run a plan and say what became of its flows, a JSON object a line: `run PLAN.json`. With `samples` behind it, it
//! also prints the senders' values at each sample interval: time in ms, flow, cwnd, ssthresh, state, srtt in us,
//! packets retransmitted, time in which the receive window was the limit in us.

use std::path::Path;
use std::time::Instant;

use plan::Plan;
use serde_json::json;
use sim::{FlowRow, Observer, Options, Simulation};

/// Smoothed RTTs of each flow, once per sample interval.
#[derive(Default)]
struct Rtts {
    of_flow: Vec<Vec<u32>>,
    prints: bool,
}

impl Observer for Rtts {
    const SAMPLES: bool = true;
    fn flow(&mut self, row: &FlowRow<'_>) {
        let flow = usize::from(row.flow);
        self.of_flow.resize(self.of_flow.len().max(flow + 1), Vec::new());
        if let Some(sender) = row.sender
            && sender.socket().srtt_us > 0
        {
            self.of_flow[flow].push(sender.socket().srtt_us >> 3);
            if self.prints {
                let (sk, counters) = (sender.socket(), sender.counters());
                println!(
                    "{},{},{},{},{:?},{},{},{}",
                    row.time.0 / 1_000_000,
                    flow,
                    sk.snd_cwnd,
                    sk.snd_ssthresh as i32,
                    sk.ca_state,
                    sk.srtt_us >> 3,
                    counters.segments_retransmitted,
                    counters.rwnd_limited_us
                );
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let path = std::env::args().nth(1).expect("a plan");
    let prints = std::env::args().nth(2).is_some_and(|word| word == "samples");
    let plan = Plan::read(Path::new(&path))?;
    let mut simulation = Simulation::new(&plan, Options::default(), Rtts { prints, ..Rtts::default() })?;
    let began = Instant::now();
    simulation.run();
    let took = began.elapsed().as_secs_f64();
    for (index, (flow, report)) in plan.flows.iter().zip(simulation.reports()).enumerate() {
        let mut rtts = simulation.observer().of_flow.get(index).cloned().unwrap_or_default();
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
