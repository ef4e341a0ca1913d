//! The `samples` table: what each socket says of itself, once per sample interval.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Int64Array, RecordBatch, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use units::Time;

use crate::{Names, Row, categorical_column, categorical_field};

/// One sending socket at one time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Read from the clock just before the kernel was asked.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Local port of the sending socket.
    pub socket: u16,
    /// Payload sent so far, retransmissions included.
    pub bytes_sent: u64,
    /// Payload that the receiver's application has read so far. Of a program's connection: what its receiving socket has
    /// received in order, read or not (`tcpi_bytes_received`); `None` while that socket is not known.
    pub received_bytes: Option<u64>,
    /// TCP: segments now deemed lost and not yet repaired. UDP: gaps in the sequence numbers received so far.
    pub lost_packets: u32,
    /// Filled for TCP.
    pub tcp: Option<TcpSample>,
}

/// What Linux says of a TCP connection (`tcp(7)`, `struct tcp_info`).
#[derive(Clone, Copy, Debug)]
pub struct TcpSample {
    /// Congestion window.
    pub cwnd_packets: u32,
    /// Slow start threshold; `None` is infinity.
    pub ssthresh_packets: Option<u32>,
    /// Sender's maximum segment size: payload of a full segment, options excluded.
    pub snd_mss_bytes: u32,
    /// Smoothed RTT (RFC 6298); `None` before the first RTT sample.
    pub srtt_us: Option<u32>,
    /// Mean deviation of the RTT (RFC 6298).
    pub rttvar_us: Option<u32>,
    /// The least RTT of the kernel's own windowed filter (`net.ipv4.tcp_min_rtt_wlen`, 300 s by default).
    pub min_rtt_us: Option<u32>,
    /// (unacked - sacked - lost + retransmitted) segments x `snd_mss_bytes`, as the kernel's `tcp_packets_in_flight`.
    pub bytes_in_flight: u64,
    /// `None` if the sender doesn't pace.
    pub pacing_rate_bps: Option<u64>,
    /// The latest delivery rate sample (draft-cheng-iccrg-delivery-rate-estimation).
    pub delivery_rate_bps: Option<u64>,
    /// That sample was limited by the application.
    pub delivery_rate_app_limited: bool,
    /// Since the connection began.
    pub retransmitted_segments: u32,
    /// State of loss recovery.
    pub ca_state: CaState,
    /// Payload acknowledged cumulatively.
    pub bytes_acked: u64,
    /// The part of `bytes_sent` that was sent before.
    pub bytes_retransmitted: u64,
    /// Segments acknowledged, cumulatively or selectively.
    pub delivered_packets: u32,
    /// The part of them that came back with an ECN mark.
    pub delivered_ce_packets: u32,
    /// Time with data outstanding.
    pub busy_us: u64,
    /// The part of `busy_us` in which the receiver's window was the limit.
    pub rwnd_limited_us: u64,
    /// The part of `busy_us` in which the send buffer was the limit.
    pub sndbuf_limited_us: u64,
    /// Filled for BBR of any version.
    pub bbr: Option<BbrSample>,
}

/// BBR's model of the path (`struct tcp_bbr_info`).
#[derive(Clone, Copy, Debug)]
pub struct BbrSample {
    /// Bottleneck bandwidth, from a max filter.
    pub bw_bps: u64,
    /// BBR's own min filter, 10 s wide.
    pub min_rtt_us: u32,
    /// Factor on `bw` for pacing.
    pub pacing_gain: f32,
    /// Factor on the BDP for cwnd.
    pub cwnd_gain: f32,
}

/// `enum tcp_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum CaState {
    /// Nothing is wrong.
    Open,
    /// Duplicate acknowledgements or SACKs: losses or reordering.
    Disorder,
    /// Reducing cwnd after an ECN mark or a local drop.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

pub(crate) const CA_STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

type Of<T> = fn(&Sample) -> Option<T>;

/// How a nullable column is filled.
enum Column {
    U32(Of<u32>),
    U64(Of<u64>),
    F32(Of<f32>),
    Bool(Of<bool>),
    CaState(Of<CaState>),
}

use Column::{Bool, CaState as CaStates, F32, U32, U64};

