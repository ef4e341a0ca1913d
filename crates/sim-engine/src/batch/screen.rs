//! The screen decides which runs are looked at closely.
//!
//! The rules that judge runs are not known here: the caller says how bad a run may look before it is asked about. A run
//! that passes is valid by each of the rules: almost no run costs more than the look.

use std::collections::BTreeMap;

use plan::Plan;
use records::accounts::{FlowReport, LinkReport};
use serde::Serialize;
use units::Duration;

use super::recorder::Recorder;
use crate::Accounts;
use crate::accounts::Ledger;

/// The limits of a run that is sound without a question.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    /// The share of its busy time in which a flow may be held back by windows.
    pub limited_share: f64,
    /// The largest congestion window.
    pub window_packets: u32,
}

/// The trust in a run, from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was found.
    #[default]
    Valid,
    /// Something is off.
    Suspect,
    /// Its figures are not to be used.
    Invalid,
}

impl Verdict {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Suspect => "suspect",
            Verdict::Invalid => "invalid",
        }
    }

    /// The verdict of that name.
    pub fn of(name: &str) -> Option<Verdict> {
        [Verdict::Valid, Verdict::Suspect, Verdict::Invalid].into_iter().find(|verdict| verdict.name() == name)
    }
}

/// The findings about a run.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The worst of all rules'.
    pub verdict: Verdict,
    /// The rules that found something, in words; `None` if none did.
    pub reasons: Option<String>,
}

/// The evidence of a run's fidelity: the accounts of a single run, and facts from its samples.
#[derive(Serialize)]
struct Evidence<'a> {
    network: Network<'a>,
    traffic: Traffic<'a>,
    min_rtt_us: BTreeMap<&'a str, u32>,
    largest_window: Option<u32>,
}

#[derive(Serialize)]
struct Network<'a> {
    #[serde(flatten)]
    ledger: Ledger,
    links: &'a [LinkReport],
}

#[derive(Serialize)]
struct Traffic<'a> {
    wall_s: f64,
    interrupted: bool,
    flows: &'a [FlowReport],
}

impl Screen {
    /// The question about a run that has come to its end, as JSON; `None` if it is sound.
    pub(super) fn question(&self, plan: &Plan, accounts: &Accounts, recorder: &Recorder) -> Option<String> {
        if self.is_sound(plan, accounts, recorder) {
            return None;
        }
        let rtts = plan.flows.iter().zip(recorder.figures.min_rtts_us());
        let evidence = Evidence {
            network: Network { ledger: accounts.ledger, links: &accounts.links },
            traffic: Traffic {
                wall_s: accounts.simulated.as_nanos() as f64 / 1e9,
                interrupted: false,
                flows: &accounts.flows,
            },
            min_rtt_us: rtts.filter_map(|(flow, rtt_us)| Some((flow.id.as_str(), rtt_us?))).collect(),
            largest_window: recorder.largest_window,
        };
        Some(serde_json::to_string(&evidence).expect("accounts are plain data"))
    }

    fn is_sound(&self, plan: &Plan, accounts: &Accounts, recorder: &Recorder) -> bool {
        accounts.flows.iter().all(|flow| self.is_sound_flow(flow))
            && recorder.largest_window.is_none_or(|packets| packets <= self.window_packets)
            && accounts.ledger.is_balanced()
            && accounts.links.iter().all(is_balanced)
            && none_is_too_fast(plan, recorder)
    }

    fn is_sound_flow(&self, flow: &FlowReport) -> bool {
        let limited_us = flow.rwnd_limited_us.max(flow.sndbuf_limited_us);
        flow.error.is_none()
            && flow.received_bytes > 0
            && flow.cc_actual == flow.cc_requested
            && limited_us as f64 <= self.limited_share * flow.busy_us as f64
    }
}

fn is_balanced(link: &LinkReport) -> bool {
    let out = link.delivered_packets + link.lost_before + link.lost_after + link.inside;
    link.arrived_packets + link.duplicated == out + link.dropped.values().sum::<u64>()
}

/// True if no flow has measured an RTT that its path does not allow.
fn none_is_too_fast(plan: &Plan, recorder: &Recorder) -> bool {
    let Ok(delays) = plan.least_delays() else { return false };
    delays.iter().zip(recorder.figures.min_rtts_us()).all(|(delay, rtt_us)| {
        rtt_us.is_none_or(|rtt_us| Duration::from_micros(rtt_us.into()) >= delay.there + delay.back)
    })
}
