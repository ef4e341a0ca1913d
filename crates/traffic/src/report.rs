use serde::Serialize;

use realtime::Quantiles;
pub use records::accounts::{CommandReport, FlowReport, UdpReport};

/// `traffic.json`. Times are nanoseconds since the run's origin.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    /// From origin to end.
    pub wall_s: f64,
    /// CPU time of the event loop's thread. The writer of records, a thread of its own, has its share in `writer`.
    pub cpu_s: f64,
    /// How long the event loop was ready to run and waited for a CPU; `None` if this kernel doesn't say.
    pub run_delay_s: Option<f64>,
    /// How often it got one.
    pub scheduled: Option<u64>,
    /// What the sampler achieved.
    pub sampling: Sampling,
    /// Ended before the plan's duration.
    pub interrupted: bool,
    /// What writing `samples.parquet` cost.
    pub writer: records::WriterStats,
    /// In the plan's order.
    pub flows: Vec<FlowReport>,
}

/// Ticks of the sampler's grid.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sampling {
    /// Grid points between origin and end.
    pub expected: u64,
    /// Those at which samples were taken; one that comes a whole interval late is skipped.
    pub taken: u64,
    /// Between one tick and the next.
    pub interval_us: Quantiles,
    /// CPU time that it took.
    pub cpu_s: f64,
}
