use std::num::NonZeroU32;

use plan::Buffer;

use super::backlogs::Backlogs;
use super::codel::Source;
use super::{Backlog, Item};
use plan::Stream;

/// Index that ends a chain.
const NONE: u32 = u32::MAX;

/// Packets in first-in-first-out queues, one for each bucket that flows are hashed into.
///
/// All queues share one memory, chained by indices: a packet that comes takes the room of the one that left last.
/// Nothing is allocated after the largest number of packets has waited once.
#[derive(Clone, Debug)]
pub(super) struct Flows {
    slots: Vec<Slot>,
    /// Unused slots, chained by `after`.
    free: u32,
    queues: Vec<Queue>,
    backlogs: Backlogs,
    backlog: Backlog,
    largest: u32,
    hash: Stream,
}

#[derive(Clone, Debug)]
struct Slot {
    /// `None` in an unused one.
    item: Option<Item>,
    before: u32,
    after: u32,
}

#[derive(Clone, Debug)]
struct Queue {
    head: u32,
    tail: u32,
    packets: u32,
    /// The next in its round.
    after: u32,
    in_round: bool,
    deficit: i64,
}

/// Queues that take turns, as a chain through [`Flows`]. A queue is in one round at most.
#[derive(Clone, Debug)]
pub(super) struct Round {
    first: u32,
    last: u32,
}

impl Default for Round {
    fn default() -> Round {
        Round { first: NONE, last: NONE }
    }
}

impl Round {
    pub(super) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }
}

impl Flows {
    /// `count` empty queues. The seed and the element's name determine which flows share one.
    pub(super) fn new(count: NonZeroU32, seed: u64, element: &str) -> Flows {
        let queue = Queue { head: NONE, tail: NONE, packets: 0, after: NONE, in_round: false, deficit: 0 };
        Flows {
            slots: Vec::new(),
            free: NONE,
            queues: vec![queue; count.get() as usize],
            backlogs: Backlogs::new(count.get() as usize),
            backlog: Backlog::default(),
            largest: 0,
            hash: Stream::new(seed, element),
        }
    }

    /// Number of queues.
    pub(super) fn count(&self) -> usize {
        self.queues.len()
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(super) fn is_over(&self, limit: Buffer) -> bool {
        match limit {
            Buffer::Bytes(limit) => self.backlog.bytes > limit,
            Buffer::Packets(limit) => u64::from(self.backlog.packets) > limit,
            Buffer::Unlimited => false,
        }
    }

    /// Bytes of the largest packet that ever came.
    pub(super) fn largest(&self) -> u32 {
        self.largest
    }

    /// The queue of a flow: a keyed hash, so that which flows collide changes with the seed.
    pub(super) fn bucket(&self, flow_hash: u32) -> u32 {
        let hash = self.hash.at(u64::from(flow_hash));
        ((u128::from(hash) * self.queues.len() as u128) >> 64) as u32
    }

    /// The queue as a controller of delay sees it.
    pub(super) fn queue(&mut self, queue: u32) -> QueueOf<'_> {
        QueueOf { flows: self, queue }
    }

    pub(super) fn bytes(&self, queue: u32) -> u64 {
        self.backlogs.bytes(queue)
    }

    pub(super) fn packets(&self, queue: u32) -> u32 {
        self.queues[queue as usize].packets
    }

    /// The queue with most bytes, the first of equals.
    pub(super) fn longest(&mut self) -> u32 {
        self.backlogs.find()
    }

    pub(super) fn head(&self, queue: u32) -> Option<&Item> {
        let head = self.queues[queue as usize].head;
        self.slots.get(head as usize)?.item.as_ref()
    }

    /// A packet joins the end of its queue.
    pub(super) fn push(&mut self, queue: u32, item: Item) {
        let bytes = item.bytes;
        let before = self.queues[queue as usize].tail;
        let slot = Slot { item: Some(item), before, after: NONE };
        let at = if self.free == NONE {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.slots[at as usize].after;
            self.slots[at as usize] = slot;
            at
        };
        match before {
            NONE => self.queues[queue as usize].head = at,
            before => self.slots[before as usize].after = at,
        }
        self.queues[queue as usize].tail = at;
        self.queues[queue as usize].packets += 1;
        self.backlog.add(bytes);
        self.largest = self.largest.max(bytes);
        self.backlogs.set(queue, self.backlogs.bytes(queue) + u64::from(bytes));
    }

