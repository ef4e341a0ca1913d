//! Takes the rows of a run and keeps what its figures need.

use std::collections::BTreeMap;

use anyhow::Result;
use plan::{Network, Plan};
use records::Row;
use records::kinds::{KindRow, PingRow, measures};
use units::Time;

use crate::activity::{last_change, planned_window};
use crate::bottleneck::Bottlenecks;
use crate::convergence::STEP;
use crate::flow_samples::{FlowSample, FlowSamples};
use crate::link_samples::{LinkSample, LinkSamples};
use crate::packet_samples::{PacketSample, PacketSamples};

/// The measure whose values responsiveness needs.
const UNDER_LOAD: &str = "rtt_ns";

/// The values of a flow in the table of its kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    /// The numbers of each measure, by its column.
    pub values: BTreeMap<&'static str, Vec<f64>>,
    /// Round-trip times of requests that were sent while all bulk flows were active.
    pub under_load_ns: Vec<i64>,
}

/// Keeps of a run's rows what its figures need. Rows come in the order of time.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub(crate) flows: Vec<FlowSamples>,
    pub(crate) links: Vec<LinkSamples>,
    pub(crate) bottlenecks: Bottlenecks,
    /// `None`: packets are not recorded.
    pub(crate) packets: Option<PacketSamples>,
    /// The rows of each flow in its kind's own table, in the plan's order.
    pub(crate) kinds: Vec<Gathered>,
    /// The time in which all bulk flows are active.
    pub(crate) window: Option<(Time, Time)>,
}

impl Recorder {
    /// The recorder of a run that goes as planned, and whose packets are not recorded.
    ///
    /// # Errors
    /// A flow has no path.
    pub fn planned(plan: &Plan) -> Result<Recorder> {
        let window = planned_window(plan);
        Ok(Recorder::new(plan, &plan.network()?, window, (Time::ZERO, Time::ZERO + plan.duration_ns)))
    }

    /// `network`: the plan's, with the paths of its flows. `window`: the time in which all bulk flows are active. `span`: the time
    /// over which links' utilisation is taken.
    pub(crate) fn new(plan: &Plan, network: &Network, window: Option<(Time, Time)>, span: (Time, Time)) -> Recorder {
        let steady = window.filter(|_| plan.record.sample_interval_ns <= STEP);
        let steady = steady.map(|window| (last_change(plan, window), window.1));
        let has_pings = plan.has_table(PingRow::TABLE);
        let flow = |flow: &plan::Flow| {
            let samples = FlowSamples::new(window, steady.filter(|_| flow.workload.is_bulk()));
            if has_pings && flow.workload.is_bulk() { samples.beside_pings() } else { samples }
        };
        let has_sizes = plan.flows.iter().any(|flow| flow.workload.size_bytes().is_some());
        let link = |(link, facts): (&plan::Link, plan::LinkFacts)| {
            let samples = LinkSamples::new(span, link, &facts);
            if has_sizes { samples.beside_transfers() } else { samples }
        };
        Recorder {
            flows: plan.flows.iter().map(flow).collect(),
            links: plan.links.iter().zip(plan.link_facts()).map(link).collect(),
            bottlenecks: Bottlenecks::new(plan, network),
            packets: None,
            kinds: vec![Gathered::default(); plan.flows.len()],
            window,
        }
    }

    /// Its packets are recorded: they say how long they wait.
    pub(crate) fn with_packets(self, network: &Network) -> Recorder {
        Recorder { packets: Some(PacketSamples::new(network)), ..self }
    }

    /// A row of `samples`.
    pub fn flow(&mut self, sample: &FlowSample) {
        self.flows[usize::from(sample.flow)].add(sample);
    }

    /// A row of a table that only flows of one kind have.
    pub fn kind(&mut self, row: &KindRow) {
        let number = |column| row.number(column);
        let values = measures(row.table()).iter().map(|&measure| number(measure));
        self.gather(row.table(), number("flow") as u16, Time(number("time_ns") as i64), values);
    }

    /// `values`: those of the table's measures; NaN: there is none.
    pub(crate) fn gather(&mut self, table: &str, flow: u16, time: Time, values: impl Iterator<Item = f64>) {
        let gathered = &mut self.kinds[usize::from(flow)];
        for (measure, value) in measures(table).iter().zip(values).filter(|(_, value)| !value.is_nan()) {
            gathered.values.entry(measure).or_default().push(value);
            if *measure == UNDER_LOAD && self.window.is_some_and(|(start, end)| (start..=end).contains(&time)) {
                gathered.under_load_ns.push(value as i64);
            }
        }
    }

    /// A row of `links`.
    pub fn link(&mut self, sample: &LinkSample) {
        self.links[usize::from(sample.link)].add(sample);
        self.bottlenecks.add(sample);
    }

    /// A row of `packets`, if they are recorded.
    pub(crate) fn packet(&mut self, sample: &PacketSample) {
        if let Some(packets) = &mut self.packets {
            packets.add(sample);
        }
    }

    /// The least RTT of all connections of each flow, in the plan's order.
    pub fn min_rtts_us(&self) -> impl Iterator<Item = Option<u32>> {
        self.flows.iter().map(FlowSamples::min_rtt_us)
    }
}
