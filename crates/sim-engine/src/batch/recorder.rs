use anyhow::Result;
use plan::Plan;
use records::kinds::KindRow;
use sim::{FlowRow, LinkRow, Observer};

use crate::samples::{flow_sample, link_sample};

/// Gives a run's samples to its figures, and keeps what its verdict needs.
#[derive(Debug)]
pub(super) struct Recorder {
    pub figures: figures::Recorder,
    /// The largest congestion window of all samples, in packets.
    pub largest_window: Option<u32>,
}

impl Recorder {
    pub(super) fn new(plan: &Plan) -> Result<Recorder> {
        Ok(Recorder { figures: figures::Recorder::planned(plan)?, largest_window: None })
    }
}

impl Observer for Recorder {
    const SAMPLES: bool = true;

    fn flow(&mut self, row: &FlowRow<'_>) {
        let Some(sample) = flow_sample(row) else { return };
        self.figures.flow(&sample);
        self.largest_window = self.largest_window.max(row.sender.map(|sender| sender.socket().snd_cwnd));
    }

    fn kind(&mut self, row: &KindRow) {
        self.figures.kind(row);
    }

    fn link(&mut self, row: &LinkRow) {
        self.figures.link(&link_sample(row));
    }
}
