//! The figures of a link.

use link::Fate;
use records::Column;
use records::Values::{F64, Text, U64};
use records::accounts::LinkReport;

use crate::arithmetic::Percentiles;
use crate::figure::{Better, Figure, Metric, Over, Scope};

/// The facts about a link at the end of its run.
#[derive(Clone, Debug)]
pub struct Link {
    /// Its engine's account of it.
    pub report: LinkReport,
    /// Share of its capacity that was used.
    pub utilisation: Option<f64>,
    /// Share of its capacity that was used until the last flow that has a size was complete.
    pub utilisation_busy: Option<f64>,
    /// Share of the packets that left it on which it set Congestion Experienced.
    pub marked_share: Option<f64>,
    /// The waiting times of packets, ms; `None` if they never wait, or the times are unknown.
    pub waits: Option<Percentiles>,
    /// Share of the active time of the flows that cross it in which it was their bottleneck.
    pub bottleneck_share: Option<f64>,
}

fn count(link: &Link, fate: Fate) -> Option<u64> {
    Some(link.report.dropped.get(fate.name()).copied().unwrap_or(0))
}

const fn metric(
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    better: Better,
    formula: &'static str,
    source: &'static str,
) -> Metric {
    Metric { name, title, unit, better, scope: Scope::Link, over: Over::Itself, formula, source }
}

const DELAY: &str = "RFC 5166, section 2.1.2; docs/reference/metrics.md says how it is measured";
const LOSS: &str = "RFC 5166, section 2.1.3";

const fn figure(column: Column<Link>) -> Figure<Link> {
    Figure::new(column)
}

