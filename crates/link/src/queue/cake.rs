mod cobalt;

use std::num::NonZeroU32;

use plan::{Buffer, Isolation, Queue};
use units::Time;

use self::cobalt::{Cobalt, Control};
use super::aqm::Lots;
use super::codel::Source;
use super::flows::{Flows, Round};
use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Packet, Passage};

/// Queues that flows are hashed into.
const QUEUES: NonZeroU32 = NonZeroU32::new(1024).unwrap();

/// Queues of a set: a flow may have any queue of its set.
const WAYS: u32 = 8;

/// Credits are kept in bytes times this, so that a quantum can be divided among many flows.
const FRACTIONS: i64 = 1 << 16;

/// Common Applications Kept Enhanced (Høiland-Jørgensen, Täht, Morton: "Piece of CAKE: A comprehensive queue management
/// solution for home gateways", LANMAN 2018; tc-cake(8)): one tin (besteffort), without ACK filter. The link's serializer
/// is its shaper.
///
/// Flows have separate queues, by a set-associative hash, that take turns (DRR++): those that have just become active
/// go first. COBALT controls each. With triple isolation a flow's quantum is divided by the number of bulk flows that
/// its source or its destination has, whichever has more: hosts share the link first, then the flows of each.
///
/// A quantum's share is rounded down to 2^-16 bytes, where Linux draws lots to round. A sparse queue that runs empty
/// waits for a turn among the bulk queues, as in RFC 8290 section 4.2: otherwise a flow that sends a little at a time
/// would be sparse for ever. When too much waits, the longest queue loses packets at its head.
#[derive(Clone, Debug)]
pub(crate) struct Cake {
    cobalt: Cobalt,
    quantum: i64,
    isolation: Isolation,
    limit: Buffer,
    flows: Flows,
    /// The owner of each queue.
    owners: Vec<Owner>,
    sparse: Round,
    bulk: Round,
    /// Bulk flows by the index of the host.
    sources: Vec<u32>,
    destinations: Vec<u32>,
    lots: Lots,
}

/// The flow that a queue belongs to, or did.
#[derive(Clone, Copy, Debug, Default)]
struct Owner {
    hash: Option<u32>,
    from: u16,
    to: u16,
    class: Class,
    control: Control,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Class {
    /// The queue is in no round.
    #[default]
    Idle,
    /// Queue that has just become active.
    Sparse,
    /// Queue that has spent its credit, or ran empty, before it proved to be bulk: in the bulk round without a packet.
    Waiting,
    /// Queue that keeps packets waiting.
    Bulk,
}

impl Cake {
    /// Empty queues. The seed and the element's name determine which flows share a set, and BLUE's draws.
    pub(crate) fn new(spec: &Queue, limit: Buffer, seed: u64, element: &str) -> Cake {
        let Some((cobalt, quantum, isolation)) = Cake::parameters(spec) else { unreachable!("CAKE's parameters") };
        Cake {
            cobalt,
            quantum,
            isolation,
            limit,
            flows: Flows::new(QUEUES, seed, element),
            owners: vec![Owner::default(); QUEUES.get() as usize],
            sparse: Round::default(),
            bulk: Round::default(),
            sources: Vec::new(),
            destinations: Vec::new(),
            lots: Lots::new(seed, &format!("{element}/blue")),
        }
    }

    fn parameters(spec: &Queue) -> Option<(Cobalt, i64, Isolation)> {
        let &Queue::Cake { target_ns, interval_ns, quantum_bytes, isolation, ecn } = spec else { return None };
        let cobalt = Cobalt { target: target_ns, interval: interval_ns, ecn };
        Some((cobalt, i64::from(quantum_bytes.get()), isolation))
    }

    /// The queue of a packet's flow: the queue in its set of [`WAYS`] that it already has; otherwise an unused one,
    /// best without anything to remember; otherwise it shares the one that the hash names.
    fn queue_of(&self, packet: &Packet, now: Time) -> u32 {
        let named = self.flows.bucket(packet.flow_hash);
        let set = || (0..WAYS).map(|way| named - named % WAYS + (named + way) % WAYS);
        let owner = |queue: u32| &self.owners[queue as usize];
        set()
            .find(|&queue| owner(queue).hash == Some(packet.flow_hash))
            .or_else(|| set().find(|&queue| self.is_idle(queue) && self.cobalt.is_at_rest(&owner(queue).control, now)))
            .or_else(|| set().find(|&queue| self.is_idle(queue)))
            .unwrap_or(named)
    }

    fn is_idle(&self, queue: u32) -> bool {
        self.owners[queue as usize].class == Class::Idle
    }

    /// An idle queue becomes a packet's flow's, and sparse.
    fn begin(&mut self, queue: u32, packet: &Packet) {
        let owner = &mut self.owners[queue as usize];
        if owner.hash != Some(packet.flow_hash) {
            *owner = Owner { hash: Some(packet.flow_hash), ..Owner::default() };
        }
        (owner.from, owner.to, owner.class) = (packet.from, packet.to, Class::Sparse);
        *self.flows.deficit(queue) = self.share(queue);
        self.flows.append(&mut self.sparse, queue);
    }

