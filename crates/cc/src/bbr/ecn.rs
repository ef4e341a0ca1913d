//! The share of packets that are marked (spec section 10): for shallow-threshold marks only, as DCTCP has them.

use super::Bbr;
use super::fixed::{GAIN_SHIFT, UNIT, scale};
use crate::Socket;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EcnAlpha {
    /// Marks are answered; stays so.
    pub is_eligible: bool,
    /// The average share of marks, of 256; begins at 1.
    pub alpha: u32,
    /// `delivered` and `delivered_ce` at the last round's start.
    delivered: u32,
    delivered_ce: u32,
    /// Rounds of STARTUP in a row with too many marks.
    startup_rounds: u32,
}

impl Default for EcnAlpha {
    fn default() -> EcnAlpha {
        EcnAlpha { is_eligible: false, alpha: UNIT, delivered: 0, delivered_ce: 0, startup_rounds: 0 }
    }
}

impl EcnAlpha {
    /// The rest after a cut: 1 - alpha * factor.
    pub(super) fn keep(&self, factor: u32) -> u32 {
        UNIT - scale(self.alpha, factor).min(UNIT)
    }

    /// The share of marks in the round that ends, of 256; `None`: nothing was delivered.
    fn share(&mut self, sk: &Socket) -> Option<u32> {
        let delivered = sk.delivered.wrapping_sub(self.delivered);
        let marked = sk.delivered_ce.wrapping_sub(self.delivered_ce);
        if delivered == 0 {
            return None;
        }
        (self.delivered, self.delivered_ce) = (sk.delivered, sk.delivered_ce);
        let share = (u64::from(marked) << GAIN_SHIFT) / u64::from(delivered);
        Some(u32::try_from(share).unwrap_or(u32::MAX))
    }

    fn average(&mut self, share: u32, gain: u32) {
        self.alpha = scale(self.alpha, UNIT - gain).saturating_add(scale(share, gain)).min(UNIT);
    }
}

impl Bbr {
    /// This runs at the start of a round.
    pub(super) fn update_ecn_alpha(&mut self, sk: &Socket) {
        let is_short = self.rtt.min_rtt <= self.params.ecn_max_rtt_us;
        if self.is_ecn_allowed(sk) && self.params.ecn_factor != 0 && is_short {
            self.ecn.is_eligible = true;
        }
        if self.is_v3() && !self.ecn.is_eligible {
            return;
        }
        let Some(share) = self.ecn.share(sk) else { return };
        self.ecn.average(share, self.params.ecn_alpha_gain);
        self.check_startup_ecn(sk, share);
    }

    fn is_ecn_allowed(&self, sk: &Socket) -> bool {
        self.params.ecn || (self.is_v3() && sk.ecn_flags.ok && sk.ecn_flags.low)
    }

    fn check_startup_ecn(&mut self, sk: &Socket, share: u32) {
        if !self.ecn.is_eligible || self.full.is_reached {
            return;
        }
        if share < self.params.ecn_threshold {
            self.ecn.startup_rounds = 0;
            return;
        }
        self.ecn.startup_rounds += 1;
        if self.ecn.startup_rounds == self.params.ecn_startup_rounds {
            self.queue_too_high(sk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_follows_the_share_of_marks() {
        // Spec section 16.
        let mut ecn = EcnAlpha::default();
        for expected in [240, 225, 210, 196, 183, 171, 160, 150] {
            ecn.average(0, 16);
            assert_eq!(ecn.alpha, expected);
        }
        ecn.alpha = 0;
        for expected in [16, 31, 45, 58, 70, 81, 91, 101] {
            ecn.average(256, 16);
            assert_eq!(ecn.alpha, expected);
        }
    }

    #[test]
    fn a_cut_leaves_two_thirds_at_least() {
        // Spec section 16.
        let keep = |alpha| EcnAlpha { alpha, ..EcnAlpha::default() }.keep(85);
        assert_eq!([256, 128, 64, 16].map(keep), [171, 214, 235, 251]);
    }
}