    /// The packet at the head leaves its queue.
    pub(super) fn pop_head(&mut self, queue: u32) -> Option<Item> {
        let at = self.queues[queue as usize].head;
        self.unlink(queue, at)
    }

    /// The packet at the tail leaves its queue.
    pub(super) fn pop_tail(&mut self, queue: u32) -> Option<Item> {
        let at = self.queues[queue as usize].tail;
        self.unlink(queue, at)
    }

    /// `at` may be [`NONE`].
    fn unlink(&mut self, queue: u32, at: u32) -> Option<Item> {
        let &mut Slot { ref mut item, before, after } = self.slots.get_mut(at as usize)?;
        let item = item.take()?;
        match before {
            NONE => self.queues[queue as usize].head = after,
            before => self.slots[before as usize].after = after,
        }
        match after {
            NONE => self.queues[queue as usize].tail = before,
            after => self.slots[after as usize].before = before,
        }
        self.slots[at as usize].after = self.free;
        self.free = at;
        self.queues[queue as usize].packets -= 1;
        self.backlog.remove(item.bytes);
        self.backlogs.set(queue, self.backlogs.bytes(queue) - u64::from(item.bytes));
        Some(item)
    }

    /// Bytes that the queue may still send in this round.
    pub(super) fn deficit(&mut self, queue: u32) -> &mut i64 {
        &mut self.queues[queue as usize].deficit
    }

    /// True if the queue has a place in a round.
    pub(super) fn is_in_round(&self, queue: u32) -> bool {
        self.queues[queue as usize].in_round
    }

    /// A queue that is in no round becomes the last of one.
    pub(super) fn append(&mut self, round: &mut Round, queue: u32) {
        self.queues[queue as usize].in_round = true;
        self.queues[queue as usize].after = NONE;
        match round.last {
            NONE => round.first = queue,
            last => self.queues[last as usize].after = queue,
        }
        round.last = queue;
    }

    /// The first queue leaves the round.
    pub(super) fn take_first(&mut self, round: &mut Round) -> Option<u32> {
        let first = round.first()?;
        self.queues[first as usize].in_round = false;
        round.first = self.queues[first as usize].after;
        if round.first == NONE {
            round.last = NONE;
        }
        Some(first)
    }
}

/// QueueOf of the queues.
pub(super) struct QueueOf<'a> {
    flows: &'a mut Flows,
    queue: u32,
}

impl Source for QueueOf<'_> {
    fn head(&self) -> Option<&Item> {
        self.flows.head(self.queue)
    }

    fn pop(&mut self) -> Option<Item> {
        self.flows.pop_head(self.queue)
    }

    fn bytes(&self) -> u64 {
        self.flows.bytes(self.queue)
    }
}

#[cfg(test)]
mod tests {
    use units::Time;

    use super::*;
    use crate::queue::testing::{id, item};

    #[test]
    fn rooms_are_used_again() {
        let mut flows = Flows::new(NonZeroU32::new(4).unwrap(), 1, "x");
        for round in 0..50 {
            (0..8).for_each(|n| flows.push(n % 4, item(8 * round + u64::from(n), n, 100, Time::ZERO)));
            for queue in 0..4 {
                let (first, last) = (flows.pop_head(queue).unwrap(), flows.pop_tail(queue).unwrap());
                assert_eq!((id(&first), id(&last)), (8 * round + u64::from(queue), 8 * round + u64::from(queue) + 4));
            }
            assert_eq!((flows.slots.len(), flows.backlog()), (8, Backlog::default()));
        }
    }

    #[test]
    fn queues_take_turns() {
        let (mut flows, mut round) = (Flows::new(NonZeroU32::new(4).unwrap(), 1, "x"), Round::default());
        [2, 0, 3].into_iter().for_each(|queue| flows.append(&mut round, queue));
        let first = flows.take_first(&mut round).unwrap();
        assert!(!flows.is_in_round(first) && flows.is_in_round(0));
        flows.append(&mut round, first);
        let order: Vec<u32> = std::iter::from_fn(|| flows.take_first(&mut round)).collect();
        assert_eq!(order, [0, 3, 2]);
        assert!(round.first().is_none() && !flows.is_in_round(2));
    }
}
