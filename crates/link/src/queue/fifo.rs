use std::collections::VecDeque;

use plan::{Buffer, Queue, Threshold};
use units::Time;

use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Mark, Passage};

/// First in, first out, with a limit: drop-tail or drop-head, and marking above a threshold.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Buffer,
    drop_head: bool,
    ce_threshold: Option<Threshold>,
    waiting: VecDeque<Item>,
    backlog: Backlog,
}

impl Fifo {
    /// An empty queue. It draws no random numbers.
    pub(crate) fn new(spec: &Queue, limit: Buffer, _: u64, _: &str) -> Fifo {
        let Some((drop_head, ce_threshold)) = Fifo::parameters(spec) else { unreachable!("a FIFO's parameters") };
        Fifo { limit, drop_head, ce_threshold, waiting: VecDeque::new(), backlog: Backlog::default() }
    }

    /// True if the oldest make room; and the threshold above which packets are marked.
    fn parameters(spec: &Queue) -> Option<(bool, Option<Threshold>)> {
        match *spec {
            Queue::DropTail { ce_threshold } => Some((false, ce_threshold)),
            Queue::DropHead { ce_threshold } => Some((true, ce_threshold)),
            _ => None,
        }
    }

    /// True if an arriving packet, already counted in the backlog, finds too much of it.
    #[inline]
    fn is_above(&self) -> bool {
        match self.ce_threshold {
            Some(Threshold::Bytes(limit)) => self.backlog.bytes > limit,
            Some(Threshold::Packets(limit)) => u64::from(self.backlog.packets) > limit,
            Some(Threshold::Sojourn(_)) | None => false,
        }
    }
}

impl Discipline for Fifo {
    #[inline]
    fn enqueue(&mut self, mut item: Item, now: Time, dropped: &mut Dropped) {
        while !self.backlog.has_room(self.limit, item.bytes) {
            let oldest = if self.drop_head { self.waiting.pop_front() } else { None };
            let Some(oldest) = oldest else { return dropped.refuse(item, Fate::DroppedTail) };
            self.backlog.remove(oldest.bytes);
            dropped.take_out(oldest, Fate::DroppedHead, now);
        }
        self.backlog.add(item.bytes);
        if self.is_above() {
            item.mark(Mark::Threshold);
        }
        self.waiting.push_back(item);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Item> {
        let mut item = self.waiting.pop_front()?;
        self.backlog.remove(item.bytes);
        if let Some(Threshold::Sojourn(limit)) = self.ce_threshold
            && item.sojourn(now) > limit
        {
            item.mark(Mark::Threshold);
        }
        Some(item)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        self.backlog = Backlog::default();
        self.waiting.drain(..).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.waiting.iter().map(|item| *item.passage).collect()
    }

    /// A packet that finds nobody waiting leaves as it came.
    #[inline]
    fn lets_pass(&self) -> bool {
        true
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Some((drop_head, ce_threshold)) = Fifo::parameters(spec) else { return false };
        (self.limit, self.drop_head, self.ce_threshold) = (limit, drop_head, ce_threshold);
        true
    }
}

#[cfg(test)]
mod tests;
