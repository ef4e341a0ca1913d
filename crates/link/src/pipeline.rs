use std::collections::VecDeque;

use units::{Duration, Time};

use crate::chance::Chance;
use crate::counters::Counters;
use crate::delay::Line;
use crate::loss::Losses;
use crate::packet::{Fate, Packet, Passage};
use crate::policer::Policer;
use crate::queue::{Backlog, Discipline, Dropped, Item, Qdisc};
use crate::random::Stream;
use crate::service::{Service, Wire};
use crate::slots::Slots;

/// A unidirectional link.
///
/// Drive it in the order of time: [`push`](Link::push) each packet at its arrival, then and at each
/// [`next_event`](Link::next_event) [`poll`](Link::poll) until it has no more to say. What is due at a time happens
/// before what arrives at that time.
#[derive(Clone, Debug)]
pub struct Link {
    spec: plan::Link,
    seed: u64,
    now: Time,
    loss_before: Losses,
    duplication: Chance,
    policer: Option<Policer>,
    queue: Qdisc,
    slots: Option<Slots>,
    /// Taken from the queue in a slot, to be sent one after another.
    aggregate: VecDeque<Item>,
    service: Service,
    in_service: Option<Item>,
    service_began: Time,
    line: Line,
    corruption: Chance,
    corrupted_bit: Stream,
    loss_after: Losses,
    /// Packets that the link is done with before they reached the other end.
    dropped: Dropped,
    counters: Counters,
    /// What the capacity of former services differs from that of the present one.
    capacity_offset: i64,
    queue_bytes_max: u64,
    busy: Duration,
}

impl Link {
    /// An empty link. Its random streams follow from the run's seed and the link's name.
    pub fn new(spec: &plan::Link, seed: u64) -> Link {
        let element = |part: &str| format!("{}/{part}", spec.name);
        let (twice, flip) = (spec.duplication.unwrap_or(NO_DUPLICATION), spec.corruption.unwrap_or(NO_CORRUPTION));
        Link {
            seed,
            now: Time(i64::MIN),
            loss_before: Losses::new(&spec.loss_before, seed, &element("loss-before")),
            duplication: Chance::new(twice.probability, twice.correlation, seed, &element("duplication")),
            policer: spec.policer.map(|policer| Policer::new(policer, Time::ZERO)),
            queue: Qdisc::new(&spec.queue, spec.buffer, seed, &element("queue")),
            slots: spec.slots.map(|slots| Slots::new(slots, Time::ZERO, seed, &element("slots"))),
            aggregate: VecDeque::new(),
            service: Service::new(spec, Time::ZERO),
            in_service: None,
            service_began: Time::ZERO,
            line: Line::new(spec, seed),
            corruption: Chance::new(flip.probability, flip.correlation, seed, &element("corruption")),
            corrupted_bit: Stream::new(seed, &element("corrupted-bit")),
            loss_after: Losses::new(&spec.loss_after, seed, &element("loss-after")),
            dropped: Dropped::default(),
            counters: Counters::default(),
            capacity_offset: 0,
            queue_bytes_max: 0,
            busy: Duration::ZERO,
            spec: spec.clone(),
        }
    }

    /// A packet arrives. `true`: the link duplicates it, and wants a copy of its own by [`Link::push_copy`].
    ///
    /// `now` must not be before the time of an earlier call.
    pub fn push(&mut self, packet: Packet, now: Time) -> bool {
        self.serve_until(now);
        self.counters.arrived_packets += 1;
        self.counters.arrived_bytes += u64::from(packet.size + self.spec.overhead_bytes);
        let item = self.arrival(packet, false, now);
        let (lost, twice) = (self.loss_before.next(), self.duplication.next());
        if lost {
            self.dropped.refuse(item, Fate::LostBefore);
            return false;
        }
        self.accept(item, now);
        twice
    }

    /// The copy of a packet that was just pushed enters behind it.
    pub fn push_copy(&mut self, packet: Packet, now: Time) {
        self.counters.duplicated_packets += 1;
        let item = self.arrival(packet, true, now);
        self.accept(item, now);
    }

    /// The next packet that the link is done with by `now`: delivered, lost or dropped.
    pub fn poll(&mut self, now: Time) -> Option<Passage> {
        self.serve_until(now);
        let passage = match self.dropped.0.pop_front() {
            Some(dropped) => dropped,
            None => self.line.pop(now)?,
        };
        self.counters.end(passage.fate);
        if passage.fate == Fate::Delivered {
            self.counters.delivered_bytes += u64::from(passage.packet.size + self.spec.overhead_bytes);
            self.counters.reordered_packets += u64::from(passage.reordered);
            self.counters.corrupted_packets += u64::from(passage.corruption.is_some());
        }
        Some(passage)
    }

    /// When something happens next if nothing arrives; [`Time::NEVER`] in an empty link.
    pub fn next_event(&self) -> Time {
        if !self.dropped.0.is_empty() {
            return self.now;
        }
        let change = if self.in_service.is_some() { self.next_change() } else { Time::NEVER };
        self.next_service().min(change).min(self.line.next())
    }

