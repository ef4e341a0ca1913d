use plan::Distribution;
use units::Duration;

use crate::quantile::{normal_cdf, normal_quantile, uniform};
use plan::Stream;

/// More than any run: 73 years. Longer delays, which a Pareto distribution of small shape has, are as long.
const MOST: f64 = (i64::MAX / 4) as f64;

/// Random delays with a given distribution, whatever their correlation: a Gaussian copula. Normal scores z follow
/// z' = c z + sqrt(1 - c^2) e with standard normal e, and the delay is the distribution's quantile at the share of scores
/// below z. (Filtering the delays themselves, as netem does, would narrow their distribution.)
#[derive(Clone, Debug)]
pub(super) struct Jitter {
    distribution: Distribution,
    correlation: f64,
    /// sqrt(1 - c^2).
    fresh: f64,
    stream: Stream,
    /// The normal score of the packet before.
    score: Option<f64>,
}

impl Jitter {
    pub(super) fn new(spec: &plan::Jitter, seed: u64, element: &str) -> Jitter {
        let plan::Jitter { distribution, correlation } = spec.clone();
        let fresh = libm::sqrt(1.0 - correlation * correlation);
        Jitter { distribution, correlation, fresh, stream: Stream::new(seed, element), score: None }
    }

    /// The jitter of packet `n`; call it for each packet in turn.
    pub(super) fn next(&mut self, n: u64) -> Duration {
        let u = uniform(self.stream.at(n));
        if self.correlation == 0.0 {
            return delay(&self.distribution, u);
        }
        let e = normal_quantile(u);
        let z = self.score.map_or(e, |last| self.correlation * last + self.fresh * e);
        self.score = Some(z);
        delay(&self.distribution, normal_cdf(z))
    }

    /// Another distribution or correlation; scores go on from the last one.
    pub(super) fn configure(&mut self, spec: &plan::Jitter) {
        let score = if self.correlation == 0.0 { None } else { self.score };
        *self = Jitter { stream: self.stream, score, ..Jitter::new(spec, 0, "") };
    }
}

