use datagrams::Jitter;
use plan::Plan;
use realtime::{Quantiles, Spans};
use sim::{DatagramRow, Observer};

/// The delays of datagrams, flow by flow. A flow costs nothing before its first one arrives.
#[derive(Debug, Default)]
pub(crate) struct Delays(Vec<Option<Box<Arrived>>>);

#[derive(Debug, Default, Clone)]
struct Arrived {
    delays: Spans,
    jitter: Jitter,
}

impl Delays {
    /// Delays of the plan's flows.
    pub(crate) fn of(plan: &Plan) -> Delays {
        Delays(vec![None; plan.flows.len()])
    }

    /// The quantiles of one flow.
    pub(crate) fn quantiles(&self, flow: usize) -> Quantiles {
        self.0[flow].as_ref().map(|arrived| arrived.delays.quantiles()).unwrap_or_default()
    }

    /// The jitter of one flow, us; `None` before its second datagram.
    pub(crate) fn jitter_us(&self, flow: usize) -> Option<f64> {
        self.0[flow].as_ref().and_then(|arrived| arrived.jitter.us())
    }
}

impl Observer for Delays {
    const DATAGRAMS: bool = true;

    fn datagram(&mut self, row: &DatagramRow) {
        let arrived = self.0[usize::from(row.flow)].get_or_insert_default();
        arrived.delays.add(row.delay);
        arrived.jitter.arrive(row.delay);
    }
}
