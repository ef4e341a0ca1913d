use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use plan::Plan;
use records::pings::PingRow;
use records::{Names, Writer};

use crate::poller::Poller;
use crate::sampler::Sampler;
use crate::sock_diag::SockDiag;
use crate::udp_receiver::Batch;
use realtime::Clock;

/// Resources that every agent needs.
pub struct Shared {
    pub clock: Clock,
    pub poller: Poller,
    pub sampler: Sampler,
    /// `pings.parquet`, of a plan with flows that ping.
    pub pings: Pings,
    pub batch: Batch,
    /// Host -> its diagnosis socket; only hosts that run a program have one.
    pub diags: HashMap<String, SockDiag>,
}

/// The table of echo requests, which only a plan with flows that ping has.
#[derive(Default)]
pub struct Pings(Option<Writer<PingRow>>);

impl Pings {
    pub fn create(plan: &Plan, dir: &Path) -> Result<Pings> {
        let table = plan.has_pings().then(|| Writer::create(&dir.join("pings.parquet"), Names::of(plan)));
        Ok(Pings(table.transpose()?))
    }

    pub fn push(&mut self, row: PingRow) {
        if let Some(table) = &mut self.0 {
            table.push(row);
        }
    }

    pub fn finish(self) -> Result<()> {
        self.0.map(Writer::finish).transpose()?;
        Ok(())
    }
}
