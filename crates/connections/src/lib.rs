//! TCP connections in a packet capture.
//!
//! [`Table`] takes segments and gives rows to a [`Sink`]: connections, their directions, intervals, round-trip times, and
//! events. Events keep apart what is on the wire, which is certain, from why, which is inferred and names its evidence.
//! [`analyse`] does that with files, and writes the rows as Parquet tables; [`detail`](fn@detail) writes single packets of parts.
//!
//! A capture point P sees half a round trip: a direction is data from its sender to its receiver, `nxt` is the highest
//! byte seen, `una` the highest acknowledged. Bytes are counted from 0, in 64 bits, whatever the sequence numbers.

mod ahead;
mod analysis;
mod cause;
mod connection;
mod detail;
pub mod half;
mod limits;
mod packets;
mod patience;
mod place;
mod quantiles;
mod ranges;
pub mod rows;
mod scoreboard;
mod sequence;
mod state;
pub mod stream;
mod table;

pub use analysis::{Analysis, Progress, Summary, analyse};
pub use detail::{Detail, Part, Wanted, detail};
pub use packets::{Every, Kept};
pub use place::At;
pub use table::{Limits, Sink, Table};
