use units::Duration;

/// Decides how long before a packet is due the thread must stop sleeping and watch the clock.
///
/// A sleeping thread wakes late: by 5 us on bare metal, by 15 to 40 us in a virtual machine, whose timer and wake-up
/// interrupts are expensive. This learns by how much on this machine, as a running quantile of what it observes
/// (stochastic approximation, Robbins and Monro 1951): up by 9 steps when a wake-up was later, down by 1 when it was
/// earlier, which settles where nine of ten wake-ups are in time.
///
/// Watching the clock takes CPU time. It does no harm while CPUs are idle; otherwise it delays hosts and other runs by
/// more than the wake-ups are late. The limit therefore shrinks as CPUs get scarce, and grows again.
#[derive(Clone, Debug)]
pub struct Sleep {
    /// The configured limit.
    most: Duration,
    /// The current limit.
    limit: Duration,
    margin: Duration,
}

const STEP_NS: i64 = 100;
const UP: i64 = 9;

/// Shares of the CPUs' time that are idle: below this one CPUs are scarce, above the other there is room for more.
const SCARCE: f64 = 0.1;
const PLENTY: f64 = 0.2;

impl Sleep {
    /// Busy-wait for at most `limit`.
    pub fn new(limit: Duration) -> Sleep {
        Sleep { most: limit, limit, margin: limit.min(Duration::from_micros(20)) }
    }

    /// Call it several times a second with the idle share of the CPUs' time. Halves the limit of busy-waiting, or adds
    /// an eighth of the configured one: processes that share the CPUs converge to the same limit (Chiu and Jain 1989).
    pub fn adapt(&mut self, idle: f64) {
        let limit = self.limit.as_nanos();
        self.limit = Duration(match idle {
            idle if idle < SCARCE => limit / 2,
            idle if idle > PLENTY => (limit + self.most.as_nanos() / 8).min(self.most.as_nanos()),
            _ => limit,
        });
        self.margin = self.margin.min(self.limit);
    }

    /// The margin: how long before the time to wake up.
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// Learns that a wake-up came `late` after the requested time.
    pub fn observe(&mut self, late: Duration) {
        let step = if late > self.margin { UP * STEP_NS } else { -STEP_NS };
        self.margin = Duration((self.margin.as_nanos() + step).clamp(0, self.limit.as_nanos()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_at_the_ninth_decile() {
        let mut sleep = Sleep::new(Duration::from_micros(100));
        // Lateness 0, 1, ... 49 us in a scrambled order: nine of ten are at most 44 us.
        for i in 0..100_000 {
            sleep.observe(Duration::from_micros(i * 37 % 50));
        }
        let margin = sleep.margin().as_nanos() / 1000;
        assert!((40..=48).contains(&margin), "{margin} us");
    }

    #[test]
    fn gives_way_where_cpus_are_scarce() {
        let mut sleep = Sleep::new(Duration::from_micros(40));
        let late = |sleep: &mut Sleep| (0..1000).for_each(|_| sleep.observe(Duration::from_millis(1)));
        for (idle, limit) in [(0.5, 40), (0.05, 20), (0.15, 20), (0.0, 10), (0.0, 5), (0.3, 10), (0.9, 15)] {
            sleep.adapt(idle);
            late(&mut sleep);
            assert_eq!(sleep.margin(), Duration::from_micros(limit), "{idle}");
        }
        (0..10).for_each(|_| sleep.adapt(1.0));
        late(&mut sleep);
        assert_eq!(sleep.margin(), Duration::from_micros(40));
    }

    #[test]
    fn keeps_to_its_limit() {
        let mut sleep = Sleep::new(Duration::from_micros(30));
        (0..1000).for_each(|_| sleep.observe(Duration::from_millis(1)));
        assert_eq!(sleep.margin(), Duration::from_micros(30));
        let mut never = Sleep::new(Duration::ZERO);
        never.observe(Duration::from_millis(1));
        assert_eq!(never.margin(), Duration::ZERO);
    }
}
