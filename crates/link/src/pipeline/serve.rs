//! Departure of packets from a link's queue: one by one at a rate, together in a slot, in pieces at opportunities.
//!
//! What is done for each packet is inlined: a call costs as much as the step. What is rare is marked cold, so that it doesn't lie
//! between: a packet passes more code than a processor's first cache holds.

use units::{Duration, Time};

use super::Link;
use crate::packet::Fate;
use crate::queue::{Discipline, Item};
use crate::service::{Service, Wire};
use crate::slots::Slots;

impl Link {
    /// The next departure, slot or opportunity.
    #[inline(always)]
    pub(super) fn next_service(&self) -> Time {
        match &self.service {
            Service::Wire(Wire { serializer, .. }) if self.in_service.is_some() => serializer.busy_until(),
            Service::Trace(trace) if !self.is_idle() => trace.opportunities.next(),
            _ => self.slots.as_ref().filter(|_| self.queue.backlog().packets > 0).map_or(Time::NEVER, Slots::next),
        }
    }

    fn is_idle(&self) -> bool {
        self.in_service.is_none() && self.aggregate.is_empty() && self.queue.backlog().packets == 0
    }

    #[inline]
    pub(super) fn next_change(&self) -> Time {
        match &self.service {
            Service::Wire(wire) => wire.next_change(),
            _ => Time::NEVER,
        }
    }

    #[inline]
    pub(super) fn serve_until(&mut self, now: Time) {
        if !self.is_quiet(now) {
            self.serve_all(now);
        }
        self.now = self.now.max(now);
    }

    /// Nothing happens by itself until `now`.
    #[inline]
    fn is_quiet(&self, now: Time) -> bool {
        match &self.service {
            // Nothing is ever in service without a limit.
            Service::Immediate => self.slots.is_none(),
            // At a constant rate what is in service leaves, and nothing else happens by itself.
            Service::Wire(Wire { serializer, steps: None }) => {
                self.slots.is_none() && (self.in_service.is_none() || serializer.busy_until() > now)
            }
            _ => false,
        }
    }

    /// Out of line: most calls find the link quiet.
    #[inline(never)]
    fn serve_all(&mut self, now: Time) {
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
    }

    #[inline(always)]
    fn serve(&mut self, at: Time) {
        if let Service::Trace(trace) = &mut self.service {
            let budget = trace.opportunities.take();
            self.spend(budget, at);
        } else if let Some(item) = self.in_service.take() {
            self.depart(item, at);
            self.start_next(at);
            if let Some(slots) = self.slots.as_mut().filter(|_| self.in_service.is_none()) {
                // Slots that came while an aggregate was being sent are missed.
                slots.skip_until(at - Duration(1));
            }
        } else {
            self.open_slot(at);
        }
    }

    /// Packets leave at an opportunity, in pieces if need be.
    #[cold]
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

    /// Packets leave the queue together, as many as the slot has room for.
    #[cold]
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
    #[inline(always)]
    pub(super) fn start_next(&mut self, at: Time) {
        while self.in_service.is_none() && !matches!(self.service, Service::Trace(_)) {
            let next = match self.aggregate.pop_front() {
                None if self.slots.is_none() => self.take_from_queue(at),
                taken => taken,
            };
            let Some(item) = next else { break };
            self.start(item, at);
        }
    }

    #[inline(always)]
    fn take_from_queue(&mut self, at: Time) -> Option<Item> {
        let mut item = self.queue.dequeue(at, &mut self.dropped)?;
        item.passage.sojourn = Some(item.sojourn(at));
        Some(item)
    }

    #[inline(always)]
    pub(super) fn start(&mut self, mut item: Item, at: Time) {
        item.passage.sojourn.get_or_insert(Duration::ZERO);
        self.service_began = at;
        let bytes = item.bytes;
        self.start_with(item, bytes, at);
    }

    /// `bytes` of the item are still to be sent.
    #[inline(always)]
    pub(super) fn start_with(&mut self, item: Item, bytes: u32, at: Time) {
        match &mut self.service {
            Service::Immediate => return self.depart(item, at),
            Service::Wire(wire) => {
                wire.serializer.send(bytes, at);
            }
            Service::Trace(trace) => trace.left = u64::from(bytes),
        }
        self.in_service = Some(item);
    }

    #[inline]
    fn depart(&mut self, item: Item, at: Time) {
        let Item { mut passage, bytes } = item;
        if !matches!(self.service, Service::Immediate) {
            self.busy = self.busy + (at - self.service_began);
        }
        self.counters.departed_packets += 1;
        self.counters.departed_bytes += u64::from(bytes);
        self.after.next().apply_to(&mut passage);
        self.counters.marked_packets += u64::from(passage.mark.is_some());
        passage.departure = Some(at);
        if let Err(mut passage) = self.line.send(passage, at) {
            passage.fate = Fate::DroppedDelayLine;
            self.dropped.0.push_back(passage);
        }
    }
}
