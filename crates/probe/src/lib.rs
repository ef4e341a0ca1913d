//! The process that writes `acks.parquet`: the state of each sender of the run at each of its acknowledgements.
//!
//! Rows come through one ring buffer in the kernel: from the probe's programs at the kernel's tracepoints, and from
//! algorithms that write their own (`bpf/include/dumbbell/ack.h`). A user-mode kernel of ours has such a ring without
//! programs. The process reads the ring at intervals, maps the connection of each row to a flow of the plan, and turns
//! kernel units into those of the records. Rows that found the ring full are counted, for the verdict.

mod device;
mod kernel;
mod programs;
mod raw;
mod report;
mod run;
mod senders;
mod source;

pub use device::Device;
pub use kernel::{Prepared, Probe, Wanted};
pub use programs::Programs;
pub use report::ProbeReport;
pub use run::run;
pub use source::Source;
