//! Taking a reduction back when the losses prove to have been none (RFC 3708 by D-SACK, RFC 4015 by timestamps).

use cc::CaState;

use super::Sender;

/// State of the retransmissions since the window was reduced.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `snd_una` then; `None`: nothing to take back.
    marker: Option<u64>,
    /// Retransmissions that no D-SACK has answered; `None`: nothing was sent again yet.
    unanswered: Option<u32>,
    /// The time at which the first retransmission was sent, us; `None`: none.
    pub retransmitted_us: Option<u64>,
    /// ssthresh to restore; 0: a mark was the reason, which can't prove wrong.
    pub prior_ssthresh: u32,
}

impl Undo {
    pub(super) fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    pub(super) fn forget(&mut self) {
        self.marker = None;
    }

    /// A reduction begins with `retransmissions` under way.
    pub(super) fn begin(&mut self, una: u64, retransmissions: u32) {
        self.marker = Some(una);
        self.unanswered = (retransmissions > 0).then_some(retransmissions);
    }

    /// A segment is sent again at `us`.
    pub(super) fn retransmit(&mut self, us: u64) {
        self.retransmitted_us.get_or_insert(us);
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
    }

    /// `segments` that end at `end` arrived twice.
    pub(super) fn take_dsack(&mut self, end: u64, segments: u32) {
        if let (Some(marker), Some(unanswered)) = (self.marker, &mut self.unanswered)
            && end > marker
        {
            *unanswered = unanswered.saturating_sub(segments);
        }
    }

    /// Every retransmission arrived twice.
    fn is_disproved_by_dsacks(&self) -> bool {
        self.is_possible() && self.unanswered == Some(0)
    }
}

impl Sender {
    /// The original arrived, not the retransmission: the ACK echoes an earlier timestamp, or nothing was sent again yet, as
    /// pacing or the window held it back (`tcp_packet_delayed`).
    fn is_original_acked(&self) -> bool {
        self.undo.retransmitted_us.is_none_or(|us| self.echoes_before(us))
    }

    pub(super) fn may_undo(&self) -> bool {
        self.undo.is_possible() && (self.undo.unanswered == Some(0) || self.is_original_acked())
    }

    /// Take the reduction back. `finds`: what was marked lost is not.
    fn undo_reduction(&mut self, finds: bool) {
        if finds {
            self.unmark_losses();
        }
        if self.undo.prior_ssthresh > 0 {
            self.sk.snd_cwnd = self.cc.undo_cwnd(&mut self.sk);
            if self.undo.prior_ssthresh > self.sk.snd_ssthresh {
                self.sk.snd_ssthresh = self.undo.prior_ssthresh;
                self.queue_cwr = false;
            }
        }
        self.usage.grew(self.now_us());
        self.undo.forget();
        self.counters.undos += 1;
        // Losses are to be looked for again.
        self.rack.is_advanced = true;
    }

    /// RACK doesn't look again at what it had marked: Linux doesn't put it back on the list by time of transmission, and should
    /// it be lost indeed, only a timeout sends it again.
    fn unmark_losses(&mut self) {
        for index in 0..self.board.len() {
            self.board.get_mut(index).is_lost = false;
        }
        self.sk.lost_out = 0;
    }

    /// All data up to `high_seq` is acknowledged: recovery is over.
    pub(super) fn finish_recovery(&mut self) {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.end_recovery(true);
        }
        self.set_ca_state(CaState::Open);
    }

    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        let is_disproved = self.undo.is_disproved_by_dsacks();
        if is_disproved {
            self.rack.end_recovery(false);
            self.undo_reduction(false);
        }
        is_disproved
    }

    /// A partial ACK in recovery that the original caused. `true`: there are retransmissions under way, and until they have
    /// arrived no losses are looked for.
    pub(super) fn try_undo_partial(&mut self, prior_una: u64) -> bool {
        if !self.undo.is_possible() || !self.is_original_acked() {
            return false;
        }
        // The hole was filled by a segment that was late, not lost.
        self.check_reordering(prior_una);
        if self.sk.retrans_out > 0 {
            return true;
        }
        self.forget_retransmissions_if_done();
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    /// A timeout was spurious. `is_certain`: F-RTO says so.
    pub(super) fn try_undo_timeout(&mut self, is_certain: bool) -> bool {
        if !is_certain && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.timeouts = 0;
        self.set_ca_state(CaState::Open);
        true
    }

    pub(super) fn forget_retransmissions_if_done(&mut self) {
        if !self.has_retransmitted() {
            self.undo.retransmitted_us = None;
        }
    }

    /// True if anything that is not acknowledged is a retransmission.
    pub(super) fn has_retransmitted(&self) -> bool {
        self.sk.retrans_out > 0 || self.board.head().is_some_and(|head| head.was_retransmitted)
    }
}
