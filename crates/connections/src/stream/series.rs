//! What a direction does over time: rows of RTT and of intervals.

use super::{Scope, Stream};
use crate::rows::{IntervalRow, RttRow};
use crate::scoreboard::Told;
use crate::table::Sink;

/// RTT rows: the least and the largest sample of each such time.
const RTT_STEP_NS: i64 = 10_000_000;

impl Stream {
    pub(super) fn told(&mut self, told: Told, now: i64, sink: &mut impl Sink) {
        let Some(sent_ns) = told.clean_ns else { return };
        let rtt = now - sent_ns;
        if rtt < 0 {
            return;
        }
        self.rtt.add(rtt);
        self.timer.sample(rtt);
        let interval = &mut self.interval;
        if interval.rtt_samples == 0 {
            (interval.rtt_min_ns, interval.rtt_max_ns) = (rtt, rtt);
        }
        interval.rtt_samples += 1;
        interval.rtt_sum_ns += rtt;
        interval.rtt_min_ns = interval.rtt_min_ns.min(rtt);
        interval.rtt_max_ns = interval.rtt_max_ns.max(rtt);
        let row = RttRow { connection: self.connection, direction: self.direction, time_ns: now, rtt_ns: rtt };
        let step = now.div_euclid(RTT_STEP_NS);
        match &mut self.rtt_rows {
            Some((least, most)) if step == self.rtt_step => {
                if rtt < least.rtt_ns {
                    *least = row;
                }
                if rtt > most.rtt_ns {
                    *most = row;
                }
            }
            _ => {
                self.give_rtt(sink);
                (self.rtt_step, self.rtt_rows) = (step, Some((row, row)));
            }
        }
    }

    pub(super) fn give_rtt(&mut self, sink: &mut impl Sink) {
        let Some((least, most)) = self.rtt_rows.take() else { return };
        let (first, second) = if least.time_ns <= most.time_ns { (least, most) } else { (most, least) };
        sink.rtt(first);
        if second != first {
            sink.rtt(second);
        }
    }

    pub(super) fn roll(&mut self, scope: &Scope, sink: &mut impl Sink) {
        let start = scope.now_ns.div_euclid(scope.interval_ns) * scope.interval_ns;
        if start == self.interval.start_ns && self.interval.connection != 0 {
            return;
        }
        let old = self.interval;
        if self.give_interval(sink) {
            self.given = self.limited.all();
        }
        self.interval = IntervalRow {
            connection: self.connection,
            direction: self.direction,
            start_ns: start,
            in_flight_min_bytes: u64::MAX,
            window_min_bytes: u64::MAX,
            sent_max: old.sent_max,
            acknowledged_max: old.acknowledged_max,
            window_end: old.window_end,
            gap_min_ns: i64::MAX,
            ..IntervalRow::default()
        };
    }

    /// Give the present interval, if anything was in it.
    pub(super) fn give_interval(&mut self, sink: &mut impl Sink) -> bool {
        let has_traffic = self.interval.packets > 0 || self.interval.acknowledged_bytes > 0;
        if has_traffic {
            let least = self.interval.in_flight_min_bytes.min(self.interval.in_flight_max_bytes);
            let spent = self.limited.all();
            let limited_ns = std::array::from_fn(|limit| spent[limit].saturating_sub(self.given[limit]));
            sink.interval(IntervalRow { in_flight_min_bytes: least, limited_ns, ..self.interval });
        }
        has_traffic
    }

    /// The receiver's window: `bytes` behind `una`.
    pub(crate) fn window(&mut self, bytes: u64, una: i64) {
        let interval = &mut self.interval;
        interval.window_min_bytes = interval.window_min_bytes.min(bytes);
        let end = una.saturating_add(i64::try_from(bytes).unwrap_or(i64::MAX));
        interval.window_end = interval.window_end.max(Some(end));
    }
}