    /// The bytes of a turn of the queue, in fractions of bytes.
    fn share(&self, queue: u32) -> i64 {
        let owner = &self.owners[queue as usize];
        let bulk = |counts: &[u32], host: u16| counts.get(usize::from(host)).copied().unwrap_or(0);
        let load = match self.isolation {
            Isolation::Flows => 1,
            Isolation::TripleIsolate => bulk(&self.sources, owner.from).max(bulk(&self.destinations, owner.to)).max(1),
        };
        self.quantum * FRACTIONS / i64::from(load)
    }

    fn becomes_bulk(&mut self, queue: u32) {
        let owner = &mut self.owners[queue as usize];
        owner.class = Class::Bulk;
        for (counts, host) in [(&mut self.sources, owner.from), (&mut self.destinations, owner.to)] {
            let host = usize::from(host);
            if counts.len() <= host {
                counts.resize(host + 1, 0);
            }
            counts[host] += 1;
        }
    }

    fn becomes_idle(&mut self, queue: u32) {
        let owner = &mut self.owners[queue as usize];
        if owner.class == Class::Bulk {
            self.sources[usize::from(owner.from)] -= 1;
            self.destinations[usize::from(owner.to)] -= 1;
        }
        owner.class = Class::Idle;
    }

    /// The queue whose turn it is: the first of the sparse ones, or else of the bulk ones, that has credit left. Those
    /// that have none get their share and go to the end of the bulk ones.
    fn turn(&mut self) -> Option<u32> {
        loop {
            let queue = self.sparse.first().or(self.bulk.first())?;
            if *self.flows.deficit(queue) > 0 {
                return Some(queue);
            }
            if self.owners[queue as usize].class != Class::Bulk {
                self.leave_sparse_or_wait(queue);
            }
            let share = self.share(queue);
            *self.flows.deficit(queue) += share;
            self.end_turn(queue);
            self.flows.append(&mut self.bulk, queue);
        }
    }

    /// A queue that is not bulk has spent its credit: it is, if it has more.
    fn leave_sparse_or_wait(&mut self, queue: u32) {
        if self.flows.packets(queue) > 0 {
            self.becomes_bulk(queue);
        } else {
            self.owners[queue as usize].class = Class::Waiting;
        }
    }

    /// The queue whose turn it is leaves its round.
    fn end_turn(&mut self, queue: u32) {
        let round = if self.sparse.first() == Some(queue) { &mut self.sparse } else { &mut self.bulk };
        self.flows.take_first(round);
    }

    /// The queue whose turn it is proved empty.
    fn give_up_turn(&mut self, queue: u32) {
        let was_sparse = self.sparse.first() == Some(queue);
        self.end_turn(queue);
        if was_sparse {
            self.owners[queue as usize].class = Class::Waiting;
            self.flows.append(&mut self.bulk, queue);
        } else {
            self.becomes_idle(queue);
        }
    }

    /// The next packet of the queues' turns, each of which `take` is asked for its next one.
    fn next(&mut self, mut take: impl FnMut(&mut Flows, &mut Control, u32, &mut Lots) -> Option<Item>) -> Option<Item> {
        while let Some(queue) = self.turn() {
            let control = &mut self.owners[queue as usize].control;
            if let Some(item) = take(&mut self.flows, control, queue, &mut self.lots) {
                *self.flows.deficit(queue) -= i64::from(item.bytes) * FRACTIONS;
                return Some(item);
            }
            self.give_up_turn(queue);
        }
        None
    }
}

impl Discipline for Cake {
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped) {
        let packet = item.passage.packet;
        let queue = self.queue_of(&packet, now);
        if self.flows.packets(queue) == 0 {
            self.cobalt.rest(&mut self.owners[queue as usize].control, now);
        }
        self.flows.push(queue, item);
        match self.owners[queue as usize].class {
            Class::Idle => self.begin(queue, &packet),
            Class::Waiting => self.becomes_bulk(queue),
            Class::Sparse | Class::Bulk => (),
        }
        while self.flows.is_over(self.limit) {
            let longest = self.flows.longest();
            let Some(item) = self.flows.pop_head(longest) else { return };
            self.cobalt.overflow(&mut self.owners[longest as usize].control, now);
            // The last one of its queue is the one that came just now.
            if longest == queue && self.flows.packets(queue) == 0 {
                dropped.refuse(item, Fate::DroppedTail);
            } else {
                dropped.take_out(item, Fate::DroppedHead, now);
            }
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        let cobalt = self.cobalt;
        self.next(|flows, control, queue, lots| {
            let mtu = flows.largest();
            cobalt.dequeue(control, &mut flows.queue(queue), mtu, lots, now, dropped)
        })
    }

    fn backlog(&self) -> Backlog {
        self.flows.backlog()
    }

    fn drain(&mut self, now: Time) -> Vec<Item> {
        let cobalt = self.cobalt;
        let mut take = |flows: &mut Flows, control: &mut Control, queue, _: &mut Lots| {
            let item = flows.queue(queue).pop();
            if item.is_none() {
                cobalt.found_empty(control, now);
            }
            item
        };
        std::iter::from_fn(|| self.next(&mut take)).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.clone().drain(Time::ZERO).into_iter().map(|item| *item.passage).collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Some((cobalt, quantum, isolation)) = Cake::parameters(spec) else { return false };
        (self.cobalt, self.quantum, self.isolation, self.limit) = (cobalt, quantum, isolation, limit);
        true
    }
}

#[cfg(test)]
mod tests;
