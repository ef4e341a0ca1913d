//! Order statistics, shares and fairness, as `docs/reference/metrics.md` defines them.

use serde::Serialize;

/// Order statistics of one quantity, by linear interpolation between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Percentiles {
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
}

impl Percentiles {
    /// The percentiles of integers, each multiplied by `scale`; `None` if there are none.
    pub(crate) fn of<T: Copy + Ord>(values: &mut [T], scaled: impl Fn(T) -> f64) -> Option<Percentiles> {
        values.sort_unstable();
        let at = |share| quantile(values, share, &scaled);
        Some(Percentiles { p50: at(0.50)?, p95: at(0.95)?, max: scaled(*values.last()?) })
    }
}

/// The value at `share` (0 to 1) of sorted values, interpolated linearly between ranks; `None` of no values.
pub(crate) fn quantile<T: Copy>(sorted: &[T], share: f64, scaled: impl Fn(T) -> f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (scaled(sorted[place.floor() as usize]), scaled(sorted[place.ceil() as usize]));
    Some(below + (above - below) * (place - place.floor()))
}

/// Jain's fairness index: (sum x)^2 / (n * sum x^2); `None` for fewer than two values or if all are 0.
pub(crate) fn jain_index(values: &[u64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|&x| x as f64).sum();
    let squares: f64 = values.iter().map(|&x| x as f64 * x as f64).sum();
    (values.len() >= 2 && squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// `part` of `whole`; `None` of nothing.
pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| ratio(part.into(), whole))
}

/// The quotient of two integers as the nearest float, however large they are. `whole` is not 0.
pub(crate) fn ratio(part: u128, whole: u64) -> f64 {
    if part == 0 {
        return 0.0;
    }
    // More than 64 bits of the quotient, and the last one says whether there are more: rounding them is rounding all.
    let shift = part.leading_zeros();
    let (part, whole) = (part << shift, u128::from(whole));
    let quotient = (part / whole) | u128::from(part % whole != 0);
    quotient as f64 * 2f64.powi(-(shift as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated_between_ranks() {
        let half = |value: u32| f64::from(value) * 0.5;
        let found = Percentiles::of(&mut [40u32, 10, 30, 20], half).unwrap();
        assert_eq!(found, Percentiles { p50: 12.5, p95: 15.0 + 5.0 * (0.95 * 3.0 - 2.0), max: 20.0 });
        let values = [5.0, 10.0, 15.0, 20.0];
        assert_eq!((quantile(&values, 0.0, |x| x), quantile(&values, 1.0, |x| x)), (Some(5.0), Some(20.0)));
        assert_eq!((quantile(&[7.0], 0.95, |x| x), quantile(&[], 0.5, |x: f64| x)), (Some(7.0), None));
    }

    #[test]
    fn jain_counts_those_that_got_nothing() {
        assert_eq!(jain_index(&[6, 6, 0]), Some(2.0 / 3.0));
        assert_eq!(jain_index(&[5, 5]), Some(1.0));
        assert_eq!(
            (jain_index(&[1, 0]), jain_index(&[1, 1, 1, 0]), jain_index(&[3, 1])),
            (Some(0.5), Some(0.75), Some(0.8))
        );
        assert_eq!((jain_index(&[5]), jain_index(&[0, 0])), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn jain_is_bounded_and_independent_of_scale(
            values in proptest::collection::vec(1u64..10_000_000_000, 2..20), scale in 1u64..1000
        ) {
            let index = jain_index(&values).unwrap();
            assert!((1.0 / values.len() as f64 - 1e-9..=1.0 + 1e-9).contains(&index));
            let scaled: Vec<u64> = values.iter().map(|value| value * scale).collect();
            assert!((jain_index(&scaled).unwrap() - index).abs() < 1e-9);
        }
    }

    #[test]
    fn no_share_of_nothing() {
        assert_eq!((share(1, 4), share(0, 0), share(0, 3)), (Some(0.25), None, Some(0.0)));
    }

    #[test]
    fn a_ratio_is_the_nearest_float_of_the_exact_quotient() {
        assert_eq!(ratio(1, 3), 1.0 / 3.0);
        assert_eq!(ratio(2, 1), 2.0);
        // Both are beyond 53 bits: rounding each first would end elsewhere.
        assert_eq!(ratio((1 << 53) + 1, 1), 9_007_199_254_740_992.0);
        assert_eq!(ratio((1 << 54) + 2, (1 << 53) + 1), 2.0);
        assert_eq!(ratio(8 * 123_456_789_123_000_000_007, 19_999_999_999), 49_382_715_651.669_136);
        assert_eq!(ratio(u128::MAX, u64::MAX), 18_446_744_073_709_551_616.0);
    }
}
