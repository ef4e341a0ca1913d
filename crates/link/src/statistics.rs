//! Tests of random processes. Each assertion fails for a right process with at most the probability that it states,
//! were the seeds not fixed.

/// `of` for each of 64 batches of `series`: where the batches are much longer than the memory of the process, they are
/// independent estimates.
pub(crate) fn batches(series: &[f64], of: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    series.chunks_exact(series.len() / 64).map(of).collect()
}

/// Mean product of the deviations from `mean`, `lag` apart: the autocovariance.
pub(crate) fn lag_product(series: &[f64], mean: f64, lag: usize) -> f64 {
    let products = series.iter().zip(&series[lag..]).map(|(a, b)| (a - mean) * (b - mean));
    products.sum::<f64>() / (series.len() - lag) as f64
}

/// The mean of independent estimates is within 4.5 standard errors of `expected` (Student's t with 63 degrees of freedom,
/// two-sided: 3e-5).
pub(crate) fn assert_mean(estimates: &[f64], expected: f64, what: &str) {
    let n = estimates.len() as f64;
    let mean = estimates.iter().sum::<f64>() / n;
    let variance = estimates.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let error = (variance / n).sqrt();
    assert!((mean - expected).abs() <= 4.5 * error, "{what}: {mean} +- {error}, not {expected}");
}

/// Pearson's test of `counts` against `shares`, at 1e-4. The quantile is by Wilson and Hilferty (1931).
pub(crate) fn assert_chi_square(counts: &[f64], shares: &[f64], what: &str) {
    let n: f64 = counts.iter().sum();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{what}: shares of a whole");
    assert!(shares.iter().all(|share| share * n > 5.0), "{what}: too few for the test");
    let chi2: f64 = counts.iter().zip(shares).map(|(o, share)| (o - n * share).powi(2) / (n * share)).sum();
    let freedom = (counts.len() - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let limit = freedom * (1.0 - spread + 3.719 * spread.sqrt()).powi(3);
    assert!(chi2 < limit, "{what}: chi-square {chi2} above {limit} with {freedom} degrees of freedom");
}

/// Kolmogorov and Smirnov's test of independent whole numbers, rounded to the nearest, against the distribution function
/// of what was rounded, at 1e-4 (less where there are ties).
pub(crate) fn assert_distribution(sample: &[i64], cdf: impl Fn(f64) -> f64, what: &str) {
    let mut sorted = sample.to_vec();
    sorted.sort_unstable();
    let n = sorted.len() as f64;
    let distance = |x: i64| {
        let below = sorted.partition_point(|&y| y < x) as f64 / n;
        let up_to = sorted.partition_point(|&y| y <= x) as f64 / n;
        (cdf(x as f64 - 0.5) - below).abs().max((cdf(x as f64 + 0.5) - up_to).abs())
    };
    let furthest = sorted.iter().map(|&x| distance(x)).fold(0.0, f64::max) * n.sqrt();
    assert!(furthest < 2.226, "{what}: distance {furthest} / sqrt(n)");
}
