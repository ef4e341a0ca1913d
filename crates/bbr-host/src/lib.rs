//! The BBR core of the BPF programs (`bpf/bbr`), compiled for the host.
//!
//! [`Core`] is that core as a congestion control of the `cc` crate, so that whatever drives those drives it too. [`Twin`]
//! runs it beside the Rust implementation of the same algorithm and panics where they differ. [`Mainline`] tells it only what
//! a mainline kernel tells. [`vectors`] is its arithmetic.

mod ffi;
mod flow;
mod mainline;
mod twin;
pub mod vectors;

pub use flow::Core;
pub use mainline::{Estimate, Mainline, Quality};
pub use twin::{Twin, create};
