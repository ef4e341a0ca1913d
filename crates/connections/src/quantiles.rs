//! Samples of a time, in little memory.

use std::collections::VecDeque;

/// Samples that are kept as they are.
const FEW: usize = 32;
/// Bits of a value that its bucket tells: a bucket is less than 1 % wide.
const BITS: u32 = 7;
/// The same of the buckets that are shown.
const COARSE_BITS: u32 = 2;

/// Times in ns: least, mean, most and quantiles. Quantiles of many are exact to 1 %, and to 1 us.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quantiles {
    pub(crate) count: u64,
    pub(crate) least_ns: Option<i64>,
    pub(crate) most_ns: i64,
    sum_ns: i128,
    kept: Kept,
}

#[derive(Clone, Debug)]
enum Kept {
    Few(Vec<i64>),
    Many(Histogram),
}

impl Default for Kept {
    fn default() -> Kept {
        Kept::Few(Vec::new())
    }
}

impl Quantiles {
    /// Add a sample, not negative.
    pub(crate) fn add(&mut self, ns: i64) {
        let ns = ns.max(0);
        self.count += 1;
        self.sum_ns += i128::from(ns);
        self.least_ns = Some(self.least_ns.map_or(ns, |least| least.min(ns)));
        self.most_ns = self.most_ns.max(ns);
        match &mut self.kept {
            Kept::Few(few) if few.len() < FEW => few.push(ns),
            Kept::Few(few) => {
                let mut many = Histogram::default();
                few.iter().chain([&ns]).for_each(|&ns| many.add(ns));
                self.kept = Kept::Many(many);
            }
            Kept::Many(many) => many.add(ns),
        }
    }

    /// The mean in ns.
    pub(crate) fn mean_ns(&self) -> Option<i64> {
        (self.count > 0).then(|| (self.sum_ns / i128::from(self.count)) as i64)
    }

    /// The most in ns.
    pub(crate) fn max_ns(&self) -> Option<i64> {
        (self.count > 0).then_some(self.most_ns)
    }

    /// Numbers of samples by times, which are above the first and up to the second, in ns and in ascending order: four times
    /// to each doubling, and at least 1 us apart.
    pub(crate) fn spread(&self) -> Vec<(i64, i64, u64)> {
        let mut found: Vec<(i64, i64, u64)> = Vec::new();
        let mut add = |us: u64, count: u64| {
            let shift = (u64::BITS - us.leading_zeros()).saturating_sub(COARSE_BITS + 1);
            let (low, high) = ((us >> shift) << shift, ((us >> shift) + 1) << shift);
            // Times were rounded up to us: what took no time is with what took up to one.
            let above_ns = low.saturating_sub(1) as i64 * 1_000;
            let up_to_ns = (high as i64 - 1).max(1) * 1_000;
            match found.last_mut() {
                Some(last) if last.0 == above_ns => last.2 += count,
                _ => found.push((above_ns, up_to_ns, count)),
            }
        };
        match &self.kept {
            Kept::Few(few) => {
                let mut sorted: Vec<u64> = few.iter().map(|&ns| (ns as u64).div_ceil(1_000)).collect();
                sorted.sort_unstable();
                sorted.into_iter().for_each(|us| add(us, 1));
            }
            Kept::Many(many) => {
                let counts = many.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
                counts.for_each(|(at, &count)| add(lowest_us(many.first + at).0, count.into()));
            }
        }
        found
    }

    /// The value in ns that a share of the samples does not exceed.
    pub(crate) fn quantile_ns(&self, share: f64) -> Option<i64> {
        match &self.kept {
            _ if self.count == 0 => None,
            Kept::Few(few) => {
                let mut sorted = few.clone();
                sorted.sort_unstable();
                let at = (share * sorted.len() as f64).ceil() as usize;
                Some(sorted[at.clamp(1, sorted.len()) - 1])
            }
            Kept::Many(many) => Some(many.quantile_ns(share, self.count).min(self.most_ns)),
        }
    }
}

/// Counts of times by buckets, which are 1 us wide up to 256 us, and then twice as wide with each power of two. It has only
/// the buckets between the least and the largest: a million connections have four each.
#[derive(Clone, Debug, Default)]
struct Histogram {
    first: usize,
    counts: VecDeque<u32>,
}

