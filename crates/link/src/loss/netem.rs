/// netem's `loss PERCENT CORRELATION`, with its bias.
///
/// As tc-netem(8) documents it, each packet's number is that of the packet before times the correlation plus a uniform
/// one times the rest. Such a mean is not uniform but gathers around the middle, so that what is below a small
/// probability is much rarer than that: at 0.5 % with 25 % correlation one packet in millions.
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

    pub(super) fn loses(&mut self, number: u64) -> bool {
        let fresh = number >> 32;
        // The first packet has none before it: another uniform number stands in.
        let last = u64::from(self.last.unwrap_or(number as u32));
        // At most (2^32 - 1) * 2^32: no overflow.
        let mixed = ((fresh * (ONE - self.correlation) + last * self.correlation) >> 32) as u32;
        self.last = Some(mixed);
        u64::from(mixed) < self.limit
    }
}
