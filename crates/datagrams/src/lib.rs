//! Datagrams on a schedule: flows of constant rate, the packets that carry a datagram, the order in which datagrams arrive
//! and their jitter, and echo requests. All engines use this crate.

mod echoes;
mod jitter;
mod parts;
mod schedule;
mod sequence;

pub use echoes::{Echo, EchoCounts, Echoes};
pub use jitter::Jitter;
pub use parts::{FRAGMENT_HEADER, Fragment, MOST_PAYLOAD, Part, parts};
pub use schedule::Schedule;
pub use sequence::{Arrival, Sequence};
