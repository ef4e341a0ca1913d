//! Changes of a link at run time.

use units::Time;

use super::Link;
use crate::packet::Fate;
use crate::policer::Policer;
use crate::queue::{Discipline, Qdisc};
use crate::service::Service;
use crate::slots::Slots;

impl Link {
    /// The link is another from `now` on. Packets that have left the serializer are not disturbed; those that
    /// wait or are in service go on under the new parameters. Parts that are the same keep their state.
    pub fn configure(&mut self, spec: &plan::Link, now: Time) {
        self.serve_until(now);
        // Packets inside have been counted with the overhead that they came with.
        let spec = &plan::Link { overhead_bytes: self.spec.overhead_bytes, ..spec.clone() };
        let old = std::mem::replace(&mut self.spec, spec.clone());
        self.before.configure(spec);
        self.after.configure(spec);
        self.line.configure(spec);
        self.policer = match (self.policer.take(), spec.policer) {
            (Some(mut policer), Some(to)) => {
                policer.configure(to, now);
                Some(policer)
            }
            (_, to) => to.map(|to| Policer::new(to, now)),
        };
        self.slots = match (self.slots.take(), spec.slots) {
            (Some(mut slots), Some(to)) => {
                slots.configure(to);
                Some(slots)
            }
            (_, to) => to.map(|to| Slots::new(to, now, self.seed, &format!("{}/slots", spec.name))),
        };
        if (&old.queue, old.buffer) != (&spec.queue, spec.buffer) {
            self.change_queue(now);
        }
        if (old.rate_bps, &old.variation) != (spec.rate_bps, &spec.variation) {
            self.change_service(now);
        }
        match (old.up, spec.up) {
            (_, false) => self.go_down(now),
            (false, true) => self.come_up(now),
            (true, true) => (),
        }
        self.start_next(now);
    }

    fn change_queue(&mut self, now: Time) {
        if self.queue.configure(&self.spec.queue, self.spec.buffer) {
            return;
        }
        let element = format!("{}/queue", self.spec.name);
        let fresh = Qdisc::new(&self.spec.queue, self.spec.buffer, self.seed, &element);
        let mut old = std::mem::replace(&mut self.queue, fresh);
        let before = self.dropped.0.len();
        for item in old.drain(now) {
            self.queue.enqueue(item, now, &mut self.dropped);
        }
        // They arrive at the new queue only now, but they have waited before.
        for passage in self.dropped.0.range_mut(before..) {
            passage.sojourn = Some(now - passage.arrival);
        }
    }

    fn change_service(&mut self, now: Time) {
        let before = self.capacity_bytes(now);
        match (&mut self.service, Service::new(&self.spec, now)) {
            // The packet being sent continues at the new rate.
            (Service::Wire(wire), Service::Wire(fresh)) => wire.become_as(fresh, now),
            // Another kind of service goes on with what is left of the packet that the old one had begun.
            (service, fresh) => {
                let left = service.left_bytes(now);
                *service = fresh;
                if let Some(item) = self.in_service.take() {
                    self.start_with(item, left, now);
                }
                if let (Some(before), Some(after)) = (before, self.service.capacity_bytes(now)) {
                    self.capacity_offset = before as i64 - after as i64;
                }
            }
        }
    }

    fn come_up(&mut self, now: Time) {
        if let (Some(before), Some(after)) = (self.capacity_when_down.take(), self.service.capacity_bytes(now)) {
            self.capacity_offset = before as i64 - after as i64;
        }
    }

    fn go_down(&mut self, now: Time) {
        if self.capacity_when_down.is_none() {
            self.capacity_when_down = self.capacity_bytes(now);
        }
        if let Service::Wire(wire) = &mut self.service {
            wire.serializer.abort(now);
        }
        for item in self.in_service.take().into_iter().chain(self.aggregate.drain(..)).chain(self.queue.drain(now)) {
            self.dropped.take_out(item, Fate::DroppedDown, now);
        }
    }
}
