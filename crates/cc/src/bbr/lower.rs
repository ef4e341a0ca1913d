//! The short-term bounds `bw_lo` and `inflight_lo` (spec section 8.2, `adapt_lower`). Losses and marks lower them, once at the end of
//! each loss round. A cut by losses never goes below what the flow delivered in that round.

use super::Bbr;
use super::fixed::{INF, INF_BW, scale, scale_bw};
use crate::Socket;

impl Bbr {
    pub(super) fn adapt_lower(&mut self, sk: &Socket) {
        if self.state.is_probing() {
            return;
        }
        // Both cuts by ECN start from the values before the cut by losses.
        let (inflight_ecn, bw_ecn) = self.ecn_cuts(sk);
        if self.signals.loss_in_round {
            self.init_bw_lo();
            self.init_inflight_lo(sk);
            let bounds = &mut self.bounds;
            bounds.bw_lo = scale_bw(bounds.bw_lo, self.params.beta_keep).max(self.signals.bw_latest);
            bounds.inflight_lo = scale(bounds.inflight_lo, self.params.beta_keep).max(self.signals.inflight_latest);
        }
        self.bounds.inflight_lo = self.bounds.inflight_lo.min(inflight_ecn);
        match self.is_v2() {
            true => self.bounds.bw_lo = self.bounds.bw_lo.min(bw_ecn),
            false => self.bounds.bw_lo = self.bounds.bw_lo.max(1),
        }
    }

    /// Returns inflight_lo and, in v2, bw_lo, cut by the share of marks; infinite bounds where marks cut nothing.
    fn ecn_cuts(&mut self, sk: &Socket) -> (u32, u64) {
        if !self.signals.ecn_in_round || !self.ecn.is_eligible {
            return (INF, INF_BW);
        }
        let keep = self.ecn.keep(self.params.ecn_factor);
        self.init_inflight_lo(sk);
        let inflight = scale(self.bounds.inflight_lo, keep);
        if !self.is_v2() {
            return (inflight, INF_BW);
        }
        self.init_bw_lo();
        (inflight, scale_bw(self.bounds.bw_lo, keep))
    }

    fn init_bw_lo(&mut self) {
        if self.bounds.bw_lo == INF_BW {
            self.bounds.bw_lo = self.max_bw();
        }
    }

    fn init_inflight_lo(&mut self, sk: &Socket) {
        if self.bounds.inflight_lo == INF {
            self.bounds.inflight_lo = sk.snd_cwnd;
        }
    }
}
