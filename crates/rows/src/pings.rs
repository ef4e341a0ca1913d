//! The `pings` table: a row per echo request of the flows that ping.

use units::{Duration, Time};

use crate::Values::{Bool, Flow, I64, U64};
use crate::{Column, Encoding, Row, encoding};

/// One echo request.
#[derive(Clone, Copy, Debug)]
pub struct PingRow {
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Requests of a flow are numbered from 0.
    pub number: u64,
    /// The time at which it was sent.
    pub sent: Time,
    /// Time from sending to the answer's arrival; `None` without an answer.
    pub rtt: Option<Duration>,
    /// True if the request has no answer, and none is to be expected.
    pub is_lost: bool,
}

impl Row for PingRow {
    const TABLE: &'static str = "pings";
    const ENCODING: Option<Encoding<PingRow>> = encoding::of();
    const COLUMNS: &'static [Column<PingRow>] = &[
        Column::required("time_ns", I64(|row| Some(row.sent.as_nanos())), "when the request was sent"),
        Column::required("flow", Flow(|row| row.flow), "id of the flow"),
        Column::required("number", U64(|row| Some(row.number)), "number of the request, from 0"),
        Column::optional(
            "rtt_ns",
            I64(|row| row.rtt.map(Duration::as_nanos)),
            "time from sending to the answer's arrival (RFC 2681); null without an answer",
        ),
        Column::required(
            "lost",
            Bool(|row| Some(row.is_lost)),
            "whether it has no answer and a later request has one, or it waited for more than 1 s and the longest round trip \
             (RFC 6673); false for a request that is under way when the run ends",
        ),
    ];
}
