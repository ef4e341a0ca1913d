//! Loss recovery and its undo (spec section 12).

use super::Bbr;
use super::fixed::INF;
use super::state::State;
use crate::{CaState, Socket};

/// The values that an undo restores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Undo {
    bw_lo: u64,
    inflight_lo: u32,
    inflight_hi: u32,
    /// The state in which the loss came (draft only).
    state: Option<State>,
}

impl Bbr {
    /// Recovery begins, or the retransmission timer expired.
    pub(super) fn begin_recovery(&mut self, sk: &Socket) {
        self.save_cwnd(sk);
        if !self.params.undo_from_first_loss {
            self.save_undo();
        }
    }

    pub(super) fn save_undo(&mut self) {
        self.undo = Undo {
            bw_lo: self.bounds.bw_lo,
            inflight_lo: self.bounds.inflight_lo,
            inflight_hi: self.bounds.inflight_hi,
            state: Some(self.state),
        };
    }

    pub(super) fn change_ca_state(&mut self, sk: &mut Socket, state: CaState) {
        if state == CaState::Loss {
            self.on_timeout(sk);
        } else if self.prev_ca_state == CaState::Loss {
            // The stack used a separate window for sending; the model's bounds follow on the same ACK.
            sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
        }
    }

    fn on_timeout(&mut self, sk: &Socket) {
        self.prev_ca_state = CaState::Loss;
        if self.is_v2() {
            self.full.bw = 0;
        } else {
            self.full.reset(0);
        }
        if !self.state.is_probing() && self.bounds.inflight_lo == INF {
            let floor = if self.is_v2() { 0 } else { sk.snd_cwnd };
            self.bounds.inflight_lo = self.prior_cwnd.max(floor);
        }
    }

    /// No packet was lost after all.
    pub(super) fn undo_recovery(&mut self, sk: &Socket) {
        self.full.reset(0);
        self.signals.loss_in_round = false;
        self.bounds.bw_lo = self.bounds.bw_lo.max(self.undo.bw_lo);
        self.bounds.inflight_lo = self.bounds.inflight_lo.max(self.undo.inflight_lo);
        self.bounds.inflight_hi = self.bounds.inflight_hi.max(self.undo.inflight_hi);
        if self.params.undo_state && self.state != State::ProbeRtt {
            self.undo_state(sk);
        }
    }

    /// Draft: back to what the loss threw the flow out of (spec section 12).
    fn undo_state(&mut self, sk: &Socket) {
        match self.undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.is_reached = false;
                self.state = State::Startup;
            }
            Some(State::Up) if self.state != State::Up => self.start_refill(sk, 0),
            _ => {}
        }
    }
}
