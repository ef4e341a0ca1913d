//! STARTUP ends by losses (spec section 8.5), by marks (section 10), or at a plateau (`plateau`).

use super::Bbr;
use super::fixed::UNIT;
use crate::{CaState, RateSample, Socket};

impl Bbr {
    /// Many holes in one round, and a share of losses that is too high: the queue is full.
    pub(super) fn check_startup_loss(&mut self, sk: &Socket, rs: &RateSample) {
        if self.full.is_reached {
            return;
        }
        if rs.losses > 0 {
            // One event per ACK with losses is about one hole.
            self.signals.loss_events_in_round = (self.signals.loss_events_in_round + 1).min(15);
        }
        if !self.signals.is_loss_round_start {
            return;
        }
        let are_many = self.signals.loss_events_in_round >= self.params.startup_loss_events;
        if sk.ca_state == CaState::Recovery && are_many && self.is_too_high(rs) {
            self.queue_too_high(sk);
        } else {
            self.signals.loss_events_in_round = 0;
        }
    }

    /// The pipe is full, and what it holds is known.
    pub(super) fn queue_too_high(&mut self, sk: &Socket) {
        self.full.is_reached = true;
        let bdp = self.inflight(sk, self.max_bw(), UNIT);
        self.bounds.inflight_hi = if self.is_v2() { bdp } else { bdp.max(self.signals.inflight_latest) };
    }
}
