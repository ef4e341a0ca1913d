mod service;

use plan::{Buffer, Queue};
use units::{Duration, Time};

use self::service::Service;
use super::aqm::{Lot, Lots, Updates, Waiting};
use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Mark, Passage};

/// Interval at which ARED adapts `max_p`, and its least and largest value (Floyd, Gummadi, Shenker 2001, figure 3).
const ARED_INTERVAL: Duration = Duration::from_millis(500);
const ARED_MAX_P: (f64, f64) = (0.01, 0.5);

/// Random Early Detection, in terms of bytes: Floyd and Jacobson, "Random early detection gateways for congestion
/// avoidance", IEEE/ACM Transactions on Networking 1(4), 1993. Gentle: Floyd, "Recommendation on using the gentle
/// variant of RED", 2000. Adaptive: Floyd, Gummadi, Shenker, "Adaptive RED: an algorithm for increasing the robustness
/// of RED's active queue management", 2001.
///
/// A packet's chance doesn't depend on its size (RFC 7141). ECN-capable packets are dropped, too, if all packets are
/// (RFC 3168 section 7).
#[derive(Clone, Debug)]
pub(crate) struct Red {
    limit: Buffer,
    law: Law,
    weight: f64,
    average_packet: f64,
    ecn: bool,
    adaptive: bool,
    /// `max_p` of the plan; the law has the value that ARED has adapted.
    max_p: f64,
    waiting: Waiting,
    lots: Lots,
    updates: Updates,
    service: Service,
    /// Bytes.
    average: f64,
    /// The time at which the last packet was taken from the queue.
    empty_since: Option<Time>,
    /// Packets since the last drop while the average was between the thresholds; -1 below.
    count: i64,
}

/// The probability of a drop.
#[derive(Clone, Copy, Debug)]
struct Law {
    /// Bytes.
    min_th: f64,
    /// Bytes.
    max_th: f64,
    max_p: f64,
    gentle: bool,
}

impl Law {
    /// `p_b` at this average. `None`: everything is dropped.
    fn probability(&self, average: f64) -> Option<f64> {
        if average < self.max_th {
            let rise = (average - self.min_th) / (self.max_th - self.min_th);
            return Some((self.max_p * rise).max(0.0));
        }
        let rise = (average - self.max_th) / self.max_th;
        (self.gentle && rise < 1.0).then_some(self.max_p + rise * (1.0 - self.max_p))
    }

    /// ARED's step (figure 3): additive increase, multiplicative decrease, to bring the average into the middle fifth.
    fn adapt(&mut self, average: f64) {
        let (least, most) = ARED_MAX_P;
        let span = self.max_th - self.min_th;
        if average > self.min_th + 0.6 * span && self.max_p <= most {
            self.max_p += (self.max_p / 4.0).min(0.01);
        } else if average < self.min_th + 0.4 * span && self.max_p >= least {
            self.max_p *= 0.9;
        }
    }
}

impl Red {
    /// An empty queue. `spec` is [`Queue::Red`].
    pub(crate) fn new(spec: &Queue, limit: Buffer, seed: u64, element: &str) -> Red {
        let mut red = Red {
            limit,
            law: Law { min_th: 0.0, max_th: 0.0, max_p: 0.0, gentle: false },
            weight: 0.0,
            average_packet: 0.0,
            ecn: false,
            adaptive: false,
            max_p: 0.0,
            waiting: Waiting::default(),
            lots: Lots::new(seed, element),
            updates: Updates::every(ARED_INTERVAL),
            service: Service::default(),
            average: 0.0,
            empty_since: None,
            count: -1,
        };
        if !red.configure(spec, limit) {
            unreachable!("the parameters of another discipline");
        }
        red
    }

    /// The average as a packet would find it that came now. While the queue is empty it is as if m packets of the
    /// average size had come to an empty queue, m being those that could have been sent meanwhile (section 4).
    fn average_at(&self, now: Time) -> f64 {
        let Some(since) = self.empty_since else {
            return self.average + self.weight * (self.waiting.backlog().bytes as f64 - self.average);
        };
        match self.service.time_of(self.average_packet) {
            0.0 => 0.0,
            transmission => {
                let m = (now - since).as_nanos() as f64 / transmission;
                self.average * libm::pow(1.0 - self.weight, m)
            }
        }
    }

    fn adapt_until(&mut self, now: Time) {
        while let Some(at) = self.updates.due(now) {
            if self.adaptive {
                let average = if self.empty_since.is_some() { self.average_at(at) } else { self.average };
                self.law.adapt(average);
            }
        }
    }

    /// Figure 2: what becomes of an arrival that there is room for.
    fn verdict(&mut self, lot: Lot) -> Verdict {
        let Some(p_b) = self.law.probability(self.average) else {
            self.count = 0;
            return Verdict::Drop;
        };
        if self.average < self.law.min_th {
            self.count = -1;
            return Verdict::Pass;
        }
        self.count += 1;
        let left = 1.0 - self.count as f64 * p_b;
        let p_a = if p_b < left { p_b / left } else { 1.0 };
        if !lot.hits(p_a) {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Signal
    }
}

enum Verdict {
    Pass,
    /// Mark it, or drop it if that can't be.
    Signal,
    Drop,
}

impl Discipline for Red {
    fn enqueue(&mut self, mut item: Item, now: Time, dropped: &mut Dropped) {
        self.adapt_until(now);
        let lot = self.lots.next();
        self.average = self.average_at(now);
        if self.empty_since.is_some() {
            self.empty_since = Some(now);
        }
        if !self.waiting.backlog().has_room(self.limit, item.bytes) {
            return dropped.refuse(item, Fate::DroppedTail);
        }
        let pass = match self.verdict(lot) {
            Verdict::Pass => true,
            Verdict::Signal => self.ecn && item.mark(Mark::Early),
            Verdict::Drop => false,
        };
        if !pass {
            return dropped.refuse(item, Fate::DroppedEarly);
        }
        self.empty_since = None;
        self.waiting.push(item);
    }

    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Item> {
        self.adapt_until(now);
        let item = self.waiting.pop()?;
        self.service.took(item.bytes, now, !self.waiting.is_empty());
        if self.waiting.is_empty() {
            self.empty_since = Some(now);
        }
        Some(item)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self, now: Time) -> Vec<Item> {
        self.service.interrupt();
        self.empty_since.get_or_insert(now);
        self.waiting.drain().collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.waiting.passages().collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Queue::Red { min_th_bytes, max_th_bytes, max_p, weight, average_packet_bytes, gentle, ecn, adaptive } =
            *spec
        else {
            return false;
        };
        let learned = self.adaptive && adaptive && max_p == self.max_p;
        self.law = Law {
            min_th: min_th_bytes as f64,
            max_th: max_th_bytes as f64,
            max_p: if learned { self.law.max_p } else { max_p },
            gentle,
        };
        (self.limit, self.weight, self.ecn, self.adaptive, self.max_p) = (limit, weight, ecn, adaptive, max_p);
        self.average_packet = f64::from(average_packet_bytes);
        true
    }
}

#[cfg(test)]
mod tests;
