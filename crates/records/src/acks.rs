//! The `acks` table: what each sending socket was as it took an acknowledgement.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Int64Array, RecordBatch, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::basic::Encoding;
use parquet::file::properties::WriterPropertiesBuilder;
use units::Time;

use crate::samples::{CA_STATES, CaState};
use crate::{Names, Row, categorical_column, categorical_field};

/// One sending socket at one acknowledgement. Fields that `samples` has, too, mean the same here.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When the socket was looked at.
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
    /// That sample was limited by the application; `None` before the first.
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
    /// Filled for BBR where its state can be read.
    pub bbr: Option<BbrAck>,
}

/// When in the life of an acknowledgement a row was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Moment {
    /// It has arrived and is not processed yet.
    Before,
    /// It has been processed, by congestion control, too.
    After,
    /// Not an acknowledgement's: the connection begins to close, or is closed.
    Close,
}

const MOMENTS: [&str; 3] = ["before", "after", "close"];

/// BBR's state and its model of the path.
#[derive(Clone, Copy, Debug)]
pub struct BbrAck {
    /// What it does now.
    pub state: BbrState,
    /// BBRv2 and BBRv3: what acknowledgements mean to it.
    pub ack_phase: Option<BbrAckPhase>,
    /// Estimate of the bottleneck's bandwidth that it acts on.
    pub bw_bps: Option<u64>,
    /// BBRv2 and BBRv3: short-term bound of it, after losses; `None` is unbounded.
    pub bw_lo_bps: Option<u64>,
    /// BBRv2 and BBRv3: the most that was measured of late.
    pub bw_hi_bps: Option<u64>,
    /// Of its own filter.
    pub min_rtt_us: Option<u32>,
    /// Factor on the bandwidth for pacing.
    pub pacing_gain: f32,
    /// Factor on the BDP for cwnd.
    pub cwnd_gain: f32,
    /// BBRv2 and BBRv3: short-term bound of what is in flight; `None` is unbounded.
    pub inflight_lo_packets: Option<u32>,
    /// BBRv2 and BBRv3: long-term bound of what is in flight; `None` is unbounded.
    pub inflight_hi_packets: Option<u32>,
    /// Packet-timed round trips so far.
    pub round: u32,
    /// BBRv1: index in the cycle of gains; BBRv2 and BBRv3: bandwidth probes so far.
    pub cycle: Option<u32>,
}

/// What BBR does. Version 1 has one ProbeBW, later ones have four parts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum BbrState {
    Startup,
    Drain,
    ProbeBw,
    ProbeBwDown,
    ProbeBwCruise,
    ProbeBwRefill,
    ProbeBwUp,
    ProbeRtt,
}

const BBR_STATES: [&str; 8] =
    ["startup", "drain", "probe_bw", "probe_bw_down", "probe_bw_cruise", "probe_bw_refill", "probe_bw_up", "probe_rtt"];

/// What BBRv2 and BBRv3 take acknowledgements for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum BbrAckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

const BBR_ACK_PHASES: [&str; 5] = ["init", "refilling", "probe_starting", "probe_feedback", "probe_stopping"];

/// How a column is filled; the words are those of a categorical one, by index.
enum Column {
    U32(fn(&Ack) -> Option<u32>),
    U64(fn(&Ack) -> Option<u64>),
    F32(fn(&Ack) -> Option<f32>),
    Bool(fn(&Ack) -> Option<bool>),
    Word(fn(&Ack) -> Option<u16>, &'static [&'static str]),
}

use Column::{Bool, F32, U32, U64, Word};

