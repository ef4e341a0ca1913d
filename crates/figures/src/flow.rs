//! The figures of a flow.

use std::collections::BTreeMap;

use records::Column;
use records::Values::{Bool, F64, Text, U16, U64};
use records::accounts::FlowReport;
use units::{Duration, Time};

use crate::activity::Active;
use crate::arithmetic::{Percentiles, quantile, ratio, share};
use crate::figure::{Better, Figure, Metric, Over, Scope};
use crate::flow_samples::Sampled;

/// The facts about a flow at the end of its run.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The flow as planned.
    pub plan: plan::Flow,
    /// Its engine's account of it.
    pub report: FlowReport,
    /// The start and the stop of its activity.
    pub active: Active,
    /// The facts from its samples.
    pub sampled: Sampled,
    /// Values of the measures of its kind's own table, ascending, by their columns.
    pub measured: BTreeMap<&'static str, Vec<f64>>,
    /// The waiting times of its packets on their way, ms; `None` if packets are not recorded.
    pub waits: Option<Percentiles>,
    /// Its packets that arrived marked, and all ECN-capable ones that arrived; `None` if packets are not recorded.
    pub marked: Option<(u64, u64)>,
    /// For a bulk flow, the time at which it came to its fair share, if it did; `None` if that is unknown.
    pub converged: Option<Option<Duration>>,
    /// The link that was its bottleneck for the longest time, and for which share of its active time.
    pub bottleneck: Option<(String, f64)>,
    label: String,
}

impl Flow {
    pub(crate) fn new(plan: plan::Flow, report: FlowReport, active: Active, sampled: Sampled) -> Flow {
        let flow = Flow {
            plan,
            report,
            active,
            sampled,
            measured: BTreeMap::new(),
            waits: None,
            marked: None,
            converged: None,
            bottleneck: None,
            label: String::new(),
        };
        Flow { label: format!("{} {}", flow.plan.id, flow.cc().unwrap_or(flow.protocol())), ..flow }
    }

    /// The algorithm as it was read back from the socket. A flow that never connected had none yet: it counts as the
    /// planned one.
    fn cc(&self) -> Option<&str> {
        self.report.cc_actual.as_deref().or(self.plan.workload.cc())
    }

    fn protocol(&self) -> &'static str {
        self.plan.workload.kind()
    }

    fn rate_bps(&self, bytes: u64) -> Option<f64> {
        let active = (self.active.stop - self.active.start).as_nanos();
        let is_told = self.active.has_begun && active > 0;
        is_told.then(|| ratio(8 * u128::from(bytes) * 1_000_000_000, active.unsigned_abs()))
    }

    /// The quantile of a measure's values, each `scaled`; `None` without any.
    fn measured(&self, measure: &str, share: f64, scaled: impl Fn(f64) -> f64) -> Option<f64> {
        quantile(self.measured.get(measure)?, share, scaled)
    }

    fn completion_s(&self) -> Option<f64> {
        let end = self.report.end_ns.filter(|_| self.plan.workload.size_bytes().is_some() && self.report.completed)?;
        Some(seconds(Time(end) - self.active.start))
    }
}

pub(crate) fn seconds(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e9
}

const OF_SRTT: &str = "RFC 6298";

const fn figure(column: Column<Flow>) -> Figure<Flow> {
    Figure::new(column)
}

/// A percentile of a measure of a kind's own table: a figure of the flow, and the mean of it as a metric of studies.
macro_rules! percentile {
    ($kind:literal, $prefix:literal, $p:literal, $suffix:literal, $unit:literal, $title:expr, $meaning:literal, $formula:expr, $source:literal,
     $measure:literal, $share:literal, $scaled:expr) => {
        figure(Column::optional(
            concat!($kind, "_", $prefix, $p, $suffix),
            F64(|f| f.measured($measure, $share, $scaled)),
            $meaning,
        ))
        .at(&[$kind, concat!($prefix, $p, $suffix)])
        .studied(Metric {
            name: concat!($kind, "_", $prefix, $p),
            title: $title,
            unit: $unit,
            better: Better::Lower,
            scope: Scope::Run,
            over: Over::Mean,
            formula: $formula,
            source: $source,
        })
    };
}

/// A percentile of a flow's round-trip times.
macro_rules! ping {
    ($p:literal, $share:literal, $rank:literal, $meaning:literal, $all:literal) => {
        percentile!(
            "ping",
            "",
            $p,
            "_ms",
            "ms",
            concat!("Ping RTT, ", $rank),
            $meaning,
            concat!("mean over the flows that ping of ping_", $p, "_ms, the ", $all),
            "RFC 2681",
            "rtt_ns",
            $share,
            |ns| ns / 1e6
        )
    };
}

