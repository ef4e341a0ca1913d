//! DRAIN (spec section 8.7): the queue of STARTUP empties.

use super::Bbr;
use super::fixed::UNIT;
use super::state::State;
use crate::Socket;

impl Bbr {
    pub(super) fn check_drain(&mut self, sk: &mut Socket) {
        if self.state == State::Startup && self.full.is_reached {
            self.state = State::Drain;
            self.drain_round = self.rounds.count;
            sk.snd_ssthresh = self.inflight(sk, self.max_bw(), UNIT); // This is for information only.
            self.signals.reset();
        }
        if self.state != State::Drain {
            return;
        }
        let is_drained = self.in_net(sk, sk.packets_in_flight()) <= self.inflight(sk, self.max_bw(), UNIT);
        let rounds = self.rounds.count.wrapping_sub(self.drain_round);
        if is_drained || self.params.drain_max_rounds.is_some_and(|max| rounds > max) {
            self.start_down(sk);
        }
    }
}
