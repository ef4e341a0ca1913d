use super::State;
use plan::Stream;

/// netem's `loss PERCENT CORRELATION`, with its bias.
///
/// Each packet's number is that of the packet before times the correlation plus a uniform one times the rest, as
/// tc-netem(8) documents it. Such a mean is not uniform but gathers around the middle: numbers below a small
/// probability are much rarer than that probability. With 0.5 % and a correlation of 25 % it is one packet in millions.
#[derive(Clone, Debug)]
pub(super) struct Netem {
    /// Lost if its number is below: probability times 2^32.
    limit: u64,
    /// Times 2^32.
    correlation: u64,
    last: Option<u32>,
}

const ONE: u64 = 1 << 32;

impl Netem {
    pub(super) fn new(probability: f64, correlation: f64) -> Netem {
        let scaled = |share: f64| (share * ONE as f64) as u64;
        Netem { limit: scaled(probability), correlation: scaled(correlation), last: None }
    }
}

impl State for Netem {
    fn loses(&mut self, n: u64, numbers: Stream) -> bool {
        let number = numbers.at(n);
        let fresh = number >> 32;
        // The first packet has none before it: another uniform number replaces it.
        let last = u64::from(self.last.unwrap_or(number as u32));
        // The sum is at most (2^32 - 1) * 2^32: no overflow.
        let mixed = ((fresh * (ONE - self.correlation) + last * self.correlation) >> 32) as u32;
        self.last = Some(mixed);
        u64::from(mixed) < self.limit
    }
}
