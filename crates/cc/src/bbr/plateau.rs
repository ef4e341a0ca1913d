//! The plateau of bandwidth: three rounds without 25 % of growth (spec section 8.6).

use super::Bbr;
use super::fixed::scale_bw;
use super::parameters::Plateau;
use crate::RateSample;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FullBandwidth {
    /// The bandwidth that growth is measured against.
    pub bw: u64,
    /// Rounds without growth.
    pub count: u32,
    /// A plateau was seen since the last [`reset`](FullBandwidth::reset), as v3's UP looks for one anew.
    pub is_now: bool,
    /// True if the pipe was full at least once in this connection: STARTUP is over.
    pub is_reached: bool,
}

impl FullBandwidth {
    /// Begins to look for a plateau anew, from `bw` on.
    pub(super) fn reset(&mut self, bw: u64) {
        *self = FullBandwidth { bw, is_reached: self.is_reached, ..FullBandwidth::default() };
    }

    fn count_round(&mut self, rounds: u32) {
        self.count += 1;
        self.is_now = self.count >= rounds;
        self.is_reached |= self.is_now;
    }
}

impl Bbr {
    pub(super) fn check_full_bw(&mut self, rs: &RateSample, sample: u64) {
        let grown = |bw: u64| bw >= scale_bw(self.full.bw, self.params.full_bw_threshold);
        let (is_skipped, has_grown, bw) = match self.params.plateau {
            // v2 looks until the pipe was full once, and only at ACKs that start a round.
            Plateau::MaxEachRound => {
                let bw = self.max_bw();
                (self.full.is_reached || !self.rounds.is_start, grown(bw), bw)
            }
            Plateau::EachSample => (self.full.is_now, grown(sample), sample),
            Plateau::RoundStart => (self.full.is_now || !self.rounds.is_start, grown(sample), sample),
        };
        if is_skipped || rs.is_app_limited {
            return;
        }
        if has_grown {
            self.full.reset(bw);
        } else if self.rounds.is_start {
            self.full.count_round(self.params.full_bw_rounds);
        }
    }
}
