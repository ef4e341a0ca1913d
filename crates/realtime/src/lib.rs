//! What processes that keep to a schedule share: clock, sleep, priority, and records of being late.

mod affinity;
mod clock;
mod idle;
mod scheduling;
mod sleep;
mod spans;

pub use affinity::{Part, allowed, keep_to, keep_to_first};
pub use clock::{Clock, monotonic_ns, wall_clock_ns};
pub use idle::Idle;
pub use scheduling::{Scheduling, ThreadTimes, Urgency, thread_cpu_ns};
pub use sleep::Sleep;
pub use spans::{Quantiles, Spans};
