//! A direction with data.

mod below;
mod events;
mod figures;
mod pace;
mod series;

use std::collections::VecDeque;

use capture::Segment;

use crate::limits::{Limit, Limited};
use crate::patience::Patience;
use crate::quantiles::{Quantiles, Timer};
use crate::ranges::Ranges;
use crate::rows::{Cause, EventRow, IntervalRow};
use crate::scoreboard::{News, Scoreboard, Sent};
use crate::table::Sink;
pub use figures::Figures;

/// Ranges behind holes that are known at most: with more, the first holes count as filled.
const MOST_RANGES: usize = 1 << 16;

/// Retransmissions by cause, in the order of [`Cause::NAMES`].
type ByCause = [u64; Cause::NAMES.len()];

/// A direction's data and their acknowledgements.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    connection: u64,
    direction: u16,
    board: Scoreboard,
    /// Bytes seen behind the front.
    seen: Ranges,
    /// All bytes before it were seen, or acknowledged.
    front: i64,
    unique: u64,
    repeated_packets: u64,
    repeated: u64,
    fills: u64,
    lost_before: u64,
    lost_behind: u64,
    needless: u64,
    causes: ByCause,
    unseen: u64,
    reneged: u64,
    /// When the first byte behind the present hole was seen.
    hole_ns: i64,
    pub(crate) duplicate_acks: u32,
    pub(crate) rtt: Quantiles,
    pub(crate) rtt_timestamp: Quantiles,
    pub(crate) rtt_back: Quantiles,
    timer: Timer,
    patience: Patience,
    timeout_to: Option<i64>,
    recovery_to: Option<i64>,
    news_ns: i64,
    first_data_ns: i64,
    data_ns: i64,
    acked_ns: i64,
    last_payload: u32,
    largest_payload: u32,
    in_flight_max: i64,
    outstanding_max: i64,
    initial: Option<(u64, u64)>,
    sent_before_ack: (u64, u64),
    gaps: Quantiles,
    burst: u64,
    bursts: u64,
    burst_max: u64,
    limited: Limited,
    /// How far the sender is, see [`Scope::away_ns`].
    away_ns: i64,
    /// The same of late, queues included, if timestamps tell it.
    back_ns: Option<i64>,
    /// When the receiver's window got which end, as long as the sender may not know it.
    window_ends: VecDeque<(i64, i64)>,
    zero_since_ns: Option<i64>,
    zero_ns: u64,
    events: VecDeque<EventRow>,
    interval: IntervalRow,
    /// Time under each limit that rows of intervals have told.
    given: [u64; 4],
    /// Events so far, those that wait included.
    event_count: u64,
    /// Round trips by data, by timestamps, and back, that wait for their step's end.
    thinned: [series::Thinned; 3],
}

/// Context of a packet beside its segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    pub(crate) now_ns: i64,
    pub(crate) interval_ns: i64,
    pub(crate) mss: u64,
    /// End of the receiver's window, if an acknowledgement was seen.
    pub(crate) window_end: Option<i64>,
    pub(crate) is_acked: bool,
    pub(crate) window_is_zero: bool,
    /// How long the sender's answer to an acknowledgement takes to come back to the capture, ns; 0 at the sender.
    pub(crate) away_ns: i64,
    /// The packet is one of those just before it: the network doubled it.
    pub(crate) is_doubled: bool,
}

impl Stream {
    pub(crate) fn new(connection: u64, direction: u16, now_ns: i64, una: i64) -> Stream {
        Stream {
            connection,
            direction,
            front: una,
            news_ns: now_ns,
            first_data_ns: now_ns,
            data_ns: now_ns,
            acked_ns: now_ns,
            ..Stream::default()
        }
    }

    fn outstanding(&self, nxt: i64, una: i64) -> i64 {
        (nxt - una).max(0)
    }

    /// Bytes in flight: outstanding, less those sacked or deemed lost, plus those sent again.
    fn in_flight(&self, nxt: i64, una: i64) -> i64 {
        (self.outstanding(nxt, una) - self.board.sacked - self.board.lost + self.board.again).max(0)
    }

    fn least_rtt_ns(&self) -> i64 {
        self.rtt.least_ns.unwrap_or(0)
    }

