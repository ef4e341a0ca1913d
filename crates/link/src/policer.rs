use units::Time;

/// A token bucket that says which packets exceed it.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    spec: plan::Policer,
    /// Bits times 1e9, exact.
    tokens: u128,
    at: Time,
}

/// Tokens for one byte.
const BYTE: u128 = 8_000_000_000;

impl Policer {
    /// A full bucket.
    pub(crate) fn new(spec: plan::Policer, now: Time) -> Policer {
        Policer { spec, tokens: u128::from(spec.burst_bytes) * BYTE, at: now }
    }

    /// Other parameters from `now` on; what is in the bucket stays, as far as there is room.
    pub(crate) fn configure(&mut self, spec: plan::Policer, now: Time) {
        self.fill(now);
        self.spec = spec;
        self.fill(now);
    }

    /// Take tokens for `bytes`; `false` if there are too few, and then none are taken.
    pub(crate) fn conforms(&mut self, bytes: u32, now: Time) -> bool {
        self.fill(now);
        let cost = u128::from(bytes) * BYTE;
        let conforms = cost <= self.tokens;
        if conforms {
            self.tokens -= cost;
        }
        conforms
    }

    fn fill(&mut self, now: Time) {
        let span = (now - self.at).as_nanos().max(0) as u128;
        let room = u128::from(self.spec.burst_bytes) * BYTE;
        self.tokens = (self.tokens + u128::from(self.spec.rate_bps.as_bps()) * span).min(room);
        self.at = now;
    }
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;

    fn policer(bps: u64, burst_bytes: u64) -> Policer {
        Policer::new(plan::Policer { rate_bps: Rate::from_bps(bps).unwrap(), burst_bytes }, Time::ZERO)
    }

    #[test]
    fn a_full_bucket_passes_its_burst_and_no_more() {
        let mut p = policer(8_000_000, 3028);
        assert!(p.conforms(1514, Time::ZERO) && p.conforms(1514, Time::ZERO));
        assert!(!p.conforms(60, Time::ZERO));
        // 1514 bytes of tokens take 1,514,000 ns at 8 Mbit/s, not a nanosecond less.
        assert!(!p.conforms(1514, Time(1_513_999)));
        assert!(p.conforms(1514, Time(1_514_000)));
    }

    #[test]
    fn never_more_than_rate_times_span_plus_burst() {
        // 7 Mbit/s and a packet every 1,000 ns: the fraction of a token is never lost.
        let mut p = policer(7_000_000, 1514);
        let passed = (0..10_000_000).filter(|&i| p.conforms(60, Time(i * 1_000))).count() as u64;
        let allowed = 7_000_000 / 8 * 10 + 1514;
        assert!(passed * 60 <= allowed && passed * 60 + 60 > allowed - 60, "{passed}");
    }

    #[test]
    fn a_smaller_bucket_spills() {
        let mut p = policer(8_000_000, 10_000);
        p.configure(plan::Policer { burst_bytes: 100, ..p.spec }, Time(5));
        assert!(!p.conforms(101, Time(5)) && p.conforms(100, Time(5)));
    }
}
