//! The same program on the host, when the machine has ended: it unpacks the records, and makes tables of the rows that the
//! machine left as they were.

use std::env::args_os;
use std::path::{Path, PathBuf};
use std::process::exit;

use anyhow::{Context, Result, bail};
use plan::Plan;
use records::Names;
use tar::Archive;

use crate::shared::{Shared, State};

/// `ready_init SHARED DIR`: the file of the shared memory, and the run's directory.
pub(crate) fn main() {
    let words: Vec<PathBuf> = args_os().skip(1).map(PathBuf::from).collect();
    let done = match &words[..] {
        [shared, directory] => settle(shared, directory),
        _ => usage(),
    };
    if let Err(error) = done {
        eprintln!("{error:#}");
        exit(1);
    }
}

fn usage() -> Result<()> {
    bail!("this is the first process of a virtual machine; outside: ready_init SHARED DIR")
}

/// Nothing is left of a machine that did not come to its end.
fn settle(shared: &Path, directory: &Path) -> Result<()> {
    let shared = Shared::of(shared)?;
    if !shared.is_done() {
        return Ok(());
    }
    Archive::new(&*shared.output()?).unpack(directory).context("unpacking the records")?;
    let plan = Plan::read(&directory.join("plan.json"))?;
    records::flat::settle(directory, &Names::of(&plan))?;
    shared.enter(State::Settled);
    Ok(())
}