/// A percentile of the completion times of a flow's requests.
macro_rules! fct {
    ($p:literal, $share:literal, $rank:literal, $meaning:literal) => {
        percentile!("rpc", "fct_", $p, "_ms", "ms", concat!("Request completion time, ", $rank), $meaning,
            concat!("mean over the flows of RPCs of rpc_fct_", $p, "_ms, the ", $rank, " of their requests' completion times"),
            "N. Dukkipati, N. McKeown: Why Flow-Completion Time is the Right Metric for Congestion Control, CCR 36(1), 2006",
            "fct_ns", $share, |ns| ns / 1e6)
    };
}

/// A percentile of the slowdown of a flow's requests.
macro_rules! slowdown {
    ($p:literal, $share:literal, $rank:literal, $meaning:literal) => {
        percentile!(
            "rpc",
            "slowdown_",
            $p,
            "",
            "",
            concat!("Request slowdown, ", $rank),
            $meaning,
            concat!(
                "mean over the flows of RPCs of rpc_slowdown_",
                $p,
                ", the ",
                $rank,
                " of completion time ÷ completion time on an unloaded path"
            ),
            "M. Alizadeh et al.: pFabric, SIGCOMM 2013, section 5.1, which calls it normalised FCT",
            "slowdown",
            $share,
            |slowdown| slowdown
        )
    };
}

