//! The long-term bounds: what a probe of bandwidth taught (spec section 8.3).

use super::Bbr;
use super::fixed::{INF, INF_BW, scale, scale_bw};
use super::state::{AckPhase, State};
use crate::{RateSample, Socket};

impl Bbr {
    /// Take note of how the probe goes. Did that change the phase?
    pub(super) fn adapt_upper(&mut self, sk: &mut Socket, rs: &RateSample, sample: u64) -> bool {
        if self.probe.ack_phase == AckPhase::ProbeStarting && self.rounds.is_start {
            self.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probe.ack_phase == AckPhase::ProbeStopping && self.rounds.is_start && self.end_of_feedback(sk, rs) {
            return true;
        }
        if self.is_too_high(rs) {
            if self.probe.is_sampling && self.params.cut_on_ack {
                self.on_too_high(sk, rs.tx_in_flight, rs.is_app_limited);
            }
            return false;
        }
        self.probe.has_ok_sample |= self.probe.is_sampling;
        if self.bounds.inflight_hi == INF && self.bounds.bw_hi == INF_BW {
            return false;
        }
        // A higher level proved safe, in any phase.
        self.bounds.inflight_hi = self.bounds.inflight_hi.max(rs.tx_in_flight);
        if self.bounds.bw_hi != INF_BW {
            self.bounds.bw_hi = self.bounds.bw_hi.max(sample);
        }
        if self.state == State::Up {
            self.grow_inflight_hi(sk, rs);
        }
        false
    }

    /// All data of the probe has been ACKed: the bandwidth filter advances. A probe that was stopped only because it
    /// was risky, and proved safe, goes on.
    fn end_of_feedback(&mut self, sk: &mut Socket, rs: &RateSample) -> bool {
        self.probe.is_sampling = false;
        self.probe.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !rs.is_app_limited && self.bounds.bw_win[1] != 0 {
            self.bounds.bw_win = [self.bounds.bw_win[1], 0];
        }
        let goes_on = self.probe.was_stopped_as_risky && !self.probe.was_too_high;
        if goes_on {
            self.start_refill(sk, 0);
        }
        goes_on
    }

    /// More losses or marks than the thresholds allow, among what was sent with the newest packet that was ACKed?
    pub(super) fn is_too_high(&self, rs: &RateSample) -> bool {
        let lost = rs.lost.max(0) as u32;
        let is_lossy = lost > 0 && rs.tx_in_flight > 0 && lost > scale(rs.tx_in_flight, self.params.loss_threshold);
        is_lossy || (self.ecn.is_eligible && self.is_ecn_too_high(rs))
    }

    fn is_ecn_too_high(&self, rs: &RateSample) -> bool {
        if rs.delivered_ce <= 0 || rs.delivered <= 0 {
            return false;
        }
        let threshold = scale(rs.delivered as u32, self.params.ecn_threshold);
        let marked = rs.delivered_ce as u32;
        if self.is_v2() { marked >= threshold } else { marked > threshold }
    }

    /// Too much was lost or marked with `tx_in_flight` packets in flight: the bound is lowered, once per probe.
    pub(super) fn on_too_high(&mut self, sk: &mut Socket, tx_in_flight: u32, is_app_limited: bool) {
        self.probe.was_too_high = true;
        self.probe.is_sampling = false;
        if !is_app_limited {
            self.bounds.inflight_hi = tx_in_flight.max(scale(self.target_inflight(sk), self.params.beta_keep));
            if self.is_v2() && self.ecn.is_eligible && !self.probe.has_ok_sample {
                self.cut_bw_hi();
            }
        }
        if self.state == State::Up {
            self.start_down(sk);
        }
    }

    /// No sample of the probe was good: the rate itself is too high \[v2\].
    fn cut_bw_hi(&mut self) {
        if self.bounds.bw_hi == INF_BW {
            self.bounds.bw_hi = self.max_bw();
        }
        self.bounds.bw_hi = scale_bw(self.bounds.bw_hi, self.ecn.keep(self.params.ecn_factor));
    }
}
