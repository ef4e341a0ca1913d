use units::{Duration, Time};

/// Adaptive coalescing, as network cards do with interrupts: for how long a due packet waits to leave with others, or an
/// arrival to be read with others. It waits as long as it is allowed while packets leave so densely that others come in that
/// time, and not at all while they don't.
pub(crate) struct Coalescing {
    limit: Duration,
    pays: bool,
    since: Time,
    left: u64,
}

impl Coalescing {
    pub(crate) fn new(limit: Duration) -> Coalescing {
        Coalescing { limit, pays: false, since: Time::ZERO, left: 0 }
    }

    /// Time begins anew, and the count of packets that have left.
    pub(crate) fn restart(&mut self) {
        (self.since, self.left) = (Time::ZERO, 0);
    }

    /// Call it every few milliseconds; `left`: packets that have left until `now`.
    pub(crate) fn adapt(&mut self, now: Time, left: u64) {
        // Two arrive in the time that one would wait: on average, one finds another.
        let pairs = i128::from(left - self.left) * i128::from(self.limit.as_nanos());
        self.pays = pairs >= 2 * i128::from((now - self.since).as_nanos());
        (self.since, self.left) = (now, left);
    }

    /// The longest wait from now on. If it is shorter than before, the next `adapt` decides whether waiting still pays.
    pub(crate) fn set_limit(&mut self, limit: Duration) {
        self.pays &= limit >= self.limit;
        self.limit = limit;
    }

    /// The current wait.
    pub(crate) fn span(&self) -> Duration {
        if self.pays { self.limit } else { Duration::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_only_where_others_come() {
        let limit = Duration::from_micros(100);
        let mut coalescing = Coalescing::new(limit);
        assert_eq!(coalescing.span(), Duration::ZERO);
        // 1 Gbit/s of full frames: one each 12.1 us, so 1652 in 20 ms.
        coalescing.adapt(Time(20_000_000), 1652);
        assert_eq!(coalescing.span(), limit);
        // 100 Mbit/s: one each 121 us.
        coalescing.adapt(Time(40_000_000), 1652 + 165);
        assert_eq!(coalescing.span(), Duration::ZERO);
        // The gap is two in 100 us, not one less.
        coalescing.adapt(Time(60_000_000), 1817 + 400);
        assert_eq!(coalescing.span(), limit);
        coalescing.adapt(Time(80_000_000), 2217 + 399);
        assert_eq!(coalescing.span(), Duration::ZERO);
    }

    #[test]
    fn none_where_the_plan_allows_none() {
        let mut coalescing = Coalescing::new(Duration::ZERO);
        coalescing.adapt(Time(20_000_000), 1_000_000);
        assert_eq!(coalescing.span(), Duration::ZERO);
    }
}