/// All figures, in the order of the tables' columns.
pub static FIGURES: &[Figure<Link>] = &[
    figure(Column::required("link", Text(|l| Some(l.report.name.as_str())), "name of the link")).at(&["name"]),
    figure(Column::optional("utilisation", F64(|l| l.utilisation), "share of its capacity that was used")).studied(
        metric(
            "utilisation",
            "Utilisation",
            "share",
            Better::Higher,
            "bytes that left the serializer ÷ bytes that the link could have sent, over the whole run",
            "RFC 5166, section 2.1.1",
        ),
    ),
    figure(Column::optional(
        "utilisation_busy",
        F64(|l| l.utilisation_busy),
        "share of its capacity that was used until the last flow that has a size was complete; null if one never was",
    ))
    .studied(metric(
        "utilisation_busy",
        "Utilisation until the last transfer is complete",
        "share",
        Better::Higher,
        "bytes that left the serializer ÷ bytes that the link could have sent, from the start of the run to the last sample \
         before the last flow that has a size is complete; no value if a flow that has a size is not complete",
        "RFC 5166, section 2.1.1; of studies whose transfers end before the run",
    )),
    figure(Column::required(
        "drops",
        U64(|l| Some(l.report.dropped.values().sum())),
        "packets that the link itself dropped: the sum of the following",
    ))
    .studied(metric("drops", "Drops", "packets", Better::Lower, "packets that the link itself dropped", LOSS)),
    figure(Column::required(
        "dropped_tail",
        U64(|l| count(l, Fate::DroppedTail)),
        "packets with the fate `dropped-tail`",
    ))
    .at(&["drops_by_reason", "dropped-tail"]),
    figure(Column::required(
        "dropped_head",
        U64(|l| count(l, Fate::DroppedHead)),
        "packets with the fate `dropped-head`",
    ))
    .at(&["drops_by_reason", "dropped-head"]),
    figure(Column::required(
        "dropped_early",
        U64(|l| count(l, Fate::DroppedEarly)),
        "packets with the fate `dropped-early`",
    ))
    .at(&["drops_by_reason", "dropped-early"]),
    figure(Column::required(
        "dropped_policed",
        U64(|l| count(l, Fate::DroppedPoliced)),
        "packets with the fate `dropped-policed`",
    ))
    .at(&["drops_by_reason", "dropped-policed"]),
    figure(Column::required(
        "dropped_delay_line",
        U64(|l| count(l, Fate::DroppedDelayLine)),
        "packets with the fate `dropped-delay-line`",
    ))
    .at(&["drops_by_reason", "dropped-delay-line"]),
    figure(Column::required(
        "dropped_down",
        U64(|l| count(l, Fate::DroppedDown)),
        "packets with the fate `dropped-down`",
    ))
    .at(&["drops_by_reason", "dropped-down"]),
    figure(Column::required(
        "losses",
        U64(|l| Some(l.report.lost_before + l.report.lost_after)),
        "packets that random or recorded loss took",
    ))
    .studied(metric(
        "losses",
        "Losses",
        "packets",
        Better::Lower,
        "packets that random or recorded loss took",
        LOSS,
    )),
    figure(Column::required(
        "marks",
        U64(|l| Some(l.report.marked)),
        "packets on which it set Congestion Experienced, and which left it",
    ))
    .studied(metric(
        "marks",
        "Marks",
        "packets",
        Better::Neither,
        "packets on which the link set Congestion Experienced, and which left it",
        "RFC 3168",
    )),
    figure(Column::optional("marked_share", F64(|l| l.marked_share), "share of the packets that left it with a mark"))
        .studied(metric(
            "marked_share",
            "Share of packets marked",
            "share",
            Better::Neither,
            "packets on which the link set Congestion Experienced ÷ packets that left it",
            "RFC 3168",
        )),
    figure(Column::required("duplicates", U64(|l| Some(l.report.duplicated)), "copies that it made")),
    figure(Column::required(
        "reordered",
        U64(|l| Some(l.report.reordered)),
        "packets that reached its end before one that had left the serializer earlier",
    )),
    figure(Column::required("corrupted", U64(|l| Some(l.report.corrupted)), "packets with a flipped bit")),
    figure(Column::required(
        "arrived_packets",
        U64(|l| Some(l.report.arrived_packets)),
        "packets that came to it, lost ones included",
    )),
    figure(Column::required(
        "delivered_packets",
        U64(|l| Some(l.report.delivered_packets)),
        "packets that reached its end",
    )),
    figure(Column::required(
        "delivered_bytes",
        U64(|l| Some(l.report.delivered_bytes)),
        "bytes that reached its end, whole frames plus the link's overhead",
    )),
    figure(Column::optional(
        "queue_p50_ms",
        F64(|l| Some(l.waits?.p50)),
        "median queueing delay ([metrics](metrics.md#per-link)); null where nothing tells it",
    ))
    .at(&["queue_ms", "p50"])
    .studied(metric(
        "queue_p50",
        "Queueing delay, median",
        "ms",
        Better::Lower,
        "queue_p50_ms of the link: median over the run",
        DELAY,
    )),
    figure(Column::optional("queue_p95_ms", F64(|l| Some(l.waits?.p95)), "95th percentile of the queueing delay"))
        .at(&["queue_ms", "p95"])
        .studied(metric(
            "queue_p95",
            "Queueing delay, 95th percentile",
            "ms",
            Better::Lower,
            "queue_p95_ms of the link: 95th percentile over the run",
            DELAY,
        )),
    figure(Column::optional("queue_max_ms", F64(|l| Some(l.waits?.max)), "largest queueing delay"))
        .at(&["queue_ms", "max"])
        .studied(metric(
            "queue_max",
            "Queueing delay, maximum",
            "ms",
            Better::Lower,
            "queue_max_ms of the link: maximum over the run",
            DELAY,
        )),
    figure(Column::optional(
        "bottleneck_share",
        F64(|l| l.bottleneck_share),
        "share of the active time of the flows whose data cross it in which it was their \
         [bottleneck](../explanation/bottlenecks.md)",
    ))
    .studied(metric(
        "bottleneck_share",
        "Time as the bottleneck",
        "share",
        Better::Neither,
        "Σ over the flows whose data cross the link of the time in which it was their bottleneck ÷ Σ of the time in which \
         they were active",
        "docs/explanation/bottlenecks.md",
    )),
];
