//! Proportional rate reduction (RFC 6937, as revised by draft-ietf-tcpm-prr-rfc6937bis), as Linux runs it.

use cc::{CaEvent, CaState};

use super::Sender;

impl Sender {
    /// The window will be reduced to what the algorithm says.
    pub(super) fn begin_reduction(&mut self) {
        self.high_seq = self.snd_nxt;
        self.probe.forget();
        let sk = &mut self.sk;
        sk.snd_cwnd_cnt = 0;
        sk.prior_cwnd = sk.snd_cwnd;
        (self.prr_delivered, self.prr_out) = (0, 0);
        sk.snd_ssthresh = self.cc.ssthresh(sk);
        self.queue_cwr();
    }

    /// An ACK during a reduction: let out as much as it takes to come down to ssthresh while the losses are repaired.
    pub(super) fn reduce_window(&mut self, delivered: u32, lost: i32, is_advancing: bool) {
        let sk = &mut self.sk;
        if delivered == 0 || sk.prior_cwnd == 0 {
            return;
        }
        self.prr_delivered += delivered;
        let in_flight = sk.packets_in_flight();
        let sent = i64::from(self.prr_out);
        let room = i64::from(sk.snd_ssthresh) - i64::from(in_flight);
        let mut quota = if room < 0 {
            let share = u64::from(sk.snd_ssthresh) * u64::from(self.prr_delivered);
            share.div_ceil(u64::from(sk.prior_cwnd)) as i64 - sent
        } else {
            // Packet conservation, and a packet more for as long as no further losses come: slow start's pace.
            let conserved = (i64::from(self.prr_delivered) - sent).max(i64::from(delivered));
            (conserved + i64::from(is_advancing && lost == 0)).min(room)
        };
        // The first ACK of a recovery lets its retransmission out, whatever the sums say.
        quota = quota.max(i64::from(self.prr_out == 0));
        sk.snd_cwnd = (i64::from(in_flight) + quota).max(0) as u32;
    }

    /// The reduction is over.
    pub(super) fn end_reduction(&mut self) {
        if self.has_cong_control {
            return;
        }
        let is_bounded = self.sk.snd_ssthresh < u32::MAX;
        if is_bounded && (self.sk.ca_state == CaState::Cwr || self.undo.is_possible()) {
            self.sk.snd_cwnd = self.sk.snd_ssthresh;
            self.usage.grew(self.now_us());
        }
        self.cc.cwnd_event(&mut self.sk, CaEvent::CompleteCwr);
    }

    /// ECE, or a tail loss probe that repaired a loss: reduce without a recovery (RFC 3168 section 6.1.2).
    pub(super) fn enter_cwr(&mut self) {
        self.undo.prior_ssthresh = 0;
        if self.sk.ca_state < CaState::Cwr {
            self.undo.forget();
            self.begin_reduction();
            self.set_ca_state(CaState::Cwr);
        }
    }
}
