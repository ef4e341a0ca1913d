//! Rows of single packets, of the parts of a capture for which they are asked.

use std::sync::LazyLock;

use capture::Flags;
use records::Values::{Bool, I64, Text, U32, U64, Word};
use records::{Column, Row};

use super::{Cause, Class, DIRECTIONS};

/// A packet of a connection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct SegmentRow {
    pub connection: u64,
    pub direction: u16,
    pub time_ns: i64,
    pub seq: i64,
    pub bytes: u32,
    pub ack: Option<i64>,
    pub window_end: Option<i64>,
    pub flags: Flags,
    pub ce: bool,
    pub class: Option<Class>,
    pub cause: Option<Cause>,
    pub in_flight_bytes: Option<u64>,
    pub tsval: Option<u32>,
    pub tsecr: Option<u32>,
    pub sack_blocks: u8,
    pub ip_id: u16,
}

impl Row for SegmentRow {
    const TABLE: &'static str = "segments";
    const DELTAS: &'static [&'static str] = &[
        "connection",
        "time_ns",
        "seq",
        "bytes",
        "ack",
        "window_end",
        "in_flight_bytes",
        "tsval",
        "tsecr",
        "sack_blocks",
        "ip_id",
    ];
    const COLUMNS: &'static [Column<SegmentRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the packet"),
        Column::required("time_ns", I64(|r| Some(r.time_ns)), "when it was captured"),
        Column::required("seq", I64(|r| Some(r.seq)), "its first byte, from 0"),
        Column::required("bytes", U32(|r| Some(r.bytes)), "its payload"),
        Column::optional("ack", I64(|r| r.ack), "the byte of the other direction up to which it acknowledges"),
        Column::optional(
            "window_end",
            I64(|r| r.window_end),
            "the byte of the other direction at which its window ends",
        ),
        Column::required("flags", Text(|r| Some(spelt(r.flags))), "its flags, as `SYN ACK`"),
        Column::required("ce", Bool(|r| Some(r.ce)), "it was marked Congestion Experienced"),
        Column::optional(
            "class",
            Word(|r| r.class.map(|c| c as u16), &Class::NAMES),
            "what its data are, as in `events`; null: new, or none",
        ),
        Column::optional("cause", Word(|r| r.cause.map(|c| c as u16), &Cause::NAMES), "why they were sent again"),
        Column::optional(
            "in_flight_bytes",
            U64(|r| r.in_flight_bytes),
            "bytes in flight behind it: of its own direction if it has data, else of the one that it acknowledges",
        ),
        Column::optional("tsval", U32(|r| r.tsval), "value of its timestamp option"),
        Column::optional("tsecr", U32(|r| r.tsecr), "echo of its timestamp option"),
        Column::required("sack_blocks", U32(|r| Some(r.sack_blocks.into())), "its SACK blocks: `sacks` has them"),
        Column::required("ip_id", U32(|r| Some(r.ip_id.into())), "identification of its IPv4 header; 0 with IPv6"),
    ];
}

/// A SACK block of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct SackRow {
    pub connection: u64,
    pub direction: u16,
    pub time_ns: i64,
    pub start: i64,
    pub end: i64,
    pub block: u32,
}

impl Row for SackRow {
    const TABLE: &'static str = "sacks";
    const DELTAS: &'static [&'static str] = &["connection", "time_ns", "start", "end", "block"];
    const COLUMNS: &'static [Column<SackRow>] = &[
        Column::required("connection", U64(|r| Some(r.connection)), "number of the connection"),
        Column::required("direction", Word(|r| Some(r.direction), &DIRECTIONS), "of the data that it tells of"),
        Column::required("time_ns", I64(|r| Some(r.time_ns)), "when its packet was captured"),
        Column::required("start", I64(|r| Some(r.start)), "its first byte"),
        Column::required("end", I64(|r| Some(r.end)), "the byte behind its last"),
        Column::required("block", U32(|r| Some(r.block)), "its place in the packet, from 1"),
    ];
}

const NAMES: [&str; 9] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];

/// The names of all flags that can be set together.
pub(super) static SPELT: LazyLock<Vec<String>> = LazyLock::new(|| {
    let words = |bits: usize| NAMES.iter().enumerate().filter(move |(bit, _)| bits >> bit & 1 == 1);
    (0..1 << NAMES.len()).map(|bits| words(bits).map(|(_, &name)| name).collect::<Vec<_>>().join(" ")).collect()
});

/// The names of the flags that are set.
fn spelt(flags: Flags) -> &'static str {
    &SPELT[usize::from(flags.0) & (SPELT.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_their_names() {
        assert_eq!(spelt(Flags(Flags::SYN.0 | Flags::ACK.0)), "SYN ACK");
        assert_eq!(spelt(Flags(0)), "");
        assert_eq!(spelt(Flags::AE), "AE");
    }
}
