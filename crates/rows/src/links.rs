//! The `links` table: what each link has done so far, once per sample interval.

use link::{Backlog, Counters};
use units::Time;

use crate::Values::{I64, Link, U32, U64};
use crate::{Column, Encoding, Row, encoding};

/// One link at one time.
#[derive(Clone, Copy, Debug)]
pub struct LinkRow {
    /// The time of the row.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// The link's counters since the run's origin.
    pub counters: Counters,
    /// The queue's length now.
    pub backlog: Backlog,
    /// The most bytes that waited since the row before.
    pub queue_bytes_max: u64,
    /// Bytes that it could have sent since the run's origin; `None` without a limit.
    pub capacity_bytes: Option<u64>,
}

impl Row for LinkRow {
    const TABLE: &'static str = "links";
    const ENCODING: Option<Encoding<LinkRow>> = encoding::of();
    const COLUMNS: &'static [Column<LinkRow>] = &[
        Column::required("time_ns", I64(|row| Some(row.time.as_nanos())), "when the counters were read"),
        Column::required("link", Link(|row| row.link), "name of the link"),
        Column::required(
            "arrived_packets",
            U64(|row| Some(row.counters.arrived_packets)),
            "packets that came to the link, lost ones included",
        ),
        Column::required("arrived_bytes", U64(|row| Some(row.counters.arrived_bytes)), "bytes that came to the link"),
        Column::required(
            "departed_packets",
            U64(|row| Some(row.counters.departed_packets)),
            "packets that left the serializer",
        ),
        Column::required(
            "departed_bytes",
            U64(|row| Some(row.counters.departed_bytes)),
            "bytes that left the serializer",
        ),
        Column::required(
            "delivered_packets",
            U64(|row| Some(row.counters.delivered_packets())),
            "packets that reached the link's end",
        ),
        Column::required(
            "delivered_bytes",
            U64(|row| Some(row.counters.delivered_bytes)),
            "bytes that reached the link's end",
        ),
        Column::required(
            "dropped_packets",
            U64(|row| Some(row.counters.dropped_packets())),
            "packets dropped for any reason: all fates `dropped-...`",
        ),
        Column::required(
            "lost_packets",
            U64(|row| Some(row.counters.lost_packets())),
            "packets taken by random or recorded loss: `lost-before` and `lost-after`",
        ),
        Column::required(
            "duplicated_packets",
            U64(|row| Some(row.counters.duplicated_packets)),
            "copies that the link made",
        ),
        Column::required(
            "marked_packets",
            U64(|row| Some(row.counters.marked_packets)),
            "packets on which it set Congestion Experienced and which left the serializer",
        ),
        Column::required(
            "queue_bytes",
            U64(|row| Some(row.backlog.bytes)),
            "bytes that wait now, the packet in service excluded",
        ),
        Column::required("queue_packets", U32(|row| Some(row.backlog.packets)), "the same in packets"),
        Column::required(
            "queue_bytes_max",
            U64(|row| Some(row.queue_bytes_max)),
            "largest `queue_bytes` since the row before",
        ),
        Column::optional(
            "capacity_bytes",
            U64(|row| row.capacity_bytes),
            "bytes that its rate allowed since the origin, whether packets were there or not; follows rates that change, and doesn't grow while the link is down; null while it has no limit",
        ),
    ];
}
