//! PROBE_BW's cycle of pacing gains.

use super::super::fixed::UNIT;
use super::{Bbr1, Mode};
use crate::{RateSample, Socket};

/// A probe, the drain of its queue, and six phases at the rate of the path.
const GAINS: [u32; 8] = [320, 192, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

impl Bbr1 {
    /// The policer's rate must not be exceeded.
    pub(super) fn cycle_gain(&self) -> u32 {
        if self.long_term.is_used { UNIT } else { GAINS[self.cycle_idx as usize] }
    }

    /// Begin with any phase but the 0.75 one, so that flows are not in step.
    pub(super) fn start_probe_bw(&mut self, sk: &mut Socket) {
        self.mode = Mode::ProbeBw;
        self.cycle_idx = 7 - sk.random.below(7);
        self.advance(sk);
    }

    fn advance(&mut self, sk: &Socket) {
        self.cycle_idx = (self.cycle_idx + 1) % 8;
        self.cycle_start = sk.delivered_mstamp;
    }

    pub(super) fn update_cycle_phase(&mut self, sk: &Socket, rs: &RateSample) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(sk, rs) {
            self.advance(sk);
        }
    }

    fn is_phase_over(&self, sk: &Socket, rs: &RateSample) -> bool {
        let is_long = sk.delivered_mstamp.saturating_sub(self.cycle_start) > u64::from(self.rtt.min_rtt);
        let inflight = self.in_net(sk, rs.prior_in_flight);
        let bw = self.bw.get();
        match self.pacing_gain {
            UNIT => is_long,
            // A probe lasts until it had its effect, or losses say that the buffer is too small for it.
            gain if gain > UNIT => is_long && (rs.losses > 0 || inflight >= self.inflight(sk, bw, gain)),
            _ => is_long || inflight <= self.inflight(sk, bw, UNIT),
        }
    }
}
