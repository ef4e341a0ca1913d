use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

/// The room for packets that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Buffer {
    /// Whole frames plus overhead, in bytes.
    Bytes(u64),
    /// Frames of any size.
    Packets(u64),
    /// All of them.
    Unlimited,
}

/// The condition under which a packet of an ECN-capable flow is marked Congestion Experienced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// More than this waits when it comes, itself included: the step of DCTCP (RFC 8257 section 3.1).
    Bytes(u64),
    /// The same in packets.
    Packets(u64),
    /// Longest sojourn of an unmarked packet when it leaves the queue: `ce_threshold` of Linux's CoDel.
    Sojourn(Duration),
}

/// The parties among whom CAKE shares the link, as tc-cake(8) names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Hosts, by source and by destination, then the flows of each.
    TripleIsolate,
}

/// A queue discipline with its parameters, named as in the RFC that defines it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Queue {
    /// First in, first out; what doesn't fit is dropped.
    DropTail {
        /// Mark above it.
        ce_threshold: Option<Threshold>,
    },
    /// First in, first out; the oldest are dropped until what comes fits.
    DropHead {
        /// Mark above it.
        ce_threshold: Option<Threshold>,
    },
    /// Random Early Detection (Floyd and Jacobson 1993; RFC 2309), gentle, and its adaptive form (ARED: Floyd, Gummadi,
    /// Shenker 2001).
    Red {
        /// Average queue below which nothing is dropped.
        min_th_bytes: u64,
        /// Average queue at which `max_p` is reached.
        max_th_bytes: u64,
        /// Probability at `max_th`.
        max_p: f64,
        /// Weight of the average, `w_q`.
        weight: f64,
        /// Mean packet, to age the average over idle times.
        average_packet_bytes: u32,
        /// From `max_th` to twice it the probability rises to 1; if not, all is dropped from `max_th` on.
        gentle: bool,
        /// Mark ECN-capable packets instead of dropping them early.
        ecn: bool,
        /// ARED: adapt `max_p` so that the average stays in the middle.
        adaptive: bool,
    },
    /// Controlled Delay (RFC 8289).
    Codel {
        /// TARGET.
        target_ns: Duration,
        /// INTERVAL.
        interval_ns: Duration,
        /// Mark instead of drop.
        ecn: bool,
        /// Mark what has waited longer, whatever the control law says.
        ce_threshold_ns: Option<Duration>,
    },
    /// Flow Queue CoDel (RFC 8290).
    FqCodel {
        /// TARGET of each queue's CoDel.
        target_ns: Duration,
        /// INTERVAL of each queue's CoDel.
        interval_ns: Duration,
        /// Bytes that a queue may send before the next one's turn.
        quantum_bytes: NonZeroU32,
        /// Queues that flows are hashed into.
        flows: NonZeroU32,
        /// Mark instead of drop.
        ecn: bool,
        /// Mark what has waited longer, whatever the control law says.
        ce_threshold_ns: Option<Duration>,
    },
    /// Proportional Integral controller Enhanced (RFC 8033).
    Pie {
        /// QDELAY_REF.
        target_ns: Duration,
        /// T_UPDATE.
        t_update_ns: Duration,
        /// Per second of delay.
        alpha: f64,
        /// Per second of delay.
        beta: f64,
        /// MAX_BURST.
        max_burst_ns: Duration,
        /// Mark instead of drop while the probability is below `mark_ecnth`.
        ecn: bool,
        /// MARK_ECNTH, a probability.
        mark_ecnth: f64,
    },
    /// Per-flow fair queueing by deficit round robin (Shreedhar and Varghese 1996); the longest queue is dropped from,
    /// at its tail.
    Fq {
        /// Bytes that a flow may send before the next one's turn.
        quantum_bytes: NonZeroU32,
        /// Queues that flows are hashed into.
        flows: NonZeroU32,
    },
    /// Common Applications Kept Enhanced (Høiland-Jørgensen, Täht, Morton: "Piece of CAKE", 2018): one tin, no ACK filter.
    /// COBALT controls each flow's queue.
    Cake {
        /// Delay that may stand for an interval.
        target_ns: Duration,
        /// About the longest RTT.
        interval_ns: Duration,
        /// Bytes that a flow may send before the next one's turn; its hosts' other flows divide it.
        quantum_bytes: NonZeroU32,
        /// The parties that share the link alike.
        isolation: Isolation,
        /// Mark instead of drop, but for what BLUE drops.
        ecn: bool,
    },
    /// DualPI2 (RFC 9332): a low-latency queue for ECT(1) and CE, a classic queue for the rest, coupled.
    Dualpi2 {
        /// Target of the classic queue's delay.
        target_ns: Duration,
        /// Tupdate.
        t_update_ns: Duration,
        /// Hz.
        alpha: f64,
        /// Hz.
        beta: f64,
        /// Coupling factor.
        k: f64,
        /// `minTh`: sojourn time from which the low-latency queue marks.
        min_th_ns: Duration,
        /// `range`: over this its probability rises from 0 to 1; 0 for a step.
        range_ns: Duration,
        /// Share of the link that the classic queue is sure of, 0 to 1.
        classic_share: f64,
    },
}

impl Queue {
    /// True if all packets wait in one queue and leave it in the order of arrival: then the bytes before a packet tell
    /// how long it will wait.
    pub fn is_first_in_first_out(&self) -> bool {
        match self {
            Queue::DropTail { .. }
            | Queue::DropHead { .. }
            | Queue::Red { .. }
            | Queue::Codel { .. }
            | Queue::Pie { .. } => true,
            Queue::FqCodel { .. } | Queue::Fq { .. } | Queue::Cake { .. } | Queue::Dualpi2 { .. } => false,
        }
    }
}

impl Default for Queue {
    fn default() -> Queue {
        Queue::DropTail { ce_threshold: None }
    }
}
