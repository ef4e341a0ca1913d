mod change;
mod outside;
mod serve;

use std::collections::VecDeque;

use units::{Duration, Time};

use crate::counters::Counters;
use crate::delay::Line;
use crate::impairment::{After, Before};
use crate::packet::{Fate, Packet, Passage};
use crate::policer::Policer;
use crate::queue::{Backlog, Discipline, Dropped, Item, Qdisc};
use crate::service::Service;
use crate::slots::Slots;

use outside::Outside;
pub use outside::{Entry, Out};

/// A unidirectional link.
///
/// Drive it in the order of time: [`push`](Link::push) each packet at its arrival, then and at each
/// [`next_event`](Link::next_event) [`poll`](Link::poll) until it has no more to say. Events that are due at a time
/// happen before packets arrive at that time.
#[derive(Clone, Debug)]
pub struct Link {
    spec: plan::Link,
    seed: u64,
    now: Time,
    before: Before,
    policer: Option<Policer>,
    queue: Qdisc,
    slots: Option<Slots>,
    /// Taken from the queue in a slot, to be sent one after another.
    aggregate: VecDeque<Item>,
    service: Service,
    in_service: Option<Item>,
    service_began: Time,
    line: Line,
    after: After,
    /// Packets that the link is done with before they reached the other end.
    dropped: Dropped,
    /// Boxes of packets that are gone, for others that come: a packet costs no allocation.
    #[expect(clippy::vec_box, reason = "the boxes themselves are kept")]
    spare: Vec<Box<Passage>>,
    counters: Counters,
    /// Difference between the capacity of former services and that of the present one.
    capacity_offset: i64,
    /// A link that is down could send nothing.
    capacity_when_down: Option<u64>,
    queue_bytes_max: u64,
    busy: Duration,
    /// `None`: the parts above carry its packets.
    outside: Option<Outside>,
}

impl Link {
    /// An empty link. Its random streams follow from the run's seed and the link's name.
    pub fn new(spec: &plan::Link, seed: u64) -> Link {
        let element = |part: &str| format!("{}/{part}", spec.name);
        Link {
            seed,
            now: Time(i64::MIN),
            before: Before::new(spec, seed),
            policer: spec.policer.map(|policer| Policer::new(policer, Time::ZERO)),
            queue: Qdisc::new(&spec.queue, spec.buffer, seed, &element("queue")),
            slots: spec.slots.map(|slots| Slots::new(slots, Time::ZERO, seed, &element("slots"))),
            aggregate: VecDeque::new(),
            service: Service::new(spec, Time::ZERO),
            in_service: None,
            service_began: Time::ZERO,
            line: Line::new(spec, seed),
            after: After::new(spec, seed),
            dropped: Dropped::default(),
            spare: Vec::new(),
            counters: Counters::default(),
            capacity_offset: 0,
            capacity_when_down: if spec.up { None } else { Some(0) },
            queue_bytes_max: 0,
            busy: Duration::ZERO,
            outside: None,
            spec: spec.clone(),
        }
    }

    /// A packet arrives. `true`: the link duplicates it, and wants a copy by [`Link::push_copy`].
    ///
    /// `now` must not be before the time of an earlier call.
    pub fn push(&mut self, packet: Packet, now: Time) -> bool {
        self.serve_until(now);
        self.counters.arrived_packets += 1;
        self.counters.arrived_bytes += u64::from(packet.size + self.spec.overhead_bytes);
        if self.outside.is_some() {
            self.push_outside(packet, now);
            return false;
        }
        let item = self.take_in(packet, false, now);
        let effects = self.before.next();
        if effects.is_lost {
            self.dropped.refuse(item, Fate::LostBefore);
            return false;
        }
        self.accept(item, now);
        effects.is_duplicated
    }

    /// The copy of a packet that was just pushed enters behind it.
    pub fn push_copy(&mut self, packet: Packet, now: Time) {
        self.counters.duplicated_packets += 1;
        let item = self.take_in(packet, true, now);
        self.accept(item, now);
    }

    /// Let everything happen that is due by `now`: [`Link::counters`] and [`Link::backlog`] are those of then.
    pub fn catch_up(&mut self, now: Time) {
        self.serve_until(now);
    }

    /// The next packet that the link is done with by `now`: delivered, lost or dropped.
    pub fn poll(&mut self, now: Time) -> Option<Passage> {
        self.poll_in_place(now).copied()
    }

