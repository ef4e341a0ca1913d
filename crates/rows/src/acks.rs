//! The `acks` table: what each sending socket was as it took an acknowledgement.

use cc::State;
use cc::state::STATE_SETS;
use units::Time;

use crate::Values::{Bool, Flow, I64, Published, U16, U32, U64, Word};
use crate::samples::{CA_STATES, CaState};
use crate::{Column, Encoding, Row, encoding};

/// One sending socket at one acknowledgement. Fields that `samples` has, too, mean the same here.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The time at which the socket was read.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Local port of the sending socket.
    pub socket: u16,
    /// Before the acknowledgement was processed, or after.
    pub moment: Moment,
    /// Congestion window.
    pub cwnd_packets: u32,
    /// Slow start threshold; `None` is infinity.
    pub ssthresh_packets: Option<u32>,
    /// Payload of a full segment.
    pub snd_mss_bytes: u32,
    /// Smoothed RTT; `None` before the first RTT sample.
    pub srtt_us: Option<u32>,
    /// The latest RTT sample; after an acknowledgement its own, `None` if it gave none.
    pub rtt_us: Option<u32>,
    /// The least RTT of the kernel's own windowed filter.
    pub min_rtt_us: Option<u32>,
    /// Segments in flight x `snd_mss_bytes`.
    pub bytes_in_flight: u64,
    /// `None` if the sender doesn't pace.
    pub pacing_rate_bps: Option<u64>,
    /// The latest delivery rate sample; `None` before the first.
    pub delivery_rate_bps: Option<u64>,
    /// True if that sample was limited by the application; `None` before the first.
    pub delivery_rate_app_limited: Option<bool>,
    /// Segments acknowledged, cumulatively or selectively.
    pub delivered_packets: u32,
    /// The part of them that came back with an ECN mark.
    pub delivered_ce_packets: u32,
    /// Segments now deemed lost and not yet repaired.
    pub lost_packets: u32,
    /// Segments ever deemed lost.
    pub lost_total_packets: u32,
    /// Since the connection began.
    pub retransmitted_segments: u32,
    /// State of loss recovery.
    pub ca_state: CaState,
    /// Payload acknowledged cumulatively.
    pub snd_una_bytes: u64,
    /// Payload sent at least once.
    pub snd_nxt_bytes: u64,
    /// The algorithm's published state, where it can be read.
    pub state: State,
}

/// The moment in the life of an acknowledgement at which a row was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Moment {
    /// ACK that has arrived and is not processed yet.
    Before,
    /// ACK that has been processed, by congestion control, too.
    After,
    /// Not an acknowledgement's: the connection begins to close, or is closed.
    Close,
}

const MOMENTS: [&str; 3] = ["before", "after", "close"];

/// Columns of many different values, each near the one before: written as differences they take half the time of a
/// dictionary and a fraction of its room.
const DELTAS: [&str; 9] = [
    "time_ns",
    "cwnd_packets",
    "srtt_us",
    "rtt_us",
    "bytes_in_flight",
    "delivery_rate_bps",
    "delivered_packets",
    "snd_una_bytes",
    "snd_nxt_bytes",
];

/// The columns of the socket.
const OF_SOCKET: [Column<Ack>; 22] = [
    Column::required("time_ns", I64(|a| Some(a.time.as_nanos())), "when the socket was read"),
    Column::required("flow", Flow(|a| a.flow), "id of the flow"),
    Column::required("socket", U16(|a| Some(a.socket)), "local port of the sending socket"),
    Column::required(
        "moment",
        Word(|a| Some(a.moment as u16), &MOMENTS),
        "at which moment of an acknowledgement the row was taken, see below: `before`, `after`, `close`",
    ),
    Column::required(
        "cwnd_packets",
        U32(|a| Some(a.cwnd_packets)),
        "congestion window, in segments of `snd_mss_bytes`",
    ),
    Column::optional(
        "ssthresh_packets",
        U32(|a| a.ssthresh_packets),
        "slow start threshold; null while it is infinite",
    ),
    Column::required("snd_mss_bytes", U32(|a| Some(a.snd_mss_bytes)), "payload of a full segment"),
    Column::optional("srtt_us", U32(|a| a.srtt_us), "smoothed RTT (RFC 6298)"),
    Column::optional(
        "rtt_us",
        U32(|a| a.rtt_us),
        "latest RTT sample, which is that of the segment delivered last. In rows `after` it is this acknowledgement's own, null if it gave none",
    ),
    Column::optional("min_rtt_us", U32(|a| a.min_rtt_us), "smallest RTT in the kernel's window"),
    Column::required("bytes_in_flight", U64(|a| Some(a.bytes_in_flight)), "as in `samples`"),
    Column::optional("pacing_rate_bps", U64(|a| a.pacing_rate_bps), "as in `samples`"),
    Column::optional("delivery_rate_bps", U64(|a| a.delivery_rate_bps), "latest sample of the delivery rate"),
    Column::optional(
        "delivery_rate_app_limited",
        Bool(|a| a.delivery_rate_app_limited),
        "that sample was limited by the application",
    ),
    Column::required(
        "delivered_packets",
        U32(|a| Some(a.delivered_packets)),
        "segments delivered to the peer, cumulative",
    ),
    Column::required(
        "delivered_ce_packets",
        U32(|a| Some(a.delivered_ce_packets)),
        "those of them that the peer reported as marked (ECN), cumulative",
    ),
    Column::required("lost_packets", U32(|a| Some(a.lost_packets)), "segments now marked as lost and not repaired"),
    Column::required(
        "lost_total_packets",
        U32(|a| Some(a.lost_total_packets)),
        "segments ever marked as lost, cumulative",
    ),
    Column::required("retransmitted_segments", U32(|a| Some(a.retransmitted_segments)), "cumulative"),
    Column::required(
        "ca_state",
        Word(|a| Some(a.ca_state as u16), &CA_STATES),
        "the kernel's state: open, disorder, cwr, recovery, loss",
    ),
    Column::required(
        "snd_una_bytes",
        U64(|a| Some(a.snd_una_bytes)),
        "payload acknowledged cumulatively, from the connection's first byte on. A FIN counts as a byte",
    ),
    Column::required("snd_nxt_bytes", U64(|a| Some(a.snd_nxt_bytes)), "payload sent at least once, counted likewise"),
];

impl Row for Ack {
    const TABLE: &'static str = "acks";
    const ENCODING: Option<Encoding<Ack>> = encoding::of();
    const COLUMNS: &'static [Column<Ack>] = &with_published();
    const DELTAS: &'static [&'static str] = &DELTAS;
}

/// The number of columns.
const COLUMNS: usize = {
    let (mut count, mut of) = (OF_SOCKET.len(), 0);
    while of < STATE_SETS.len() {
        count += STATE_SETS[of].columns.len();
        of += 1;
    }
    count
};

/// The columns of the socket, and those that algorithms publish, set by set.
const fn with_published() -> [Column<Ack>; COLUMNS] {
    let mut all = [OF_SOCKET[0]; COLUMNS];
    let mut next = 0;
    while next < OF_SOCKET.len() {
        all[next] = OF_SOCKET[next];
        next += 1;
    }
    let mut of = 0;
    while of < STATE_SETS.len() {
        let columns = STATE_SETS[of].columns;
        let mut at = 0;
        while at < columns.len() {
            let column = &columns[at];
            all[next] =
                Column::optional(column.name, Published(|a| (&a.state, a.snd_mss_bytes), column), column.meaning);
            (at, next) = (at + 1, next + 1);
        }
        of += 1;
    }
    all
}
