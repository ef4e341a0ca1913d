//! Datagrams on a schedule: flows of constant rate, the order in which datagrams arrive, and echo requests. Both
//! engines use this crate.

mod echoes;
mod schedule;
mod sequence;

pub use echoes::{Echo, EchoCounts, Echoes};
pub use schedule::{Schedule, header_bytes};
pub use sequence::{Arrival, Sequence};
