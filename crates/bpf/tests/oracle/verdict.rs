//! The findings of the oracle.

use std::fmt::{self, Display, Formatter};

use anyhow::{Context, Result};

use crate::Bound;

/// Counts of rate samples; volumes in packets.
pub struct Verdict {
    samples: u64,
    exact: u64,
    error: u64,
    inflight: u64,
    worst: u64,
    lost_wrong: u64,
    lost_error: u64,
    misses: u64,
    without_truth: u64,
    retransmitted: u64,
    most_inflight: u64,
    flows: u64,
}

impl Verdict {
    /// The verdict from the words of `result`, in the order of `bpf/tests/oracle.h`.
    pub fn new(words: Vec<u64>) -> Result<Verdict> {
        let mut words = words.into_iter();
        let mut next = || words.next().context("the result is too short");
        Ok(Verdict {
            samples: next()?,
            exact: next()?,
            error: next()?,
            inflight: next()?,
            worst: next()?,
            lost_wrong: next()?,
            lost_error: next()?,
            misses: next()?,
            without_truth: next()?,
            retransmitted: next()?,
            most_inflight: next()?,
            flows: next()?,
        })
    }

    pub const HEADER: &str = "                     path  samples  flows  exact %  mean error  worst  in flight mean  most  \
                              error %  lost: wrong %  mean error  misses  unseen  retransmitted";

    pub fn holds(&self, bound: &Bound) -> bool {
        // Otherwise the path did not do what it is for, or the oracle looked elsewhere.
        let enough = self.samples > 1000 && self.misses * 100 < self.samples && self.without_truth * 20 < self.samples;
        let good = match bound {
            Bound::Exact => {
                self.share(self.exact) >= 0.97 && self.share(self.error) <= 0.2 && self.share(self.lost_wrong) <= 0.01
            }
            Bound::Small => self.error * 200 <= self.inflight && self.most_inflight > 5000,
        };
        enough && good
    }

    fn share(&self, part: u64) -> f64 {
        part as f64 / self.samples.max(1) as f64
    }
}

impl Display for Verdict {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{:>8}  {:>5}  {:>7.2}  {:>10.3}  {:>5}  {:>14.1}  {:>4}  {:>7.3}  {:>13.2}  {:>10.3}  {:>6}  {:>6}  {:>13}",
            self.samples,
            self.flows,
            100.0 * self.share(self.exact),
            self.share(self.error),
            self.worst,
            self.share(self.inflight),
            self.most_inflight,
            100.0 * self.error as f64 / self.inflight.max(1) as f64,
            100.0 * self.share(self.lost_wrong),
            self.share(self.lost_error),
            self.misses,
            self.without_truth,
            self.retransmitted,
        )
    }
}
