//! The figures of a direction with data.

use super::Stream;
use crate::limits::Limit;
use crate::rows::{Cause, GapRow};
use crate::table::Sink;

/// Figures of a direction with data; `rows` says what each means.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Figures {
    pub unique_bytes: Option<u64>,
    pub repeated_packets: Option<u64>,
    pub repeated_bytes: Option<u64>,
    pub fill_packets: Option<u64>,
    pub reordered_packets: Option<u64>,
    pub network_duplicates: Option<u64>,
    pub fast_retransmissions: Option<u64>,
    pub tail_loss_probes: Option<u64>,
    pub timeouts: Option<u64>,
    pub after_timeouts: Option<u64>,
    pub unknown_retransmissions: Option<u64>,
    pub needless_retransmissions: Option<u64>,
    pub lost_before_packets: Option<u64>,
    pub lost_behind_packets: Option<u64>,
    pub late_behind_packets: Option<u64>,
    pub unseen_bytes: Option<u64>,
    pub acknowledged_bytes: Option<u64>,
    pub goodput_bps: Option<u64>,
    pub throughput_bps: Option<u64>,
    pub efficiency: Option<f64>,
    pub rtt_samples: Option<u64>,
    pub rtt_min_ns: Option<i64>,
    pub rtt_mean_ns: Option<i64>,
    pub rtt_p50_ns: Option<i64>,
    pub rtt_p95_ns: Option<i64>,
    pub rtt_max_ns: Option<i64>,
    pub rtt_timestamp_samples: Option<u64>,
    pub rtt_timestamp_min_ns: Option<i64>,
    pub rtt_timestamp_p50_ns: Option<i64>,
    pub rtt_back_samples: Option<u64>,
    pub rtt_back_min_ns: Option<i64>,
    pub rtt_back_p50_ns: Option<i64>,
    pub in_flight_max_bytes: Option<u64>,
    pub outstanding_max_bytes: Option<u64>,
    pub initial_window_bytes: Option<u64>,
    pub initial_window_packets: Option<u64>,
    pub idle_max_ns: Option<i64>,
    pub gap_p50_ns: Option<i64>,
    pub bursts: Option<u64>,
    pub burst_max_bytes: Option<u64>,
    pub limited_window_ns: Option<u64>,
    pub limited_application_ns: Option<u64>,
    pub limited_recovery_ns: Option<u64>,
    pub limited_network_ns: Option<u64>,
    pub zero_window_ns: Option<u64>,
    pub reneged_bytes: Option<u64>,
    pub hidden_packets: Option<u64>,
    pub window_shift: Option<u64>,
}

impl Stream {
    /// Time from the first data to the last acknowledgement, ns.
    pub(crate) fn acknowledged_for_ns(&self) -> i64 {
        self.acked_ns - self.first_data_ns
    }

    /// Give what waits, and the figures of the direction, without rates if it `is_short`.
    pub(crate) fn finish(&mut self, una: i64, is_acked: bool, is_short: bool, sink: &mut impl Sink) -> Figures {
        self.limited.end_silence(self.away_ns);
        self.give_rtt(sink);
        self.give_interval(sink);
        for (above_ns, up_to_ns, gaps) in self.gaps.spread() {
            let (connection, direction) = (self.connection, self.direction);
            sink.gap(GapRow { connection, direction, above_ns, up_to_ns, gaps });
        }
        for event in std::mem::take(&mut self.events) {
            sink.event(event);
        }
        let by = |cause: Cause| Some(self.causes[cause as usize]);
        let if_acked = |value: u64| is_acked.then_some(value);
        let per_second = |bytes: u64, ns: i64| (ns > 0 && !is_short).then(|| (8e9 * bytes as f64 / ns as f64) as u64);
        let payload = self.unique + self.repeated;
        let acknowledged = una.max(0) as u64;
        let spent = |limit| if_acked(self.limited.spent(limit));
        let initial = self.initial.or(is_acked.then_some(self.sent_before_ack));
        Figures {
            unique_bytes: Some(self.unique),
            repeated_packets: Some(self.repeated_packets),
            repeated_bytes: Some(self.repeated),
            fill_packets: Some(self.fills),
            reordered_packets: by(Cause::Reordered),
            network_duplicates: by(Cause::NetworkDuplicate),
            fast_retransmissions: by(Cause::Fast),
            tail_loss_probes: by(Cause::TailLossProbe),
            timeouts: by(Cause::Timeout),
            after_timeouts: by(Cause::AfterTimeout),
            unknown_retransmissions: by(Cause::Unknown),
            needless_retransmissions: if_acked(self.needless),
            lost_before_packets: Some(self.lost_before),
            lost_behind_packets: if_acked(self.lost_behind),
            late_behind_packets: if_acked(self.board.late),
            unseen_bytes: if_acked(self.unseen),
            acknowledged_bytes: if_acked(acknowledged),
            goodput_bps: if_acked(acknowledged).and_then(|bytes| per_second(bytes, self.acknowledged_for_ns())),
            throughput_bps: per_second(payload, self.data_ns - self.first_data_ns),
            efficiency: (payload > 0).then(|| self.unique as f64 / payload as f64),
            rtt_samples: if_acked(self.rtt.count),
            rtt_min_ns: self.rtt.least_ns,
            rtt_mean_ns: self.rtt.mean_ns(),
            rtt_p50_ns: self.rtt.quantile_ns(0.5),
            rtt_p95_ns: self.rtt.quantile_ns(0.95),
            rtt_max_ns: self.rtt.max_ns(),
            rtt_timestamp_samples: if_acked(self.rtt_timestamp.count),
            rtt_timestamp_min_ns: self.rtt_timestamp.least_ns,
            rtt_timestamp_p50_ns: self.rtt_timestamp.quantile_ns(0.5),
            rtt_back_samples: if_acked(self.rtt_back.count),
            rtt_back_min_ns: self.rtt_back.least_ns,
            rtt_back_p50_ns: self.rtt_back.quantile_ns(0.5),
            in_flight_max_bytes: if_acked(self.in_flight_max as u64),
            outstanding_max_bytes: if_acked(self.outstanding_max as u64),
            initial_window_bytes: initial.map(|(bytes, _)| bytes),
            initial_window_packets: initial.map(|(_, packets)| packets),
            idle_max_ns: self.gaps.max_ns(),
            gap_p50_ns: self.gaps.quantile_ns(0.5),
            bursts: Some(self.bursts),
            burst_max_bytes: Some(self.burst_max),
            limited_window_ns: spent(Limit::Window),
            limited_application_ns: spent(Limit::Application),
            limited_recovery_ns: spent(Limit::Recovery),
            limited_network_ns: spent(Limit::Network),
            zero_window_ns: if_acked(self.zero_ns),
            reneged_bytes: if_acked(self.reneged),
            hidden_packets: Some(self.board.hidden),
            window_shift: None,
        }
    }
}
