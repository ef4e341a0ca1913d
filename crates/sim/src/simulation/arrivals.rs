//! The time at which a host in virtual time takes a frame that is due.
//!
//! Computing takes no time there, but a user-mode kernel's clock counts in steps of 256 ns, and its timer is set for what is
//! left by that clock. Time has gone on by a part of a step since, so the timer fires by that part late; if the clock hasn't
//! reached the frame's time even then, it is set again, and waits for its least time. So frames are up to two steps late, by
//! a pattern that depends on when the frames before came. Where a bottleneck clocks a flow, this decides whether a segment
//! reaches it just before or just after another one leaves.

use std::collections::VecDeque;

use link::Packet;
use units::Time;

use super::Simulation;
use crate::observer::Observer;

/// A step of the clock (`TIMER_MULTIPLIER`), and the least time of its timer (`TIMER_MIN_DELTA`), ns.
const STEP: i64 = 256;
const LEAST: i64 = 500;

/// Frames that are due and have yet to be taken, of all hosts: one kernel runs them all.
#[derive(Debug)]
pub(super) struct Arrivals {
    /// `None`: hosts take a frame at once.
    clock: Option<Clock>,
    waiting: VecDeque<(Time, Packet)>,
}

impl Arrivals {
    /// At the hosts of a plan.
    pub(super) fn new(hosts: Option<plan::Hosts>) -> Arrivals {
        Arrivals { clock: hosts.map(|plan::Hosts::Virtual| Clock::default()), waiting: VecDeque::new() }
    }

    /// Frames that are yet to be taken.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The time at which the next frame is taken.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.0)
    }

    /// A frame is due `now`, and held for its time. `false`: its host takes it at once.
    #[inline]
    pub(super) fn holds(&mut self, packet: &Packet, now: Time) -> bool {
        let Some(clock) = &mut self.clock else { return false };
        self.waiting.push_back((clock.fire(now), *packet));
        true
    }

    /// Another timer of the kernel is due `now`: it has the same clock. Returns the time at which it fires.
    #[inline]
    pub(super) fn fire(&mut self, now: Time) -> Time {
        self.clock.as_mut().map_or(now, |clock| clock.fire(now))
    }

    /// The first frame that is taken by `now`.
    fn take(&mut self, now: Time) -> Option<Packet> {
        self.waiting.front().filter(|first| first.0 <= now)?;
        self.waiting.pop_front().map(|first| first.1)
    }
}

/// The clock and its timer.
#[derive(Debug, Default)]
struct Clock {
    /// What the clock said when the timer fired last, and the part of a step that had passed since that step.
    says: i64,
    beyond: i64,
}

impl Clock {
    /// What the clock says when something is carried out that is due at `due`, which is not before what was due last.
    fn fire(&mut self, due: Time) -> Time {
        while self.says < due.0 {
            let time = self.says + self.beyond + (due.0 - self.says).max(LEAST);
            self.beyond = time % STEP;
            self.says = time - self.beyond;
        }
        Time(self.says)
    }
}

impl<O: Observer> Simulation<O> {
    pub(super) fn on_arrival(&mut self) {
        while let Some(packet) = self.arrivals.take(self.now) {
            self.taken(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_at_steps_of_the_clock_and_at_most_two_steps_late() {
        // Full frames at 10 Mbit/s are 64 ns more than a multiple of a step apart. This is how late a kernel's are, too.
        let mut clock = Clock::default();
        let late: Vec<_> = (1..=1000).map(|n| 1_211_200 * n).map(|due| clock.fire(Time(due)).0 - due).collect();
        let mut lengths = late.clone();
        lengths.sort_unstable();
        lengths.dedup();
        assert_eq!(lengths, [0, 64, 128, 192, 320, 384, 448]);
        let share = |ns| late.iter().filter(|&&late| late == ns).count();
        assert!(
            share(448) > share(384) && share(384) > share(320),
            "the later the step before, the likelier a step more"
        );
    }

    #[test]
    fn what_is_due_together_is_taken_together() {
        let mut clock = Clock::default();
        let at = clock.fire(Time(1_000_001));
        assert_eq!(clock.fire(Time(1_000_100)), at);
        assert_eq!(clock.fire(at), at);
        assert!(clock.fire(Time(at.0 + 1)).0 >= at.0 + STEP);
    }
}