    /// The same without a copy: the record is the link's, until it takes another packet in.
    pub fn poll_in_place(&mut self, now: Time) -> Option<&Passage> {
        self.serve_until(now);
        let passage = match self.dropped.0.pop_front() {
            Some(dropped) => dropped,
            None => self.line.pop(now)?,
        };
        self.spare.push(passage);
        let done = self.spare.last()?;
        self.counters.end(done.fate);
        if done.fate == Fate::Delivered {
            self.counters.delivered_bytes += u64::from(done.packet.size + self.spec.overhead_bytes);
            self.counters.reordered_packets += u64::from(done.reordered.is_some());
            self.counters.corrupted_packets += u64::from(done.corruption.is_some());
        }
        Some(done)
    }

    /// The time of the next event if nothing arrives; [`Time::NEVER`] in an empty link.
    #[inline]
    pub fn next_event(&self) -> Time {
        if !self.dropped.0.is_empty() {
            return self.now;
        }
        let change = if self.in_service.is_some() { self.next_change() } else { Time::NEVER };
        self.next_service().min(change).min(self.line.next())
    }

    /// The time at which [`Link::poll`] next reports a packet that will reach the other end, if nothing arrives, or
    /// earlier. Packets served until then need no separate call, since [`Link::push`] and [`Link::poll`] catch up. A
    /// driver in virtual time saves half of its events by it. [`Link::backlog`] is up to date only after such a call.
    #[inline]
    pub fn next_passage(&self) -> Time {
        let keeps_order = !self.spec.reordering && self.spec.reorder.is_none();
        match self.line.next() {
            Time::NEVER => self.next_event(),
            next if keeps_order && self.dropped.0.is_empty() => next,
            _ => self.next_event(),
        }
    }

    /// The link's counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The waiting packets and bytes.
    pub fn backlog(&self) -> Backlog {
        self.outside.as_ref().map_or_else(|| self.queue.backlog(), Outside::backlog)
    }

    /// Time that the serializer was busy with packets that have left it.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Frames plus overhead that the link could have sent from the origin until `now`; `None` while it has no limit.
    pub fn capacity_bytes(&mut self, now: Time) -> Option<u64> {
        self.serve_until(now);
        if self.capacity_when_down.is_some() {
            return self.capacity_when_down;
        }
        Some(self.service.capacity_bytes(now)?.saturating_add_signed(self.capacity_offset))
    }

    /// The most bytes that have waited since the last call.
    pub fn take_queue_bytes_max(&mut self) -> u64 {
        let now = self.backlog().bytes;
        std::mem::replace(&mut self.queue_bytes_max, now)
    }

    /// Packets that have not left, those that have come furthest first. Call [`Link::poll`] before.
    pub fn inside(&self) -> impl Iterator<Item = Passage> {
        let serving = self.in_service.iter().chain(&self.aggregate).map(|item| *item.passage);
        let outside = self.outside.iter().flat_map(Outside::inside);
        self.line.inside().into_iter().chain(serving).chain(self.queue.inside()).chain(outside).map(|passage| Passage {
            // Times in the future didn't happen.
            departure: passage.departure.filter(|&at| at <= self.now),
            delivery: None,
            fate: Fate::Inside,
            ..passage
        })
    }

    #[inline(always)]
    fn arrival(&self, packet: Packet, duplicate: bool, now: Time) -> Passage {
        let Backlog { bytes: queue_bytes, packets: queue_packets } = self.backlog();
        Passage { queue_bytes, queue_packets, duplicate, ..Passage::new(packet, now) }
    }

    #[inline(always)]
    fn take_in(&mut self, packet: Packet, duplicate: bool, now: Time) -> Item {
        let passage = self.arrival(packet, duplicate, now);
        Item { passage: self.keep(passage), bytes: packet.size + self.spec.overhead_bytes }
    }

    /// The record in a box that is free.
    #[inline(always)]
    fn keep(&mut self, passage: Passage) -> Box<Passage> {
        let mut kept = self.spare.pop().unwrap_or_else(|| Box::new(passage));
        *kept = passage;
        kept
    }

    #[inline(always)]
    fn accept(&mut self, item: Item, now: Time) {
        if !self.spec.up {
            return self.dropped.refuse(item, Fate::DroppedDown);
        }
        if self.policer.as_mut().is_some_and(|policer| !policer.conforms(item.bytes, now)) {
            return self.dropped.refuse(item, Fate::DroppedPoliced);
        }
        let free = self.in_service.is_none() && self.slots.is_none();
        if free && self.queue.lets_pass() && !matches!(self.service, Service::Trace(_)) {
            return self.start(item, now);
        }
        self.queue.enqueue(item, now, &mut self.dropped);
        self.queue_bytes_max = self.queue_bytes_max.max(self.queue.backlog().bytes);
        self.start_next(now);
    }
}
