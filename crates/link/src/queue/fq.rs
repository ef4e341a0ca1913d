use plan::{Buffer, Queue};
use units::Time;

use super::flows::{Flows, Round};
use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Passage};

/// Per-flow fair queueing by deficit round robin (Shreedhar and Varghese: "Efficient fair queuing using deficit round
/// robin", IEEE/ACM Transactions on Networking 4(3), 1996, section III): flows are hashed into queues that take turns,
/// each sending up to a quantum of bytes and keeping what it couldn't use for its next turn.
///
/// When there is no room for a packet, the longest queue gives it up, as the paper has it from McKenney ("Stochastic
/// fairness queueing", INFOCOM 1990): its last packet is dropped, so that one flow alone finds a drop-tail queue.
#[derive(Clone, Debug)]
pub(crate) struct Fq {
    quantum: i64,
    limit: Buffer,
    flows: Flows,
    active: Round,
    /// The first of the active queues has got its quantum.
    has_quantum: bool,
}

impl Fq {
    /// Empty queues. The seed and the element's name determine which flows share one.
    pub(crate) fn new(spec: &Queue, limit: Buffer, seed: u64, element: &str) -> Fq {
        let &Queue::Fq { quantum_bytes, flows } = spec else { unreachable!("FQ's parameters") };
        Fq {
            quantum: i64::from(quantum_bytes.get()),
            limit,
            flows: Flows::new(flows, seed, element),
            active: Round::default(),
            has_quantum: false,
        }
    }

    /// The first queue's turn is over.
    fn end_turn(&mut self) -> Option<u32> {
        self.has_quantum = false;
        self.flows.take_first(&mut self.active)
    }

    fn next(&mut self) -> Option<Item> {
        loop {
            let queue = self.active.first()?;
            let Some(bytes) = self.flows.head(queue).map(|item| i64::from(item.bytes)) else {
                // Emptied to make room for others.
                self.end_turn();
                continue;
            };
            let deficit = self.flows.deficit(queue);
            if !self.has_quantum {
                *deficit += self.quantum;
                self.has_quantum = true;
            }
            if bytes > *deficit {
                self.end_turn();
                self.flows.append(&mut self.active, queue);
                continue;
            }
            *deficit -= bytes;
            let item = self.flows.pop_head(queue);
            if self.flows.packets(queue) == 0 {
                self.end_turn();
            }
            return item;
        }
    }
}

impl Discipline for Fq {
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped) {
        let queue = self.flows.bucket(item.passage.packet.flow_hash);
        let mut is_last = true;
        self.flows.push(queue, item);
        if !self.flows.is_in_round(queue) {
            *self.flows.deficit(queue) = 0;
            self.flows.append(&mut self.active, queue);
        }
        while self.flows.is_over(self.limit) {
            let longest = self.flows.longest();
            let Some(item) = self.flows.pop_tail(longest) else { break };
            // The last one of its queue is the one that came just now, until that is gone.
            if longest == queue && std::mem::take(&mut is_last) {
                dropped.refuse(item, Fate::DroppedTail);
            } else {
                dropped.take_out(item, Fate::DroppedHead, now);
            }
        }
    }

    fn dequeue(&mut self, _: Time, _: &mut Dropped) -> Option<Item> {
        self.next()
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        std::iter::from_fn(|| self.next()).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.clone().drain(Time::ZERO).into_iter().map(|item| *item.passage).collect()
    }

    /// Another number of queues is another hash: then all begin anew.
    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let &Queue::Fq { quantum_bytes, flows } = spec else { return false };
        if flows.get() as usize != self.flows.count() {
            return false;
        }
        (self.quantum, self.limit) = (i64::from(quantum_bytes.get()), limit);
        true
    }
}

#[cfg(test)]
mod tests;
