//! BPF programs compiled for the host.
//!
//! [`Core`] is the core of BBR (`bpf/bbr`) as a congestion control of the `cc` crate, so that whatever drives those drives it
//! too; [`program`] runs the object of a window-based algorithm (`bpf/algorithms`). [`Twin`] runs either beside the Rust implementation
//! of the same algorithm and panics where they differ. [`Mainline`] gives the core of BBR only the facts that a mainline kernel
//! has. [`vectors`] is its arithmetic. [`published`] is the probe's reading of the kernel's own algorithms.

mod ffi;
mod flow;
mod mainline;
mod program;
pub mod published;
mod twin;
pub mod vectors;

pub use flow::Core;
pub use mainline::{Estimate, Mainline, Quality, SentPacket};
pub use program::{PROGRAMS, program};
pub use twin::{Twin, create};
