//! Rows of what is not new data in order.

use records::Values::{Bool, I64, U32, U64, Word};
use records::{Column, Row};

use super::{Cause, Class, DIRECTIONS, Evidence, Needless};

/// Something that is not new data in order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct EventRow {
    pub connection: u64,
    pub direction: u16,
    pub time_ns: i64,
    pub seq: i64,
    pub bytes: u32,
    pub class: Class,
    pub cause: Option<Cause>,
    pub evidence: Option<Evidence>,
    pub sure: bool,
    pub delay_ns: Option<i64>,
    pub needless: Option<Needless>,
    pub tsval: Option<u32>,
    pub ip_id: u16,
}

impl EventRow {
    /// An event of a direction, of which nothing more is known.
    pub(crate) fn bare(connection: u64, direction: u16, class: Class, seq: i64, time_ns: i64) -> EventRow {
        EventRow {
            connection,
            direction,
            time_ns,
            seq,
            bytes: 0,
            class,
            cause: None,
            evidence: None,
            sure: true,
            delay_ns: None,
            needless: None,
            tsval: None,
            ip_id: 0,
        }
    }
}

impl Row for EventRow {
    const TABLE: &'static str = "events";
    const COLUMNS: &'static [Column<EventRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the data"),
        Column::required("time_ns", I64(|r| Some(r.time_ns)), "when it was seen"),
        Column::required("seq", I64(|r| Some(r.seq)), "its first byte, from 0"),
        Column::required("bytes", U32(|r| Some(r.bytes)), "its payload, or the bytes that were not seen"),
        Column::required(
            "class",
            Word(|r| Some(r.class as u16), &Class::NAMES),
            "what is on the wire, which is certain: see below",
        ),
        Column::optional("cause", Word(|r| r.cause.map(|c| c as u16), &Cause::NAMES), "why, which is inferred"),
        Column::optional(
            "evidence",
            Word(|r| r.evidence.map(|e| e as u16), &Evidence::NAMES),
            "from what that is inferred",
        ),
        Column::required("sure", Bool(|r| Some(r.sure)), "the evidence leaves no other cause; else it is likely"),
        Column::optional("delay_ns", I64(|r| r.delay_ns), "time since the bytes were last seen, or since a hole was"),
        Column::optional(
            "needless",
            Word(|r| r.needless.map(|n| n as u16), &Needless::NAMES),
            "what proves that it was needless: null if nothing does",
        ),
    ];
}
