//! The first process of a kernel that somebody else has built, in a virtual machine: it loads modules, describes the
//! kernel, and stops there to be kept as a snapshot. Each run goes on from it: this process takes the plan from memory
//! that it shares with the host, becomes the helper of an emulated run, and gives the records back the same way.
//!
//! Nothing that the host does has a time in here, so runs are the same each time: no disk, no network, no input. When
//! the machine has ended, the same program makes tables of the rows that it left, outside (`outside`). The other side is
//! `python/dumbbell/engines/virtual/ready.py`.

mod description;
mod machine;
mod memory;
mod modules;
mod mounts;
mod outside;
mod parcel;
mod randomness;
mod relay;
mod shared;

use std::path::Path;

use anyhow::{Context, Result};
use plan::Plan;
use supervisor::Prepared;

use crate::shared::{Shared, State};

/// The run's directory in here: its name outside tells of the machine.
const RUN: &str = "/dumbbell/run";
const MODULES: &str = "/modules";

fn main() {
    // A kernel gives words of its command line to its first process.
    if std::process::id() != 1 {
        return outside::main();
    }
    if let Err(error) = run_orders() {
        eprintln!("{error:#}");
    }
    // SAFETY: it takes a number only.
    unsafe { libc::reboot(libc::RB_POWER_OFF) };
}

fn run_orders() -> Result<()> {
    mounts::mount()?;
    modules::load(Path::new(MODULES))?;
    let shared = Shared::open()?;
    shared.put_output(&serde_json::to_vec(&description::describe()?)?)?;
    let prepared = Prepared::load();
    memory::clear()?;
    shared.enter(State::Ready);
    machine::pause()?;
    // From here on each run goes its own way.
    let directory = Path::new(RUN);
    parcel::unpack(&shared.input()?, directory)?;
    let plan = Plan::read(&directory.join("plan.json"))?;
    randomness::seed(plan.seed)?;
    let relay = relay::start(&shared)?;
    std::env::set_current_dir(directory).context("entering the run's directory")?;
    records::flat::defer();
    supervisor::emulate_in_guest(directory, true, prepared);
    relay.end()?;
    shared.put_output(&parcel::pack(directory)?)?;
    shared.enter(State::Done);
    machine::end()
}
