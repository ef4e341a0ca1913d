//! Congestion controls written in BPF, loaded into the running kernel as `tcp_congestion_ops`.
//!
//! A registration holds for the whole machine, under a name of at most 15 characters. Each run registers its algorithms
//! under separate names: runs with different parameters live side by side. The registrations end with the descriptors
//! of the processes that hold them, however these die.

mod acks;
mod bundled;
mod check;
mod compile;
mod confine;
mod elf;
mod helper;
mod kernel;
mod log;
mod names;
mod object;
mod parameters;
mod prepared;
mod privilege;
mod session;
mod statistics;
mod stay;
mod types;
mod verifier;

use anyhow::{Context, Result};

pub use acks::AckRing;
pub use bundled::{Bundled, algorithms, bundled, bundled_labels, find, headers, probe};
pub use check::{CanLoad, Check, Inspection, Program, Unfit, can_load, check, inspect};
pub use compile::{Build, Diagnostic, build, write_headers};
pub use confine::confine;
pub use helper::{Ended, run_helper};
pub use kernel::{Interface, Variant};
pub use names::Names;
pub use object::{Algorithm, Loaded, NAME_MAX, Registered};
pub use parameters::Parameter;
pub use prepared::Prepared;
pub use privilege::Privilege;
pub use session::{Fact, LoadedBy, Session};
pub use statistics::{ProgramStatistics, count_run_time, statistics};
pub use stay::{Listing, OfRun, Stay, Stayed, list, load, unload};
pub use verifier::Refusal;

/// The congestion controls that the kernel has now. Modules that it could load are not among them.
pub fn available() -> Result<Vec<String>> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
