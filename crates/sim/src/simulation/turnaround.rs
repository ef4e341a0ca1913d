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
use crate::segment::Segment;

/// What both ends of an emulated path take together, uniform between least and most. Within a burst, from the time at which a
/// segment is due to its ACK 5 % take less than 14 us and 5 % more than 125 us, half of them 30 us; from an ACK to what it lets
/// out 15, 72 and 26 us.
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
    /// Each ACK's time and flow: the earliest first, and among several at a time the one that was held first.
    due: VecDeque<(Time, u32)>,
}

/// One flow's receiver.
#[derive(Debug)]
struct Flow {
    stream: Stream,
    drawn: u64,
    /// The time at which it had something to send last.
    last: Time,
    /// The ACKs in the order of time: nothing overtakes.
    waiting: VecDeque<(Time, Segment)>,
}

impl Turnarounds {
    /// The turnarounds of these flows, which run on real machines; without any, hosts take no time.
    pub(super) fn new<'a>(seed: u64, flows: impl Iterator<Item = &'a str>) -> Turnarounds {
        let flows = flows.map(|flow| {
            let stream = Stream::new(seed, &format!("flow/{flow}/turnaround"));
            Flow { stream, drawn: 0, last: Time::ZERO, waiting: VecDeque::new() }
        });
        Turnarounds { flows: flows.collect(), due: VecDeque::new() }
    }

    /// The time at which the first ACK goes.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.due.front().map_or(Time::NEVER, |first| first.0)
    }

    /// The segments that a flow's receiver sends at one time go at one time.
    fn hold(&mut self, flow: usize, segments: impl Iterator<Item = Segment>, now: Time) {
        let Flow { stream, drawn, last, waiting } = &mut self.flows[flow];
        let takes = stream.at(*drawn) % (MOST.0 - LEAST.0 + 1) as u64;
        *drawn += 1;
        let pause = (now - std::mem::replace(last, now)).min(ASLEEP);
        let at = now + LEAST + Duration(takes as i64 + WAKING.0 * pause.0 / ASLEEP.0);
        let at = waiting.back().map_or(at, |last| at.max(last.0));
        for segment in segments {
            waiting.push_back((at, segment));
        }
        // Few wait at most times, and nearly all of them for less long.
        let after = self.due.iter().rev().take_while(|due| due.0 > at).count();
        if after == 0 {
            self.due.push_back((at, flow as u32));
        } else {
            self.due.insert(self.due.len() - after, (at, flow as u32));
        }
    }

    /// The first that is due by `now`: whose, and what it sends.
    fn take(&mut self, now: Time, out: &mut Vec<Segment>) -> Option<usize> {
        let &(_, flow) = self.due.front().filter(|first| first.0 <= now)?;
        self.due.pop_front();
        let waiting = &mut self.flows[flow as usize].waiting;
        while let Some((_, segment)) = waiting.front().filter(|first| first.0 <= now) {
            out.push(*segment);
            waiting.pop_front();
        }
        Some(flow as usize)
    }
}

impl<O: Observer> Simulation<O> {
    /// The segments that a flow's receiver has let out wait for their time, if hosts take any.
    pub(super) fn reply(&mut self, flow: usize) {
        if self.turnarounds.flows.is_empty() {
            self.send(flow);
        } else if !self.out.is_empty() {
            self.turnarounds.hold(flow, self.out.drain(..), self.now);
        }
    }

    pub(super) fn on_turnaround(&mut self) {
        if let Some(flow) = self.turnarounds.take(self.now, &mut self.out) {
            self.send(flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_takes_its_time_and_none_overtakes() {
        let (mut turnarounds, mut out, mut times) = (Turnarounds::new(1, ["f1"].into_iter()), Vec::new(), Vec::new());
        for n in 0..1000 {
            let now = Time(n * 20_000);
            turnarounds.hold(0, [Segment::default(); 2].into_iter(), now);
            let waiting = &turnarounds.flows[0].waiting;
            let (first, second) = (waiting[2 * n as usize].0, waiting[2 * n as usize + 1].0);
            assert_eq!(first, second);
            let most = MOST + Duration(WAKING.0 * 20_000 / ASLEEP.0);
            assert!(first - now >= LEAST && first - now <= most);
            times.push(first);
        }
        assert!(times.is_sorted());
        assert!(times.windows(2).filter(|pair| pair[0] != pair[1]).count() > 500);
        while turnarounds.next() != Time::NEVER {
            turnarounds.take(turnarounds.next(), &mut out);
        }
        assert_eq!(out.len(), 2000);
    }

    #[test]
    fn flows_take_turns_in_the_order_of_time() {
        let (mut turnarounds, mut out) = (Turnarounds::new(1, ["f1", "f2", "f3"].into_iter()), Vec::new());
        let mut held = Vec::new();
        for n in 0..300 {
            let flow = n % 3;
            turnarounds.hold(flow, [Segment::default()].into_iter(), Time(7 * n as i64));
            held.push((turnarounds.flows[flow].waiting.back().unwrap().0, flow));
        }
        held.sort_by_key(|due| due.0);
        let mut taken = Vec::new();
        while turnarounds.next() != Time::NEVER {
            let at = turnarounds.next();
            assert_eq!(turnarounds.take(Time(at.0 - 1), &mut out), None);
            taken.push((at, turnarounds.take(at, &mut out).unwrap()));
        }
        assert_eq!(taken, held);
        assert_eq!(out.len(), 300);
    }
}
