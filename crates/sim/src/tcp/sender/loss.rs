//! The retransmission timeout (RFC 6298 section 5), and F-RTO, which finds out whether it was spurious (RFC 5682).

use cc::{CaEvent, CaState};

use super::ack::Ack;
use super::recovery::Resend;
use super::timers::Timer;
use super::{Phase, Sender};
use crate::segment::Segment;

impl Sender {
    #[cold]
    pub(super) fn on_retransmission_timeout(&mut self, out: &mut Vec<Segment>) {
        if self.sk.packets_out == 0 || self.phase != Phase::Established {
            return;
        }
        self.counters.timeouts += 1;
        self.enter_loss();
        self.timeouts += 1;
        self.retransmit_head(out);
        self.backoff += 1;
        self.set_timer(Timer::Retransmit, self.rto_us());
    }

    fn enter_loss(&mut self) {
        let prior_state = self.sk.ca_state;
        self.mark_timed_out();
        // Once a window of data: a further timeout of the same data doesn't reduce again.
        if prior_state <= CaState::Disorder
            || self.high_seq <= self.snd_una
            || (prior_state == CaState::Loss && self.timeouts == 0)
        {
            self.undo.prior_ssthresh = self.current_ssthresh();
            self.sk.prior_cwnd = self.sk.snd_cwnd;
            self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
            self.cc.cwnd_event(&mut self.sk, CaEvent::Loss);
            self.undo.begin(self.snd_una, self.sk.retrans_out + u32::from(self.probe.is_retransmission()));
        }
        self.sk.snd_cwnd = self.sk.packets_in_flight() + 1;
        self.sk.snd_cwnd_cnt = 0;
        self.usage.grew(self.now_us());
        // Many SACKs and yet a timeout: the apparent reordering was loss.
        if prior_state <= CaState::Disorder && self.sk.sacked_out >= self.settings.reordering {
            self.reordering = self.reordering.min(self.settings.reordering);
        }
        self.set_ca_state(CaState::Loss);
        self.high_seq = self.snd_nxt;
        self.probe.forget();
        self.queue_cwr();
        // RFC 5682 section 2.1 step 1: not within a recovery, unless the timeout repeats itself.
        self.is_frto = self.settings.frto && (prior_state < CaState::Recovery || self.timeouts > 0);
    }

    /// The oldest segment is lost, and all that RACK would have given up by now (RFC 8985 section 6.3).
    fn mark_timed_out(&mut self) {
        for index in 0..self.board.len() {
            let sent = self.board.get(index);
            if index > 0 && (sent.is_sacked || self.time_left(sent, 0) > 0) {
                continue;
            }
            self.mark_lost(index);
        }
    }

    /// An ACK after a timeout.
    pub(super) fn process_loss(&mut self, ack: &Ack) -> Resend {
        let has_recovered = self.snd_una >= self.high_seq;
        if ack.is_advancing && self.try_undo_timeout(false) {
            return Resend::Nothing;
        }
        if self.is_frto {
            // Step 3b: data that was never sent again arrived, so not all was lost.
            if ack.delivers_original && self.try_undo_timeout(true) {
                return Resend::Nothing;
            }
            let is_duplicate = !ack.is_advancing && !ack.updates_window && !ack.has_dsack;
            if self.snd_nxt > self.high_seq {
                // Step 3a: the loss was real.
                if ack.sacks_data || is_duplicate {
                    self.is_frto = false;
                }
            } else if ack.is_advancing && !has_recovered {
                self.high_seq = self.snd_nxt;
                // Step 2b: send new data if there is any, and see what comes back.
                if self.has_unsent() && self.window_end > self.snd_nxt {
                    return Resend::NewData;
                }
                self.is_frto = false;
            }
        }
        if has_recovered {
            self.finish_recovery();
            return Resend::Nothing;
        }
        Resend::Lost
    }
}