impl Histogram {
    fn add(&mut self, ns: i64) {
        let us = (ns as u64).div_ceil(1_000);
        let shift = (u64::BITS - us.leading_zeros()).saturating_sub(BITS + 1);
        let bucket = ((shift as usize) << BITS) + (us >> shift) as usize;
        if self.counts.is_empty() {
            self.first = bucket;
        }
        while bucket < self.first {
            self.counts.push_front(0);
            self.first -= 1;
        }
        let at = bucket - self.first;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] = self.counts[at].saturating_add(1);
    }

    /// The largest time of the bucket up to which a share of all `count` samples lies.
    fn quantile_ns(&self, share: f64, count: u64) -> i64 {
        let wanted = ((share * count as f64).ceil() as u64).max(1);
        let mut so_far = 0;
        let reaches = |&count: &u32| {
            so_far += u64::from(count);
            so_far >= wanted
        };
        let bucket = self.first + self.counts.iter().position(reaches).unwrap_or(self.counts.len().saturating_sub(1));
        let (lowest, width) = lowest_us(bucket);
        ((lowest + width - 1) * 1_000) as i64
    }
}

/// The least time of a bucket and its width, in us.
fn lowest_us(bucket: usize) -> (u64, u64) {
    let shift = (bucket >> BITS).saturating_sub(1);
    (((bucket - (shift << BITS)) as u64) << shift, 1 << shift)
}

/// Smoothed RTT and the timer of retransmissions (RFC 6298, with Linux' least of 200 ms).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timer {
    srtt_ns: i64,
    rttvar_ns: i64,
}

/// Linux' least distance of the timer from the smoothed RTT.
const LEAST_VARIATION_NS: i64 = 200_000_000;
/// The timer before the first sample.
const INITIAL_RTO_NS: i64 = 1_000_000_000;

impl Timer {
    /// Take a sample.
    pub(crate) fn sample(&mut self, rtt_ns: i64) {
        if self.srtt_ns == 0 {
            (self.srtt_ns, self.rttvar_ns) = (rtt_ns.max(1), rtt_ns / 2);
        } else {
            self.rttvar_ns += ((self.srtt_ns - rtt_ns).abs() - self.rttvar_ns) / 4;
            self.srtt_ns = (self.srtt_ns + (rtt_ns - self.srtt_ns) / 8).max(1);
        }
    }

    /// The smoothed RTT in ns.
    pub(crate) fn srtt_ns(&self) -> Option<i64> {
        (self.srtt_ns > 0).then_some(self.srtt_ns)
    }

    /// The timer in ns.
    pub(crate) fn rto_ns(&self) -> i64 {
        match self.srtt_ns() {
            Some(srtt) => srtt + (4 * self.rttvar_ns).max(LEAST_VARIATION_NS),
            None => INITIAL_RTO_NS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_exact_to_a_percent(samples in prop::collection::vec(0_i64..4_000_000_000_000, 1..200), share in 0.01_f64..1.0) {
            let mut quantiles = Quantiles::default();
            samples.iter().for_each(|&ns| quantiles.add(ns));
            let mut sorted = samples.clone();
            sorted.sort_unstable();
            let exact = sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1];
            let found = quantiles.quantile_ns(share).expect("there are samples");
            prop_assert!((exact..=exact + exact / 100 + 1_000).contains(&found), "{} for {}", found, exact);
        }

        #[test]
        fn a_spread_has_each_sample_once(samples in prop::collection::vec(0_i64..4_000_000_000, 1..200)) {
            let mut quantiles = Quantiles::default();
            samples.iter().for_each(|&ns| quantiles.add(ns));
            let spread = quantiles.spread();
            prop_assert!(spread.windows(2).all(|two| two[0].1 <= two[1].0));
            for &(above, up_to, count) in &spread {
                let within = |ns: &&i64| (above < **ns || (above == 0 && **ns == 0)) && **ns <= up_to;
                prop_assert_eq!(samples.iter().filter(within).count() as u64, count);
                prop_assert!(up_to - above <= (above / 4 + 1_000).max(1_000), "{} to {}", above, up_to);
            }
            prop_assert_eq!(spread.iter().map(|one| one.2).sum::<u64>(), samples.len() as u64);
        }
    }
}
