//! The `samples` table: what each socket says of itself, once per sample interval.

use quic_lines::Sent;
use units::Time;

use crate::Values::{Bool, F32, Flow, I64, U16, U32, U64, Word};
use crate::{Column, Encoding, Row, encoding};

/// One sending socket at one time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Read from the clock just before the kernel was asked.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Local port of the sending socket.
    pub socket: u16,
    /// Payload sent so far, retransmissions included. QUIC: UDP payload.
    pub bytes_sent: u64,
    /// Payload that the receiver's application has read so far. For a program's connection, payload that its receiving
    /// socket has received in order, read or not (`tcpi_bytes_received`); `None` while that socket is not known.
    pub received_bytes: Option<u64>,
    /// TCP: segments now deemed lost and not yet repaired. UDP: gaps in the sequence numbers received so far.
    /// QUIC: packets declared lost so far (RFC 9002 section 6).
    pub lost_packets: u32,
    /// The sender's account of its connection; `None` for datagrams, which have no connection.
    pub account: Option<Account>,
}

/// A sender's account of its connection, by its transport.
#[derive(Clone, Copy, Debug)]
pub enum Account {
    /// The kernel's, or a model of the kernel's.
    Tcp(TcpSample),
    /// A QUIC stack's.
    Quic(QuicSample),
}

/// Linux's account of a TCP connection (`tcp(7)`, `struct tcp_info`).
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
    /// True if that sample was limited by the application.
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

/// A QUIC stack's account of its connection. What a stack does not tell is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicSample {
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow start threshold; `None` is infinity, too.
    pub ssthresh_bytes: Option<u64>,
    /// UDP payload of a full datagram.
    pub datagram_bytes: u32,
    /// Smoothed RTT (RFC 9002 section 5.3).
    pub srtt_us: Option<u32>,
    /// Variation of the RTT (RFC 9002 section 5.3).
    pub rttvar_us: Option<u32>,
    /// Least RTT (RFC 9002 section 5.2).
    pub min_rtt_us: Option<u32>,
    /// Bytes in flight (RFC 9002 section 2).
    pub bytes_in_flight: Option<u64>,
    /// Rate at which the stack paces.
    pub pacing_rate_bps: Option<u64>,
    /// BBR's estimate of the bottleneck's bandwidth.
    pub bandwidth_bps: Option<u64>,
}

impl From<&Sent> for QuicSample {
    fn from(sent: &Sent) -> QuicSample {
        QuicSample {
            cwnd_bytes: sent.cwnd_bytes,
            ssthresh_bytes: sent.ssthresh_bytes,
            datagram_bytes: sent.datagram_bytes,
            srtt_us: sent.srtt_us,
            rttvar_us: sent.rttvar_us,
            min_rtt_us: sent.min_rtt_us,
            bytes_in_flight: sent.bytes_in_flight,
            pacing_rate_bps: sent.pacing_rate_bps,
            bandwidth_bps: sent.bandwidth_bps,
        }
    }
}

impl QuicSample {
    /// `bytes` in full datagrams, rounded.
    fn packets(&self, bytes: u64) -> u32 {
        let full = u64::from(self.datagram_bytes.max(1));
        u32::try_from(bytes.saturating_add(full / 2) / full).unwrap_or(u32::MAX)
    }
}

impl Sample {
    /// A row of a QUIC flow.
    pub fn of_quic(flow: u16, sent: &Sent, received_bytes: u64) -> Sample {
        Sample {
            time: Time(sent.time_ns),
            flow,
            socket: sent.port,
            bytes_sent: sent.sent_bytes,
            received_bytes: Some(received_bytes),
            lost_packets: u32::try_from(sent.lost_packets).unwrap_or(u32::MAX),
            account: Some(Account::Quic(sent.into())),
        }
    }

    /// The account of a TCP connection.
    pub fn tcp(&self) -> Option<&TcpSample> {
        match &self.account {
            Some(Account::Tcp(tcp)) => Some(tcp),
            _ => None,
        }
    }

    fn quic(&self) -> Option<&QuicSample> {
        match &self.account {
            Some(Account::Quic(quic)) => Some(quic),
            _ => None,
        }
    }

    fn mss_bytes(&self) -> Option<u32> {
        self.tcp().map(|tcp| tcp.snd_mss_bytes).or(self.quic().map(|quic| quic.datagram_bytes))
    }

    /// Congestion window in full segments or datagrams.
    pub fn cwnd_packets(&self) -> Option<u32> {
        self.tcp().map(|tcp| tcp.cwnd_packets).or_else(|| self.quic().map(|quic| quic.packets(quic.cwnd_bytes)))
    }

    fn ssthresh_packets(&self) -> Option<u32> {
        let of_quic = || self.quic().and_then(|quic| quic.ssthresh_bytes.map(|bytes| quic.packets(bytes)));
        self.tcp().and_then(|tcp| tcp.ssthresh_packets).or_else(of_quic)
    }

    /// Bytes in flight.
    pub fn bytes_in_flight(&self) -> Option<u64> {
        self.tcp().map(|tcp| tcp.bytes_in_flight).or(self.quic().and_then(|quic| quic.bytes_in_flight))
    }

