use cc::Random;

use super::{SECOND, WIRE};

/// A FIFO with a rate, then a delay.
pub struct Bottleneck {
    /// bit/s
    pub rate: u64,
    /// The delay of data and ACK together, ns.
    pub rtt: u64,
    /// Packets that may wait.
    pub buffer: usize,
    /// Random loss, per million.
    pub loss: u32,
    /// Packets are CE-marked where more than this wait; 0: never.
    pub mark_above: usize,
    pub policer: Option<Policer>,
    /// The next packets that are dropped, whatever else.
    pub drop_next: u32,
    pub random: Random,
    /// The time at which each of the packets in it has left, ns.
    departures: std::collections::VecDeque<u64>,
}

/// A token bucket that drops.
pub struct Policer {
    /// bit/s
    pub rate: u64,
    /// bits
    pub burst: u64,
    pub tokens: u64,
    pub at: u64,
}

impl Bottleneck {
    pub fn new(rate: u64, rtt: u64, buffer: usize) -> Bottleneck {
        Bottleneck {
            rate,
            rtt,
            buffer,
            loss: 0,
            mark_above: 0,
            policer: None,
            drop_next: 0,
            random: Random::new(1),
            departures: Default::default(),
        }
    }

    /// Packets that wait or are being sent.
    pub fn backlog(&mut self, now: u64) -> usize {
        while self.departures.front().is_some_and(|&at| at <= now) {
            self.departures.pop_front();
        }
        self.departures.len()
    }

    /// The arrival of the packet's ACK, and whether it is marked; `None`: it is dropped.
    pub fn send(&mut self, now: u64) -> Option<(u64, bool)> {
        if self.drop_next > 0 {
            self.drop_next -= 1;
            return None;
        }
        if self.random.below(1_000_000) < self.loss || !self.policer.as_mut().is_none_or(|p| p.admits(now)) {
            return None;
        }
        let backlog = self.backlog(now);
        if backlog > self.buffer {
            return None;
        }
        let start = self.departures.back().copied().unwrap_or(0).max(now);
        let departure = start + WIRE * 8 * SECOND / self.rate;
        self.departures.push_back(departure);
        Some((departure + self.rtt, self.mark_above > 0 && backlog > self.mark_above))
    }
}

impl Policer {
    pub fn new(rate: u64, burst_packets: u64) -> Policer {
        let burst = burst_packets * WIRE * 8;
        Policer { rate, burst, tokens: burst, at: 0 }
    }

    fn admits(&mut self, now: u64) -> bool {
        let earned = (u128::from(self.rate) * u128::from(now - self.at) / u128::from(SECOND)) as u64;
        if earned > 0 {
            self.tokens = (self.tokens + earned).min(self.burst);
            self.at = now;
        }
        let fits = self.tokens >= WIRE * 8;
        if fits {
            self.tokens -= WIRE * 8;
        }
        fits
    }
}
