//! The state machine of loss recovery: Open, Disorder, CWR, Recovery and Loss, as Linux has them.

use cc::CaState;

use super::Sender;
use super::ack::Ack;
use crate::segment::Segment;

/// Segments that an ACK releases, besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resend {
    Nothing,
    /// Lost segments.
    Lost,
    /// First new data, to learn whether the timeout was spurious (RFC 5682 section 2.1 step 2b).
    NewData,
}

impl Sender {
    /// An ACK that is not the usual one. The state may end, then begin or go on.
    pub(super) fn alert(&mut self, ack: &mut Ack) -> Resend {
        if ack.is_ece {
            // There was congestion, whatever retransmissions prove.
            self.undo.prior_ssthresh = 0;
        }
        self.end_state();
        match self.sk.ca_state {
            CaState::Recovery => {
                if ack.is_advancing && self.try_undo_partial(ack.prior_una) {
                    return Resend::Nothing;
                }
                if self.try_undo_by_dsack() {
                    self.try_to_open(ack);
                }
                self.find_losses(ack);
                if self.sk.ca_state != CaState::Recovery {
                    if self.sk.lost_out == 0 {
                        return Resend::Nothing;
                    }
                    self.enter_recovery(ack.is_ece);
                }
                return Resend::Lost;
            }
            CaState::Loss => {
                let resend = self.process_loss(ack);
                self.find_losses(ack);
                if self.sk.ca_state != CaState::Open && !ack.loses_retransmission {
                    return resend;
                }
            }
            _ => {
                if self.sk.ca_state <= CaState::Disorder {
                    self.try_undo_by_dsack();
                }
                self.find_losses(ack);
            }
        }
        if self.sk.lost_out == 0 {
            self.try_to_open(ack);
            return Resend::Nothing;
        }
        self.enter_recovery(ack.is_ece);
        Resend::Lost
    }

    /// The data in flight at the state's beginning is acknowledged: the state is over.
    fn end_state(&mut self) {
        if self.sk.ca_state == CaState::Open {
            self.undo.retransmitted_us = None;
            return;
        }
        if self.snd_una < self.high_seq {
            return;
        }
        match self.sk.ca_state {
            // The state lasts until data is acknowledged that was sent with CWR, or after it.
            CaState::Cwr if self.snd_una != self.high_seq => {
                self.end_reduction();
                self.set_ca_state(CaState::Open);
            }
            CaState::Recovery => {
                self.finish_recovery();
                self.end_reduction();
            }
            _ => {}
        }
    }

    fn find_losses(&mut self, ack: &mut Ack) {
        let retransmitting = self.sk.retrans_out;
        if self.look_for_losses() {
            ack.restarts_timer = false;
        }
        ack.loses_retransmission |= retransmitting > self.sk.retrans_out;
    }

    /// No segment is lost: Open, or Disorder as long as something arrives out of order.
    fn try_to_open(&mut self, ack: &Ack) {
        self.forget_retransmissions_if_done();
        if ack.is_ece {
            self.enter_cwr();
        }
        if self.sk.ca_state != CaState::Cwr {
            self.keep_open();
        }
    }

    pub(super) fn keep_open(&mut self) {
        let is_left_out = self.sk.sacked_out + self.sk.lost_out > 0 || self.has_retransmitted();
        let state = if is_left_out { CaState::Disorder } else { CaState::Open };
        if self.sk.ca_state != state {
            self.set_ca_state(state);
            self.high_seq = self.snd_nxt;
        }
    }

    /// Fast recovery begins (RFC 6675 section 5 step 4, with PRR).
    pub(super) fn enter_recovery(&mut self, is_ece: bool) {
        // An earlier recovery's retransmissions say nothing about this one's.
        self.forget_retransmissions_if_done();
        self.undo.prior_ssthresh = 0;
        self.undo.begin(self.snd_una, self.sk.retrans_out + u32::from(self.probe.is_retransmission()));
        if !self.is_reducing() {
            if !is_ece {
                self.undo.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction();
        }
        self.set_ca_state(CaState::Recovery);
    }

    /// The threshold to go back to: three quarters of the window at least (RFC 2861 section 2.1).
    pub(super) fn current_ssthresh(&self) -> u32 {
        let sk = &self.sk;
        if self.is_reducing() { sk.snd_ssthresh } else { sk.snd_ssthresh.max((sk.snd_cwnd >> 1) + (sk.snd_cwnd >> 2)) }
    }

    pub(super) fn resend(&mut self, what: Resend, out: &mut Vec<Segment>) {
        match what {
            Resend::Nothing => return,
            Resend::NewData => {
                self.push(out);
                if self.snd_nxt > self.high_seq {
                    return;
                }
                self.is_frto = false;
            }
            Resend::Lost => {}
        }
        self.retransmit_lost(out);
    }
}
