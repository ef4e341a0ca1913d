//! The long-term bandwidth, which detects a policer. BBR then uses the policer's rate (spec section 18).

use super::super::fixed::{BW_SHIFT, UNIT, pacing_rate};
use super::{Bbr1, Mode};
use crate::{RateSample, Socket};

/// The rounds that an interval lasts at least and at most.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Share of losses that a policer causes, of 256: 20 %.
const LOSS_THRESHOLD: u64 = 50;
/// Two rates are the same if they differ by an eighth, or by 4 kbit/s, bytes per second.
const RATIO: u64 = 8;
const DIFFERENCE: u64 = 4_000 / 8;
/// Rounds of PROBE_BW in which the rate is used.
const USE_ROUNDS: u32 = 48;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LongTerm {
    /// The rate of the last interval; of the policer if `is_used`.
    pub bw: u64,
    pub is_used: bool,
    is_sampling: bool,
    rounds: u32,
    /// The start of the interval, ms, and the counts then.
    start_ms: u64,
    delivered: u32,
    lost: u32,
}

impl LongTerm {
    pub(super) fn reset(&mut self, sk: &Socket) {
        *self = LongTerm::default();
        self.start_interval(sk);
    }

    fn start_interval(&mut self, sk: &Socket) {
        self.start_ms = sk.delivered_mstamp / 1000;
        (self.delivered, self.lost, self.rounds) = (sk.delivered, sk.lost, 0);
    }

    /// The rate of the interval, if so much was lost that a policer may be the cause.
    fn policed_rate(&mut self, sk: &Socket) -> Option<u64> {
        let lost = u64::from(sk.lost.wrapping_sub(self.lost));
        let delivered = u64::from(sk.delivered.wrapping_sub(self.delivered));
        let ms = (sk.delivered_mstamp / 1000).saturating_sub(self.start_ms);
        let is_policed = delivered > 0 && lost << 8 >= LOSS_THRESHOLD * delivered && ms > 0;
        is_policed.then(|| (delivered << BW_SHIFT) / (ms * 1000))
    }

    /// Two intervals in a row with the same rate: that is the policer's.
    fn end_interval(&mut self, sk: &Socket, bw: u64) {
        let difference = bw.abs_diff(self.bw);
        let is_same = difference * RATIO <= self.bw || pacing_rate(difference, sk.mss_cache, UNIT) <= DIFFERENCE;
        if self.bw > 0 && is_same {
            self.bw = (bw + self.bw) / 2;
            (self.is_used, self.rounds) = (true, 0);
        } else {
            self.bw = bw;
            self.start_interval(sk);
        }
    }
}

impl Bbr1 {
    pub(super) fn sample_long_term(&mut self, sk: &mut Socket, rs: &RateSample) {
        let lt = &mut self.long_term;
        if lt.is_used {
            if self.mode == Mode::ProbeBw && self.rounds.is_start {
                lt.rounds += 1;
                if lt.rounds >= USE_ROUNDS {
                    lt.reset(sk);
                    self.start_probe_bw(sk);
                }
            }
            return;
        }
        // An interval begins with a loss: the policer's bucket is empty.
        if !lt.is_sampling {
            if rs.losses <= 0 {
                return;
            }
            lt.start_interval(sk);
            lt.is_sampling = true;
        }
        if rs.is_app_limited {
            lt.reset(sk);
            return;
        }
        lt.rounds += u32::from(self.rounds.is_start);
        if lt.rounds > MAX_ROUNDS {
            lt.reset(sk);
        } else if lt.rounds >= MIN_ROUNDS
            && rs.losses > 0
            && let Some(bw) = lt.policed_rate(sk)
        {
            lt.end_interval(sk, bw);
        }
    }
}
