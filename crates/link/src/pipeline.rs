use std::collections::VecDeque;

use units::{Duration, Serializer, Time};

use crate::counters::Counters;
use crate::fifo::{Backlog, Fifo};
use crate::loss::Loss;
use crate::packet::{Fate, Packet, Passage};

/// A unidirectional link.
///
/// Drive it in the order of time: [`push`](Link::push) each packet at its arrival, [`poll`](Link::poll) until it has
/// nothing more that is due, and come back at [`next_event`](Link::next_event). What is due at a time happens before
/// what arrives at that time.
#[derive(Clone, Debug)]
pub struct Link {
    overhead: u32,
    delay: Duration,
    loss_before: Loss,
    queue: Fifo,
    /// `None`: no rate limit, packets pass at once.
    serializer: Option<Serializer>,
    in_service: Option<(Passage, u32)>,
    propagation: VecDeque<Passage>,
    loss_after: Loss,
    counters: Counters,
    queue_bytes_max: u64,
    busy: Duration,
}

impl Link {
    /// An empty link. Its random streams follow from the run's seed and the link's name.
    pub fn new(spec: &plan::Link, seed: u64) -> Link {
        let element = |part: &str| format!("{}/{part}", spec.name);
        Link {
            overhead: spec.overhead_bytes,
            delay: spec.delay_ns,
            loss_before: Loss::new(spec.loss_before, seed, &element("loss-before")),
            queue: Fifo::new(spec.buffer),
            serializer: spec.rate_bps.map(Serializer::new),
            in_service: None,
            propagation: VecDeque::new(),
            loss_after: Loss::new(spec.loss_after, seed, &element("loss-after")),
            counters: Counters::default(),
            queue_bytes_max: 0,
            busy: Duration::ZERO,
        }
    }

    /// A packet arrives. `Err` if it is lost or dropped on the spot.
    ///
    /// `now` must not be before the time of an earlier call.
    pub fn push(&mut self, packet: Packet, now: Time) -> Result<(), Passage> {
        self.serve_until(now);
        let bytes = packet.size + self.overhead;
        self.counters.arrived_packets += 1;
        self.counters.arrived_bytes += u64::from(bytes);
        let Backlog { bytes: queue_bytes, packets: queue_packets } = self.queue.backlog();
        let mut passage = Passage {
            packet,
            arrival: now,
            queue_bytes,
            queue_packets,
            departure: None,
            delivery: None,
            fate: Fate::Inside,
        };
        if self.loss_before.next() {
            self.counters.lost_before += 1;
            passage.fate = Fate::LostBefore;
            return Err(passage);
        }
        if self.serializer.is_none() {
            self.depart(passage, bytes, now);
        } else if self.in_service.is_none() {
            self.start_service(passage, bytes, now);
        } else {
            self.queue.enqueue(passage, bytes).map_err(|mut passage| {
                self.counters.dropped_tail += 1;
                passage.fate = Fate::DroppedTail;
                passage
            })?;
            self.queue_bytes_max = self.queue_bytes_max.max(self.queue.backlog().bytes);
        }
        Ok(())
    }

    /// The next packet that the link is done with by `now`: delivered, or lost after serialisation.
    pub fn poll(&mut self, now: Time) -> Option<Passage> {
        self.serve_until(now);
        let due = self.propagation.front()?.delivery?;
        if due > now {
            return None;
        }
        let passage = self.propagation.pop_front()?;
        match passage.fate {
            Fate::LostAfter => self.counters.lost_after += 1,
            _ => {
                self.counters.delivered_packets += 1;
                self.counters.delivered_bytes += u64::from(passage.packet.size + self.overhead);
            }
        }
        Some(passage)
    }

    /// When something happens next if nothing arrives; [`Time::NEVER`] in an empty link.
    pub fn next_event(&self) -> Time {
        let departure = self.in_service.as_ref().and_then(|(p, _)| p.departure);
        let delivery = self.propagation.front().and_then(|p| p.delivery);
        departure.unwrap_or(Time::NEVER).min(delivery.unwrap_or(Time::NEVER))
    }

    /// What it has done.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// What waits now.
    pub fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }

    /// How long the serializer takes for all packets that it has begun to send.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// The most bytes that have waited since the last call.
    pub fn take_queue_bytes_max(&mut self) -> u64 {
        std::mem::replace(&mut self.queue_bytes_max, self.queue.backlog().bytes)
    }

    /// Packets that have not left, oldest first.
    pub fn inside(&self) -> impl Iterator<Item = Passage> {
        let serving = self.in_service.iter().map(|(passage, _)| passage);
        let on_the_way = self.propagation.iter();
        on_the_way.chain(serving).chain(self.queue.iter()).map(|passage| Passage {
            // Times in the future didn't happen.
            departure: None,
            delivery: None,
            fate: Fate::Inside,
            ..*passage
        })
    }

    fn serve_until(&mut self, now: Time) {
        while let Some((_, _)) = self.in_service.filter(|(p, _)| p.departure.is_some_and(|at| at <= now)) {
            let (passage, bytes) = self.in_service.take().expect("just seen");
            let at = passage.departure.expect("set when its service started");
            self.depart(passage, bytes, at);
            if let Some((next, bytes)) = self.queue.dequeue() {
                self.start_service(next, bytes, at);
            }
        }
    }

    fn start_service(&mut self, mut passage: Passage, bytes: u32, now: Time) {
        let wire = self.serializer.as_mut().expect("only a limited rate serves");
        let end = wire.send(bytes, now);
        self.busy = self.busy + (end - now);
        passage.departure = Some(end);
        self.in_service = Some((passage, bytes));
    }

    fn depart(&mut self, mut passage: Passage, bytes: u32, at: Time) {
        self.counters.departed_packets += 1;
        self.counters.departed_bytes += u64::from(bytes);
        let lost = self.loss_after.next();
        passage.departure = Some(at);
        passage.delivery = Some(at + self.delay);
        passage.fate = if lost { Fate::LostAfter } else { Fate::Delivered };
        self.propagation.push_back(passage);
    }
}
