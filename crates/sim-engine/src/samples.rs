//! Sums over samples that figures need.

use figures::{FlowSample, LinkSample};
use sim::rows::{local_port, min_rtt_us, srtt_us};
use sim::tcp::Sender;
use sim::{FlowRow, LinkRow};

/// The values of a flow's row that figures need; `None` before the handshake is done.
pub(crate) fn flow_sample(row: &FlowRow<'_>) -> Option<FlowSample> {
    if row.sender.is_some_and(|sender| !sender.has_connected()) {
        return None;
    }
    if let Some(quic) = row.quic {
        quic.connected?;
        return Some(FlowSample {
            time: row.time,
            flow: row.flow,
            socket: local_port(row.flow),
            bytes_sent: quic.sent.sent_bytes,
            bytes_acked: None,
            received_bytes: Some(row.received_bytes),
            srtt_us: quic.sent.srtt_us,
            min_rtt_us: quic.sent.min_rtt_us,
        });
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
