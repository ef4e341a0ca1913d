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

/// Programs that are in the kernel before anybody knows the run: to load them takes longer than a short run.
#[derive(Debug, Default)]
pub struct Prepared {
    probe: Option<probe::Prepared>,
    algorithms: bpf::Prepared,
}

impl Prepared {
    /// Loads what this kernel takes: nothing, if it has no BPF. A run that wants more says what was wrong.
    pub fn load() -> Prepared {
        let Ok(probe) = probe::Prepared::load() else { return Prepared::default() };
        let algorithms = bpf::Prepared::load(Some(probe.ring().as_fd()));
        Prepared { probe: Some(probe), algorithms }
    }
}

impl Loaded {
    /// Loads what the plan needs and is not `prepared`. `dir` is the run's directory.
    pub(crate) fn of(plan: &Plan, dir: &Path, prepared: Prepared) -> Result<Loaded> {
        // A run that needs a ring of its own needs other algorithms, too.
        let fits = prepared.probe.as_ref().is_some_and(|probe| probe.fits(plan));
        let Prepared { probe, algorithms } = if fits { prepared } else { Prepared::default() };
        let acks = Wanted::by(plan, probe)?;
        let session = Session::with(algorithms, plan, dir, acks.ring().map(AsFd::as_fd))?;
        Ok(Loaded { session, acks })
    }
}