    /// Take the payload from `start` to before `end`. `nxt` and `una` are those before it.
    pub(crate) fn data(
        &mut self,
        segment: &Segment,
        start: i64,
        nxt: i64,
        una: i64,
        scope: &Scope,
        sink: &mut impl Sink,
    ) {
        let end = start + i64::from(segment.payload);
        let now = scope.now_ns;
        let tsval = segment.timestamps.map_or(0, |(value, _)| value);
        self.roll(scope, sink);
        self.spend(scope, now, Some(nxt), una, false);
        self.space(segment, now);
        let sent =
            Sent { start, end, first_ns: now, last_ns: now, tsval, ip_id: segment.ip_id, copies: 1, ..Sent::default() };
        let mut fresh = i64::from(segment.payload);
        if start >= nxt {
            if start == self.front {
                self.front = end;
            } else {
                if self.seen.len() == 0 {
                    self.hole_ns = now;
                }
                if self.seen.len() < MOST_RANGES {
                    self.seen.add(start, end);
                } else {
                    self.front = self.seen.forget(end);
                    self.front = self.front.max(end);
                }
            }
            self.board.push(sent);
        } else {
            fresh = self.below(segment, sent, nxt, una, scope, sink);
        }
        self.unique += fresh as u64;
        self.repeated += (i64::from(segment.payload) - fresh) as u64;
        self.repeated_packets += u64::from(fresh < i64::from(segment.payload));
        let nxt = nxt.max(end);
        if self.initial.is_none() {
            self.sent_before_ack.0 += fresh as u64;
            self.sent_before_ack.1 += 1;
        }
        let in_flight = self.in_flight(nxt, una);
        if scope.is_acked {
            self.in_flight_max = self.in_flight_max.max(in_flight);
            self.outstanding_max = self.outstanding_max.max(nxt - una);
        }
        let interval = &mut self.interval;
        interval.packets += 1;
        interval.payload_bytes += u64::from(segment.payload);
        interval.frame_bytes += u64::from(segment.frame_bytes);
        interval.repeated_bytes += (i64::from(segment.payload) - fresh) as u64;
        interval.in_flight_max_bytes = interval.in_flight_max_bytes.max(in_flight as u64);
        interval.sent_max = nxt;
        self.last_payload = segment.payload;
        self.largest_payload = self.largest_payload.max(segment.payload);
        self.data_ns = now;
        self.limit(scope, nxt, una, true);
    }

    /// Take an acknowledgement up to `una`, which was `before`.
    pub(crate) fn acknowledged(
        &mut self,
        segment: &Segment,
        una: i64,
        before: i64,
        scope: &Scope,
        sink: &mut impl Sink,
    ) {
        let now = scope.now_ns;
        self.roll(scope, sink);
        self.spend(scope, now, None, before, true);
        let least = self.least_rtt_ns();
        let mut told = News::default();
        if una > before {
            told = self.board.acknowledge(una, now, least);
            if self.initial.is_none() {
                self.initial = Some(self.sent_before_ack);
            }
            self.acked_ns = now;
            self.news_ns = now;
            self.duplicate_acks = 0;
            self.interval.acknowledged_bytes += (una - before) as u64;
            self.skip_unseen(una, now, sink);
            self.eifel(segment, una, before);
            let was_recovering = self.timeout_to.is_some() || self.recovery_to.is_some();
            self.timeout_to = self.timeout_to.filter(|&to| to > una);
            self.recovery_to = self.recovery_to.filter(|&to| to > una);
            if was_recovering && self.timeout_to.is_none() && self.recovery_to.is_none() {
                self.patience.recovered();
            }
        }
        self.interval.acknowledged_max = una;
        self.take_news(told, now, sink);
    }

    /// Take SACK blocks, above `una` and of bytes that were seen.
    pub(crate) fn sacked(&mut self, blocks: &[(i64, i64)], scope: &Scope, sink: &mut impl Sink) -> bool {
        let mut told = News::default();
        let least = self.least_rtt_ns();
        for &(start, end) in blocks {
            self.board.sack(start, end, scope.now_ns, least, &mut told);
        }
        if told.sacked > 0 {
            self.news_ns = scope.now_ns;
        }
        self.take_news(told, scope.now_ns, sink);
        told.sacked > 0
    }

    /// After an acknowledgement and its blocks: losses, and what limits.
    pub(crate) fn settle(&mut self, nxt: i64, una: i64, mss: u64, scope: &Scope) {
        let least = self.least_rtt_ns();
        // As Linux does: segments may come late for a while, unless losses are clear and none came late.
        let many = self.board.sacked >= 3 * mss.max(1) as i64 || self.duplicate_acks >= 3;
        let is_clear = !self.board.is_reordered && (many || self.recovery_to.is_some() || self.timeout_to.is_some());
        self.patience.adapt(una, nxt);
        if self.board.sacked > 0 || self.board.again > 0 {
            let patience_ns = self.patience.ns(least, self.timer.srtt_ns().unwrap_or(i64::MAX));
            self.board.judge(una, scope.now_ns, if is_clear { 0 } else { patience_ns });
        }
        let in_flight = self.in_flight(nxt, una) as u64;
        self.interval.in_flight_min_bytes = self.interval.in_flight_min_bytes.min(in_flight);
        self.interval.in_flight_max_bytes = self.interval.in_flight_max_bytes.max(in_flight);
        self.limit(scope, nxt, una, false);
        self.offered(scope);
    }

    /// Nothing is measured across a break of the clock.
    pub(crate) fn clock_breaks(&mut self, now: i64) {
        self.board.clear();
        (self.data_ns, self.news_ns, self.last_payload) = (now, now, 0);
        self.limited.change(now, Some(Limit::Nothing), Limit::Nothing);
        self.window_ends.clear();
    }

    /// Bytes in flight, if acknowledgements were seen.
    pub(crate) fn in_flight_bytes(&self, nxt: i64, una: i64) -> u64 {
        self.in_flight(nxt, una) as u64
    }

    /// Events so far.
    pub(crate) fn events_so_far(&self) -> u64 {
        self.event_count
    }

    /// The last event.
    pub(crate) fn last_event(&self) -> Option<&EventRow> {
        self.events.back()
    }

    /// The board's last segment ends the stream: nothing waits.
    pub(crate) fn unseen_bytes(&self) -> u64 {
        self.unseen
    }

    /// Retransmissions so far.
    pub(crate) fn has_repeats(&self) -> bool {
        self.repeated_packets > 0 || self.lost_before > 0
    }
}
