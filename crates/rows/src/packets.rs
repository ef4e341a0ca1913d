//! The `packets` table: a row per packet and link that can do something to it.

use link::{Ecn, Fate, Mark, Passage, Reordered};
use units::{Duration, Time};

use crate::Values::{Bool, Flow, I64, Link, U32, U64, Word};
use crate::{Column, Encoding, Row, encoding};

/// The flow of packets that belong to none of the plan.
pub const OTHER_FLOW: &str = "other";

/// One packet's passage over one link.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// Index of the link in the plan.
    pub link: u16,
    /// TCP or UDP payload.
    pub payload_bytes: u32,
    /// TCP sequence number of the first payload byte.
    pub tcp_seq: Option<u32>,
    /// The packet's passage through the link.
    pub passage: Passage,
    /// The time at which it was really handed to its host, on the last logged link of its path.
    pub sent: Option<Time>,
}

impl Row for PacketRow {
    const TABLE: &'static str = "packets";
    const ENCODING: Option<Encoding<PacketRow>> = encoding::of();
    const COLUMNS: &'static [Column<PacketRow>] = &[
        Column::required("link", Link(|r| r.link), "name of the link"),
        Column::required(
            "flow",
            Flow(|r| r.passage.packet.flow),
            "id of the flow, for both directions; `other` if it belongs to none",
        ),
        Column::required(
            "packet",
            U64(|r| Some(r.passage.packet.id)),
            "number of the packet, the same on each link of its path",
        ),
        Column::required("size_bytes", U32(|r| Some(r.passage.packet.size)), "whole frame"),
        Column::required("payload_bytes", U32(|r| Some(r.payload_bytes)), "TCP or UDP payload"),
        Column::optional("tcp_seq", U32(|r| r.tcp_seq), "TCP sequence number as sent"),
        Column::required(
            "arrival_ns",
            I64(|r| Some(r.passage.arrival.as_nanos())),
            "when it reached the link: on the first link, the kernel's stamp",
        ),
        Column::required(
            "queue_bytes",
            U64(|r| Some(r.passage.queue_bytes)),
            "waiting at its arrival, in all of the link's queues, without itself and the packet in service",
        ),
        Column::required("queue_packets", U32(|r| Some(r.passage.queue_packets)), "the same in packets"),
        Column::optional(
            "departure_ns",
            I64(|r| r.passage.departure.map(Time::as_nanos)),
            "when its last bit left the serializer; null if it was dropped before",
        ),
        Column::optional(
            "delivery_ns",
            I64(|r| r.passage.delivery.map(Time::as_nanos)),
            "when it is due at the link's end",
        ),
        Column::optional(
            "sent_ns",
            I64(|r| r.sent.map(Time::as_nanos)),
            "when it was really handed to the host; only on the last logged link of its path. `sent_ns - delivery_ns` is its lateness. The interface has the packet about a microsecond later",
        ),
        Column::optional(
            "sojourn_ns",
            I64(|r| r.passage.sojourn.map(Duration::as_nanos)),
            "time in the queue, until its service began or it was dropped from there; 0 if it didn't wait, null if it was never in the queue",
        ),
        Column::required("fate", Word(|r| Some(r.passage.fate as u16), &Fate::NAMES), "the packet's fate, see below"),
        Column::required(
            "ecn",
            Word(|r| Some(r.passage.packet.ecn as u16), &Ecn::NAMES),
            "ECN codepoint when it left: `not-ect`, `ect0`, `ect1`, `ce` (RFC 3168)",
        ),
        Column::optional("mark", Word(|r| r.passage.mark.map(|mark| mark as u16), &Mark::NAMES), Mark::MEANING),
        Column::required(
            "duplicate",
            Bool(|r| Some(r.passage.duplicate)),
            "a copy that the link made of the packet before it; it has the same `packet`",
        ),
        Column::optional(
            "reordered",
            Word(|r| r.passage.reordered.map(|why| why as u16), &Reordered::NAMES),
            "it reached the link's end before a packet that had left the serializer earlier: `shorter-delay` (its jitter was smaller, or an event had shortened the delay) or `skipped-delay` (`reorder` chose it)",
        ),
        Column::required("corrupted", Bool(|r| Some(r.passage.corruption.is_some())), "the link flipped a bit of it"),
    ];
}
