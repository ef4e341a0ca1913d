//! RTT estimate, retransmission timeout (RFC 6298) and minimum RTT, as Linux keeps them.

use crate::tcp::ticks;

/// Least retransmission timeout, us: `TCP_RTO_MIN`. RFC 6298 section 2.4 has a second.
pub(crate) const RTO_MIN_US: u32 = 200_000;
/// Largest, us: `TCP_RTO_MAX`.
pub(crate) const RTO_MAX_US: u64 = 120_000_000;
/// While there is no RTT sample, us (RFC 6298 section 2.1).
pub(crate) const RTO_INITIAL_US: u64 = 1_000_000;
/// `net.ipv4.tcp_min_rtt_wlen`, us.
const MIN_RTT_WINDOW_US: u64 = 300_000_000;

/// SRTT lives in the socket, in units of us / 8; the rest is here, in us.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// Mean deviation, in units of us / 4.
    mdev: u32,
    /// Its maximum in the present round.
    mdev_max: u32,
    /// RTTVAR, times 4: what the timeout adds to SRTT.
    pub rttvar: u32,
    /// The round ends when this is acknowledged.
    round_end: u64,
    /// The timeout without back-off, at most [`RTO_MAX_US`], and the same in whole ticks.
    rto_us: u32,
    rounded_rto_us: u32,
    min: MinRtt,
}

impl Default for RttEstimator {
    fn default() -> RttEstimator {
        let rto_us = RTO_INITIAL_US as u32;
        let rounded_rto_us = ticks::round_up_us(RTO_INITIAL_US) as u32;
        RttEstimator { mdev: 0, mdev_max: 0, rttvar: 0, round_end: 0, rto_us, rounded_rto_us, min: MinRtt::default() }
    }
}

impl RttEstimator {
    /// A sample, `rtt` us. Returns the new SRTT, us / 8.
    ///
    /// Linux's variance differs from RFC 6298 section 2.3: it follows the greatest deviation of a round, falls slowly, and
    /// hardly rises while the RTT falls; so a queue that drains doesn't let the timeout jump up.
    pub(crate) fn sample(&mut self, srtt: u32, rtt: u32, snd_una: u64, snd_nxt: u64) -> u32 {
        let srtt = if srtt == 0 {
            self.mdev = rtt.saturating_mul(2);
            self.rttvar = self.mdev.max(RTO_MIN_US);
            (self.mdev_max, self.round_end) = (self.rttvar, snd_nxt);
            rtt.saturating_mul(8)
        } else {
            self.deviate(i64::from(rtt) - i64::from(srtt >> 3));
            if snd_una > self.round_end {
                self.end_round(snd_nxt);
            }
            (i64::from(srtt) + i64::from(rtt) - i64::from(srtt >> 3)).max(1) as u32
        };
        self.rto_us = (u64::from(srtt >> 3) + u64::from(self.rttvar)).min(RTO_MAX_US) as u32;
        self.rounded_rto_us = ticks::round_up_us(self.rto_us.into()) as u32;
        srtt
    }

    fn deviate(&mut self, error: i64) {
        let mut change = error.abs() - i64::from(self.mdev >> 2);
        if error < 0 && change > 0 {
            change >>= 3;
        }
        self.mdev = (i64::from(self.mdev) + change).max(0) as u32;
        if self.mdev > self.mdev_max {
            self.mdev_max = self.mdev;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
    }

    fn end_round(&mut self, snd_nxt: u64) {
        self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) >> 2;
        (self.round_end, self.mdev_max) = (snd_nxt, RTO_MIN_US);
    }

    /// Mean deviation of the RTT, us.
    pub(crate) fn deviation_us(&self) -> u32 {
        self.mdev >> 2
    }

    /// A sample for the minimum, at `now` us. Returns the minimum.
    pub(crate) fn sample_min(&mut self, rtt: u32, now: u64) -> u32 {
        self.min.sample(rtt.max(1), now)
    }

