//! Rows of a run's tables from the events of its simulation: what `TCP_INFO` and an emulator's log would tell.

use cc::state::{BbrState, NONE};
use quic_lines::Sent;
use rows::acks::{Ack, Moment};
use rows::links::LinkRow;
use rows::packets::PacketRow;
use rows::samples::{Account, BbrSample, CaState, Sample, TcpSample};

use crate::observer;
use crate::tcp::Sender;

/// A row of `samples`; `None` before the handshake is done.
pub fn sample(row: &observer::FlowRow<'_>) -> Option<Sample> {
    if row.sender.is_some_and(|sender| !sender.has_connected()) {
        return None;
    }
    if let Some(quic) = row.quic {
        // Before the handshake is done, a stack has guesses only.
        quic.connected?;
        let sent = Sent { time_ns: row.time.as_nanos(), port: local_port(row.flow), ..quic.sent };
        return Some(Sample::of_quic(row.flow, &sent, row.received_bytes));
    }
    let lost = row.sender.map_or(row.gaps, |sender| u64::from(sender.socket().lost_out));
    Some(Sample {
        time: row.time,
        flow: row.flow,
        socket: local_port(row.flow),
        bytes_sent: row.bytes_sent,
        received_bytes: Some(row.received_bytes),
        lost_packets: u32::try_from(lost).unwrap_or(u32::MAX),
        account: row.sender.map(|sender| Account::Tcp(tcp(sender))),
    })
}

/// A row of `acks`: after the ACK was processed, before it let anything out.
pub fn ack(row: &observer::AckRow<'_>) -> Ack {
    let (sender, report) = (row.sender, row.report);
    let sk = sender.socket();
    let rate = sender.delivery_rate();
    Ack {
        time: row.time,
        flow: row.flow,
        socket: local_port(row.flow),
        moment: Moment::After,
        cwnd_packets: sk.snd_cwnd,
        ssthresh_packets: ssthresh(sk),
        snd_mss_bytes: sk.mss_cache,
        srtt_us: srtt_us(sk),
        rtt_us: u32::try_from(report.sample.rtt_us).ok(),
        min_rtt_us: min_rtt_us(sk),
        bytes_in_flight: u64::from(report.in_flight) * u64::from(sk.mss_cache),
        pacing_rate_bps: pacing_rate_bps(sk),
        delivery_rate_bps: rate.map(|(bytes, _)| bytes.saturating_mul(8)),
        delivery_rate_app_limited: rate.map(|(_, is_app_limited)| is_app_limited),
        delivered_packets: sk.delivered,
        delivered_ce_packets: sk.delivered_ce,
        lost_packets: sk.lost_out,
        lost_total_packets: sk.lost,
        retransmitted_segments: report.segments_retransmitted as u32,
        ca_state: ca_state(sk.ca_state),
        // The SYN takes a number.
        snd_una_bytes: sender.snd_una() - 1,
        snd_nxt_bytes: report.snd_nxt - 1,
        state: sender.congestion_control().state(),
    }
}

/// A row of `links`.
pub fn link(row: &observer::LinkRow) -> LinkRow {
    let &observer::LinkRow { time, link, counters, backlog, queue_bytes_max, capacity_bytes } = row;
    LinkRow { time, link, counters, backlog, queue_bytes_max, capacity_bytes }
}

/// A row of `packets`.
pub fn packet(row: &observer::PacketRow<'_>) -> PacketRow {
    PacketRow {
        link: row.link,
        payload_bytes: row.payload_bytes,
        tcp_seq: row.tcp_seq,
        passage: *row.passage,
        // No packet is late in virtual time.
        sent: row.passage.delivery.filter(|_| row.is_last && row.passage.fate == link::Fate::Delivered),
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
        sndbuf_limited_us: counters.sndbuf_limited_us,
        bbr: bbr(sender),
    }
}

/// Bytes that the sender takes to be on their way.
pub fn bytes_in_flight(sender: &Sender) -> u64 {
    let sk = sender.socket();
    u64::from(sk.packets_in_flight()) * u64::from(sk.mss_cache)
}

/// BBR's model of the path; `None` of another algorithm.
pub fn bbr(sender: &Sender) -> Option<BbrSample> {
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

fn ssthresh(sk: &cc::Socket) -> Option<u32> {
    /// `TCP_INFINITE_SSTHRESH`.
    const INFINITE: u32 = 0x7fff_ffff;
    (sk.snd_ssthresh < INFINITE).then_some(sk.snd_ssthresh)
}

/// The smoothed RTT; `None` before the first sample.
pub fn srtt_us(sk: &cc::Socket) -> Option<u32> {
    (sk.srtt_us > 0).then_some(sk.srtt_us >> 3)
}

/// The least RTT; `None` before the first sample.
pub fn min_rtt_us(sk: &cc::Socket) -> Option<u32> {
    (sk.min_rtt_us != u32::MAX).then_some(sk.min_rtt_us)
}

fn pacing_rate_bps(sk: &cc::Socket) -> Option<u64> {
    (sk.sk_pacing_rate != u64::MAX).then(|| sk.sk_pacing_rate.saturating_mul(8))
}

fn ca_state(state: cc::CaState) -> CaState {
    match state {
        cc::CaState::Open => CaState::Open,
        cc::CaState::Disorder => CaState::Disorder,
        cc::CaState::Cwr => CaState::Cwr,
        cc::CaState::Recovery => CaState::Recovery,
        cc::CaState::Loss => CaState::Loss,
    }
}

/// `net.ipv4.ip_local_port_range`. Simulations have no sockets: each flow has a separate local port, as the kernel would give it one.
const FIRST: u16 = 32_768;
const PORTS: u16 = 60_999 - FIRST + 1;

/// The local port of a flow's sender. Unique unless there are more flows than ports.
pub fn local_port(flow: u16) -> u16 {
    FIRST + flow % PORTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_have_ports_of_the_kernels_range() {
        let ports = [0, 1, PORTS - 1, PORTS, u16::MAX].map(local_port);
        assert_eq!(ports, [32_768, 32_769, 60_999, 32_768, 32_768 + u16::MAX % PORTS]);
    }
}
