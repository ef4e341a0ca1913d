//! Rows of RTT and of intervals of one direction over time.

use super::{Scope, Stream};
use crate::rows::{IntervalRow, Round, RttRow};
use crate::scoreboard::News;
use crate::table::Sink;

/// RTT rows: the least and the largest sample of each such time.
const RTT_STEP_NS: i64 = 10_000_000;

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sample {
    time_ns: i64,
    rtt_ns: i64,
    seq: i64,
}

/// The least and the largest round trip of the present step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Thinned {
    samples: Option<(Sample, Sample)>,
    /// Start of the step: there is a division per step, not per sample.
    start_ns: i64,
}

impl Thinned {
    /// Take a sample. Returns those of the step before, in the order of time, if that has ended.
    fn take(&mut self, sample: Sample) -> [Option<Sample>; 2] {
        let since = sample.time_ns.wrapping_sub(self.start_ns);
        match &mut self.samples {
            Some((least, most)) if (0..RTT_STEP_NS).contains(&since) => {
                if sample.rtt_ns < least.rtt_ns {
                    *least = sample;
                }
                if sample.rtt_ns > most.rtt_ns {
                    *most = sample;
                }
                [None; 2]
            }
            _ => {
                let ended = self.end();
                self.samples = Some((sample, sample));
                self.start_ns = sample.time_ns.div_euclid(RTT_STEP_NS) * RTT_STEP_NS;
                ended
            }
        }
    }

    fn end(&mut self) -> [Option<Sample>; 2] {
        let Some((least, most)) = self.samples.take() else { return [None; 2] };
        let (first, second) = if least.time_ns <= most.time_ns { (least, most) } else { (most, least) };
        [Some(first), Some(second).filter(|second| *second != first)]
    }
}

/// The kinds that a stream thins out.
const KINDS: [Round; 3] = [Round::Data, Round::Timestamp, Round::Back];

impl Stream {
    pub(super) fn take_news(&mut self, news: News, now: i64, sink: &mut impl Sink) {
        let Some((sent_ns, end)) = news.clean else { return };
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
        self.thin(Round::Data, Sample { time_ns: now, rtt_ns: rtt, seq: end }, sink);
    }

    /// A timestamp of `sent_ns` was echoed: by an acknowledgement up to `seq`, or on the way back by data that end there.
    pub(crate) fn echoed(&mut self, kind: Round, sent_ns: i64, now: i64, seq: i64, sink: &mut impl Sink) {
        let rtt_ns = (now - sent_ns).max(0);
        let times = if kind == Round::Back { &mut self.rtt_back } else { &mut self.rtt_timestamp };
        times.add(rtt_ns);
        if kind == Round::Back {
            self.answered(rtt_ns, now);
        }
        self.thin(kind, Sample { time_ns: now, rtt_ns, seq }, sink);
    }

    fn thin(&mut self, kind: Round, sample: Sample, sink: &mut impl Sink) {
        let ended = self.thinned[kind as usize].take(sample);
        self.give(kind, ended, sink);
    }

    fn give(&self, kind: Round, samples: [Option<Sample>; 2], sink: &mut impl Sink) {
        for Sample { time_ns, rtt_ns, seq } in samples.into_iter().flatten() {
            sink.rtt(RttRow { connection: self.connection, direction: self.direction, time_ns, kind, rtt_ns, seq });
        }
    }

    /// Give the round trips that wait.
    pub(super) fn give_rtt(&mut self, sink: &mut impl Sink) {
        for kind in KINDS {
            let ended = self.thinned[kind as usize].end();
            self.give(kind, ended, sink);
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
