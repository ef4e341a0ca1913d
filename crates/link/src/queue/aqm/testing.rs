//! Helpers for tests of queue disciplines: packets, and flows that react to a queue before a wire of constant rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::{Duration, Time};

use crate::packet::{Ecn, Packet, Passage};
use crate::queue::{Discipline, Dropped, Item};

/// A packet that comes at `now`.
pub(in crate::queue) fn item(bytes: u32, ecn: Ecn, now: Time) -> Item {
    let passage = Passage::new(Packet { size: bytes, ecn, ..Packet::default() }, now);
    Item { passage: Box::new(passage), bytes }
}

/// A time in milliseconds.
pub(in crate::queue) fn ms(ms: i64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// The way in which a flow sends packets of 1500 bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) enum Sender {
    /// Slow start, then a packet more per round trip, and half after a drop or mark, once per round trip.
    Reno,
    /// The same, but less by half the smoothed share of marks, once per round trip (DCTCP, RFC 8257 section 3.3): its
    /// rate is inverse to the probability.
    Dctcp,
    /// A packet every so often, whatever happens.
    Constant(Duration),
}

#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Flow {
    pub sender: Sender,
    pub ecn: Ecn,
}

/// A packet that left the queue, or was dropped.
#[derive(Clone, Copy, Debug)]
pub(in crate::queue) struct Seen {
    pub at: Time,
    pub flow: usize,
    /// Seconds.
    pub wait: f64,
    pub marked: bool,
    pub dropped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Free,
    Send { flow: usize },
    Ack { flow: usize, marked: bool },
    Lost { flow: usize },
}

#[derive(Default)]
struct Window {
    packets: f64,
    in_flight: u32,
    slow_start: bool,
    /// There is no second halving before this time.
    cut_until: Time,
    /// DCTCP's.
    alpha: f64,
    /// Acknowledgements in this round trip, those of marked packets, and when it ends.
    acks: f64,
    marks: f64,
    round_until: Time,
}

impl Window {
    fn halve(&mut self, now: Time, rtt: Duration) {
        self.slow_start = false;
        if now >= self.cut_until {
            self.packets = (self.packets / 2.0).max(2.0);
            self.cut_until = now + rtt;
        }
    }

    fn on_ack(&mut self, marked: bool, sender: Sender, now: Time, rtt: Duration) {
        match (marked, sender) {
            (false, _) => self.packets += if self.slow_start { 1.0 } else { 1.0 / self.packets },
            (true, Sender::Dctcp) => self.slow_start = false,
            (true, _) => self.halve(now, rtt),
        }
        self.acks += 1.0;
        self.marks += f64::from(u8::from(marked));
        if now >= self.round_until {
            self.alpha += (self.marks / self.acks - self.alpha) / 16.0;
            if self.marks > 0.0 && matches!(sender, Sender::Dctcp) {
                self.packets = (self.packets * (1.0 - self.alpha / 2.0)).max(2.0);
            }
            (self.acks, self.marks, self.round_until) = (0.0, 0.0, now + rtt);
        }
    }
}

/// Flows through `queue` and a wire on which a packet takes `packet`, with `rtt` besides, from 0 to `end`.
/// `observe` gets each event.
pub(in crate::queue) fn closed_loop<D: Discipline>(
    queue: &mut D,
    packet: Duration,
    rtt: Duration,
    flows: &[Flow],
    end: Time,
    mut observe: impl FnMut(&D, Time),
) -> Vec<Seen> {
    let mut windows: Vec<Window> =
        (flows.iter()).map(|_| Window { packets: 10.0, slow_start: true, alpha: 1.0, ..Window::default() }).collect();
    let mut events = BinaryHeap::new();
    for flow in 0..flows.len() {
        events.push(Reverse((Time(flow as i64 * 1_000), Event::Send { flow })));
    }
    let (mut seen, mut dropped, mut busy) = (Vec::new(), Dropped::default(), false);
    while let Some(Reverse((now, event))) = events.pop()
        && now < end
    {
        let mut sends = None;
        match event {
            Event::Free => busy = false,
            Event::Send { flow } => sends = Some(flow),
            Event::Ack { flow, marked } => {
                windows[flow].in_flight -= 1;
                windows[flow].on_ack(marked, flows[flow].sender, now, rtt);
                sends = Some(flow);
            }
            Event::Lost { flow } => {
                windows[flow].in_flight -= 1;
                windows[flow].halve(now, rtt);
                sends = Some(flow);
            }
        }
        if let Some(flow) = sends {
            let mut fresh = item(1500, flows[flow].ecn, now);
            fresh.passage.packet.flow = flow as u16;
            if let Sender::Constant(gap) = flows[flow].sender {
                queue.enqueue(fresh, now, &mut dropped);
                events.push(Reverse((now + gap, Event::Send { flow })));
            } else {
                while f64::from(windows[flow].in_flight) < windows[flow].packets.floor() {
                    windows[flow].in_flight += 1;
                    queue.enqueue(fresh.clone(), now, &mut dropped);
                }
            }
        }
        if !busy && let Some(item) = queue.dequeue(now, &mut dropped) {
            busy = true;
            let flow = usize::from(item.passage.packet.flow);
            let marked = item.passage.mark.is_some();
            events.push(Reverse((now + packet, Event::Free)));
            if !matches!(flows[flow].sender, Sender::Constant(_)) {
                events.push(Reverse((now + packet + rtt, Event::Ack { flow, marked })));
            }
            let wait = item.sojourn(now).as_nanos() as f64 / 1e9;
            seen.push(Seen { at: now, flow, wait, marked, dropped: false });
        }
        for passage in dropped.0.drain(..) {
            let flow = usize::from(passage.packet.flow);
            if !matches!(flows[flow].sender, Sender::Constant(_)) {
                events.push(Reverse((now + rtt, Event::Lost { flow })));
            }
            let wait = passage.sojourn.map_or(0.0, |wait| wait.as_nanos() as f64 / 1e9);
            seen.push(Seen { at: now, flow, wait, marked: false, dropped: true });
        }
        observe(queue, now);
    }
    seen
}

/// Mean of what is not empty.
pub(in crate::queue) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    assert!(n > 0.0, "the mean of nothing");
    sum / n
}
