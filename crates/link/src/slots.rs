use units::{Duration, Time};

use plan::Stream;

/// Moments at which a link may send what waits.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    spec: plan::Slots,
    stream: Stream,
    /// Intervals drawn so far.
    drawn: u64,
    next: Time,
}

impl Slots {
    /// The first slot comes one interval after `now`.
    pub(crate) fn new(spec: plan::Slots, now: Time, seed: u64, element: &str) -> Slots {
        let mut slots = Slots { spec, stream: Stream::new(seed, element), drawn: 0, next: now };
        slots.pass();
        slots
    }

    /// Other parameters: the slot that is next stays where it is.
    pub(crate) fn configure(&mut self, spec: plan::Slots) {
        self.spec = spec;
    }

    /// The time of the next slot.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The slot at `next` has been used, or was not needed.
    pub(crate) fn pass(&mut self) {
        let (min, max) = (self.spec.min_interval_ns.as_nanos(), self.spec.max_interval_ns.as_nanos());
        // Multiply and shift maps 64 random bits onto the span; its bias is below span / 2^64.
        let drawn = (u128::from(self.stream.at(self.drawn)) * (max - min + 1) as u128) >> 64;
        self.drawn += 1;
        self.next += Duration(min + drawn as i64);
    }

    /// Slots up to `now` went by unused.
    pub(crate) fn skip_until(&mut self, now: Time) {
        let (min, max) = (self.spec.min_interval_ns.as_nanos(), self.spec.max_interval_ns.as_nanos());
        if min == max && self.next <= now {
            let passed = (now - self.next).as_nanos() / min + 1;
            self.next += Duration(passed * min);
            self.drawn += passed as u64;
        }
        while self.next <= now {
            self.pass();
        }
    }

    /// True if a slot that took `packets` of `bytes` in all has room for more.
    pub(crate) fn has_room(&self, packets: u32, bytes: u64) -> bool {
        self.spec.packets.is_none_or(|limit| packets < limit) && self.spec.bytes.is_none_or(|limit| bytes < limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(min: i64, max: i64) -> plan::Slots {
        plan::Slots { min_interval_ns: Duration(min), max_interval_ns: Duration(max), packets: None, bytes: None }
    }

    #[test]
    fn regular_slots_are_multiples_of_their_interval() {
        let mut slots = Slots::new(spec(2_000_000, 2_000_000), Time::ZERO, 1, "x");
        assert_eq!(slots.next(), Time(2_000_000));
        slots.skip_until(Time(1_000_000_000_000));
        assert_eq!(slots.next(), Time(1_000_002_000_000));
    }

    #[test]
    fn random_slots_do_not_depend_on_when_they_are_asked_for() {
        let mut one = Slots::new(spec(500, 1_500), Time::ZERO, 1, "x");
        let mut all = one.clone();
        one.skip_until(Time(1_000_000));
        while all.next() <= Time(1_000_000) {
            let before = all.next();
            all.pass();
            assert!((500..=1_500).contains(&(all.next() - before).as_nanos()));
        }
        assert_eq!(one.next(), all.next());
    }
}
