//! Congestion controls written in BPF, loaded into the running kernel as `tcp_congestion_ops`.
//!
//! A registration holds for the whole machine, under a name of at most 15 characters. Each run registers its algorithms
//! under names of its own, so that runs with different parameters live side by side; they end with the descriptors of
//! the processes that hold them, however these die. See `docs/reference/` for what a user sees of this.

mod bundled;
mod kernel;
mod log;
mod object;

pub use bundled::{Bundled, algorithms, bundled, bundled_labels, find, headers, probe};
pub use kernel::{Interface, Variant};
pub use object::{Algorithm, NAME_MAX, Registered};
