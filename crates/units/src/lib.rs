//! Time, rate and the sizes of packets as exact integers.
//!
//! Everything in dumbbell that happens at a time happens at a [`Time`]: nanoseconds since the run's origin, in an `i64`
//! (292 years). Floating point never enters a schedule: 32 ns of rounding a packet is a millisecond after 40,000 packets.

mod ip;
mod mtu;
mod rate;
mod time;

pub use ip::Ip;
pub use mtu::{Mtu, headers};
pub use rate::{Rate, Serializer};
pub use time::{Duration, Time};
