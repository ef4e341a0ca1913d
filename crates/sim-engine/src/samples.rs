//! Rows of `samples`: what `TCP_INFO` would tell of a sender.

use cc::state::{BbrState, NONE};
use figures::{FlowSample, LinkSample};
use messages::BbrProgress;
use records::samples::{BbrSample, CaState, Sample, TcpSample};
use sim::tcp::Sender;
use sim::{FlowRow, LinkRow};

use crate::socket::local_port;

/// A row of the table; `None` before the handshake is done.
pub(crate) fn sample(row: &FlowRow<'_>) -> Option<Sample> {
    if row.sender.is_some_and(|sender| !sender.has_connected()) {
        return None;
    }
    let lost = row.sender.map_or(row.gaps, |sender| u64::from(sender.socket().lost_out));
    Some(Sample {
        time: row.time,
        flow: row.flow,
        socket: local_port(row.flow),
        bytes_sent: row.bytes_sent,
        received_bytes: Some(row.received_bytes),
        lost_packets: u32::try_from(lost).unwrap_or(u32::MAX),
        tcp: row.sender.map(tcp),
    })
}

/// The values of the same row that figures need.
pub(crate) fn flow_sample(row: &FlowRow<'_>) -> Option<FlowSample> {
    if row.sender.is_some_and(|sender| !sender.has_connected()) {
        return None;
    }
    Some(FlowSample {
        time: row.time,
        flow: row.flow,
        socket: local_port(row.flow),
        bytes_sent: row.bytes_sent,
        bytes_acked: row.sender.map(Sender::bytes_acked),
        received_bytes: Some(row.received_bytes),
        srtt_us: row.sender.and_then(|sender| srtt_us(sender.socket())),
        min_rtt_us: row.sender.and_then(|sender| min_rtt_us(sender.socket())),
    })
}

/// The values of a link's row that figures need.
pub(crate) fn link_sample(row: &LinkRow) -> LinkSample {
    LinkSample {
        time: row.time,
        link: row.link,
        departed_bytes: row.counters.departed_bytes,
        departed_packets: row.counters.departed_packets,
        marked_packets: row.counters.marked_packets,
        capacity_bytes: row.capacity_bytes,
        queue_bytes: row.backlog.bytes,
        queue_bytes_max: row.queue_bytes_max,
    }
}

fn tcp(sender: &Sender) -> TcpSample {
    let (sk, counters) = (sender.socket(), sender.counters());
    let rate = sender.delivery_rate();
    TcpSample {
        cwnd_packets: sk.snd_cwnd,
        ssthresh_packets: ssthresh(sk),
        snd_mss_bytes: sk.mss_cache,
        srtt_us: srtt_us(sk),
        rttvar_us: srtt_us(sk).map(|_| sender.rtt_deviation_us()),
        min_rtt_us: min_rtt_us(sk),
        bytes_in_flight: bytes_in_flight(sender),
        pacing_rate_bps: pacing_rate_bps(sk),
        delivery_rate_bps: rate.map(|(bytes, _)| bytes.saturating_mul(8)),
        // Before the first sample the kernel says that the application limits it.
        delivery_rate_app_limited: rate.is_none_or(|(_, is_app_limited)| is_app_limited),
        retransmitted_segments: counters.segments_retransmitted as u32,
        ca_state: ca_state(sk.ca_state),
        bytes_acked: sender.bytes_acked(),
        bytes_retransmitted: counters.bytes_retransmitted,
        delivered_packets: sk.delivered,
        delivered_ce_packets: sk.delivered_ce,
        busy_us: counters.busy_us,
        rwnd_limited_us: counters.rwnd_limited_us,
        // Send buffers have no limit.
        sndbuf_limited_us: 0,
        bbr: bbr(sender),
    }
}

/// Bytes that the sender takes to be on their way.
pub(crate) fn bytes_in_flight(sender: &Sender) -> u64 {
    let sk = sender.socket();
    u64::from(sk.packets_in_flight()) * u64::from(sk.mss_cache)
}

/// BBR's model of the path for events; `None` of another algorithm.
pub(crate) fn bbr_progress(sender: &Sender) -> Option<BbrProgress> {
    let BbrSample { bw_bps, min_rtt_us, pacing_gain, cwnd_gain } = bbr(sender)?;
    Some(BbrProgress { bw_bps, min_rtt_us, pacing_gain, cwnd_gain })
}

fn bbr(sender: &Sender) -> Option<BbrSample> {
    let state = sender.congestion_control().state();
    BbrState::of(&state).map(|bbr| bbr_sample(&bbr, sender.socket().mss_cache))
}

/// The sample as `struct tcp_bbr_info` has it: a bandwidth or an RTT that is not known yet is a number, too.
fn bbr_sample(bbr: &BbrState, mss: u32) -> BbrSample {
    const BW_SHIFT: u32 = 24; // Of packets per microsecond.
    let bw = if bbr.bw == NONE { 0 } else { bbr.bw };
    BbrSample {
        bw_bps: ((u128::from(bw) * u128::from(mss) * 8_000_000) >> BW_SHIFT) as u64,
        min_rtt_us: bbr.min_rtt,
        pacing_gain: bbr.pacing_gain as f32 / 256.0,
        cwnd_gain: bbr.cwnd_gain as f32 / 256.0,
    }
}

pub(crate) fn ssthresh(sk: &cc::Socket) -> Option<u32> {
    /// `TCP_INFINITE_SSTHRESH`.
    const INFINITE: u32 = 0x7fff_ffff;
    (sk.snd_ssthresh < INFINITE).then_some(sk.snd_ssthresh)
}

pub(crate) fn srtt_us(sk: &cc::Socket) -> Option<u32> {
    (sk.srtt_us > 0).then_some(sk.srtt_us >> 3)
}

pub(crate) fn min_rtt_us(sk: &cc::Socket) -> Option<u32> {
    (sk.min_rtt_us != u32::MAX).then_some(sk.min_rtt_us)
}

pub(crate) fn pacing_rate_bps(sk: &cc::Socket) -> Option<u64> {
    (sk.sk_pacing_rate != u64::MAX).then(|| sk.sk_pacing_rate.saturating_mul(8))
}

pub(crate) fn ca_state(state: cc::CaState) -> CaState {
    match state {
        cc::CaState::Open => CaState::Open,
        cc::CaState::Disorder => CaState::Disorder,
        cc::CaState::Cwr => CaState::Cwr,
        cc::CaState::Recovery => CaState::Recovery,
        cc::CaState::Loss => CaState::Loss,
    }
}
