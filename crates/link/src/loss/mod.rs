use crate::random::Stream;

/// Independent random loss.
#[derive(Clone, Debug)]
pub(crate) struct Loss {
    /// Lost if the random number is below this: probability times 2^64.
    threshold: u128,
    stream: Stream,
    packets: u64,
}

impl Loss {
    pub(crate) fn new(probability: f64, seed: u64, element: &str) -> Loss {
        // Exact for every f64 in [0, 1]: scaling by a power of two only moves the exponent.
        let threshold = (probability * 2f64.powi(64)) as u128;
        Loss { threshold, stream: Stream::new(seed, element), packets: 0 }
    }

    /// Is the next packet lost?
    pub(crate) fn next(&mut self) -> bool {
        if self.threshold == 0 {
            return false;
        }
        let index = self.packets;
        self.packets += 1;
        u128::from(self.stream.at(index)) < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_and_always() {
        let mut never = Loss::new(0.0, 1, "x");
        let mut always = Loss::new(1.0, 1, "x");
        assert!((0..10_000).all(|_| !never.next() && always.next()));
    }

    #[test]
    fn the_rate_is_the_probability() {
        for p in [0.0001, 0.005, 0.01, 0.2, 0.5] {
            let mut loss = Loss::new(p, 42, "link/loss-before");
            let n = 1_000_000;
            let lost = (0..n).filter(|_| loss.next()).count() as f64;
            // Binomial: within 4 standard deviations (two-sided 6e-5 for each of the five, were the seed not fixed).
            let sd = (f64::from(n) * p * (1.0 - p)).sqrt();
            assert!((lost - f64::from(n) * p).abs() < 4.0 * sd, "p {p}: lost {lost} of {n}");
        }
    }
}
