use plan::{Buffer, Queue};
use units::Time;

use super::codel::{Control, Law};
use super::flows::{Flows, Round};
use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Passage};

/// The most packets that are dropped at a time when the queue is full (RFC 8290 section 4.1).
const DROP_BATCH: u32 = 64;

/// Flow Queue CoDel (RFC 8290): flows are hashed into queues that take turns, each controlled by a separate CoDel;
/// queues that have just become active go first.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel {
    law: Law,
    quantum: i64,
    limit: Buffer,
    flows: Flows,
    controls: Vec<Control>,
    new: Round,
    old: Round,
}

impl FqCodel {
    /// Empty queues. The seed and the element's name determine which flows share one.
    pub(crate) fn new(spec: &Queue, limit: Buffer, seed: u64, element: &str) -> FqCodel {
        let &Queue::FqCodel { quantum_bytes, flows, .. } = spec else { unreachable!("FQ-CoDel's parameters") };
        FqCodel {
            law: FqCodel::law(spec),
            quantum: i64::from(quantum_bytes.get()),
            limit,
            flows: Flows::new(flows, seed, element),
            controls: vec![Control::default(); flows.get() as usize],
            new: Round::default(),
            old: Round::default(),
        }
    }

    fn law(spec: &Queue) -> Law {
        let &Queue::FqCodel { target_ns, interval_ns, ecn, ce_threshold_ns, .. } = spec else {
            unreachable!("FQ-CoDel's parameters")
        };
        Law { target: target_ns, interval: interval_ns, ecn, ce_threshold: ce_threshold_ns }
    }

    /// The queue whose turn it is: the first of the new ones, or else of the old ones, that has credits left. A queue
    /// without any gets a quantum and goes to the end of the old ones (RFC 8290 section 4.2).
    fn turn(&mut self) -> Option<u32> {
        loop {
            let round = if self.new.first().is_some() { &mut self.new } else { &mut self.old };
            let queue = round.first()?;
            let deficit = self.flows.deficit(queue);
            if *deficit > 0 {
                return Some(queue);
            }
            *deficit += self.quantum;
            self.flows.take_first(round);
            self.flows.append(&mut self.old, queue);
        }
    }

    /// The queue whose turn it is proved empty: a new one becomes an old one, because otherwise a flow that sends a
    /// little at a time would be new for ever; an old one becomes inactive (RFC 8290 section 4.2).
    fn give_up_turn(&mut self) {
        if let Some(queue) = self.flows.take_first(&mut self.new) {
            self.flows.append(&mut self.old, queue);
        } else {
            self.flows.take_first(&mut self.old);
        }
    }

    /// The next packet of the queues' turns, each of which `take` is asked for its next one.
    fn next(&mut self, mut take: impl FnMut(&mut Flows, &mut Control, u32) -> Option<Item>) -> Option<Item> {
        while let Some(queue) = self.turn() {
            if let Some(item) = take(&mut self.flows, &mut self.controls[queue as usize], queue) {
                *self.flows.deficit(queue) -= i64::from(item.bytes);
                return Some(item);
            }
            self.give_up_turn();
        }
        None
    }
}

impl Discipline for FqCodel {
    /// If that is too much, half of the packets of the queue with most bytes are dropped, from its head, at most
    /// [`DROP_BATCH`] at a time (RFC 8290 section 4.1).
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped) {
        let queue = self.flows.bucket(item.passage.packet.flow_hash);
        self.flows.push(queue, item);
        if !self.flows.is_in_round(queue) {
            *self.flows.deficit(queue) = self.quantum;
            self.flows.append(&mut self.new, queue);
        }
        while self.flows.is_over(self.limit) {
            let longest = self.flows.longest();
            let batch = self.flows.packets(longest).div_ceil(2).clamp(1, DROP_BATCH);
            for _ in 0..batch {
                let Some(item) = self.flows.pop_head(longest) else { return };
                // The last one of its queue is the one that came just now.
                if longest == queue && self.flows.packets(queue) == 0 {
                    dropped.refuse(item, Fate::DroppedTail);
                } else {
                    dropped.take_out(item, Fate::DroppedHead, now);
                }
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        let law = self.law;
        self.next(|flows, control, queue| {
            let mtu = flows.largest();
            law.dequeue(control, &mut flows.queue(queue), mtu, now, dropped)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        // A queue that is emptied so is never found empty by CoDel, which would end its dropping state.
        self.controls.iter_mut().for_each(Control::found_empty);
        std::iter::from_fn(|| self.next(|flows, _, queue| flows.pop_head(queue))).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.clone().drain(Time::ZERO).into_iter().map(|item| *item.passage).collect()
    }

    /// Another number of queues is another hash: then all begin anew.
    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let &Queue::FqCodel { quantum_bytes, flows, .. } = spec else { return false };
        if flows.get() as usize != self.flows.count() {
            return false;
        }
        (self.law, self.quantum, self.limit) = (FqCodel::law(spec), i64::from(quantum_bytes.get()), limit);
        true
    }
}

#[cfg(test)]
mod tests;
