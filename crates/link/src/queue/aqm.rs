//! Building blocks of active queue managements.

pub(super) mod pi;
#[cfg(test)]
mod properties;
#[cfg(test)]
pub(super) mod testing;

use std::collections::VecDeque;

use units::{Duration, Time};

use super::{Backlog, Item};
use crate::chance::threshold;
use crate::packet::Passage;
use plan::Stream;

/// First in, first out, and how much it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    items: VecDeque<Item>,
    backlog: Backlog,
}

impl Waiting {
    pub fn push(&mut self, item: Item) {
        self.backlog.add(item.bytes);
        self.items.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item> {
        let item = self.items.pop_front()?;
        self.backlog.remove(item.bytes);
        Some(item)
    }

    /// The next to leave.
    pub fn head(&self) -> Option<&Item> {
        self.items.front()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub fn drain(&mut self) -> impl Iterator<Item = Item> {
        self.backlog = Backlog::default();
        self.items.drain(..)
    }

    pub fn passages(&self) -> impl Iterator<Item = Passage> {
        self.items.iter().map(|item| *item.passage)
    }
}

/// The times of a periodic update. The first call starts the clock: with the first packet of a run, or of a queue that
/// replaces another.
#[derive(Clone, Debug)]
pub(super) struct Updates {
    next: Option<Time>,
    period: Duration,
}

impl Updates {
    /// A period of 0 would never come to an end: it is taken for 1 ns.
    pub fn every(period: Duration) -> Updates {
        Updates { next: None, period: period.max(Duration(1)) }
    }

    /// The first update until `now`, itself included, that this has not yet returned.
    pub fn due(&mut self, now: Time) -> Option<Time> {
        let at = *self.next.get_or_insert(now + self.period);
        (at <= now).then(|| {
            self.next = Some(at + self.period);
            at
        })
    }

    pub fn period(&self) -> Duration {
        self.period
    }

    /// The new period counts from the next update on.
    pub fn set_period(&mut self, period: Duration) {
        self.period = period.max(Duration(1));
    }
}

/// A random number for each arrival, drawn whether it is needed or not: so the nth arrival's is always the same.
#[derive(Clone, Debug)]
pub(super) struct Lots {
    stream: Stream,
    arrivals: u64,
}

/// One arrival's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lot(u64);

impl Lots {
    pub fn new(seed: u64, element: &str) -> Lots {
        Lots { stream: Stream::new(seed, element), arrivals: 0 }
    }

    pub fn next(&mut self) -> Lot {
        let index = self.arrivals;
        self.arrivals += 1;
        Lot(self.stream.at(index))
    }
}

impl Lot {
    /// True with `probability`; always from 1 on.
    pub fn hits(self, probability: f64) -> bool {
        u128::from(self.0) < threshold(probability)
    }
}

pub(super) fn seconds(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_come_at_their_times_and_once() {
        let mut updates = Updates::every(Duration(10));
        assert_eq!(updates.due(Time(3)), None);
        assert_eq!(updates.due(Time(12)), None);
        let due: Vec<_> = std::iter::from_fn(|| updates.due(Time(33))).collect();
        assert_eq!(due, [Time(13), Time(23), Time(33)]);
        updates.set_period(Duration(5));
        let due: Vec<_> = std::iter::from_fn(|| updates.due(Time(48))).collect();
        assert_eq!(due, [Time(43), Time(48)]);
    }

    #[test]
    fn lots_hit_with_their_probability() {
        let mut lots = Lots::new(5, "x");
        assert!((0..1000).all(|_| !lots.next().hits(0.0) && lots.next().hits(1.0)));
        let n = 1_000_000;
        let hits = (0..n).filter(|_| lots.next().hits(0.03)).count() as f64;
        // Binomial: within 4.5 standard deviations (two-sided 7e-6, were the seed not fixed).
        assert!((hits - 30_000.0).abs() < 4.5 * (30_000.0 * 0.97f64).sqrt(), "{hits} of {n}");
    }
}
