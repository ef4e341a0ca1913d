use serde::Serialize;

use realtime::Quantiles;

/// `traffic.json`. Times are nanoseconds since the run's origin.
#[derive(Clone, Debug, Serialize)]
pub struct TrafficReport {
    /// From origin to end.
    pub wall_s: f64,
    /// CPU time of the event loop's thread. The writer of records, a thread of its own, has its share in `writer`.
    pub cpu_s: f64,
    /// How long the event loop was ready to run and waited for a CPU; `None` if this kernel doesn't say.
    pub run_delay_s: Option<f64>,
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

/// What became of a flow.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowReport {
    /// The plan's.
    pub id: String,
    /// As the plan names it; `None` if the flow is not our TCP.
    pub cc_requested: Option<String>,
    /// As the kernel names it, read back after the handshake.
    pub cc_actual: Option<String>,
    /// Payload that the receiver's application has read: TCP until the flow's stop, UDP until the run's end. Of programs,
    /// what their sockets at the flow's port have received in order.
    pub received_bytes: u64,
    /// Payload sent at least once, repetitions not counted.
    pub sent_bytes: u64,
    /// When it began to connect, to send, or its program to run.
    pub start_ns: Option<i64>,
    /// First payload byte at the receiver's application.
    pub first_byte_ns: Option<i64>,
    /// Last payload byte at the receiver's application; the completion time of a flow of so many bytes.
    pub end_ns: Option<i64>,
    /// All its bytes arrived or, without a number of bytes, it ran without error until its stop. A program: it exited with 0,
    /// or ran until the stop.
    pub completed: bool,
    /// Of TCP, as the three below.
    pub retransmitted_segments: u32,
    /// Time with data outstanding.
    pub busy_us: u64,
    /// The part of it in which the receiver's window was the limit.
    pub rwnd_limited_us: u64,
    /// The part of it in which the send buffer was the limit.
    pub sndbuf_limited_us: u64,
    /// Why it ended before its time.
    pub error: Option<String>,
    /// Filled for UDP.
    pub udp: Option<UdpReport>,
    /// Filled for programs.
    pub command: Option<CommandReport>,
}

/// What became of datagrams.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UdpReport {
    /// Handed to the kernel.
    pub sent_packets: u64,
    /// Due, but refused by the kernel (a full send buffer, mostly). Their sequence numbers are used by later ones.
    pub refused_packets: u64,
    /// Different ones that arrived.
    pub received_packets: u64,
    /// Those of them that arrived marked Congestion Experienced (RFC 3168 section 5).
    pub ce_packets: u64,
    /// Gaps in the sequence numbers received. Those still under way at the end are neither lost nor received.
    pub lost_packets: u64,
    /// Arrived after one with a higher sequence number (RFC 4737).
    pub reordered_packets: u64,
    /// Arrived again.
    pub duplicate_packets: u64,
    /// Dropped by the receiver's socket because its buffer was full: lost at the host, not in the network.
    pub socket_drops: u64,
    /// Sent minus due.
    pub schedule_error_us: Quantiles,
    /// From just before the send to the receiver's application, on one clock.
    pub one_way_delay_us: Quantiles,
}

/// How programs ended: an exit code, or minus the signal that ended it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CommandReport {
    /// Of `command`; `None` if it was never started.
    pub exit_code: Option<i32>,
    /// `command` still ran at the flow's stop, so that it was sent SIGTERM, and its exit code is its answer to that.
    pub ended_by_us: bool,
    /// Of `server_command`; `None` if there is none.
    pub server_exit_code: Option<i32>,
    /// As `ended_by_us`, of `server_command`.
    pub server_ended_by_us: bool,
}
