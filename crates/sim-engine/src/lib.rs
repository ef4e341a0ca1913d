//! The simulation engine: carries out plans in virtual time and writes their records.
//!
//! [`sim`] computes the events, without files, threads or a clock; this crate has all of these. [`simulate`] carries
//! out one run as the emulation engine would, and leaves the same tables. [`summarize`] writes nothing: it returns the
//! accounts of flows and links, for runs by the thousand; [`observe`] does the same and lets the caller's observer
//! listen. [`trace`] returns the calls of users' programs. [`held`] stops whenever a flow's
//! policy is to decide. [`batch`] keeps the figures of many runs, simulated on many threads.
//!
//! Tables depend only on the plan: the same plan gives the same bytes, on every machine and whatever the timing of
//! threads.

mod accounts;
pub mod batch;
mod delays;
mod drive;
mod frames;
pub mod held;
mod recorder;
mod run;
mod samples;
mod trace;

pub use accounts::{Accounts, Ledger, observe, summarize};
pub use drive::OnEvent;
pub use recorder::Recorder;
pub use run::{SimulatorReport, TrafficReport, simulate};
pub use trace::{Traced, Wanted, trace};
