use plan::{Plan, Workload};
use sim::{FlowRow, LinkRow, Observer};
use units::Time;

use crate::convergence::{Received, STEP};

/// Keeps of a run's samples what its summary needs: 4 bytes per TCP flow, and 8 per link on which packets wait in line, for
/// each sampling interval, and 80 per bulk flow and second.
#[derive(Debug)]
pub(super) struct Recorder {
    /// In the plan's order.
    pub flows: Vec<FlowSamples>,
    /// In the plan's order.
    pub links: Vec<LinkSamples>,
    /// When all bulk flows are active.
    pub window: Option<(Time, Time)>,
    /// The largest congestion window of all samples, in packets.
    pub largest_window: Option<u32>,
}

/// What was sampled of a flow.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowSamples {
    /// Smoothed RTTs.
    pub srtt_us: Vec<u32>,
    /// The least minimum.
    pub min_rtt_us: Option<u32>,
    /// What its receiver had got when the window began.
    received_before: u64,
    /// And when it ended.
    received_by_end: u64,
    /// Of a bulk flow, since the last change.
    pub received: Option<Received>,
}

impl FlowSamples {
    /// What its receiver got while all bulk flows were active.
    pub(super) fn received_in_window(&self) -> u64 {
        self.received_by_end - self.received_before
    }
}

/// What was sampled of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct LinkSamples {
    /// Queue length in ms per byte, if that is how long packets wait.
    pub ms_per_byte: Option<f64>,
    /// Bytes waiting.
    pub queue_bytes: Vec<u64>,
    /// The most that waited at any time.
    pub queue_bytes_max: u64,
    /// At the origin.
    pub first: Option<LinkRow>,
    /// The latest.
    pub last: Option<LinkRow>,
    /// It had no limit at some time.
    pub was_unlimited: bool,
}

impl Recorder {
    pub(super) fn new(plan: &Plan) -> Recorder {
        let links =
            plan.links.iter().map(|link| LinkSamples { ms_per_byte: wait_per_byte(plan, link), ..Default::default() });
        let window = window(plan);
        let steady = window.filter(|_| plan.record.sample_interval_ns <= STEP);
        let steady = steady.map(|(start, end)| (last_change(plan, start, end), end));
        let flow = |flow: &plan::Flow| FlowSamples {
            received: steady.filter(|_| is_bulk(flow)).map(|(start, end)| Received::between(start, end)),
            ..FlowSamples::default()
        };
        Recorder { flows: plan.flows.iter().map(flow).collect(), links: links.collect(), window, largest_window: None }
    }

    /// What bulk flows had received at each step since the last change; taken out.
    pub(super) fn received(&mut self) -> Vec<Vec<u64>> {
        self.flows.iter_mut().filter_map(|flow| Some(flow.received.take()?.bytes())).collect()
    }
}

impl Observer for Recorder {
    const SAMPLES: bool = true;

    fn flow(&mut self, row: &FlowRow<'_>) {
        let flow = &mut self.flows[usize::from(row.flow)];
        if let Some((start, end)) = self.window {
            if row.time <= start {
                flow.received_before = row.received_bytes;
            }
            if row.time <= end {
                flow.received_by_end = row.received_bytes;
            }
        }
        if let Some(received) = &mut flow.received {
            received.is(row.time, row.received_bytes);
        }
        let Some(socket) = row.sender.map(sim::tcp::Sender::socket) else { return };
        self.largest_window = self.largest_window.max(Some(socket.snd_cwnd));
        if socket.srtt_us > 0 {
            flow.srtt_us.push(socket.srtt_us >> 3);
        }
        if socket.min_rtt_us < u32::MAX {
            flow.min_rtt_us = Some(flow.min_rtt_us.unwrap_or(u32::MAX).min(socket.min_rtt_us));
        }
    }

    fn link(&mut self, row: &LinkRow) {
        let link = &mut self.links[usize::from(row.link)];
        if link.ms_per_byte.is_some() {
            link.queue_bytes.push(row.backlog.bytes);
            link.queue_bytes_max = link.queue_bytes_max.max(row.queue_bytes_max);
        }
        link.was_unlimited |= row.capacity_bytes.is_none();
        if row.time == Time::ZERO {
            link.first = Some(*row);
        } else {
            link.last = Some(*row);
        }
    }
}

/// When all flows of TCP without a size or pauses are active.
fn window(plan: &Plan) -> Option<(Time, Time)> {
    let run_end = Time::ZERO + plan.duration_ns;
    let bulk = || plan.flows.iter().filter(|flow| is_bulk(flow));
    let (start, end) = (bulk().map(|flow| flow.start_ns).max()?, bulk().map(|flow| flow.stop_ns).min()?.min(run_end));
    (start < end).then_some((start, end))
}

/// Of the flows or the links: from when on nothing is changed from outside.
fn last_change(plan: &Plan, start: Time, end: Time) -> Time {
    plan.events.iter().map(|event| event.at_ns).filter(|&at| at < end).fold(start, Time::max)
}

pub(super) fn is_bulk(flow: &plan::Flow) -> bool {
    matches!(flow.workload, Workload::Tcp { bytes: None, on_off: None, .. })
}

/// What a byte that waits means to those behind it, ms: only if the rate is constant and packets leave in the order of their
/// arrival.
fn wait_per_byte(plan: &Plan, link: &plan::Link) -> Option<f64> {
    let rate = link.rate_bps?;
    let states = || std::iter::once(link).chain(plan.events.iter().map(|e| &e.link).filter(|to| to.name == link.name));
    let is_steady = states().all(|link| link.rate_bps == Some(rate) && link.variation.is_none());
    let is_in_order = states().all(|link| link.slots.is_none() && link.queue.is_first_in_first_out());
    (is_steady && is_in_order).then(|| 8e3 / rate.as_bps() as f64)
}
