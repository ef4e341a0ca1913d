//! Rows of `acks`: a sender as an acknowledgement has made it.

use records::acks::{Ack, Moment};
use sim::AckRow;

use crate::samples::{ca_state, min_rtt_us, pacing_rate_bps, srtt_us, ssthresh};
use crate::socket::local_port;

/// A row of the table: after the ACK was processed, before it let anything out.
pub(crate) fn ack(row: &AckRow<'_>) -> Ack {
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
