use units::Duration;

/// How long before a packet is due the thread must stop sleeping and watch the clock instead.
///
/// A sleeping thread wakes late: by 5 us on bare metal, by 15 to 40 us in a virtual machine, whose timer and wake-up
/// interrupts are expensive. This learns by how much on this machine, as a running quantile of what it observes
/// (stochastic approximation, Robbins and Monro 1951): up by 9 steps when a wake-up was later, down by 1 when it was
/// earlier, which settles where nine of ten wake-ups are in time.
#[derive(Clone, Debug)]
pub struct Sleep {
    limit: Duration,
    margin: Duration,
}

const STEP_NS: i64 = 100;
const UP: i64 = 9;

impl Sleep {
    /// Busy-wait for at most `limit`.
    pub fn new(limit: Duration) -> Sleep {
        Sleep { limit, margin: limit.min(Duration::from_micros(20)) }
    }

    /// Wake up so long before the time.
    pub fn margin(&self) -> Duration {
        self.margin
    }

    /// A wake-up came `late` after the time that was asked for.
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
    fn keeps_to_its_limit() {
        let mut sleep = Sleep::new(Duration::from_micros(30));
        (0..1000).for_each(|_| sleep.observe(Duration::from_millis(1)));
        assert_eq!(sleep.margin(), Duration::from_micros(30));
        let mut never = Sleep::new(Duration::ZERO);
        never.observe(Duration::from_millis(1));
        assert_eq!(never.margin(), Duration::ZERO);
    }
}
