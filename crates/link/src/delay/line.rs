use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use units::{Duration, Time};

use super::jitter::Jitter;
use crate::chance::Chance;
use crate::packet::{Fate, Passage, Reordered};
use crate::variation::Steps;

/// The packets that propagate.
/// Packets that arrive in the order in which they leave queue up; packets that overtake another wait beside them,
/// sorted. A line that keeps its order therefore costs no more than a queue.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    seed: u64,
    delay: Duration,
    /// The steps of the delay that are still to come.
    steps: Option<Steps<Duration>>,
    jitter: Option<Jitter>,
    may_overtake: bool,
    reorder: Option<plan::Reorder>,
    skips: Chance,
    limit: Option<u64>,
    /// Packets that have come.
    packets: u64,
    /// The latest delivery of those that did not skip the line.
    last_in_line: Time,
    /// The latest of those that arrive: no loss is yet to come.
    last_arriving: Time,
    in_order: VecDeque<Entry>,
    overtaking: BinaryHeap<Entry>,
    /// The time at which the first of them all arrives.
    next: Time,
}

#[derive(Clone, Debug)]
struct Entry {
    delivery: Time,
    number: u64,
    passage: Box<Passage>,
}

impl Line {
    /// An empty line. It draws from the streams `{link}/jitter` and `{link}/reorder`.
    pub(crate) fn new(spec: &plan::Link, seed: u64) -> Line {
        let mut line = Line {
            seed,
            delay: Duration::ZERO,
            steps: None,
            jitter: None,
            may_overtake: false,
            reorder: None,
            skips: Chance::new(plan::Chance::default(), seed, &format!("{}/reorder", spec.name)),
            limit: None,
            packets: 0,
            last_in_line: Time(i64::MIN),
            last_arriving: Time(i64::MIN),
            in_order: VecDeque::new(),
            overtaking: BinaryHeap::new(),
            next: Time::NEVER,
        };
        line.configure(spec);
        line
    }

    /// Packets that come from now on travel as `spec` says; those on the way do as they would have.
    pub(crate) fn configure(&mut self, spec: &plan::Link) {
        self.delay = spec.delay_ns;
        self.steps = match &spec.delays {
            Some(plan::Delays::Steps { steps, period_ns }) => Some(Steps::new(steps, *period_ns)),
            Some(plan::Delays::AsBefore) => unreachable!("a plan that was read names each delay"),
            None => None,
        };
        self.jitter = match (self.jitter.take(), &spec.jitter) {
            (Some(mut jitter), Some(to)) => {
                jitter.configure(to);
                Some(jitter)
            }
            (_, to) => to.as_ref().map(|to| Jitter::new(to, self.seed, &format!("{}/jitter", spec.name))),
        };
        self.may_overtake = spec.reordering;
        self.reorder = spec.reorder;
        let chance = |r: plan::Reorder| plan::Chance { probability: r.probability, correlation: r.correlation };
        self.skips.configure(spec.reorder.map(chance).unwrap_or_default());
        self.limit = spec.delay_line_packets;
    }

    /// `passage` has left the serializer at `at`, not before the one before it. Its fate says whether it will be lost at
    /// the other end. `Err` if the line is full.
    #[inline(always)]
    pub(crate) fn send(&mut self, mut passage: Box<Passage>, at: Time) -> Result<(), Box<Passage>> {
        let number = self.packets;
        self.packets += 1;
        if let Some(steps) = &mut self.steps {
            while steps.next() <= at {
                self.delay = steps.take();
            }
        }
        // Drawn for each packet, also for those that don't need it, so that the next one's doesn't depend on their fate.
        let jitter = self.jitter.as_mut().map_or(Duration::ZERO, |jitter| jitter.next(number));
        let skipped = self.reorder.filter(|r| (number + 1).is_multiple_of(r.gap) && self.skips.next());
        if self.is_full(at) {
            return Err(passage);
        }
        let delivery = match skipped {
            Some(reorder) => at + reorder.delay_ns,
            None => {
                let due = at + self.delay + jitter;
                self.last_in_line = self.last_in_line.max(due);
                if self.may_overtake { due } else { self.last_in_line }
            }
        };
        passage.delivery = Some(delivery);
        if passage.fate != Fate::LostAfter {
            let why = if skipped.is_some() { Reordered::SkippedDelay } else { Reordered::ShorterDelay };
            passage.reordered = (delivery < self.last_arriving).then_some(why);
            self.last_arriving = self.last_arriving.max(delivery);
        }
        self.next = self.next.min(delivery);
        let entry = Entry { delivery, number, passage };
        if self.in_order.back().is_some_and(|last| delivery < last.delivery) {
            self.overtaking.push(entry);
        } else {
            self.in_order.push_back(entry);
        }
        Ok(())
    }

    /// The time at which the next packet arrives.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The next packet that has arrived by `now`: first what arrived first, of several at a time what was sent first.
    #[inline]
    pub(crate) fn pop(&mut self, now: Time) -> Option<Box<Passage>> {
        if self.next > now {
            return None;
        }
        // The heap's order is that of the end: the greater entry is the earlier one.
        let is_queued = self.overtaking.is_empty() || self.in_order.front() >= self.overtaking.peek();
        let entry = if is_queued { self.in_order.pop_front() } else { self.overtaking.pop() };
        self.next = self.first().map_or(Time::NEVER, |entry| entry.delivery);
        entry.map(|entry| entry.passage)
    }

    /// Packets on the way, oldest first.
    pub(crate) fn inside(&self) -> Vec<Passage> {
        let mut entries: Vec<&Entry> = self.in_order.iter().chain(&self.overtaking).collect();
        entries.sort_unstable_by_key(|entry| entry.number);
        entries.into_iter().map(|entry| *entry.passage).collect()
    }

    #[inline]
    fn first(&self) -> Option<&Entry> {
        match self.overtaking.peek() {
            None => self.in_order.front(),
            overtaking => self.in_order.front().max(overtaking),
        }
    }

    /// True if no room is left at `at`. Packets that are due have left, even if nobody has asked for them yet.
    #[inline]
    fn is_full(&self, at: Time) -> bool {
        let Some(limit) = self.limit else { return false };
        let mut inside = self.in_order.len() + self.overtaking.len();
        if inside as u64 >= limit && self.next() <= at {
            inside -= self.in_order.partition_point(|entry| entry.delivery <= at);
            inside -= self.overtaking.iter().filter(|entry| entry.delivery <= at).count();
        }
        inside as u64 >= limit
    }
}

/// The greater entry is the one that arrives earlier: a [`BinaryHeap`] gives the greatest first.
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        (other.delivery, other.number).cmp(&(self.delivery, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}
