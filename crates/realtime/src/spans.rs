use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use units::Duration;

/// Spans of time, kept to three significant digits.
#[derive(Clone, Debug)]
pub struct Spans(Histogram<u64>);

/// Quantiles in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quantiles {
    /// Half of the spans are at most this.
    pub p50: f64,
    /// 99 of 100 are at most this.
    pub p99: f64,
    /// 999 of 1000 are at most this.
    pub p99_9: f64,
    /// The largest.
    pub max: f64,
}

impl Default for Spans {
    fn default() -> Spans {
        // No run survives spans of a minute; longer spans count as a minute. Bounds are fixed, so adding never
        // allocates.
        Spans(Histogram::new_with_bounds(1, 60_000_000_000, 3).expect("valid bounds"))
    }
}

impl Spans {
    /// A negative span (a clock read twice within its resolution) counts as 0.
    pub fn add(&mut self, span: Duration) {
        self.0.saturating_record(span.as_nanos().max(0) as u64);
    }

    /// Number of spans.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Number of spans longer than `span`.
    pub fn count_over(&self, span: Duration) -> u64 {
        self.0.len() - self.0.count_between(0, span.as_nanos() as u64)
    }

    /// 99 of 100 are at most this; zero if there are none.
    pub fn p99(&self) -> Duration {
        Duration(self.0.value_at_quantile(0.99) as i64)
    }

    /// The longest; zero if there are none.
    pub fn max(&self) -> Duration {
        Duration(self.0.max() as i64)
    }

    /// All are zero if there are no spans.
    pub fn quantiles(&self) -> Quantiles {
        let us = |nanos: u64| nanos as f64 / 1e3;
        Quantiles {
            p50: us(self.0.value_at_quantile(0.5)),
            p99: us(self.0.value_at_quantile(0.99)),
            p99_9: us(self.0.value_at_quantile(0.999)),
            max: us(self.0.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_1_to_1000_us() {
        let mut spans = Spans::default();
        (1..=1000).for_each(|us| spans.add(Duration::from_micros(us)));
        let q = spans.quantiles();
        assert_eq!((spans.p99().as_nanos() as f64 / 1e3, spans.max().as_nanos() as f64 / 1e3), (q.p99, q.max));
        for (found, exact) in [(q.p50, 500.0), (q.p99, 990.0), (q.p99_9, 999.0), (q.max, 1000.0)] {
            assert!((found - exact).abs() <= 1.0, "{q:?}");
        }
        assert_eq!(spans.count(), 1000);
        assert!(spans.count_over(Duration::from_micros(900)).abs_diff(100) <= 1);
    }

    #[test]
    fn nothing_is_zero() {
        assert_eq!(Spans::default().quantiles(), Quantiles::default());
    }
}
