//! Order statistics and fairness, as `docs/reference/metrics.md` defines them.

/// The value at `share` (0 to 1) of sorted values, interpolated linearly between ranks; `None` of no values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * (place - place.floor()))
}

/// Integers in order, as floats.
pub(super) fn sorted<T: Copy + Ord + Into<u64>>(values: &mut [T], scale: f64) -> Vec<f64> {
    values.sort_unstable();
    values.iter().map(|&value| value.into() as f64 * scale).collect()
}

/// Jain's fairness index: (sum x)^2 / (n * sum x^2); `None` for fewer than two values or if all are 0.
pub(super) fn jain_index(values: &[u64]) -> Option<f64> {
    let sum: f64 = values.iter().map(|&x| x as f64).sum();
    let squares: f64 = values.iter().map(|&x| x as f64 * x as f64).sum();
    (values.len() >= 2 && squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// `part` of `whole`; `None` of nothing.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated_between_ranks() {
        let values = sorted(&mut [40u32, 10, 30, 20], 0.5);
        assert_eq!(values, [5.0, 10.0, 15.0, 20.0]);
        assert_eq!(quantile(&values, 0.5), Some(12.5));
        assert_eq!(quantile(&values, 0.95), Some(15.0 + 5.0 * (0.95 * 3.0 - 2.0)));
        assert_eq!((quantile(&values, 0.0), quantile(&values, 1.0)), (Some(5.0), Some(20.0)));
        assert_eq!((quantile(&[7.0], 0.95), quantile(&[], 0.5)), (Some(7.0), None));
    }

    #[test]
    fn jain_counts_those_that_got_nothing() {
        assert_eq!(jain_index(&[6, 6, 0]), Some(2.0 / 3.0));
        assert_eq!(jain_index(&[5, 5]), Some(1.0));
        assert_eq!((jain_index(&[5]), jain_index(&[0, 0])), (None, None));
    }

    #[test]
    fn no_share_of_nothing() {
        assert_eq!((share(1, 4), share(0, 0)), (Some(0.25), None));
    }
}
