//! How a link becomes another at run time.

use units::Time;

use super::{Link, NO_CORRUPTION, NO_DUPLICATION};
use crate::packet::Fate;
use crate::policer::Policer;
use crate::queue::{Discipline, Qdisc};
use crate::service::Service;
use crate::slots::Slots;

impl Link {
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
