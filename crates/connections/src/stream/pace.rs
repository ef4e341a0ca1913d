//! Gaps, bursts, and what limits the sender.

use capture::Segment;

use super::{Scope, Stream};
use crate::limits::Limit;

/// The least longest gap within a burst.
const BURST_GAP_NS: i64 = 20_000;

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
        let gap = now - self.limited.since_ns();
        let waited = self.timer.srtt_ns().is_some_and(|srtt| gap > srtt);
        // The path may carry less than the MSS.
        let was_short = u64::from(self.last_payload) < scope.mss.min(self.largest_payload.into());
        let idle = !is_ack && nxt.is_some_and(|nxt| nxt <= una);
        let network = self.limited.now() == Limit::Network;
        let instead = (network && !is_ack && (idle || (was_short && waited))).then_some(Limit::Application);
        let now_limit = self.limited.now();
        self.limited.change(now, instead, now_limit);
    }

    pub(super) fn limit(&mut self, scope: &Scope, nxt: i64, una: i64) {
        let outstanding = nxt - una;
        let next = if scope.window_is_zero && scope.is_acked {
            Limit::Window
        } else if self.recovery_to.is_some() || self.timeout_to.is_some() {
            Limit::Recovery
        } else if outstanding <= 0 {
            Limit::Application
        } else if scope.window_end.is_some_and(|end| end - nxt < scope.mss.max(1) as i64) {
            Limit::Window
        } else {
            Limit::Network
        };
        self.limited.change(scope.now_ns, None, next);
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
