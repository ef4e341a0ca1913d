use bpf::ProgramStatistics;
use realtime::Quantiles;
use records::WriterStats;
use serde::Serialize;

/// `probe.json`: how well the acknowledgements were recorded, and what that cost.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    /// Time from origin to end.
    pub wall_s: f64,
    /// CPU time of the thread that reads the ring. The writer, a separate thread, has its share in `writer`.
    pub cpu_s: f64,
    /// Time that this thread was ready to run and waited for a CPU; `None` if this kernel doesn't say.
    pub run_delay_s: Option<f64>,
    /// Rows written.
    pub rows: u64,
    /// Rows that found the ring full.
    pub lost_rows: u64,
    /// Rows of connections that belong to no flow of the plan.
    pub foreign_rows: u64,
    /// Records that this version can't read.
    pub unreadable_rows: u64,
    /// Size of the ring.
    pub ring_bytes: u64,
    /// The most bytes read at once.
    pub ring_peak_bytes: u64,
    /// Time between two reads of the ring.
    pub interval_us: Quantiles,
    /// Age of the oldest row at each read of the ring.
    pub age_us: Quantiles,
    /// Cost of writing `acks.parquet`.
    pub writer: WriterStats,
    /// The probe's programs in the kernel. Their time is counted while `kernel.bpf_stats_enabled` is 1.
    pub programs: Vec<ProgramStatistics>,
}
