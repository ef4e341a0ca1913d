//! Samples of a time, in little memory.

use hdrhistogram::Histogram;

/// Samples that are kept as they are.
const FEW: usize = 32;
/// Values beyond it, 1 h, count as it.
const MOST_US: u64 = 3_600_000_000;

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
    Many(Box<Histogram<u32>>),
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
        let in_us = |ns: i64| (ns as u64).div_ceil(1_000).min(MOST_US);
        match &mut self.kept {
            Kept::Few(few) if few.len() < FEW => few.push(ns),
            Kept::Few(few) => {
                let bounds = "a histogram from 1 us to 1 h with two digits";
                let mut many = Histogram::new_with_bounds(1, MOST_US, 2).expect(bounds);
                few.iter().chain([&ns]).for_each(|&ns| many.saturating_record(in_us(ns)));
                self.kept = Kept::Many(Box::new(many));
            }
            Kept::Many(many) => many.saturating_record(in_us(ns)),
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
            Kept::Many(many) => Some((many.value_at_quantile(share) as i64 * 1_000).min(self.most_ns)),
        }
    }
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
