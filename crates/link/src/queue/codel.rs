use plan::{Buffer, Queue};
use units::{Duration, Time};

use super::aqm::Waiting;
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

/// The state of CoDel for a queue (RFC 8289 section 5.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// The time at which the sojourn time will have been above target for an interval; `None`: it is below.
    first_above: Option<Time>,
    drop_next: Time,
    /// Drops since the dropping state was entered.
    count: u32,
    /// `count` when it was entered last.
    last_count: u32,
    dropping: bool,
}

/// A queue that CoDel takes packets from.
pub(super) trait Source {
    /// The packet that is next.
    fn head(&self) -> Option<&Item>;
    /// Removes the packet at the head.
    fn pop(&mut self) -> Option<Item>;
    /// Bytes of all waiting packets.
    fn bytes(&self) -> u64;
}

impl Law {
    /// The next packet that leaves the queue (RFC 8289 section 5.5).
    ///
    /// `mtu`: the largest packet that came so far, as CoDel's first description has it; a link has no other MTU.
    /// If `ecn` is set, an ECN-capable packet is marked instead of dropped, and leaves. It counts
    /// as a drop, and no other packet is judged in its place: at most one mark for each packet that leaves.
    pub(super) fn dequeue(
        &self,
        control: &mut Control,
        queue: &mut impl Source,
        mtu: u32,
        now: Time,
        dropped: &mut Dropped,
    ) -> Option<Item> {
        let ok_to_drop = self.judge(control, queue, mtu, now);
        let mut is_marked = false;
        if control.dropping {
            control.dropping = ok_to_drop;
            while control.dropping && now >= control.drop_next && !is_marked {
                control.count = control.count.saturating_add(1);
                is_marked = self.is_to_be_marked(queue);
                if !is_marked {
                    drop_head(queue, now, dropped);
                    control.dropping = self.judge(control, queue, mtu, now);
                }
                if control.dropping {
                    control.drop_next = control_law(self.interval, control.drop_next, control.count);
                }
            }
        } else if ok_to_drop {
            is_marked = self.is_to_be_marked(queue);
            if !is_marked {
                drop_head(queue, now, dropped);
                self.judge(control, queue, mtu, now);
            }
            control.enter(self.interval, now);
            control.drop_next = control_law(self.interval, now, control.count);
        }
        let mut item = queue.pop()?;
        if is_marked {
            item.mark(Mark::Early);
        }
        if self.ce_threshold.is_some_and(|threshold| item.sojourn(now) > threshold) {
            item.mark(Mark::Threshold);
        }
        Some(item)
    }

    /// True if the next packet may be dropped. That needs a sojourn time above target for an interval, and always more
    /// than an MTU behind (`dodequeue`, RFC 8289 section 5.6).
    fn judge(&self, control: &mut Control, queue: &impl Source, mtu: u32, now: Time) -> bool {
        let is_above = queue.head().is_some_and(|item| {
            let behind = queue.bytes() - u64::from(item.bytes);
            item.sojourn(now) >= self.target && behind > u64::from(mtu)
        });
        if !is_above {
            control.first_above = None;
            return false;
        }
        now >= *control.first_above.get_or_insert(now + self.interval)
    }

    fn is_to_be_marked(&self, queue: &impl Source) -> bool {
        self.ecn && queue.head().is_some_and(|item| item.passage.packet.ecn.is_capable())
    }
}

/// interval / sqrt(count) after `from`, rounded down to a nanosecond (RFC 8289 section 5.6).
pub(super) fn control_law(interval: Duration, from: Time, count: u32) -> Time {
    let interval = interval.as_nanos() as u128;
    from + Duration((interval * interval / u128::from(count)).isqrt() as i64)
}

pub(super) fn drop_head(queue: &mut impl Source, now: Time, dropped: &mut Dropped) {
    if let Some(item) = queue.pop() {
        dropped.take_out(item, Fate::DroppedEarly, now);
    }
}

impl Control {
    /// The state after a dequeue that finds no packet (RFC 8289 section 5.6).
    pub(super) fn found_empty(&mut self) {
        self.first_above = None;
        self.dropping = false;
    }

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
/// some that leave are dropped or marked, ever more packets until the wait is below. A packet that doesn't fit is
/// dropped.
#[derive(Clone, Debug)]
pub(crate) struct Codel {
    law: Law,
    control: Control,
    limit: Buffer,
    waiting: Waiting,
    largest: u32,
}

impl Source for Waiting {
    fn head(&self) -> Option<&Item> {
        Waiting::head(self)
    }

    fn pop(&mut self) -> Option<Item> {
        Waiting::pop(self)
    }

    fn bytes(&self) -> u64 {
        self.backlog().bytes
    }
}

impl Codel {
    /// An empty queue. It draws no random numbers.
    pub(crate) fn new(spec: &Queue, limit: Buffer, _: u64, _: &str) -> Codel {
        let Some(law) = Codel::law(spec) else { unreachable!("CoDel's parameters") };
        Codel { law, control: Control::default(), limit, waiting: Waiting::default(), largest: 0 }
    }

    fn law(spec: &Queue) -> Option<Law> {
        let &Queue::Codel { target_ns, interval_ns, ecn, ce_threshold_ns } = spec else { return None };
        Some(Law { target: target_ns, interval: interval_ns, ecn, ce_threshold: ce_threshold_ns })
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, item: Item, _: Time, dropped: &mut Dropped) {
        if !self.waiting.backlog().has_room(self.limit, item.bytes) {
            return dropped.refuse(item, Fate::DroppedTail);
        }
        self.largest = self.largest.max(item.bytes);
        self.waiting.push(item);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        self.law.dequeue(&mut self.control, &mut self.waiting, self.largest, now, dropped)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        self.control.found_empty();
        self.waiting.drain().collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.waiting.passages().collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Some(law) = Codel::law(spec) else { return false };
        (self.law, self.limit) = (law, limit);
        true
    }
}

#[cfg(test)]
mod tests;
