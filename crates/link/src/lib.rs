//! A unidirectional link as a pure state machine, and networks of them.
//!
//! A [`Link`] is loss before -> duplication -> policer -> queue -> slots -> serializer -> propagation -> loss after. It has
//! no clock: `now` is an argument, integer nanoseconds since the run's origin. It draws no hidden randomness: the fate of
//! the nth packet follows from the seed, the link's name and n. The emulator and the simulator run the same code.
//!
//! ```
//! use link::{Link, Packet};
//! use units::{Duration, Rate, Time};
//!
//! let spec = plan::Link {
//!     rate_bps: Rate::from_bps(100_000_000),
//!     delay_ns: Duration::from_millis(15),
//!     buffer: plan::Buffer::Bytes(375_000),
//!     ..plan::Link::transparent("bottleneck", "a", "b")
//! };
//! let mut link = Link::new(&spec, 1);
//! link.push(Packet { id: 1, size: 1514, ..Packet::default() }, Time::ZERO);
//! let due = link.next_event(); // the last bit leaves after 121.12 us ...
//! assert_eq!(due, Time(121_120));
//! assert!(link.poll(due).is_none());
//! let due = link.next_event(); // ... and arrives 15 ms later.
//! assert_eq!(link.poll(due).unwrap().delivery, Some(Time(15_121_120)));
//! ```

mod chance;
mod counters;
mod delay;
mod impairment;
mod network;
mod packet;
mod pipeline;
mod policer;
mod quantile;
mod queue;
mod service;
mod slots;
#[cfg(test)]
mod statistics;
mod switches;
mod variation;

pub use counters::Counters;
pub use network::{Network, Sink};
pub use packet::{Ecn, Fate, Mark, Packet, Passage, Reordered};
pub use pipeline::{Entry, Link, Out};
pub use plan::{Stream, mix};
pub use queue::Backlog;
