use bpf::ProgramStatistics;
use realtime::Quantiles;
use records::WriterStats;
use serde::Serialize;

/// `probe.json`: how well the acknowledgements were recorded, and what that cost.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeReport {
    /// From origin to end.
    pub wall_s: f64,
    /// CPU time of the thread that reads the ring. The writer, a thread of its own, has its share in `writer`.
    pub cpu_s: f64,
    /// How long that thread was ready to run and waited for a CPU; `None` if this kernel doesn't say.
    pub run_delay_s: Option<f64>,
    /// Rows written.
    pub rows: u64,
    /// Rows that found the ring full.
    pub lost_rows: u64,
    /// Rows of connections that are none of the plan's flows.
    pub foreign_rows: u64,
    /// Records that this version can't read.
    pub unreadable_rows: u64,
    /// Size of the ring.
    pub ring_bytes: u64,
    /// The most of it that was read at once.
    pub ring_peak_bytes: u64,
    /// Between one look at the ring and the next.
    pub interval_us: Quantiles,
    /// How long the oldest row had waited, at each look at the ring.
    pub age_us: Quantiles,
    /// What writing `acks.parquet` cost.
    pub writer: WriterStats,
    /// The probe's programs in the kernel. Their time is counted while `kernel.bpf_stats_enabled` is 1.
    pub programs: Vec<ProgramStatistics>,
}
