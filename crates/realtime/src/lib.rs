//! Shared parts of processes that keep to a schedule: clock, sleep, priority, records of being late, and gauges that
//! others read.

mod affinity;
mod clock;
mod gauges;
mod idle;
mod scheduling;
mod sleep;
mod spans;

pub use affinity::{Part, allowed, keep_to, keep_to_first};
pub use clock::{Clock, monotonic_ns, wall_clock_ns};
pub use gauges::{Gauge, Gauges};
pub use idle::Idle;
pub use scheduling::{Scheduling, ThreadTimes, Urgency, thread_cpu_ns};
pub use sleep::Sleep;
pub use spans::{Quantiles, Spans};