/// All columns after `time_ns`, `flow` and `socket`, in order.
const COLUMNS: [(&str, Column); 26] = [
    ("cwnd_packets", U32(|s| Some(s.tcp?.cwnd_packets))),
    ("ssthresh_packets", U32(|s| s.tcp?.ssthresh_packets)),
    ("snd_mss_bytes", U32(|s| Some(s.tcp?.snd_mss_bytes))),
    ("srtt_us", U32(|s| s.tcp?.srtt_us)),
    ("rttvar_us", U32(|s| s.tcp?.rttvar_us)),
    ("min_rtt_us", U32(|s| s.tcp?.min_rtt_us)),
    ("bytes_in_flight", U64(|s| Some(s.tcp?.bytes_in_flight))),
    ("pacing_rate_bps", U64(|s| s.tcp?.pacing_rate_bps)),
    ("delivery_rate_bps", U64(|s| s.tcp?.delivery_rate_bps)),
    ("delivery_rate_app_limited", Bool(|s| Some(s.tcp?.delivery_rate_app_limited))),
    ("retransmitted_segments", U32(|s| Some(s.tcp?.retransmitted_segments))),
    ("lost_packets", U32(|s| Some(s.lost_packets))),
    ("ca_state", CaStates(|s| Some(s.tcp?.ca_state))),
    ("bytes_sent", U64(|s| Some(s.bytes_sent))),
    ("bytes_acked", U64(|s| Some(s.tcp?.bytes_acked))),
    ("bytes_retransmitted", U64(|s| Some(s.tcp?.bytes_retransmitted))),
    ("delivered_packets", U32(|s| Some(s.tcp?.delivered_packets))),
    ("delivered_ce_packets", U32(|s| Some(s.tcp?.delivered_ce_packets))),
    ("busy_us", U64(|s| Some(s.tcp?.busy_us))),
    ("rwnd_limited_us", U64(|s| Some(s.tcp?.rwnd_limited_us))),
    ("sndbuf_limited_us", U64(|s| Some(s.tcp?.sndbuf_limited_us))),
    ("received_bytes", U64(|s| s.received_bytes)),
    ("bbr_bw_bps", U64(|s| Some(s.tcp?.bbr?.bw_bps))),
    ("bbr_min_rtt_us", U32(|s| Some(s.tcp?.bbr?.min_rtt_us))),
    ("bbr_pacing_gain", F32(|s| Some(s.tcp?.bbr?.pacing_gain))),
    ("bbr_cwnd_gain", F32(|s| Some(s.tcp?.bbr?.cwnd_gain))),
];

impl Column {
    fn field(&self, name: &str) -> Field {
        let data_type = match self {
            U32(_) => DataType::UInt32,
            U64(_) => DataType::UInt64,
            F32(_) => DataType::Float32,
            Bool(_) => DataType::Boolean,
            CaStates(_) => return categorical_field(name, true),
        };
        Field::new(name, data_type, true)
    }

    fn array(&self, rows: &[Sample]) -> Result<ArrayRef> {
        Ok(match self {
            U32(of) => Arc::new(rows.iter().map(of).collect::<UInt32Array>()),
            U64(of) => Arc::new(rows.iter().map(of).collect::<UInt64Array>()),
            F32(of) => Arc::new(rows.iter().map(of).collect::<Float32Array>()),
            Bool(of) => Arc::new(rows.iter().map(of).collect::<BooleanArray>()),
            CaStates(of) => {
                let keys = rows.iter().map(|row| of(row).map(|state| state as u16)).collect::<UInt16Array>();
                categorical_column(keys, &CA_STATES)?
            }
        })
    }
}

impl Row for Sample {
    fn schema() -> SchemaRef {
        let mut fields = vec![
            Field::new("time_ns", DataType::Int64, false),
            categorical_field("flow", false),
            Field::new("socket", DataType::UInt16, false),
        ];
        fields.extend(COLUMNS.iter().map(|(name, column)| column.field(name)));
        Arc::new(Schema::new(fields))
    }

    fn batch(rows: &[Self], names: &Names) -> Result<RecordBatch> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row.time.as_nanos()))),
            categorical_column(UInt16Array::from_iter_values(rows.iter().map(|row| row.flow)), &names.flows)?,
            Arc::new(UInt16Array::from_iter_values(rows.iter().map(|row| row.socket))),
        ];
        for (_, column) in &COLUMNS {
            columns.push(column.array(rows)?);
        }
        Ok(RecordBatch::try_new(Self::schema(), columns)?)
    }
}
