//! Shared parts of the tests of queue disciplines.

use units::{Duration, Time};

use super::{Discipline, Dropped, Item};
use crate::packet::{Ecn, Fate, Packet, Passage};

/// Bytes of a full packet, the MTU of these tests.
pub const FULL: u32 = 1_500;

/// A packet of a flow that comes at `at`, not ECN-capable.
pub fn item(id: u64, flow_hash: u32, bytes: u32, at: Time) -> Item {
    let passage = Passage::new(Packet { id, size: bytes, flow_hash, ..Packet::default() }, at);
    Item { passage: Box::new(passage), bytes }
}

/// The same packet, ECN-capable.
pub fn ect(mut item: Item) -> Item {
    item.passage.packet.ecn = Ecn::Ect0;
    item
}

pub fn id(item: &Item) -> u64 {
    item.passage.packet.id
}

/// Identities and fates of what was dropped, in order.
pub fn fates(dropped: &Dropped) -> Vec<(u64, Fate)> {
    dropped.0.iter().map(|passage| (passage.packet.id, passage.fate)).collect()
}

/// Puts `count` packets into a queue at `at`, with identities from `first` on.
pub fn fill(queue: &mut impl Discipline, first: u64, count: u64, flow_hash: u32, at: Time) {
    let mut dropped = Dropped::default();
    (first..first + count).for_each(|id| queue.enqueue(item(id, flow_hash, FULL, at), at, &mut dropped));
    assert!(dropped.0.is_empty(), "all fit");
}

/// A serializer behind a queue.
pub struct Wire<Q> {
    pub queue: Q,
    pub dropped: Dropped,
    /// The packets that have begun to leave, and when.
    pub left: Vec<(Time, Item)>,
    ns_per_byte: i64,
    /// The time at which the packet in service has left.
    free_at: Option<Time>,
}

impl<Q: Discipline> Wire<Q> {
    pub fn new(queue: Q, ns_per_byte: i64) -> Wire<Q> {
        Wire { queue, dropped: Dropped::default(), left: Vec::new(), ns_per_byte, free_at: None }
    }

    /// Send what can be sent until `at`.
    pub fn run_until(&mut self, at: Time) {
        while let Some(free_at) = self.free_at.filter(|&free_at| free_at <= at) {
            self.free_at = None;
            self.send(free_at);
        }
    }

    /// The time at which the wire will be free; `None`: it is.
    pub fn free_at(&self) -> Option<Time> {
        self.free_at
    }

    pub fn arrive(&mut self, item: Item) {
        let now = item.passage.arrival;
        self.run_until(now);
        self.queue.enqueue(item, now, &mut self.dropped);
        if self.free_at.is_none() {
            self.send(now);
        }
    }

    fn send(&mut self, now: Time) {
        if let Some(item) = self.queue.dequeue(now, &mut self.dropped) {
            self.free_at = Some(now + Duration(i64::from(item.bytes) * self.ns_per_byte));
            self.left.push((now, item));
        }
    }
}
