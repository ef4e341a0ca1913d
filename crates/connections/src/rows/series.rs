//! Rows of tables of a capture that show how a direction of a connection goes over time: intervals, round trips, gaps.

use records::Values::{I64, U32, U64, Word};
use records::{Column, Row};

use super::DIRECTIONS;

/// A direction in one interval (`dumbbell pcap --interval`). Intervals without data or acknowledgements have no row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct IntervalRow {
    pub connection: u64,
    pub direction: u16,
    pub start_ns: i64,
    pub packets: u32,
    pub payload_bytes: u64,
    pub repeated_bytes: u64,
    pub acknowledged_bytes: u64,
    pub frame_bytes: u64,
    pub rtt_samples: u32,
    pub rtt_sum_ns: i64,
    pub rtt_min_ns: i64,
    pub rtt_max_ns: i64,
    pub in_flight_min_bytes: u64,
    pub in_flight_max_bytes: u64,
    pub window_min_bytes: u64,
    pub sent_max: i64,
    pub acknowledged_max: i64,
    pub window_end: Option<i64>,
    pub gaps: u32,
    pub gap_sum_ns: i64,
    pub gap_min_ns: i64,
    pub gap_max_ns: i64,
    pub burst_max_bytes: u64,
    /// Time under each limit since the end of the last interval with a row: window, application, recovery, network.
    pub limited_ns: [u64; 4],
}

impl IntervalRow {
    fn rtt(&self, value: i64) -> Option<i64> {
        (self.rtt_samples > 0).then_some(value)
    }

    fn gap(&self, value: i64) -> Option<i64> {
        (self.gaps > 0).then_some(value)
    }
}

impl Row for IntervalRow {
    const TABLE: &'static str = "intervals";
    const COLUMNS: &'static [Column<IntervalRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the data"),
        Column::required("start_ns", I64(|r| Some(r.start_ns)), "start of the interval"),
        Column::required("packets", U32(|r| Some(r.packets)), "packets with data"),
        Column::required("payload_bytes", U64(|r| Some(r.payload_bytes)), "payload, repeats included"),
        Column::required("repeated_bytes", U64(|r| Some(r.repeated_bytes)), "payload that was seen before"),
        Column::required("frame_bytes", U64(|r| Some(r.frame_bytes)), "frames with data"),
        Column::required("acknowledged_bytes", U64(|r| Some(r.acknowledged_bytes)), "bytes that were acknowledged"),
        Column::optional("rtt_min_ns", I64(|r| r.rtt(r.rtt_min_ns)), "least `rtt`"),
        Column::optional("rtt_mean_ns", I64(|r| r.rtt(r.rtt_sum_ns / i64::from(r.rtt_samples.max(1)))), "mean `rtt`"),
        Column::optional("rtt_max_ns", I64(|r| r.rtt(r.rtt_max_ns)), "largest `rtt`"),
        Column::required("in_flight_min_bytes", U64(|r| Some(r.in_flight_min_bytes)), "fewest bytes in flight"),
        Column::required("in_flight_max_bytes", U64(|r| Some(r.in_flight_max_bytes)), "most bytes in flight"),
        Column::optional(
            "window_min_bytes",
            U64(|r| (r.window_min_bytes < u64::MAX).then_some(r.window_min_bytes)),
            "smallest window of the receiver",
        ),
        Column::required("sent_max_bytes", I64(|r| Some(r.sent_max)), "highest byte sent so far, from 0"),
        Column::required(
            "acknowledged_max_bytes",
            I64(|r| Some(r.acknowledged_max)),
            "highest byte acknowledged so far",
        ),
        Column::optional("window_end_bytes", I64(|r| r.window_end), "the byte at which the receiver's window ends"),
        Column::optional("gap_min_ns", I64(|r| r.gap(r.gap_min_ns)), "least gap between packets with data"),
        Column::optional("gap_mean_ns", I64(|r| r.gap(r.gap_sum_ns / i64::from(r.gaps.max(1)))), "mean gap"),
        Column::optional("gap_max_ns", I64(|r| r.gap(r.gap_max_ns)), "longest gap"),
        Column::required("burst_max_bytes", U64(|r| Some(r.burst_max_bytes)), "most payload of a burst so far"),
        Column::required(
            "limited_window_ns",
            U64(|r| Some(r.limited_ns[0])),
            "time limited by the receiver's window, since the end of the last interval with a row",
        ),
        Column::required(
            "limited_application_ns",
            U64(|r| Some(r.limited_ns[1])),
            "the same time, limited by the application",
        ),
        Column::required(
            "limited_recovery_ns",
            U64(|r| Some(r.limited_ns[2])),
            "the same time, in recovery from losses",
        ),
        Column::required(
            "limited_network_ns",
            U64(|r| Some(r.limited_ns[3])),
            "the same time, limited by congestion window or network",
        ),
    ];
}

/// Round trip that a sample of the table `rtt` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Round {
    Data,
    Timestamp,
    Back,
}

impl Round {
    /// The names in the order of the variants.
    pub const NAMES: [&str; 3] = ["data", "timestamp", "back"];
}

/// A sample of a round trip. Of each kind, the table has the least and the largest sample of each 10 ms.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct RttRow {
    pub connection: u64,
    pub direction: u16,
    pub time_ns: i64,
    pub kind: Round,
    pub rtt_ns: i64,
    pub seq: i64,
}

impl Row for RttRow {
    const TABLE: &'static str = "rtt";
    const COLUMNS: &'static [Column<RttRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the data"),
        Column::required("time_ns", I64(|r| Some(r.time_ns)), "end of the round trip"),
        Column::required(
            "kind",
            Word(|r| Some(r.kind as u16), &Round::NAMES),
            "`data`: from a segment's only transmission to the ACK or SACK that covers it; `timestamp`: from data to the \
             first ACK that echoes its TSval; `back`: from an ACK to the first data that echoes its TSval",
        ),
        Column::required("rtt_ns", I64(|r| Some(r.rtt_ns)), "length of the round trip"),
        Column::required(
            "seq",
            I64(|r| Some(r.seq)),
            "end of the data that were acknowledged, or of the data that echoed a timestamp: the byte after the last",
        ),
    ];
}

/// A bin of the histogram of gaps: times from a packet with data to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct GapRow {
    pub connection: u64,
    pub direction: u16,
    pub above_ns: i64,
    pub up_to_ns: i64,
    pub gaps: u64,
}

impl Row for GapRow {
    const TABLE: &'static str = "gaps";
    const COLUMNS: &'static [Column<GapRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the data"),
        Column::required(
            "above_ns",
            I64(|r| Some(r.above_ns)),
            "lower bound of the gaps, exclusive; a bound of 0 includes gaps of 0",
        ),
        Column::required("up_to_ns", I64(|r| Some(r.up_to_ns)), "upper bound of the gaps, inclusive"),
        Column::required("gaps", U64(|r| Some(r.gaps)), "number of gaps"),
    ];
}
