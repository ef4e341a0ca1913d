use figures::flow::Flow;
use figures::link::Link;
use plan::Plan;
use units::Time;

use super::recorder::Recorder;
use crate::Accounts;

/// The summary of a run: the figures of a single run that don't take a row per packet.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub flows: Vec<Flow>,
    /// Links on which something can happen to a packet.
    pub links: Vec<Link>,
    pub jain_index: Option<f64>,
    pub jain_window: Option<(Time, Time)>,
    /// Round trips per minute under load.
    pub rpm: Option<f64>,
    /// Sent by hosts.
    pub packets: u64,
    pub simulated: Time,
    /// The question for the judge; `None` if the run is sound.
    pub question: Option<String>,
}

impl Summary {
    /// The summary of a run that has come to its end.
    pub(super) fn of(plan: &Plan, accounts: Accounts, recorder: Recorder) -> Summary {
        let Accounts { flows, links, ledger, simulated } = accounts;
        let run_end = Time::ZERO + plan.duration_ns;
        let run = figures::Run::of(plan, flows, links, run_end, recorder.figures);
        let links = run.links.into_iter().zip(plan.transparent_links());
        Summary {
            flows: run.flows,
            links: links.filter(|(_, is_transparent)| !is_transparent).map(|(link, _)| link).collect(),
            jain_index: run.jain_index,
            jain_window: run.jain_window,
            rpm: run.responsiveness.map(|found| found.rpm),
            packets: ledger.entered_packets,
            simulated,
            question: None,
        }
    }
}
