//! The time that a receiving host takes until an ACK is on the wire.
//!
//! Real hosts take some tens of microseconds, never twice the same. That matters beyond its length. A flow that sends
//! whenever an ACK comes, of packets that left a bottleneck one by one, would otherwise reach it again at the very
//! moment in which the packet before has left, each time, for ever (phase effects; S. Floyd, V. Jacobson: On Traffic
//! Phase Effects in Packet-Switched Gateways, Internetworking: Research and Experience 3:115, 1992, who break them in
//! the same way).

use std::collections::VecDeque;

use link::Stream;
use units::{Duration, Time};

use super::Simulation;
use crate::observer::Observer;

/// Time that both ends of an emulated path take together, uniform between least and most. Within a burst, from the time
/// at which a segment is due to its ACK 5 % take less than 14 us and 5 % more than 125 us, half of them 30 us; from an
/// ACK to what it lets out 15, 72 and 26 us.
const LEAST: Duration = Duration::from_micros(25);
const MOST: Duration = Duration::from_micros(105);
/// A host that has had nothing to do takes longer, up to this much more after a pause of [`ASLEEP`]: its processor sleeps
/// (not while the emulator keeps it awake), its caches are cold. The ACKs of a burst therefore come closer together than
/// its segments.
const WAKING: Duration = Duration::from_micros(30);
const ASLEEP: Duration = Duration::from_millis(10);

/// The ACKs that wait for their time, of all flows.
///
/// There are as many as ACKs are sent: a separate queue, sorted by time, holds them beside the events of a run. A few
/// wait at most times, and a new one goes behind most others.
#[derive(Debug)]
pub(super) struct Turnarounds {
    flows: Vec<Flow>,
    /// The earliest first, and among several at a time the one that was held first.
    waiting: VecDeque<Waiting>,
}

/// One flow's receiver.
#[derive(Debug)]
struct Flow {
    stream: Stream,
    drawn: u64,
    /// The time at which it had something to send last.
    last: Time,
    /// The latest time at which any of it goes: nothing overtakes.
    latest: Time,
}

/// A segment that waits: its time, its flow, and its handle in the store.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    at: Time,
    flow: u32,
    handle: u32,
}

impl Turnarounds {
    /// The turnarounds of these flows, which run on real machines; without any, hosts take no time.
    pub(super) fn new<'a>(seed: u64, flows: impl Iterator<Item = &'a str>) -> Turnarounds {
        let flows = flows.map(|flow| {
            let stream = Stream::new(seed, &format!("flow/{flow}/turnaround"));
            Flow { stream, drawn: 0, last: Time::ZERO, latest: Time::ZERO }
        });
        Turnarounds { flows: flows.collect(), waiting: VecDeque::new() }
    }

    /// The time at which the first ACK goes.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.waiting.front().map_or(Time::NEVER, |first| first.at)
    }

    /// Segments that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The time at which what a flow's receiver sends `now` goes.
    #[inline]
    fn draw(&mut self, flow: usize, now: Time) -> Time {
        let Flow { stream, drawn, last, latest } = &mut self.flows[flow];
        let takes = stream.at(*drawn) % (MOST.0 - LEAST.0 + 1) as u64;
        *drawn += 1;
        let pause = (now - std::mem::replace(last, now)).min(ASLEEP);
        let at = now + LEAST + Duration(takes as i64 + WAKING.0 * pause.0 / ASLEEP.0);
        *latest = at.max(*latest);
        *latest
    }

    /// A segment waits until `at`.
    #[inline]
    fn hold(&mut self, at: Time, flow: usize, handle: u32) {
        // Few wait at most times, and nearly all of them for less long.
        self.waiting.push_back(Waiting { at, flow: flow as u32, handle });
        let mut place = self.waiting.len() - 1;
        while place > 0 && self.waiting[place - 1].at > at {
            self.waiting.swap(place - 1, place);
            place -= 1;
        }
    }

    /// The first that is due by `now`, and what goes with it: of the same flow, if given.
    #[inline]
    fn take(&mut self, now: Time, flow: Option<u32>) -> Option<Waiting> {
        let first = *self.waiting.front().filter(|first| first.at <= now)?;
        match flow {
            Some(flow) if first.flow != flow => {
                let mut due = self.waiting.iter().take_while(|other| other.at <= now);
                let behind = due.position(|other| other.flow == flow)?;
                self.waiting.remove(behind)
            }
            _ => self.waiting.pop_front(),
        }
    }
}

impl<O: Observer> Simulation<O> {
    /// The segments that a flow's receiver has let out wait for their time, if hosts take any. Those of one time go at one time.
    #[inline]
    pub(super) fn reply(&mut self, flow: usize) {
        if self.turnarounds.flows.is_empty() {
            self.send(flow);
        } else if !self.out.segments.is_empty() {
            let at = self.turnarounds.draw(flow, self.now);
            for segment in self.out.segments.drain(..) {
                self.turnarounds.hold(at, flow, self.store.put(&segment));
            }
        }
    }

    pub(super) fn on_turnaround(&mut self) {
        let mut flow = None;
        while let Some(waiting) = self.turnarounds.take(self.now, flow) {
            flow = Some(waiting.flow);
            self.launch(waiting.flow as usize, waiting.handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_its_time_and_none_overtakes() {
        let (mut turnarounds, mut times) = (Turnarounds::new(1, ["f1"].into_iter()), Vec::new());
        for n in 0..1000 {
            let now = Time(n * 20_000);
            let at = turnarounds.draw(0, now);
            let most = MOST + Duration(WAKING.0 * 20_000 / ASLEEP.0);
            assert!(at - now >= LEAST && at - now <= most);
            times.push(at);
        }
        assert!(times.is_sorted());
        assert!(times.windows(2).filter(|pair| pair[0] != pair[1]).count() > 500);
    }

    #[test]
    fn flows_take_turns_in_the_order_of_time() {
        let mut turnarounds = Turnarounds::new(1, ["f1", "f2", "f3"].into_iter());
        let mut held = Vec::new();
        for n in 0..300 {
            let flow = n % 3;
            let at = turnarounds.draw(flow, Time(7 * n as i64));
            turnarounds.hold(at, flow, n as u32);
            held.push((at, n as u32));
        }
        held.sort_by_key(|waiting| waiting.0);
        let mut taken = Vec::new();
        while turnarounds.next() != Time::NEVER {
            let at = turnarounds.next();
            assert!(turnarounds.take(Time(at.0 - 1), None).is_none());
            taken.push((at, turnarounds.take(at, None).unwrap().handle));
        }
        assert_eq!(taken, held);
    }

    #[test]
    fn what_a_flow_sends_at_one_time_goes_at_one_time() {
        let mut turnarounds = Turnarounds::new(1, ["f1", "f2"].into_iter());
        for (handle, (at, flow)) in [(5, 0), (5, 1), (5, 0), (6, 0)].into_iter().enumerate() {
            turnarounds.hold(Time(at), flow, handle as u32);
        }
        let mut flow = None;
        let together = std::iter::from_fn(|| {
            let waiting = turnarounds.take(Time(5), flow)?;
            flow = Some(waiting.flow);
            Some(waiting.handle)
        });
        assert_eq!(together.collect::<Vec<_>>(), [0, 2]);
        assert_eq!(turnarounds.len(), 2);
    }
}
