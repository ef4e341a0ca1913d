//! The growth of inflight_hi in UP, by 1, 2, 4, ... packets a round (spec section 8.3, `grow_inflight_hi`).

use super::Bbr;
use super::fixed::INF;
use crate::{RateSample, Socket};

/// Doublings of the slope: 30 keep the shift within 32 bits (spec section 4).
pub(super) const MAX_UP_ROUNDS: u32 = 30;

impl Bbr {
    pub(super) fn grow_inflight_hi(&mut self, sk: &Socket, rs: &RateSample) {
        if !sk.is_cwnd_limited || sk.snd_cwnd < self.bounds.inflight_hi {
            // The bound does not limit the flow. v2 forgets the credits too.
            if self.is_v2() {
                self.probe.up_acks = 0;
            }
            return;
        }
        self.probe.up_acks = self.probe.up_acks.saturating_add(rs.acked_sacked);
        if self.probe.up_acks >= self.probe.up_cnt {
            let steps = self.probe.up_acks / self.probe.up_cnt;
            self.probe.up_acks -= steps * self.probe.up_cnt;
            self.bounds.inflight_hi = self.bounds.inflight_hi.saturating_add(steps).min(INF - 1);
        }
        if self.rounds.is_start {
            self.raise_slope(sk);
        }
    }

    /// Sets the packets that have to be ACKed for inflight_hi to grow by one in this round. The next call halves them.
    pub(super) fn raise_slope(&mut self, sk: &Socket) {
        self.probe.up_cnt = (sk.snd_cwnd >> self.probe.up_rounds).max(1);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MAX_UP_ROUNDS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bbr::Parameters;

    #[test]
    fn the_slope_doubles_each_round() {
        // Spec section 16.
        let mut bbr = Bbr::new(Parameters::v3());
        let sk = Socket { snd_cwnd: 100, ..Socket::new(1448, 1) };
        for expected in [100, 50, 25, 12, 6, 3, 1, 1] {
            bbr.raise_slope(&sk);
            assert_eq!(bbr.probe.up_cnt, expected);
        }
        (0..100).for_each(|_| bbr.raise_slope(&sk));
        assert_eq!((bbr.probe.up_rounds, bbr.probe.up_cnt), (30, 1));
    }

    #[test]
    fn v2_forgets_its_credits_when_the_bound_does_not_limit() {
        // Spec section 14, item 9.
        for (params, left) in [(Parameters::v2(), 0), (Parameters::v3(), 7)] {
            let mut bbr = Bbr::new(params);
            bbr.probe.up_acks = 7;
            bbr.grow_inflight_hi(&Socket::new(1448, 1), &RateSample::default());
            assert_eq!(bbr.probe.up_acks, left);
        }
    }
}
