//! The time at which a host in virtual time takes a frame that is due.
//!
//! [`Clock`] says when: up to two steps of the kernel's clock late, by a pattern. Where a bottleneck clocks a flow, this decides
//! whether a segment reaches it just before or just after another one leaves.

use std::collections::VecDeque;

use link::Packet;
use units::Time;

use super::Simulation;
use super::clock::Clock;
use crate::observer::Observer;

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
        Arrivals { clock: hosts.map(|plan::Hosts::Virtual| Clock::of_a_run()), waiting: VecDeque::new() }
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

    /// An application has woken to write.
    #[inline]
    pub(super) fn write(&mut self) {
        if let Some(clock) = &mut self.clock {
            clock.write();
        }
    }

    /// The first frame that is taken by `now`.
    fn take(&mut self, now: Time) -> Option<Packet> {
        self.waiting.front().filter(|first| first.0 <= now)?;
        self.waiting.pop_front().map(|first| first.1)
    }
}

impl<O: Observer> Simulation<O> {
    pub(super) fn on_arrival(&mut self) {
        while let Some(packet) = self.arrivals.take(self.now) {
            self.taken(packet);
        }
    }
}
