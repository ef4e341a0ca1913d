use super::State;
use crate::chance::threshold;
use plan::Stream;

/// Bursts of equal length that begin at random; one may follow on another at once.
#[derive(Clone, Debug)]
pub(super) struct Burst {
    /// Limit for a uniform number, of a packet outside a burst: it begins one.
    begins: u128,
    packets: u64,
    /// Packets of the burst that are still to be lost.
    left: u64,
}

impl Burst {
    /// (1 - q) / q packets get through between two bursts of n packets on average, if each outside begins one with
    /// probability q. This is n (1 - p) / p for a share p of lost packets.
    pub(super) fn new(probability: f64, packets: u64) -> Burst {
        let begins =
            if probability == 0.0 { 0.0 } else { probability / (probability + packets as f64 * (1.0 - probability)) };
        Burst { begins: threshold(begins), packets, left: 0 }
    }
}

impl State for Burst {
    fn loses(&mut self, n: u64, numbers: Stream) -> bool {
        if self.left == 0 && u128::from(numbers.at(n)) < self.begins {
            self.left = self.packets;
        }
        let lost = self.left > 0;
        self.left -= u64::from(lost);
        lost
    }
}

/// Every nth packet.
#[derive(Clone, Debug)]
pub(super) struct Periodic {
    every: u64,
    /// Packets that get through before the next loss.
    left: u64,
}

impl Periodic {
    pub(super) fn new(every: u64, offset: u64) -> Periodic {
        Periodic { every, left: offset }
    }
}

impl State for Periodic {
    fn loses(&mut self, _: u64, _: Stream) -> bool {
        let lost = self.left == 0;
        self.left = if lost { self.every } else { self.left } - 1;
        lost
    }
}

/// Losses as recorded.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    lost: Vec<u64>,
    period: Option<u64>,
    /// Index of the next packet in the record.
    position: u64,
    /// Index in `lost` of the next loss.
    next: usize,
}

impl Trace {
    pub(super) fn new(lost: Vec<u64>, period: Option<u64>) -> Trace {
        Trace { lost, period, position: 0, next: 0 }
    }
}

impl State for Trace {
    fn loses(&mut self, _: u64, _: Stream) -> bool {
        let lost = self.lost.get(self.next) == Some(&self.position);
        self.next += usize::from(lost);
        self.position += 1;
        if Some(self.position) == self.period {
            (self.position, self.next) = (0, 0);
        }
        lost
    }
}
