//! UDP flows of constant rate, whoever sends and receives them: when each datagram is due, and in what order they arrive.

mod schedule;
mod sequence;

pub use schedule::{HEADERS, Schedule};
pub use sequence::{Arrival, Sequence};