    /// Smoothed RTT.
    pub fn srtt_us(&self) -> Option<u32> {
        self.tcp().and_then(|tcp| tcp.srtt_us).or(self.quic().and_then(|quic| quic.srtt_us))
    }
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

impl Row for Sample {
    const TABLE: &'static str = "samples";
    const ENCODING: Option<Encoding<Sample>> = encoding::of();
    const COLUMNS: &'static [Column<Sample>] = &[
        Column::required("time_ns", I64(|s| Some(s.time.as_nanos())), "when the sample was taken"),
        Column::required("flow", Flow(|s| s.flow), "id of the flow"),
        Column::required(
            "socket",
            U16(|s| Some(s.socket)),
            "local port of the sending socket, or of its peer where that has connected; a program may have several",
        ),
        Column::optional(
            "cwnd_packets",
            U32(Sample::cwnd_packets),
            "congestion window, in segments of `snd_mss_bytes`",
        ),
        Column::optional(
            "ssthresh_packets",
            U32(Sample::ssthresh_packets),
            "slow start threshold; null while it is infinite",
        ),
        Column::optional(
            "snd_mss_bytes",
            U32(Sample::mss_bytes),
            "payload of a full segment, or of a full datagram of QUIC",
        ),
        Column::optional("srtt_us", U32(Sample::srtt_us), "smoothed RTT (RFC 6298, RFC 9002)"),
        Column::optional(
            "rttvar_us",
            U32(|s| s.tcp().map_or(s.quic().and_then(|q| q.rttvar_us), |tcp| tcp.rttvar_us)),
            "its mean deviation",
        ),
        Column::optional(
            "min_rtt_us",
            U32(|s| s.tcp().map_or(s.quic().and_then(|q| q.min_rtt_us), |tcp| tcp.min_rtt_us)),
            "smallest RTT in the kernel's window, or of a QUIC connection",
        ),
        Column::optional(
            "bytes_in_flight",
            U64(Sample::bytes_in_flight),
            "sent and not yet acknowledged, by the kernel's estimate: (unacked - sacked - lost + retransmitted) segments; or by a QUIC stack's (RFC 9002 section 2)",
        ),
        Column::optional(
            "pacing_rate_bps",
            U64(|s| s.tcp().map_or(s.quic().and_then(|q| q.pacing_rate_bps), |tcp| tcp.pacing_rate_bps)),
            "the rate that the kernel or the QUIC stack computes for pacing; the kernel's CUBIC and Reno have one, too, without being paced by it",
        ),
        Column::optional(
            "delivery_rate_bps",
            U64(|s| s.tcp()?.delivery_rate_bps),
            "latest sample of the delivery rate",
        ),
        Column::optional(
            "delivery_rate_app_limited",
            Bool(|s| Some(s.tcp()?.delivery_rate_app_limited)),
            "that sample was limited by the application",
        ),
        Column::optional("retransmitted_segments", U32(|s| Some(s.tcp()?.retransmitted_segments)), "cumulative"),
        Column::optional(
            "lost_packets",
            U32(|s| Some(s.lost_packets)),
            "now marked as lost; for UDP, gaps in the sequence numbers, and for QUIC, packets declared lost, both cumulative",
        ),
        Column::optional(
            "ca_state",
            Word(|s| Some(s.tcp()?.ca_state as u16), &CA_STATES),
            "the kernel's state: open, disorder, cwr, recovery, loss",
        ),
        Column::required(
            "bytes_sent",
            U64(|s| Some(s.bytes_sent)),
            "payload sent, with retransmissions, cumulative; for QUIC, UDP payload",
        ),
        Column::optional("bytes_acked", U64(|s| Some(s.tcp()?.bytes_acked)), "payload acknowledged, cumulative"),
        Column::optional("bytes_retransmitted", U64(|s| Some(s.tcp()?.bytes_retransmitted)), "cumulative"),
        Column::optional(
            "delivered_packets",
            U32(|s| Some(s.tcp()?.delivered_packets)),
            "segments delivered to the peer, cumulative",
        ),
        Column::optional(
            "delivered_ce_packets",
            U32(|s| Some(s.tcp()?.delivered_ce_packets)),
            "those of them that the peer reported as marked (ECN), cumulative",
        ),
        Column::optional("busy_us", U64(|s| Some(s.tcp()?.busy_us)), "time with data outstanding, cumulative"),
        Column::optional(
            "rwnd_limited_us",
            U64(|s| Some(s.tcp()?.rwnd_limited_us)),
            "part of `busy_us` limited by the receive window",
        ),
        Column::optional(
            "sndbuf_limited_us",
            U64(|s| Some(s.tcp()?.sndbuf_limited_us)),
            "part of `busy_us` limited by the send buffer",
        ),
        Column::optional(
            "received_bytes",
            U64(|s| s.received_bytes),
            "read by the receiver's application, cumulative; for a program's connection, received in order by its receiving socket; null while that socket is not known",
        ),
        Column::optional(
            "bbr_bw_bps",
            U64(|s| s.tcp().and_then(|tcp| tcp.bbr).map(|bbr| bbr.bw_bps).or(s.quic().and_then(|q| q.bandwidth_bps))),
            "BBR's estimate of the bottleneck's bandwidth",
        ),
        Column::optional(
            "bbr_min_rtt_us",
            U32(|s| Some(s.tcp()?.bbr?.min_rtt_us)),
            "BBR's estimate of the propagation delay",
        ),
        Column::optional("bbr_pacing_gain", F32(|s| Some(s.tcp()?.bbr?.pacing_gain)), "BBR's pacing gain"),
        Column::optional("bbr_cwnd_gain", F32(|s| Some(s.tcp()?.bbr?.cwnd_gain)), "BBR's gain of the window"),
    ];
}
