//! UDP flows of constant rate: when each datagram is due, and in which order datagrams arrive. Both engines use it.

mod schedule;
mod sequence;

pub use schedule::{HEADERS, Schedule};
pub use sequence::{Arrival, Sequence};
