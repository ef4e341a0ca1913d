//! How long a receiving host takes until an ACK is on the wire.
//!
//! Real hosts take some tens of microseconds, never twice the same. That matters beyond its length: a flow that sends
//! whenever an ACK comes, of packets that left a bottleneck one by one, would otherwise reach it again at the very moment
//! in which the packet before has left, each time, for ever (phase effects; S. Floyd, V. Jacobson: On Traffic Phase
//! Effects in Packet-Switched Gateways, Internetworking: Research and Experience 3:115, 1992, who break them in the same way).

use std::collections::VecDeque;

use link::Stream;
use units::{Duration, Time};

use super::Simulation;
use crate::observer::Observer;
use crate::segment::Segment;

/// Least and most, uniform between them: about what both ends of an emulated path take together, where from a segment to
/// its ACK 5 % take less than 16 us and 5 % more than 91 us, and from an ACK to what it lets out 19 and 71 us.
const LEAST: Duration = Duration::from_micros(30);
const MOST: Duration = Duration::from_micros(150);

/// What one flow's receiver has yet to send.
#[derive(Debug)]
pub(super) struct Turnaround {
    stream: Stream,
    drawn: u64,
    /// In the order of time: nothing overtakes.
    waiting: VecDeque<(Time, Segment)>,
}

impl Turnaround {
    pub(super) fn new(seed: u64, flow: &str) -> Turnaround {
        Turnaround { stream: Stream::new(seed, &format!("flow/{flow}/turnaround")), drawn: 0, waiting: VecDeque::new() }
    }

    /// When the first of them goes.
    fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.0)
    }

    /// What is sent at one time goes at one time.
    fn hold(&mut self, segments: impl Iterator<Item = Segment>, now: Time) {
        let takes = self.stream.at(self.drawn) % (MOST.0 - LEAST.0 + 1) as u64;
        self.drawn += 1;
        let due = now + LEAST + Duration(takes as i64);
        let due = self.waiting.back().map_or(due, |last| due.max(last.0));
        self.waiting.extend(segments.map(|segment| (due, segment)));
    }
}

impl<O: Observer> Simulation<O> {
    /// What a flow's receiver has let out waits for its time, if hosts take any.
    pub(super) fn reply(&mut self, flow: usize) {
        let Some(turnaround) = self.turnarounds.get_mut(flow) else { return self.send(flow) };
        if !self.out.is_empty() {
            turnaround.hold(self.out.drain(..), self.now);
            let next = turnaround.next();
            self.events.set(self.replying(flow), next);
        }
    }

    pub(super) fn on_turnaround(&mut self, flow: usize) {
        let waiting = &mut self.turnarounds[flow].waiting;
        while waiting.front().is_some_and(|first| first.0 <= self.now) {
            self.out.extend(waiting.pop_front().map(|first| first.1));
        }
        self.send(flow);
        self.events.set(self.replying(flow), self.turnarounds[flow].next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_its_time_and_none_overtakes() {
        let (mut turnaround, mut times) = (Turnaround::new(1, "f1"), Vec::new());
        for n in 0..1000 {
            let now = Time(n * 20_000);
            turnaround.hold([Segment::default(); 2].into_iter(), now);
            let (first, second) = (turnaround.waiting[2 * n as usize].0, turnaround.waiting[2 * n as usize + 1].0);
            assert_eq!(first, second);
            assert!(first - now >= LEAST && first - now <= MOST);
            times.push(first);
        }
        assert!(times.is_sorted());
        assert!(times.windows(2).filter(|pair| pair[0] != pair[1]).count() > 500);
    }
}
