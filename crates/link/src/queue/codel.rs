use std::collections::VecDeque;

use plan::{Buffer, Queue};
use units::{Duration, Time};

use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Mark, Passage};

/// CoDel's parameters and what they decide (RFC 8289 section 5).
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    pub target: Duration,
    pub interval: Duration,
    pub ecn: bool,
    pub ce_threshold: Option<Duration>,
}

/// What CoDel remembers of a queue (RFC 8289 section 5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the sojourn time will have been above target for an interval; `None`: it is below.
    first_above: Option<Time>,
    drop_next: Time,
    /// Drops since the dropping state was entered.
    count: u32,
    /// `count` when it was entered last.
    last_count: u32,
    dropping: bool,
}

impl Law {
    /// The next packet that leaves a queue, which `take` takes packets from one by one, each with the bytes that then
    /// still wait behind it (RFC 8289 section 5.5).
    ///
    /// `mtu`: the largest packet that came so far, as CoDel's first description has it; a link has no other MTU.
    ///
    /// Where a packet would be dropped, one that is ECN-capable is marked instead if `ecn` is set, and leaves. It counts
    /// as a drop, and no other packet is judged in its place: at most one mark for each packet that leaves.
    pub(super) fn dequeue(
        &self,
        control: &mut Control,
        mtu: u32,
        now: Time,
        mut take: impl FnMut() -> Option<(Item, u64)>,
        dropped: &mut Dropped,
    ) -> Option<Item> {
        let (mut item, mut ok_to_drop) = self.judge(control, mtu, now, take());
        if control.dropping {
            control.dropping = ok_to_drop;
            while control.dropping && now >= control.drop_next {
                control.count = control.count.saturating_add(1);
                item = item.and_then(|item| self.signal(item, now, dropped));
                let is_marked = item.is_some();
                if !is_marked {
                    (item, ok_to_drop) = self.judge(control, mtu, now, take());
                    control.dropping = ok_to_drop;
                }
                if control.dropping {
                    control.drop_next = self.control_law(control.drop_next, control.count);
                }
                if is_marked {
                    break;
                }
            }
        } else if ok_to_drop {
            item = item.and_then(|item| self.signal(item, now, dropped));
            if item.is_none() {
                (item, _) = self.judge(control, mtu, now, take());
            }
            control.enter(self.interval, now);
            control.drop_next = self.control_law(now, control.count);
        }
        if let (Some(item), Some(threshold)) = (&mut item, self.ce_threshold)
            && item.sojourn(now) > threshold
        {
            item.mark(Mark::Threshold);
        }
        item
    }

    /// May this packet be dropped? Only if the sojourn time has been above target for an interval, and there was always
    /// more than a packet behind (`dodequeue`, RFC 8289 section 5.6).
    fn judge(&self, control: &mut Control, mtu: u32, now: Time, taken: Option<(Item, u64)>) -> (Option<Item>, bool) {
        let is_above =
            taken.as_ref().is_some_and(|(item, behind)| item.sojourn(now) >= self.target && *behind > u64::from(mtu));
        let ok_to_drop = match control.first_above {
            _ if !is_above => {
                control.first_above = None;
                false
            }
            None => {
                control.first_above = Some(now + self.interval);
                false
            }
            Some(at) => now >= at,
        };
        (taken.map(|(item, _)| item), ok_to_drop)
    }

    /// Tell the sender by a mark, and the packet goes on; or by dropping it.
    fn signal(&self, mut item: Item, now: Time, dropped: &mut Dropped) -> Option<Item> {
        if self.ecn && item.mark(Mark::Early) {
            return Some(item);
        }
        dropped.take_out(item, Fate::DroppedEarly, now);
        None
    }

    /// interval / sqrt(count) after `from`, rounded down to a nanosecond (RFC 8289 section 5.6).
    fn control_law(&self, from: Time, count: u32) -> Time {
        let interval = self.interval.as_nanos() as u128;
        from + Duration((interval * interval / u128::from(count)).isqrt() as i64)
    }
}

impl Control {
    /// Enter the dropping state. Soon after it was left, it goes on at the rate that controlled the queue then: with as
    /// many drops as there were after it was entered (RFC 8289 section 5.5).
    fn enter(&mut self, interval: Duration, now: Time) {
        let delta = self.count - self.last_count;
        let is_recent = (now - self.drop_next).as_nanos() < 16 * interval.as_nanos();
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.last_count = self.count;
        self.dropping = true;
    }
}

/// Controlled Delay (RFC 8289): first in, first out; when packets have waited longer than `target` for an `interval`,
/// some that leave are dropped or marked, ever more of them until the wait is below. What doesn't fit is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    law: Law,
    control: Control,
    limit: Buffer,
    waiting: VecDeque<Item>,
    backlog: Backlog,
    largest: u32,
}

impl Codel {
    /// An empty queue.
    pub(crate) fn new(spec: &Queue, limit: Buffer) -> Codel {
        let Some(law) = Codel::law(spec) else { unreachable!("CoDel's parameters") };
        Codel {
            law,
            control: Control::default(),
            limit,
            waiting: VecDeque::new(),
            backlog: Backlog::default(),
            largest: 0,
        }
    }

    fn law(spec: &Queue) -> Option<Law> {
        let &Queue::Codel { target_ns, interval_ns, ecn, ce_threshold_ns } = spec else { return None };
        Some(Law { target: target_ns, interval: interval_ns, ecn, ce_threshold: ce_threshold_ns })
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, item: Item, _: Time, dropped: &mut Dropped) {
        if !self.backlog.has_room(self.limit, item.bytes) {
            return dropped.refuse(item, Fate::DroppedTail);
        }
        self.largest = self.largest.max(item.bytes);
        self.backlog.add(item.bytes);
        self.waiting.push_back(item);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        let (waiting, backlog) = (&mut self.waiting, &mut self.backlog);
        let take = || {
            let item = waiting.pop_front()?;
            backlog.remove(item.bytes);
            Some((item, backlog.bytes))
        };
        self.law.dequeue(&mut self.control, self.largest, now, take, dropped)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drain(&mut self) -> Vec<Item> {
        self.backlog = Backlog::default();
        self.waiting.drain(..).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.waiting.iter().map(|item| item.passage).collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Some(law) = Codel::law(spec) else { return false };
        (self.law, self.limit) = (law, limit);
        true
    }
}

#[cfg(test)]
mod tests;