    /// The link is another from `now` on. What has left the serializer is not disturbed; what waits and what is in
    /// service goes on under the new parameters. Parts that are the same keep their state.
    pub fn configure(&mut self, spec: &plan::Link, now: Time) {
        self.serve_until(now);
        let old = std::mem::replace(&mut self.spec, spec.clone());
        self.loss_before.configure(&spec.loss_before);
        self.loss_after.configure(&spec.loss_after);
        let (twice, flip) = (spec.duplication.unwrap_or(NO_DUPLICATION), spec.corruption.unwrap_or(NO_CORRUPTION));
        self.duplication.configure(twice.probability, twice.correlation);
        self.corruption.configure(flip.probability, flip.correlation);
        self.line.configure(spec);
        self.policer = match (self.policer.take(), spec.policer) {
            (Some(mut policer), Some(to)) => {
                policer.configure(to, now);
                Some(policer)
            }
            (_, to) => to.map(|to| Policer::new(to, now)),
        };
        if old.slots != spec.slots {
            self.slots = spec.slots.map(|slots| Slots::new(slots, now, self.seed, &format!("{}/slots", spec.name)));
        }
        if (&old.queue, old.buffer) != (&spec.queue, spec.buffer) {
            self.change_queue(now);
        }
        if (old.rate_bps, &old.variation) != (spec.rate_bps, &spec.variation) {
            self.change_service(now);
        }
        if !spec.up {
            self.go_down(now);
        }
        self.start_next(now);
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What waits now.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// How long the serializer was busy with packets that have left it.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Frames plus overhead that the link could have sent from the origin until `now`; `None` while it has no limit.
    pub fn capacity_bytes(&mut self, now: Time) -> Option<u64> {
        self.serve_until(now);
        Some(self.service.capacity_bytes(now)?.saturating_add_signed(self.capacity_offset))
    }

    /// The most bytes that have waited since the last call.
    pub fn take_queue_bytes_max(&mut self) -> u64 {
        std::mem::replace(&mut self.queue_bytes_max, self.queue.backlog().bytes)
    }

    /// Packets that have not left, those that have come furthest first. To be asked after [`Link::poll`].
    pub fn inside(&self) -> impl Iterator<Item = Passage> {
        let serving = self.in_service.iter().chain(&self.aggregate).map(|item| item.passage);
        self.line.inside().into_iter().chain(serving).chain(self.queue.inside()).map(|passage| Passage {
            // Times in the future didn't happen.
            departure: passage.departure.filter(|&at| at <= self.now),
            delivery: None,
            fate: Fate::Inside,
            ..passage
        })
    }

    fn arrival(&self, packet: Packet, duplicate: bool, now: Time) -> Item {
        let Backlog { bytes: queue_bytes, packets: queue_packets } = self.queue.backlog();
        let passage = Passage {
            packet,
            arrival: now,
            queue_bytes,
            queue_packets,
            sojourn: None,
            departure: None,
            delivery: None,
            fate: Fate::Inside,
            mark: None,
            duplicate,
            reordered: false,
            corruption: None,
        };
        Item { passage, bytes: packet.size + self.spec.overhead_bytes }
    }

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

    /// The next departure, slot or opportunity.
    fn next_service(&self) -> Time {
        match &self.service {
            Service::Wire(Wire { serializer, .. }) if self.in_service.is_some() => serializer.busy_until(),
            Service::Trace(trace) if !self.is_idle() => trace.opportunities.next(),
            _ => self.slots.as_ref().filter(|_| self.queue.backlog().packets > 0).map_or(Time::NEVER, Slots::next),
        }
    }

    fn is_idle(&self) -> bool {
        self.in_service.is_none() && self.aggregate.is_empty() && self.queue.backlog().packets == 0
    }

    fn next_change(&self) -> Time {
        match &self.service {
            Service::Wire(wire) => wire.next_change(),
            _ => Time::NEVER,
        }
    }

    fn serve_until(&mut self, now: Time) {
        loop {
            let (service, change) = (self.next_service(), self.next_change());
            if service.min(change) > now {
                break;
            }
            if change < service {
                if let Service::Wire(wire) = &mut self.service {
                    wire.change();
                }
            } else {
                self.serve(service);
            }
        }
        if let Some(slots) = &mut self.slots {
            slots.skip_until(now);
        }
        if let Service::Trace(trace) = &mut self.service {
            trace.opportunities.skip_until(now);
        }
        self.now = self.now.max(now);
    }

    fn serve(&mut self, at: Time) {
        if let Service::Trace(trace) = &mut self.service {
            let budget = trace.opportunities.take();
            self.spend(budget, at);
        } else if let Some(item) = self.in_service.take() {
            self.depart(item, at);
            self.start_next(at);
            if let Some(slots) = self.slots.as_mut().filter(|_| self.in_service.is_none()) {
                // Those that came while an aggregate was being sent are over.
                slots.skip_until(at - Duration(1));
            }
        } else {
            self.open_slot(at);
        }
    }

    /// Packets leave at an opportunity, in pieces if need be.
    fn spend(&mut self, mut budget: u64, at: Time) {
        while budget > 0 {
            if self.in_service.is_none() {
                // An aggregate can be left from before an event brought the trace.
                let Some(item) = self.aggregate.pop_front().or_else(|| self.take_from_queue(at)) else { break };
                self.start(item, at);
            }
            let Service::Trace(trace) = &mut self.service else { break };
            let sent = trace.left.min(budget);
            trace.left -= sent;
            budget -= sent;
            if trace.left == 0
                && let Some(item) = self.in_service.take()
            {
                self.depart(item, at);
            }
        }
    }

    /// As many packets as the slot has room for leave the queue together.
    fn open_slot(&mut self, at: Time) {
        let Some(slots) = &mut self.slots else { return };
        slots.pass();
        let slots = slots.clone();
        let (mut packets, mut bytes) = (0, 0);
        while slots.has_room(packets, bytes) {
            let Some(item) = self.take_from_queue(at) else { break };
            packets += 1;
            bytes += u64::from(item.bytes);
            self.aggregate.push_back(item);
        }
        self.start_next(at);
    }

    /// Start with what is next, if the link is free; without a limit, with all.
    fn start_next(&mut self, at: Time) {
        while self.in_service.is_none() && !matches!(self.service, Service::Trace(_)) {
            let next = match self.aggregate.pop_front() {
                None if self.slots.is_none() => self.take_from_queue(at),
                taken => taken,
            };
            let Some(item) = next else { break };
            self.start(item, at);
        }
    }

    fn take_from_queue(&mut self, at: Time) -> Option<Item> {
        let mut item = self.queue.dequeue(at, &mut self.dropped)?;
        item.passage.sojourn = Some(item.sojourn(at));
        Some(item)
    }

    fn start(&mut self, mut item: Item, at: Time) {
        item.passage.sojourn.get_or_insert(Duration::ZERO);
        match &mut self.service {
            Service::Immediate => return self.depart(item, at),
            Service::Wire(wire) => {
                wire.serializer.send(item.bytes, at);
            }
            Service::Trace(trace) => trace.left = u64::from(item.bytes),
        }
        self.service_began = at;
        self.in_service = Some(item);
    }

    fn depart(&mut self, item: Item, at: Time) {
        let mut passage = item.passage;
        if !matches!(self.service, Service::Immediate) {
            self.busy = self.busy + (at - self.service_began);
        }
        let index = self.counters.departed_packets;
        self.counters.departed_packets += 1;
        self.counters.departed_bytes += u64::from(item.bytes);
        self.counters.marked_packets += u64::from(passage.mark.is_some());
        let (lost, flipped) = (self.loss_after.next(), self.corruption.next());
        passage.departure = Some(at);
        passage.corruption = flipped.then(|| (self.corrupted_bit.at(index) >> 32) as u32);
        passage.fate = if lost { Fate::LostAfter } else { Fate::Delivered };
        if let Err(passage) = self.line.send(passage, at) {
            self.dropped.0.push_back(Passage { fate: Fate::DroppedDelayLine, delivery: None, ..passage });
        }
    }

    fn change_queue(&mut self, now: Time) {
        if self.queue.configure(&self.spec.queue, self.spec.buffer) {
            return;
        }
        let element = format!("{}/queue", self.spec.name);
        let fresh = Qdisc::new(&self.spec.queue, self.spec.buffer, self.seed, &element);
        let mut old = std::mem::replace(&mut self.queue, fresh);
        for item in old.drain() {
            self.queue.enqueue(item, now, &mut self.dropped);
        }
    }

    fn change_service(&mut self, now: Time) {
        let before = self.capacity_bytes(now);
        match (&mut self.service, Service::new(&self.spec, now)) {
            // What is being sent goes on at the new rate.
            (Service::Wire(wire), Service::Wire(fresh)) => wire.become_as(fresh, now),
            // Another kind of service begins anew with what the old one had begun.
            (service, fresh) => {
                *service = fresh;
                if let Some(item) = self.in_service.take() {
                    self.start(item, now);
                }
                if let (Some(before), Some(after)) = (before, self.service.capacity_bytes(now)) {
                    self.capacity_offset = before as i64 - after as i64;
                }
            }
        }
    }

    fn go_down(&mut self, now: Time) {
        if let Service::Wire(wire) = &mut self.service {
            wire.serializer.abort(now);
        }
        for item in self.in_service.take().into_iter().chain(self.aggregate.drain(..)).chain(self.queue.drain()) {
            self.dropped.take_out(item, Fate::DroppedDown, now);
        }
    }
}

const NO_DUPLICATION: plan::Duplication = plan::Duplication { probability: 0.0, correlation: 0.0 };
const NO_CORRUPTION: plan::Corruption = plan::Corruption { probability: 0.0, correlation: 0.0 };
