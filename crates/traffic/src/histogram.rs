use hdrhistogram::Histogram as Hdr;
use serde::Serialize;

/// Spans of nanoseconds, kept to three significant digits.
#[derive(Clone, Debug)]
pub struct Histogram(Hdr<u64>);

/// Percentiles in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of the values are at most this.
    pub p50: f64,
    /// 99 % of the values are at most this.
    pub p99: f64,
    /// The largest value.
    pub max: f64,
}

impl Histogram {
    pub fn new() -> Histogram {
        Histogram(Hdr::new(3).expect("three significant digits are in range"))
    }

    /// A negative span (a clock read twice within its resolution) counts as 0.
    pub fn record(&mut self, nanos: i64) {
        self.0.record(nanos.max(0) as u64).expect("it grows to any value");
    }

    /// All zero if nothing was recorded.
    pub fn percentiles(&self) -> Percentiles {
        let us = |nanos: u64| nanos as f64 / 1e3;
        Percentiles {
            p50: us(self.0.value_at_quantile(0.5)),
            p99: us(self.0.value_at_quantile(0.99)),
            max: us(self.0.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_1_to_1000_us() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|us| histogram.record(us * 1_000));
        let p = histogram.percentiles();
        assert!((p.p50 - 500.0).abs() <= 1.0 && (p.p99 - 990.0).abs() <= 1.0 && (p.max - 1000.0).abs() <= 1.0, "{p:?}");
    }

    #[test]
    fn nothing_recorded_is_zero() {
        assert_eq!(Histogram::new().percentiles(), Percentiles::default());
    }
}
