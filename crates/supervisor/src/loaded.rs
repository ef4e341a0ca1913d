use std::os::fd::AsFd;
use std::path::Path;

use anyhow::Result;
use bpf::Session;
use plan::Plan;
use probe::Wanted;

/// The parts of a run in the kernel besides its lab.
pub(crate) struct Loaded {
    /// The plan's algorithms.
    pub session: Session,
    /// The plan's wish for a record of every ACK. Algorithms write rows to the probe's ring, too.
    pub acks: Wanted,
}

impl Loaded {
    /// Loads what the plan needs. `dir` is the run's directory.
    pub(crate) fn of(plan: &Plan, dir: &Path) -> Result<Loaded> {
        let acks = Wanted::by(plan)?;
        let session = Session::load(plan, dir, acks.ring().map(AsFd::as_fd))?;
        Ok(Loaded { session, acks })
    }
}
