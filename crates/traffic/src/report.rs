use serde::Serialize;

use realtime::Quantiles;
pub use records::accounts::{CommandReport, FlowReport, UdpReport};

/// `traffic.json`. Times are nanoseconds since the run's origin.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    /// Time from origin to end.
    pub wall_s: f64,
    /// CPU time of the event loop's thread. The writer of records, a separate thread, has its share in `writer`.
    pub cpu_s: f64,
    /// Time that the event loop was ready to run and waited for a CPU; `None` if this kernel doesn't say.
    pub run_delay_s: Option<f64>,
    /// Number of times that it got a CPU.
    pub scheduled: Option<u64>,
    /// The sampler's results.
    pub sampling: Sampling,
    /// Ended before the plan's duration.
    pub interrupted: bool,
    /// Cost of writing `samples.parquet`.
    pub writer: records::WriterStats,
    /// Flows in the plan's order.
    pub flows: Vec<FlowReport>,
    /// Programs that are of no flow, in the plan's order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
}

/// The end of a program that is of no flow.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramReport {
    /// The plan's.
    pub name: String,
    /// An exit code, or minus the signal that ended it; `None`: it had to be killed.
    pub exit_code: Option<i32>,
    /// True if the program still ran at the end of the run: it was sent SIGTERM, and its exit code is its answer to
    /// that.
    pub ended_by_us: bool,
}

/// Ticks of the sampler's grid.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sampling {
    /// Grid points between origin and end.
    pub expected: u64,
    /// Ticks at which samples were taken; a tick that comes a whole interval late is skipped.
    pub taken: u64,
    /// Time between two ticks.
    pub interval_us: Quantiles,
    /// CPU time that it took.
    pub cpu_s: f64,
}
