//! The shared parts of all window-based algorithms: RFC 5681 as Linux runs it, counted in packets.

use crate::{CaState, Socket};

impl Socket {
    /// True if the window is under the slow-start threshold (RFC 5681 section 3.1).
    pub fn is_in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// True if the window limits the flow. If not it must not grow (RFC 7661 section 4.1). The window may grow to
    /// twice the data in flight in slow start, which keeps pacing and TSO trains from holding it back.
    pub fn is_window_limiting(&self) -> bool {
        self.is_cwnd_limited
            || (self.is_in_slow_start() && u64::from(self.snd_cwnd) < 2 * u64::from(self.max_packets_out))
    }

    /// Slow start (RFC 5681 section 3.1, RFC 3465 without a limit): a packet more for each packet ACKed, up to the
    /// threshold. Returns the packets that are left for congestion avoidance.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.snd_cwnd.saturating_add(acked).min(self.snd_ssthresh);
        let left = acked - (cwnd - self.snd_cwnd);
        self.snd_cwnd = cwnd.min(self.snd_cwnd_clamp);
        left
    }

    /// Congestion avoidance: a packet more for each `w` packets ACKed (RFC 5681 section 3.1 has `w` = cwnd).
    pub fn cong_avoid_ai(&mut self, w: u32, acked: u32) {
        let w = w.max(1);
        // Credits that were saved up for a larger w are worth one packet at most.
        if self.snd_cwnd_cnt >= w {
            self.snd_cwnd_cnt = 0;
            self.snd_cwnd = self.snd_cwnd.saturating_add(1);
        }
        self.snd_cwnd_cnt = self.snd_cwnd_cnt.saturating_add(acked);
        let steps = self.snd_cwnd_cnt / w;
        self.snd_cwnd_cnt -= steps * w;
        self.snd_cwnd = self.snd_cwnd.saturating_add(steps).min(self.snd_cwnd_clamp);
    }

    /// Reno's growth: slow start, then a packet per window.
    pub(crate) fn reno_cong_avoid(&mut self, acked: u32) {
        if !self.is_window_limiting() {
            return;
        }
        let left = if self.is_in_slow_start() { self.slow_start(acked) } else { acked };
        if left > 0 {
            self.cong_avoid_ai(self.snd_cwnd, left);
        }
    }

    /// Reno's half of the window, 2 packets at least (RFC 5681 equation 4, with cwnd for FlightSize as Linux has it).
    pub(crate) fn reno_ssthresh(&self) -> u32 {
        (self.snd_cwnd >> 1).max(2)
    }

    /// The window from before the reduction (RFC 4015 section 4).
    pub(crate) fn reno_undo_cwnd(&self) -> u32 {
        self.snd_cwnd.max(self.prior_cwnd)
    }

    /// The threshold to restart from (RFC 2861 section 2.1): at least three quarters of the window.
    pub(crate) fn current_ssthresh(&self) -> u32 {
        match self.ca_state {
            CaState::Cwr | CaState::Recovery => self.snd_ssthresh,
            _ => self.snd_ssthresh.max((self.snd_cwnd >> 1) + (self.snd_cwnd >> 2)),
        }
    }
}
