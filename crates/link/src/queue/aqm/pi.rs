use units::Duration;

use super::seconds;

/// The proportional integral controller of a queue's delay that PIE (RFC 8033 section 4.2) and PI2 (RFC 9332 appendix
/// A) have in common.
#[derive(Clone, Debug)]
pub(in crate::queue) struct Pi {
    /// Integral gain in Hz.
    pub alpha: f64,
    /// Proportional gain in Hz.
    pub beta: f64,
    pub target: Duration,
    /// The delay at the last update.
    pub previous: Duration,
}

impl Pi {
    pub fn new(target: Duration, alpha: f64, beta: f64) -> Pi {
        Pi { alpha, beta, target, previous: Duration::ZERO }
    }

    /// An update: by how much the probability changes now that the delay is `delay`.
    pub fn change(&mut self, delay: Duration) -> f64 {
        let from_target = seconds(delay) - seconds(self.target);
        let trend = seconds(delay) - seconds(self.previous);
        self.previous = delay;
        self.alpha * from_target + self.beta * trend
    }
}