    /// The timeout after `backoff` timeouts in a row (RFC 6298 section 5.5), in whole ticks.
    pub(crate) fn backed_off(&self, backoff: u32) -> u64 {
        (u64::from(self.rounded_rto_us) << backoff.min(16)).min(RTO_MAX_US)
    }
}

/// The least RTT of the last 300 s, by three candidates (Kathleen Nichols' windowed filter): the best, the best after it,
/// and the best after that.
#[derive(Clone, Debug, Default)]
struct MinRtt {
    /// (when, us; RTT, us).
    best: Option<[(u64, u32); 3]>,
}

impl MinRtt {
    fn sample(&mut self, rtt: u32, now: u64) -> u32 {
        let new = (now, rtt);
        let Some(best) = self.best.as_mut().filter(|best| rtt > best[0].1 && now - best[2].0 <= MIN_RTT_WINDOW_US)
        else {
            self.best = Some([new; 3]);
            return rtt;
        };
        if rtt <= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if rtt <= best[2].1 {
            best[2] = new;
        }
        let age = now - best[0].0;
        if age > MIN_RTT_WINDOW_US {
            *best = [best[1], best[2], new];
            if now - best[0].0 > MIN_RTT_WINDOW_US {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > MIN_RTT_WINDOW_US / 4 {
            // A quarter of the window without a second choice: take one from the second quarter.
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > MIN_RTT_WINDOW_US / 2 {
            best[2] = new;
        }
        best[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_of_a_steady_path_is_its_rtt_and_200_ms() {
        let (mut rtt, mut srtt) = (RttEstimator::default(), 0);
        for round in 0..100 {
            srtt = rtt.sample(srtt, 50_000, round * 1000 + 1, (round + 1) * 1000);
        }
        assert_eq!((srtt, rtt.rto_us), (400_000, 250_000));
    }

    #[test]
    fn a_first_sample_of_300_ms_gives_900_ms() {
        // RFC 6298 section 2.2: SRTT + 4 * RTT/2.
        let mut rtt = RttEstimator::default();
        assert_eq!(rtt.sample(0, 300_000, 1, 1), 2_400_000);
        assert_eq!(rtt.rto_us, 900_000);
        assert_eq!((rtt.backed_off(1), rtt.backed_off(30)), (1_800_000, RTO_MAX_US));
    }

    #[test]
    fn a_falling_rtt_raises_the_timeout_less_than_a_rising_one() {
        let timeout = |rtts: [u32; 2]| {
            let (mut rtt, mut srtt) = (RttEstimator::default(), 0);
            for (round, sample) in rtts.iter().flat_map(|&rtt| [rtt; 50]).enumerate() {
                srtt = rtt.sample(srtt, sample, round as u64 * 1000 + 1, (round as u64 + 1) * 1000);
                if round == 50 {
                    break;
                }
            }
            rtt.rttvar
        };
        assert!(timeout([1_000_000, 100_000]) < timeout([100_000, 1_000_000]));
    }

    #[test]
    fn the_minimum_is_forgotten_after_300_s() {
        let mut rtt = RttEstimator::default();
        let mut min = 0;
        for second in 0..290 {
            min = rtt.sample_min(if second == 0 { 10 } else { 20 }, second * 1_000_000);
        }
        assert_eq!(min, 10);
        for second in 290..302 {
            min = rtt.sample_min(20, second * 1_000_000);
        }
        assert_eq!(min, 20);
    }

    /// The second choice is of the second quarter of the window, the third of its second half: each takes over in time.
    #[test]
    fn minima_are_forgotten_one_after_another() {
        let mut rtt = RttEstimator::default();
        let samples = [(0, 10), (75, 15), (76, 20), (150, 25), (151, 30), (300, 35), (301, 40), (376, 45), (377, 50)];
        let minima = samples.map(|(second, sample)| rtt.sample_min(sample, second * 1_000_000));
        assert_eq!(minima, [10, 10, 10, 10, 10, 10, 20, 20, 30]);
    }
}
