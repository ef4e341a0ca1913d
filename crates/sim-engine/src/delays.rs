use plan::Plan;
use realtime::{Quantiles, Spans};
use sim::{DatagramRow, Observer};

/// The delays of datagrams, flow by flow. A flow costs nothing before its first one arrives.
#[derive(Debug, Default)]
pub(crate) struct Delays(Vec<Option<Box<Spans>>>);

impl Delays {
    /// Delays of the plan's flows.
    pub(crate) fn of(plan: &Plan) -> Delays {
        Delays(vec![None; plan.flows.len()])
    }

    /// The quantiles of one flow.
    pub(crate) fn quantiles(&self, flow: usize) -> Quantiles {
        self.0[flow].as_ref().map(|spans| spans.quantiles()).unwrap_or_default()
    }
}

impl Observer for Delays {
    const DATAGRAMS: bool = true;

    fn datagram(&mut self, row: &DatagramRow) {
        self.0[usize::from(row.flow)].get_or_insert_default().add(row.delay);
    }
}
