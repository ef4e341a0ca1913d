//! Queue disciplines: which packets wait, which one leaves next, which are marked and dropped.

mod aqm;
mod backlogs;
mod cake;
mod codel;
mod dualpi2;
mod fifo;
mod flows;
mod fq;
mod fq_codel;
mod pie;
#[cfg(test)]
mod properties;
mod red;
#[cfg(test)]
mod testing;

use std::collections::VecDeque;

use plan::Buffer;
use units::{Duration, Time};

use crate::packet::{Fate, Mark, Passage};

use cake::Cake;
use codel::Codel;
use dualpi2::DualPi2;
use fifo::Fifo;
use fq::Fq;
use fq_codel::FqCodel;
use pie::Pie;
use red::Red;

/// The contents of a queue, without the packet in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Frames plus overhead.
    pub bytes: u64,
    /// Number of packets.
    pub packets: u32,
}

impl Backlog {
    /// True if there is room for one more packet of `bytes`.
    #[inline]
    pub(crate) fn has_room(self, limit: Buffer, bytes: u32) -> bool {
        match limit {
            Buffer::Bytes(limit) => self.bytes + u64::from(bytes) <= limit,
            Buffer::Packets(limit) => u64::from(self.packets) < limit,
            Buffer::Unlimited => true,
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
        self.packets += 1;
    }

    #[inline]
    pub(crate) fn remove(&mut self, bytes: u32) {
        self.bytes -= u64::from(bytes);
        self.packets -= 1;
    }
}

/// A packet in a queue.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// In a box, which goes from the queue to the serializer and to the delay line: the record itself is never moved.
    pub passage: Box<Passage>,
    /// Frame plus overhead.
    pub bytes: u32,
}

impl Item {
    /// Time that it has waited.
    pub(crate) fn sojourn(&self, now: Time) -> Duration {
        now - self.passage.arrival
    }

    /// Set Congestion Experienced; `false` if the packet isn't ECN-capable. One that is marked already keeps its reason.
    pub(crate) fn mark(&mut self, why: Mark) -> bool {
        self.passage.set_ce(why)
    }
}

/// Receives the packets that a queue drops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dropped(pub VecDeque<Box<Passage>>);

impl Dropped {
    /// `item` came just now and is refused.
    pub(crate) fn refuse(&mut self, mut item: Item, why: Fate) {
        item.passage.fate = why;
        self.0.push_back(item.passage);
    }

    /// `item` waited until `now`, unless it had left the queue before, and is taken out.
    pub(crate) fn take_out(&mut self, mut item: Item, why: Fate, now: Time) {
        let waited = item.sojourn(now);
        item.passage.sojourn.get_or_insert(waited);
        self.refuse(item, why);
    }
}

/// A queue discipline: a pure state machine. `now` never goes back.
///
/// Each has a separate file, with `new(spec, limit, seed, element)`, and a line among the `disciplines!` below.
///
/// Periodic work (a controller's update) is done on the next call for all the times that have passed: between two calls
/// nothing in a queue changes, so this is exact.
pub(crate) trait Discipline {
    /// `item` arrives at `now` (its `passage.arrival`). Every item goes in or into `dropped`.
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped);

    /// The serializer is free: the next item, if any is left after drops.
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item>;

    /// The waiting packets and bytes.
    fn backlog(&self) -> Backlog;

    /// Everything that waits, in an order in which it could leave; the queue is empty from `now` on.
    fn drain(&mut self, now: Time) -> Vec<Item>;

    /// The waiting packets, in the same order.
    fn inside(&self) -> Vec<Passage>;

    /// True if a packet that finds the queue empty and the serializer free may pass by it. That holds only if the
    /// discipline would do nothing to it; an active queue management wants to see it.
    fn lets_pass(&self) -> bool {
        false
    }

    /// Take other parameters and keep what waits and what was learned; `false` if `spec` is another discipline.
    fn configure(&mut self, spec: &plan::Queue, limit: Buffer) -> bool;
}

/// The enum of all disciplines, which passes each call on: an enum, so that a call per packet is no call through a
/// pointer. A discipline serves the variants of [`plan::Queue`] that hold its parameters.
macro_rules! disciplines {
    ($($discipline:ident: $($kind:ident)|+;)*) => {
        /// Any queue discipline.
        #[derive(Clone, Debug)]
        pub(crate) enum Qdisc {
            $($discipline($discipline)),*
        }

        impl Qdisc {
            /// An empty queue that `limit` bounds; `element` names its random stream.
            pub(crate) fn new(spec: &plan::Queue, limit: Buffer, seed: u64, element: &str) -> Qdisc {
                match spec {
                    $($(plan::Queue::$kind { .. })|+ => {
                        Qdisc::$discipline($discipline::new(spec, limit, seed, element))
                    })*
                }
            }
        }

        /// The same call on whichever it is.
        macro_rules! each {
            ($qdisc:expr, $it:ident => $call:expr) => {
                match $qdisc {
                    $(Qdisc::$discipline($it) => $call),*
                }
            };
        }
    };
}

disciplines! {
    Fifo: DropTail | DropHead;
    Codel: Codel;
    FqCodel: FqCodel;
    Fq: Fq;
    Cake: Cake;
    Red: Red;
    Pie: Pie;
    DualPi2: Dualpi2;
}

impl Discipline for Qdisc {
    #[inline]
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped) {
        each!(self, it => it.enqueue(item, now, dropped))
    }

    #[inline]
    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        each!(self, it => it.dequeue(now, dropped))
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        each!(self, it => it.backlog())
    }

    fn drain(&mut self, now: Time) -> Vec<Item> {
        each!(self, it => it.drain(now))
    }

    fn inside(&self) -> Vec<Passage> {
        each!(self, it => it.inside())
    }

    #[inline]
    fn lets_pass(&self) -> bool {
        each!(self, it => it.lets_pass())
    }

    fn configure(&mut self, spec: &plan::Queue, limit: Buffer) -> bool {
        each!(self, it => it.configure(spec, limit))
    }
}
