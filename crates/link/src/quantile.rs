//! The normal distribution, in arithmetic that gives the same bits everywhere.

use std::f64::consts::FRAC_1_SQRT_2;

/// Half the distance of two neighbours of [`uniform`].
const LEAST: f64 = 0.5 / (1u64 << 52) as f64;

/// A random number as one of 2^52 equally spaced ones, symmetric in the open interval from 0 to 1.
pub(crate) fn uniform(number: u64) -> f64 {
    ((number >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// The share of a standard normal distribution below `z`, strictly between 0 and 1.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    (0.5 * libm::erfc(-z * FRAC_1_SQRT_2)).clamp(LEAST, 1.0 - LEAST)
}

/// The value below which the share `p`, strictly between 0 and 1, of a standard normal distribution lies, to about 16
/// digits. Wichura: "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
/// PPND16.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * CENTRE.at(0.180625 - q * q);
    }
    let r = libm::sqrt(-libm::log(if q < 0.0 { p } else { 1.0 - p }));
    let z = if r <= 5.0 { MIDDLE.at(r - 1.6) } else { TAIL.at(r - 5.0) };
    if q < 0.0 { -z } else { z }
}

/// A quotient of polynomials, coefficients from the highest power down.
struct Rational {
    numerator: [f64; 8],
    denominator: [f64; 8],
}

impl Rational {
    fn at(&self, x: f64) -> f64 {
        let horner = |coefficients: &[f64; 8]| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
        horner(&self.numerator) / horner(&self.denominator)
    }
}

#[rustfmt::skip]
const CENTRE: Rational = Rational {
    numerator: [
        2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987,
        13731.69376550946, 1971.5909503065513, 133.14166789178438, 3.3871328727963665,
    ],
    denominator: [
        5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597,
        5394.196021424751, 687.1870074920579, 42.31333070160091, 1.0,
    ],
};

#[rustfmt::skip]
const MIDDLE: Rational = Rational {
    numerator: [
        7.745450142783414e-4, 2.2723844989269184e-2, 2.417807251774506e-1, 1.2704582524523684,
        3.6478483247632045, 5.769497221460691, 4.630337846156546, 1.4234371107496835,
    ],
    denominator: [
        1.0507500716444169e-9, 5.475938084995345e-4, 1.5198666563616457e-2, 1.4810397642748008e-1,
        6.897673349851e-1, 1.6763848301838038, 2.053191626637759, 1.0,
    ],
};

#[rustfmt::skip]
const TAIL: Rational = Rational {
    numerator: [
        2.0103343992922881e-7, 2.7115555687434876e-5, 1.2426609473880784e-3, 2.6532189526576124e-2,
        2.9656057182850487e-1, 1.7848265399172913, 5.463784911164114, 6.657904643501103,
    ],
    denominator: [
        2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 7.868691311456133e-4,
        1.4875361290850615e-2, 1.369298809227358e-1, 5.99832206555888e-1, 1.0,
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_percentage_points() {
        // The values are from mpmath, with 40 digits.
        let known = [
            (1e-15, -7.941345326170997),
            (1e-9, -5.9978070150076865),
            (1e-5, -4.264890793922825),
            (0.001, -3.0902323061678136),
            (0.07, -1.4757910281791706),
            (0.0749, -1.4402382675279637),
            (0.25, -0.6744897501960817),
            (0.45, -0.12566134685507402),
            (0.8, 0.8416212335729144),
            (0.975, 1.9599639845400538),
        ];
        for (p, z) in known {
            let error = (normal_quantile(p) - z).abs() / z.abs();
            assert!(error < 1e-14, "p {p}: {}, not {z}", normal_quantile(p));
            assert!((normal_cdf(z) - p).abs() < 1e-13 * p, "z {z}: {}, not {p}", normal_cdf(z));
        }
    }

    #[test]
    fn the_quantile_is_odd_and_rises_across_the_pieces() {
        let points: Vec<f64> = (1..4000).map(|i| f64::from(i) / 4000.0).collect();
        assert!(points.iter().all(|&p| (normal_quantile(p) + normal_quantile(1.0 - p)).abs() < 1e-13));
        assert!(points.is_sorted_by(|&a, &b| normal_quantile(a) < normal_quantile(b)));
        let tail: Vec<f64> = (1..37).map(|i| normal_quantile(f64::from(2).powi(-i - 1))).collect();
        assert!(tail.is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn uniform_numbers_stay_inside_and_are_symmetric() {
        assert_eq!(uniform(0), LEAST);
        assert_eq!(uniform(u64::MAX), 1.0 - LEAST);
        assert_eq!(uniform(1 << 63), 0.5 + LEAST);
    }

    #[test]
    fn the_share_never_reaches_the_ends() {
        assert_eq!((normal_cdf(-40.0), normal_cdf(40.0)), (LEAST, 1.0 - LEAST));
        assert!(normal_quantile(normal_cdf(40.0)).is_finite());
    }
}
