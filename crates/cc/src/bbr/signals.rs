//! Rounds, and the signals of each round (spec sections 7, 8.1 and 8.2).

use super::Bbr;
use crate::{RateSample, Socket, before};

/// The round clock: a round ends when a packet that was sent after it began is ACKed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rounds {
    /// The round ends when a packet sent at this count of delivered packets, or later, is ACKed.
    pub next_round: u32,
    /// This ACK starts a round.
    pub is_start: bool,
    /// Rounds that began.
    pub count: u32,
}

impl Rounds {
    pub(super) fn begin(delivered: u32) -> Rounds {
        Rounds { next_round: delivered, ..Rounds::default() }
    }

    pub(super) fn update(&mut self, sk: &Socket, rs: &RateSample) {
        self.is_start = rs.interval_us > 0 && !before(rs.prior_delivered, self.next_round);
        if self.is_start {
            self.restart(sk);
            self.count = self.count.wrapping_add(1);
        }
    }

    /// Count a whole round from now: a phase begins.
    pub(super) fn restart(&mut self, sk: &Socket) {
        self.next_round = sk.delivered;
    }
}

/// The losses, marks and deliveries of the current round and probing cycle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signals {
    /// The greatest delivery rate in this loss round.
    pub bw_latest: u64,
    /// The greatest volume delivered in it, packets.
    pub inflight_latest: u32,
    /// Like [`Rounds::next_round`], but from the first loss on.
    pub loss_round_end: u32,
    /// This ACK starts a loss round.
    pub is_loss_round_start: bool,
    pub loss_in_round: bool,
    pub ecn_in_round: bool,
    pub loss_in_cycle: bool,
    pub ecn_in_cycle: bool,
    /// ACKs in this round that reported losses, 15 at most.
    pub loss_events_in_round: u32,
}

impl Signals {
    /// A new probing cycle.
    pub(super) fn reset(&mut self) {
        (self.bw_latest, self.inflight_latest) = (0, 0);
        (self.loss_in_round, self.ecn_in_round) = (false, false);
        (self.loss_in_cycle, self.ecn_in_cycle) = (false, false);
    }

    fn raise_latest(&mut self, sk: &Socket, rs: &RateSample, sample: u64) {
        self.bw_latest = self.bw_latest.max(sample);
        self.inflight_latest = self.inflight_latest.max(rs.delivered.max(0) as u32);
        if !before(rs.prior_delivered, self.loss_round_end) {
            self.loss_round_end = sk.delivered;
            self.is_loss_round_start = true;
        }
    }

    fn restart_latest(&mut self, rs: &RateSample, sample: u64) {
        self.bw_latest = sample;
        self.inflight_latest = rs.delivered.max(0) as u32;
    }
}

fn is_valid(rs: &RateSample) -> bool {
    rs.interval_us > 0 && rs.acked_sacked > 0
}

impl Bbr {
    /// Spec section 8.1 \[v3\].
    pub(super) fn update_latest(&mut self, sk: &Socket, rs: &RateSample, sample: u64) {
        self.signals.is_loss_round_start = false;
        if is_valid(rs) {
            self.signals.raise_latest(sk, rs, sample);
        }
    }

    /// The new round's signals begin with this ACK, unless it is a TLP's, which tells of the round before it (spec section 7
    /// step 13) \[v3\].
    pub(super) fn advance_latest(&mut self, rs: &RateSample, sample: u64) {
        if self.signals.is_loss_round_start && !rs.is_acking_tlp_retrans_seq {
            self.signals.restart_latest(rs, sample);
        }
    }

    /// Spec section 8.2. v2 does section 8.1 here too, and starts the new round's signals at once.
    pub(super) fn update_congestion_signals(&mut self, sk: &Socket, rs: &RateSample, sample: u64) {
        if self.is_v2() {
            self.signals.is_loss_round_start = false;
        }
        if !is_valid(rs) {
            return;
        }
        if !rs.is_app_limited || sample >= self.max_bw() {
            self.bounds.bw_win[1] = self.bounds.bw_win[1].max(sample);
        }
        self.signals.loss_in_round |= rs.losses > 0;
        if self.is_v2() {
            self.signals.raise_latest(sk, rs, sample);
        }
        if !self.signals.is_loss_round_start {
            return;
        }
        self.adapt_lower(sk);
        if self.is_v2() {
            self.signals.restart_latest(rs, sample);
        }
        (self.signals.loss_in_round, self.signals.ecn_in_round) = (false, false);
    }
}