/// The delay below which the share `p` lies, to the nearest nanosecond, not negative.
fn delay(distribution: &Distribution, p: f64) -> Duration {
    let ns = |d: Duration| d.as_nanos() as f64;
    let quantile = match distribution {
        Distribution::Uniform { min_ns, max_ns } => ns(*min_ns) + (ns(*max_ns) - ns(*min_ns)) * p,
        Distribution::Normal { mean_ns, sd_ns } => ns(*mean_ns) + ns(*sd_ns) * normal_quantile(p),
        Distribution::Pareto { min_ns, shape } => ns(*min_ns) * libm::pow(1.0 - p, -1.0 / shape),
        Distribution::Table { quantiles_ns } => {
            let place = p * (quantiles_ns.len() - 1) as f64;
            let below = ns(quantiles_ns[place as usize]);
            let above = quantiles_ns.get(place as usize + 1).map_or(below, |&d| ns(d));
            below + (above - below) * (place - libm::floor(place))
        }
    };
    Duration(libm::rint(quantile.clamp(0.0, MOST)) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::{assert_distribution, assert_mean, batches, lag_product};

    const N: usize = 1 << 18;
    const MS: f64 = 1e6;

    fn uniform_ms(min: i64, max: i64) -> Distribution {
        Distribution::Uniform { min_ns: Duration::from_millis(min), max_ns: Duration::from_millis(max) }
    }

    fn normal_ms(mean: i64, sd: i64) -> Distribution {
        Distribution::Normal { mean_ns: Duration::from_millis(mean), sd_ns: Duration::from_millis(sd) }
    }

    fn pareto_ms(min: i64, shape: f64) -> Distribution {
        Distribution::Pareto { min_ns: Duration::from_millis(min), shape }
    }

    fn table_ms(quantiles: &[i64]) -> Distribution {
        Distribution::Table { quantiles_ns: quantiles.iter().map(|&q| Duration::from_millis(q)).collect() }
    }

    fn delays(distribution: &Distribution, correlation: f64, n: usize) -> Vec<i64> {
        let mut jitter =
            Jitter::new(&plan::Jitter { distribution: distribution.clone(), correlation }, 3, "link/jitter");
        (0..n as u64).map(|n| jitter.next(n).as_nanos()).collect()
    }

    /// Distribution functions of ns, each by a separate formula and not from the quantiles.
    fn cdf(distribution: &Distribution, x: f64) -> f64 {
        let ns = |d: &Duration| d.as_nanos() as f64;
        match distribution {
            _ if x < 0.0 => 0.0,
            Distribution::Uniform { min_ns, max_ns } => ((x - ns(min_ns)) / (ns(max_ns) - ns(min_ns))).clamp(0.0, 1.0),
            Distribution::Normal { mean_ns, sd_ns } => 0.5 * libm::erfc((ns(mean_ns) - x) / ns(sd_ns) / 2f64.sqrt()),
            Distribution::Pareto { min_ns, .. } if x < ns(min_ns) => 0.0,
            Distribution::Pareto { min_ns, shape } => 1.0 - (ns(min_ns) / x).powf(*shape),
            Distribution::Table { quantiles_ns: q } => {
                let i = q.partition_point(|d| ns(d) <= x);
                match i {
                    0 => 0.0,
                    i if i == q.len() => 1.0,
                    i => ((i - 1) as f64 + (x - ns(&q[i - 1])) / (ns(&q[i]) - ns(&q[i - 1]))) / (q.len() - 1) as f64,
                }
            }
        }
    }

    #[test]
    fn distributions_are_kept_whatever_the_correlation() {
        let distributions = [
            uniform_ms(2, 9),
            normal_ms(20, 3),
            // An eighth of it is below zero, and arrives at zero.
            normal_ms(20, 17),
            pareto_ms(1, 2.5),
            pareto_ms(1, 1.1),
            table_ms(&[1, 2, 2, 3, 50]),
        ];
        for distribution in distributions {
            // Every so many, so that what is left of the correlation is below 1e-5: the test wants independent numbers.
            for (correlation, stride, n) in [(0.0, 1, N), (0.3, 10, N), (0.9, 110, 4 * N)] {
                let sample: Vec<i64> = delays(&distribution, correlation, n).into_iter().step_by(stride).collect();
                let what = format!("{distribution:?} with correlation {correlation}");
                assert_distribution(&sample, |x| cdf(&distribution, x), &what);
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        // Pareto: mean a m / (a - 1), variance m^2 a / ((a - 1)^2 (a - 2)); a = 5 for a finite fourth moment.
        let moments = [
            (uniform_ms(2, 8), 5.0, 6.0 / 12f64.sqrt()),
            (normal_ms(40, 4), 40.0, 4.0),
            (pareto_ms(8, 5.0), 10.0, 8.0 * (5.0 / 48.0f64).sqrt()),
            (table_ms(&[3, 6]), 4.5, 3.0 / 12f64.sqrt()),
        ];
        for (distribution, mean, sd) in moments {
            for correlation in [0.0, 0.5] {
                let sample: Vec<f64> = delays(&distribution, correlation, N).iter().map(|&d| d as f64 / MS).collect();
                let what = format!("{distribution:?} with correlation {correlation}");
                assert_mean(&batches(&sample, |x| x.iter().sum::<f64>() / x.len() as f64), mean, &what);
                assert_mean(&batches(&sample, |x| lag_product(x, mean, 0)), sd * sd, &what);
            }
        }
    }

    #[test]
    fn normal_scores_are_correlated_geometrically() {
        for correlation in [0.0, 0.25, 0.9] {
            let scores: Vec<f64> =
                delays(&normal_ms(100, 1), correlation, N).iter().map(|&d| d as f64 / MS - 100.0).collect();
            for lag in [1, 2, 5] {
                let what = format!("correlation {correlation} at lag {lag}");
                assert_mean(&batches(&scores, |x| lag_product(x, 0.0, lag)), correlation.powi(lag as i32), &what);
            }
        }
    }

    #[test]
    fn uniform_delays_are_correlated_as_a_gaussian_copula_says() {
        // Kruskal: "Ordinal measures of association" (1958): ranks of normal pairs have correlation 6 / pi asin(c / 2).
        let (correlation, sd) = (0.6, 12.0 / 12f64.sqrt());
        let sample: Vec<f64> = delays(&uniform_ms(0, 12), correlation, N).iter().map(|&d| d as f64 / MS).collect();
        let expected = 6.0 / std::f64::consts::PI * f64::asin(correlation / 2.0) * sd * sd;
        assert_mean(&batches(&sample, |x| lag_product(x, 6.0, 1)), expected, "uniform");
    }

    #[test]
    fn with_correlation_1_all_delays_are_as_the_first() {
        let same = delays(&pareto_ms(1, 2.0), 1.0, 1000);
        assert!(same.iter().all(|&d| d == same[0]));
    }

    #[test]
    fn without_spread_nothing_varies() {
        for distribution in [normal_ms(3, 0), uniform_ms(3, 3), table_ms(&[3]), table_ms(&[3, 3])] {
            assert!(delays(&distribution, 0.0, 1000).iter().all(|&d| d == 3_000_000), "{distribution:?}");
            assert!(delays(&distribution, 0.5, 1000).iter().all(|&d| d == 3_000_000), "{distribution:?}");
        }
    }

    #[test]
    fn the_longest_tail_does_not_overflow() {
        let extreme = delay(&pareto_ms(1000, 1.0001), uniform(u64::MAX));
        assert_eq!(extreme, Duration(MOST as i64));
        assert_eq!(delay(&pareto_ms(1000, 1.0001), uniform(0)), Duration::from_secs(1));
        assert_eq!(delay(&normal_ms(1, 1), uniform(0)), Duration::ZERO);
    }

    #[test]
    fn a_change_goes_on_with_the_last_score() {
        let mut jitter = Jitter::new(&plan::Jitter { distribution: normal_ms(50, 1), correlation: 0.5 }, 7, "x");
        let last = (0..10).map(|n| jitter.next(n)).last().unwrap();
        jitter.configure(&plan::Jitter { distribution: normal_ms(500, 10), correlation: 1.0 });
        let score = (last.as_nanos() as f64 - 50.0 * MS) / MS;
        let now = jitter.next(10).as_nanos() as f64;
        assert!((now - (500.0 + 10.0 * score) * MS).abs() < 20.0, "{now} with score {score}");
    }

    proptest! {
        #[test]
        fn the_same_seed_gives_the_same_delays(correlation in 0.0f64..=1.0, seed: u64, min in 0i64..100, shape in 1.001f64..9.0) {
            let spec = plan::Jitter { distribution: pareto_ms(min, shape), correlation };
            let run = || {
                let mut jitter = Jitter::new(&spec, seed, "x");
                (0..100).map(|n| jitter.next(n)).collect::<Vec<_>>()
            };
            prop_assert_eq!(run(), run());
            prop_assert!(run().iter().all(|&d| d >= Duration::from_millis(min)));
        }
    }
}
