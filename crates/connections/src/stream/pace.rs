//! Gaps, bursts, and what limits the sender.

use capture::Segment;

use super::{Scope, Stream};
use crate::limits::{Limit, is_silent};

/// The least longest gap within a burst.
const BURST_GAP_NS: i64 = 20_000;
/// Ends of windows that are remembered at most.
const MOST_ENDS: usize = 1 << 14;
/// This part of a window may be free when it counts as full, if the sender is far away.
const ROUGHLY: i64 = 16;

impl Stream {
    pub(super) fn space(&mut self, segment: &Segment, now: i64) {
        let gap = (now - self.data_ns).max(0);
        let interval = &mut self.interval;
        if self.last_payload > 0 {
            self.gaps.add(gap);
            interval.gaps += 1;
            interval.gap_sum_ns += gap;
            interval.gap_min_ns = interval.gap_min_ns.min(gap);
            interval.gap_max_ns = interval.gap_max_ns.max(gap);
        }
        let most = BURST_GAP_NS.max(self.least_rtt_ns() / 32);
        if self.last_payload > 0 && gap <= most {
            self.burst += u64::from(segment.payload);
        } else {
            self.bursts += 1;
            self.burst = segment.payload.into();
        }
        self.burst_max = self.burst_max.max(self.burst);
        self.interval.burst_max_bytes = self.interval.burst_max_bytes.max(self.burst);
    }

    /// The application limited the time until now, if the last segment was not full and a round trip passed.
    pub(super) fn spend(&mut self, scope: &Scope, now: i64, nxt: Option<i64>, una: i64, is_ack: bool) {
        let now_limit = self.limited.now();
        let mut instead = None;
        if !is_ack && now_limit == Limit::Network {
            // The path may carry less than the MSS.
            let was_short = u64::from(self.last_payload) < scope.mss.min(self.largest_payload.into());
            let idle = nxt.is_some_and(|nxt| nxt <= una) && scope.away_ns == 0;
            let gap = now - self.limited.since_ns();
            let waited = || self.timer.srtt_ns().is_some_and(|srtt| is_silent(gap - srtt, scope.away_ns));
            instead = (idle || (was_short && waited())).then_some(Limit::Application);
        }
        self.limited.change(now, instead, now_limit);
        if !is_ack && now_limit == Limit::Silence {
            self.limited.end_silence(scope.away_ns);
        }
    }

    /// Updates the sender's limit after data or an ACK.
    #[inline]
    pub(super) fn limit(&mut self, scope: &Scope, nxt: i64, una: i64, is_data: bool) {
        let is_away = scope.away_ns > 0;
        let next = if scope.window_is_zero && scope.is_acked {
            Limit::Window
        } else if self.recovery_to.is_some() || self.timeout_to.is_some() {
            Limit::Recovery
        } else if nxt <= una {
            if is_away { Limit::Silence } else { Limit::Application }
        } else if is_away && !is_data && matches!(self.limited.now(), Limit::Window | Limit::Network) {
            // The sender does not know this acknowledgement yet.
            return;
        } else if self.fills_window(scope, nxt, una) {
            Limit::Window
        } else {
            Limit::Network
        };
        self.limited.change(scope.now_ns, None, next);
        if is_away {
            self.away_ns = scope.away_ns;
            self.limited.go_on(scope.away_ns);
        }
    }

    /// Whether data up to `nxt` fill the window that the sender knew when they left it.
    #[inline]
    fn fills_window(&mut self, scope: &Scope, nxt: i64, una: i64) -> bool {
        let Some(end) = scope.window_end else { return false };
        if scope.away_ns == 0 { end - nxt < scope.mss.max(1) as i64 } else { self.filled_window(scope, nxt, end - una) }
    }

    /// The same of a sender far away.
    #[cold]
    fn filled_window(&mut self, scope: &Scope, nxt: i64, window: i64) -> bool {
        let mss = scope.mss.max(1) as i64;
        let known_ns = scope.now_ns - self.back_ns.unwrap_or(scope.away_ns + scope.away_ns / 8);
        while self.window_ends.get(1).is_some_and(|&(at_ns, _)| at_ns <= known_ns) {
            self.window_ends.pop_front();
        }
        let Some(&(at_ns, end)) = self.window_ends.front() else { return false };
        // When it left is known less well than at the sender.
        at_ns <= known_ns && end - nxt < mss.max(window / ROUGHLY)
    }

    /// The receiver's window has an end that a sender far away does not know yet.
    #[inline]
    pub(super) fn offered(&mut self, scope: &Scope) {
        if scope.away_ns == 0 {
            return;
        }
        let Some(end) = scope.window_end else { return };
        if self.window_ends.back().is_none_or(|&(_, last)| end > last) {
            if self.window_ends.len() == MOST_ENDS {
                self.window_ends.pop_front();
            }
            self.window_ends.push_back((scope.now_ns, end));
        }
    }

    /// The sender answered an acknowledgement after `back_ns`, if it did not pause.
    pub(super) fn answered(&mut self, back_ns: i64, now: i64) {
        if !is_silent(self.limited.silence_ns(now), self.away_ns) {
            let before = self.back_ns.unwrap_or(back_ns);
            self.back_ns = Some(before + (back_ns - before) / 4);
        }
    }

    /// The receiver's window is, or is not, 0 since now.
    pub(crate) fn zero_window(&mut self, is_zero: bool, now: i64) {
        match (is_zero, self.zero_since_ns) {
            (true, None) => self.zero_since_ns = Some(now),
            (false, Some(since)) => {
                self.zero_ns += (now - since).max(0) as u64;
                self.zero_since_ns = None;
            }
            _ => {}
        }
    }
}