/// All figures, in the order of the tables' columns.
pub static FIGURES: &[Figure<Flow>] = &[
    figure(Column::required("id", Text(|f| Some(f.plan.id.as_str())), "id in the plan")),
    figure(Column::required(
        "group",
        Text(|f| Some(f.plan.group())),
        "name of the scenario's entry: `web` for `web.1`, `web.2`, ...; `id` itself if the entry stands for one flow",
    )),
    figure(Column::required("label", Text(|f| Some(f.label.as_str())), "id and algorithm, for legends")),
    figure(Column::required("from", Text(|f| Some(f.plan.from.as_str())), "sending host")),
    figure(Column::required("to", Text(|f| Some(f.plan.to.as_str())), "receiving host")),
    figure(Column::required("protocol", Text(|f| Some(f.protocol())), "`tcp`, `udp`, `ping`, `rpc`, `quic` or `command`")),
    figure(Column::optional("cc", Text(Flow::cc), "congestion control, as read back from the socket; `STACK/NAME` of QUIC")),
    figure(Column::required("port", U16(|f| Some(f.plan.port)), "port of the receiver")),
    figure(Column::required(
        "start_s",
        F64(|f| Some(seconds(f.active.start - Time::ZERO))),
        "when it began to connect or send",
    )),
    figure(Column::required(
        "stop_s",
        F64(|f| Some(seconds(f.active.stop - Time::ZERO))),
        "when it ceased to be active ([metrics](metrics.md))",
    )),
    figure(Column::required(
        "sent_bytes",
        U64(|f| Some(f.report.sent_bytes)),
        "payload sent at least once, repetitions not counted; for QUIC, data that the stack took, of which the end may not be sent",
    )),
    figure(Column::required(
        "received_bytes",
        U64(|f| Some(f.report.received_bytes)),
        "payload that the receiver's application read",
    ))
    .studied(Metric {
        name: "received_bytes",
        title: "Received",
        unit: "B",
        better: Better::Higher,
        scope: Scope::Run,
        over: Over::Sum,
        formula: "Σ received_bytes: the bytes that the receivers' applications read",
        source: "RFC 2647, section 3.17",
    }),
    figure(Column::optional(
        "goodput_bps",
        F64(|f| f.rate_bps(f.report.received_bytes)),
        "8 × `received_bytes` ÷ active time; null for a flow that never began",
    )),
    figure(Column::optional(
        "throughput_bps",
        F64(|f| f.rate_bps(f.sampled.bytes_sent?)),
        "sending rate: 8 × payload sent, repetitions included, ÷ active time; null for a flow that was never sampled",
    ))
    .studied(Metric {
        name: "throughput",
        title: "Throughput (sending rate)",
        unit: "bit/s",
        better: Better::Neither,
        scope: Scope::Algorithm,
        over: Over::Mean,
        formula: "mean over the flows in question of throughput_bps: 8 · payload sent, repetitions included, ÷ active time",
        source: "RFC 5166, section 2.1.1",
    }),
    figure(Column::optional(
        "retransmitted_segments",
        U64(|f| f.plan.workload.repeats_segments().then(|| f.report.retransmitted_segments.into())),
        "segments sent again; null for UDP, pings and QUIC",
    ))
    .studied(Metric {
        name: "retransmitted_segments",
        title: "Retransmitted segments",
        unit: "segments",
        better: Better::Lower,
        scope: Scope::Algorithm,
        over: Over::Sum,
        formula: "Σ retransmitted_segments",
        source: "`tcpi_total_retrans` of Linux",
    }),
    figure(Column::optional("rtt_min_ms", F64(|f| f.sampled.rtt_min_us.map(|us| f64::from(us) / 1000.0)), "least RTT"))
        .at(&["rtt_ms", "min"])
        .studied(Metric {
            name: "rtt_min",
            title: "RTT, minimum",
            unit: "ms",
            better: Better::Lower,
            scope: Scope::Algorithm,
            over: Over::Min,
            formula: "least rtt_min_ms of the flows in question",
            source: "RFC 6298; `min_rtt` of Linux",
        }),
    figure(Column::optional(
        "rtt_p50_ms",
        F64(|f| f.sampled.rtt_p50_us.map(|us| us / 1000.0)),
        "median over time of the smoothed RTT",
    ))
    .at(&["rtt_ms", "p50"])
    .studied(Metric {
        name: "rtt_p50",
        title: "RTT, median",
        unit: "ms",
        better: Better::Lower,
        scope: Scope::Algorithm,
        over: Over::Mean,
        formula: "mean over the flows in question of rtt_p50_ms, the median over time of the smoothed RTT",
        source: OF_SRTT,
    }),
    figure(Column::optional(
        "rtt_p95_ms",
        F64(|f| f.sampled.rtt_p95_us.map(|us| us / 1000.0)),
        "95th percentile over time of the smoothed RTT",
    ))
    .at(&["rtt_ms", "p95"])
    .studied(Metric {
        name: "rtt_p95",
        title: "RTT, 95th percentile",
        unit: "ms",
        better: Better::Lower,
        scope: Scope::Algorithm,
        over: Over::Mean,
        formula: "mean over the flows in question of rtt_p95_ms, a percentile over time of the smoothed RTT",
        source: OF_SRTT,
    }),
    figure(Column::optional(
        "queue_p50_ms",
        F64(|f| Some(f.waits?.p50)),
        "median queueing delay of its packets, from sender to receiver",
    ))
    .at(&["queue_ms", "p50"])
    .of_packets(),
    figure(Column::optional("queue_p95_ms", F64(|f| Some(f.waits?.p95)), "95th percentile of the queueing delay"))
        .at(&["queue_ms", "p95"])
        .of_packets(),
    figure(Column::optional("queue_max_ms", F64(|f| Some(f.waits?.max)), "largest queueing delay"))
        .at(&["queue_ms", "max"])
        .of_packets(),
    figure(Column::optional(
        "ce_packets",
        U64(|f| Some(f.marked?.0)),
        "packets that arrived marked Congestion Experienced",
    ))
    .of_packets(),
    figure(Column::optional(
        "ce_share",
        F64(|f| f.marked.and_then(|(marked, capable)| share(marked, capable))),
        "`ce_packets` as a share of the ECN-capable packets that arrived",
    ))
    .of_packets(),
    figure(Column::optional("udp_sent", U64(|f| Some(f.report.udp?.sent_packets)), "datagrams that it sent; null for other flows than UDP"))
        .at(&["udp", "sent_packets"]),
    figure(Column::optional(
        "udp_lost",
        U64(|f| Some(f.report.udp?.lost_packets)),
        "datagrams that did not arrive, though a later one did; a datagram in fragments arrives if all of them do",
    ))
    .at(&["udp", "lost_packets"])
    .studied(Metric {
        name: "udp_lost",
        title: "Datagrams lost",
        unit: "packets",
        better: Better::Lower,
        scope: Scope::Run,
        over: Over::Sum,
        formula: "Σ udp_lost: datagrams that did not arrive, though a later one did",
        source: "RFC 7680",
    }),
    figure(Column::optional(
        "jitter_ms",
        F64(|f| Some(f.report.udp?.jitter_us? / 1000.0)),
        "interarrival jitter of its datagrams, smoothed, when the last one arrived: iperf's; null for other flows than UDP",
    ))
    .studied(Metric {
        name: "jitter",
        title: "Jitter",
        unit: "ms",
        better: Better::Lower,
        scope: Scope::Run,
        over: Over::Mean,
        formula: "mean over the UDP flows in question of jitter_ms: J grows by (|D| - J) ÷ 16 at each datagram that arrives, D: its \
                  time under way less that of the one before",
        source: "RFC 3550, section 6.4.1",
    }),
    ping!("p50", 0.50, "median", "median round-trip time of its echo requests; null for a flow that does not ping", "median round-trip time of their echo requests"),
    ping!("p99", 0.99, "99th percentile", "99th percentile of it", "99th percentile of their round-trip times"),
    figure(Column::optional("ping_sent", U64(|f| Some(f.report.ping?.sent_packets)), "echo requests that it sent"))
        .at(&["ping", "sent"]),
    figure(Column::optional(
        "ping_lost",
        U64(|f| Some(f.report.ping?.lost_packets)),
        "echo requests without an answer (RFC 6673)",
    ))
    .at(&["ping", "lost"])
    .studied(Metric {
        name: "ping_lost",
        title: "Pings lost",
        unit: "packets",
        better: Better::Lower,
        scope: Scope::Run,
        over: Over::Sum,
        formula: "Σ ping_lost: echo requests without an answer",
        source: "RFC 6673",
    }),
    fct!("p50", 0.50, "median", "median completion time of its requests, from when each was due until the client had the whole answer; null for other flows than RPCs"),
    fct!("p95", 0.95, "95th percentile", "95th percentile of it"),
    fct!("p99", 0.99, "99th percentile", "99th percentile of it"),
    slowdown!("p50", 0.50, "median", "median slowdown of its requests: completion time ÷ that on [an unloaded path](metrics.md#per-flow)"),
    slowdown!("p95", 0.95, "95th percentile", "95th percentile of it"),
    slowdown!("p99", 0.99, "99th percentile", "99th percentile of it"),
    figure(Column::optional(
        "quic_handshake_ms",
        F64(|f| Some(f.report.quic.as_ref()?.handshake_ns? as f64 / 1e6)),
        "time from the start of its QUIC handshake until the sender could send data; null for other flows than QUIC",
    ))
    .at(&["quic", "handshake_ms"])
    .studied(Metric {
        name: "quic_handshake",
        title: "QUIC handshake",
        unit: "ms",
        better: Better::Lower,
        scope: Scope::Run,
        over: Over::Mean,
        formula: "mean over the flows of QUIC of quic_handshake_ms",
        source: "RFC 9001, section 4.1.1",
    }),
    figure(Column::optional(
        "quic_sent",
        U64(|f| Some(f.report.quic.as_ref()?.sent_packets)),
        "UDP datagrams that its sender sent",
    ))
    .at(&["quic", "sent_packets"]),
    figure(Column::optional(
        "quic_lost",
        U64(|f| Some(f.report.quic.as_ref()?.lost_packets)),
        "packets that its sender declared lost",
    ))
    .at(&["quic", "lost_packets"])
    .studied(Metric {
        name: "quic_lost",
        title: "QUIC packets declared lost",
        unit: "packets",
        better: Better::Lower,
        scope: Scope::Run,
        over: Over::Sum,
        formula: "Σ quic_lost: packets that QUIC senders declared lost, rightly or not",
        source: "RFC 9002, section 6",
    }),
    figure(Column::optional(
        "rpc_completed",
        U64(|f| (f.plan.workload.table() == Some("requests")).then(|| f.measured.get("fct_ns").map_or(0, |all| all.len() as u64))),
        "requests whose whole answer the client had",
    ))
    .at(&["rpc", "completed"])
    .studied(Metric {
        name: "rpc_completed",
        title: "Requests completed",
        unit: "requests",
        better: Better::Higher,
        scope: Scope::Run,
        over: Over::Sum,
        formula: "Σ rpc_completed",
        source: "none: a count",
    }),
    figure(Column::optional(
        "bottleneck",
        Text(|f| f.bottleneck.as_ref().map(|(link, _)| link.as_str())),
        "link on its path that was its [bottleneck](../explanation/bottlenecks.md) for the longest time; null if none was",
    )),
    figure(Column::optional(
        "bottleneck_share",
        F64(|f| f.bottleneck.as_ref().map(|&(_, share)| share)),
        "share of its active time in which that link was its bottleneck",
    )),
    figure(Column::optional("fct_s", F64(Flow::completion_s), "flow completion time")),
    figure(Column::optional(
        "converged",
        Bool(|f| Some(f.converged?.is_some())),
        "whether a bulk TCP flow came to its fair share",
    )),
    figure(Column::optional(
        "convergence_s",
        F64(|f| f.converged?.map(seconds)),
        "how long it took to come to its fair share",
    )),
    figure(Column::optional(
        "rwnd_limited_share",
        F64(|f| share(f.report.rwnd_limited_us, f.report.busy_us)),
        "share of the busy time in which the receiver's window was the limit",
    )),
    figure(Column::optional(
        "sndbuf_limited_share",
        F64(|f| share(f.report.sndbuf_limited_us, f.report.busy_us)),
        "share of the busy time in which the send buffer was the limit",
    )),
];