/// All columns after `time_ns`, `flow` and `socket`, in order: name, whether it may be null, content.
const COLUMNS: [(&str, bool, Column); 31] = [
    ("moment", false, Word(|a| Some(a.moment as u16), &MOMENTS)),
    ("cwnd_packets", false, U32(|a| Some(a.cwnd_packets))),
    ("ssthresh_packets", true, U32(|a| a.ssthresh_packets)),
    ("snd_mss_bytes", false, U32(|a| Some(a.snd_mss_bytes))),
    ("srtt_us", true, U32(|a| a.srtt_us)),
    ("rtt_us", true, U32(|a| a.rtt_us)),
    ("min_rtt_us", true, U32(|a| a.min_rtt_us)),
    ("bytes_in_flight", false, U64(|a| Some(a.bytes_in_flight))),
    ("pacing_rate_bps", true, U64(|a| a.pacing_rate_bps)),
    ("delivery_rate_bps", true, U64(|a| a.delivery_rate_bps)),
    ("delivery_rate_app_limited", true, Bool(|a| a.delivery_rate_app_limited)),
    ("delivered_packets", false, U32(|a| Some(a.delivered_packets))),
    ("delivered_ce_packets", false, U32(|a| Some(a.delivered_ce_packets))),
    ("lost_packets", false, U32(|a| Some(a.lost_packets))),
    ("lost_total_packets", false, U32(|a| Some(a.lost_total_packets))),
    ("retransmitted_segments", false, U32(|a| Some(a.retransmitted_segments))),
    ("ca_state", false, Word(|a| Some(a.ca_state as u16), &CA_STATES)),
    ("snd_una_bytes", false, U64(|a| Some(a.snd_una_bytes))),
    ("snd_nxt_bytes", false, U64(|a| Some(a.snd_nxt_bytes))),
    ("bbr_state", true, Word(|a| Some(a.bbr?.state as u16), &BBR_STATES)),
    ("bbr_ack_phase", true, Word(|a| Some(a.bbr?.ack_phase? as u16), &BBR_ACK_PHASES)),
    ("bbr_bw_bps", true, U64(|a| a.bbr?.bw_bps)),
    ("bbr_bw_lo_bps", true, U64(|a| a.bbr?.bw_lo_bps)),
    ("bbr_bw_hi_bps", true, U64(|a| a.bbr?.bw_hi_bps)),
    ("bbr_min_rtt_us", true, U32(|a| a.bbr?.min_rtt_us)),
    ("bbr_pacing_gain", true, F32(|a| Some(a.bbr?.pacing_gain))),
    ("bbr_cwnd_gain", true, F32(|a| Some(a.bbr?.cwnd_gain))),
    ("bbr_inflight_lo_packets", true, U32(|a| a.bbr?.inflight_lo_packets)),
    ("bbr_inflight_hi_packets", true, U32(|a| a.bbr?.inflight_hi_packets)),
    ("bbr_round", true, U32(|a| Some(a.bbr?.round))),
    ("bbr_cycle", true, U32(|a| a.bbr?.cycle)),
];

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

impl Column {
    fn field(&self, name: &str, nullable: bool) -> Field {
        let data_type = match self {
            U32(_) => DataType::UInt32,
            U64(_) => DataType::UInt64,
            F32(_) => DataType::Float32,
            Bool(_) => DataType::Boolean,
            Word(..) => return categorical_field(name, nullable),
        };
        Field::new(name, data_type, nullable)
    }

    fn array(&self, rows: &[Ack]) -> Result<ArrayRef> {
        Ok(match self {
            U32(of) => Arc::new(rows.iter().map(of).collect::<UInt32Array>()),
            U64(of) => Arc::new(rows.iter().map(of).collect::<UInt64Array>()),
            F32(of) => Arc::new(rows.iter().map(of).collect::<Float32Array>()),
            Bool(of) => Arc::new(rows.iter().map(of).collect::<BooleanArray>()),
            Word(of, words) => categorical_column(rows.iter().map(of).collect(), words)?,
        })
    }
}

impl Row for Ack {
    fn schema() -> SchemaRef {
        let mut fields = vec![
            Field::new("time_ns", DataType::Int64, false),
            categorical_field("flow", false),
            Field::new("socket", DataType::UInt16, false),
        ];
        fields.extend(COLUMNS.iter().map(|(name, nullable, column)| column.field(name, *nullable)));
        Arc::new(Schema::new(fields))
    }

    fn encoding(properties: WriterPropertiesBuilder) -> WriterPropertiesBuilder {
        DELTAS.iter().fold(properties, |properties, name| {
            properties
                .set_column_dictionary_enabled((*name).into(), false)
                .set_column_encoding((*name).into(), Encoding::DELTA_BINARY_PACKED)
        })
    }

    fn batch(rows: &[Self], names: &Names) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.time.as_nanos()))),
            categorical_column(UInt16Array::from_iter_values(rows.iter().map(|row| row.flow)), &names.flows)?,
            Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.socket))),
        ];
        for (_, _, column) in &COLUMNS {
            columns.push(column.array(rows)?);
        }
        Ok(RecordBatch::try_new(Self::schema(), columns)?)
    }
}
