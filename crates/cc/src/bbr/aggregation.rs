//! ACK aggregation (spec section 9): the number of packets beyond the expected that are ACKed at a time. It makes the
//! window large enough to keep sending while the next lump of ACKs is awaited.

use super::fixed::packets;
use super::windowed::WindowedMax;
use crate::{RateSample, Socket};

/// An epoch of aggregation ends here, packets (spec section 3).
const EPOCH_LIMIT: u32 = 1 << 20;
/// The bonus is at most what the path delivers in this time, us (spec section 3).
const MAX_US: u64 = 100_000;
/// Rounds a slot of the two is filled, in general and in STARTUP (spec section 3: 2×5 and 2×1).
pub(super) const SLOT_ROUNDS: u32 = 5;
pub(super) const STARTUP_SLOT_ROUNDS: u32 = 1;
/// Rounds of the draft's windowed maximum, in general and in STARTUP (spec section 15).
pub(super) const WINDOW_ROUNDS: u32 = 10;
pub(super) const STARTUP_WINDOW_ROUNDS: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Aggregation {
    /// The start of the epoch, us, and packets ACKed in it.
    start: u64,
    acked: u32,
    excess: Excess,
}

/// The most packets in excess of what was lately. Deployed: two slots of 5 rounds. Draft: a windowed maximum.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Excess {
    Slots { max: [u32; 2], current: usize, age: u32 },
    Windowed { max: WindowedMax, round: u32 },
}

impl Aggregation {
    pub(super) fn slots(now: u64) -> Aggregation {
        Aggregation { start: now, acked: 0, excess: Excess::Slots { max: [0; 2], current: 0, age: 0 } }
    }

    pub(super) fn windowed(now: u64) -> Aggregation {
        Aggregation { start: now, acked: 0, excess: Excess::Windowed { max: WindowedMax::default(), round: 0 } }
    }

    /// Idle time is not a lump of ACKs (spec section 13).
    pub(super) fn restart(&mut self, now: u64) {
        (self.start, self.acked) = (now, 0);
    }

    /// An ACK. `is_full`: STARTUP is over; the memory is longer then.
    pub(super) fn on_ack(&mut self, sk: &Socket, rs: &RateSample, bw: u64, is_round_start: bool, is_full: bool) {
        if rs.acked_sacked == 0 || rs.delivered < 0 || rs.interval_us <= 0 {
            return;
        }
        if is_round_start {
            self.excess.age(is_full);
        }
        let mut expected = packets(bw, sk.delivered_mstamp.saturating_sub(self.start));
        let acked = self.acked.saturating_add(rs.acked_sacked);
        // ACKs no faster than the bandwidth: no lump, the next may begin here.
        if self.acked <= expected || acked >= EPOCH_LIMIT {
            (self.start, self.acked, expected) = (sk.delivered_mstamp, 0, 0);
        }
        self.acked = self.acked.saturating_add(rs.acked_sacked).min(EPOCH_LIMIT - 1);
        self.excess.add(self.acked.saturating_sub(expected).min(sk.snd_cwnd), is_full);
    }

    /// Packets to add to the window.
    pub(super) fn cwnd(&self, bw: u64) -> u32 {
        self.max().min(packets(bw, MAX_US))
    }

    /// The most packets that came in excess.
    pub(super) fn max(&self) -> u32 {
        match &self.excess {
            Excess::Slots { max, .. } => max[0].max(max[1]),
            Excess::Windowed { max, .. } => max.get() as u32,
        }
    }
}

impl Excess {
    fn age(&mut self, is_full: bool) {
        match self {
            Excess::Slots { max, current, age } => {
                *age = (*age + 1).min(31);
                if *age >= if is_full { SLOT_ROUNDS } else { STARTUP_SLOT_ROUNDS } {
                    (*age, *current) = (0, *current ^ 1);
                    max[*current] = 0;
                }
            }
            Excess::Windowed { round, .. } => *round = round.wrapping_add(1),
        }
    }

    fn add(&mut self, excess: u32, is_full: bool) {
        match self {
            Excess::Slots { max, current, .. } => max[*current] = max[*current].max(excess),
            Excess::Windowed { max, round } => {
                let window = if is_full { WINDOW_ROUNDS } else { STARTUP_WINDOW_ROUNDS };
                max.update(window, *round, u64::from(excess));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet per 1000 us.
    const BW: u64 = (1 << 24) / 1000;

    fn ack(aggregation: &mut Aggregation, now: u64, acked: u32, is_round_start: bool) {
        let sk = Socket { delivered_mstamp: now, snd_cwnd: 100, ..Socket::new(1448, 1) };
        let rs = RateSample { acked_sacked: acked, interval_us: 1, ..RateSample::default() };
        aggregation.on_ack(&sk, &rs, BW, is_round_start, true);
    }

    #[test]
    fn a_lump_of_acks_is_remembered_for_5_to_10_rounds() {
        let mut aggregation = Aggregation::slots(0);
        ack(&mut aggregation, 20_000, 20, false);
        assert_eq!((aggregation.max(), aggregation.cwnd(BW)), (20, 20));
        for round in 0..10 {
            assert_eq!(aggregation.max(), 20, "round {round}");
            ack(&mut aggregation, 60_000 + round * 1_010, 1, true);
        }
        assert_eq!(aggregation.max(), 1);
    }

    #[test]
    fn the_bonus_is_at_most_100_ms_of_bandwidth() {
        let mut aggregation = Aggregation::windowed(0);
        ack(&mut aggregation, 1_000, 90, false);
        assert_eq!(aggregation.cwnd(BW / 2), 49);
    }
}
