use plan::{Buffer, Queue};
use units::{Duration, Time};

use super::aqm::pi::Pi;
use super::aqm::{Lot, Lots, Updates, Waiting};
use super::{Backlog, Discipline, Dropped, Item};
use crate::packet::{Fate, Mark, Passage};

/// `MEAN_PKTSIZE` in bytes, of which two may always wait (RFC 8033 section 4.1); the value is that of RFC 8034.
const MEAN_PKTSIZE: u64 = 1024;

/// While the probability is below the first number, its change is divided by the second (RFC 8033 section 4.2).
const AUTO_TUNING: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];

/// Proportional Integral controller Enhanced (RFC 8033).
///
/// The delay is that of timestamps (section 4.3): the wait of the packet that left last, and none while nothing waits.
/// It has these optional elements (section 5): ECN, de-randomisation and the cap on the adjustment. It is always
/// active, and packets count alike whatever their size.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    limit: Buffer,
    max_burst: Duration,
    ecn: bool,
    mark_ecnth: f64,
    waiting: Waiting,
    lots: Lots,
    updates: Updates,
    pi: Pi,
    /// Delay of the packet that left last.
    sojourn: Duration,
    drop_prob: f64,
    /// `drop_prob` summed over the packets since the last drop.
    accu_prob: f64,
    burst_allowance: Duration,
}

impl Pie {
    /// An empty queue. `spec` is [`Queue::Pie`].
    pub(crate) fn new(spec: &Queue, limit: Buffer, seed: u64, element: &str) -> Pie {
        let Queue::Pie { target_ns, t_update_ns, alpha, beta, max_burst_ns, ecn, mark_ecnth } = *spec else {
            unreachable!("the parameters of another discipline")
        };
        Pie {
            limit,
            max_burst: max_burst_ns,
            ecn,
            mark_ecnth,
            waiting: Waiting::default(),
            lots: Lots::new(seed, element),
            updates: Updates::every(t_update_ns),
            pi: Pi::new(target_ns, alpha, beta),
            sojourn: Duration::ZERO,
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance: max_burst_ns,
        }
    }

    fn current_qdelay(&self) -> Duration {
        if self.waiting.is_empty() { Duration::ZERO } else { self.sojourn }
    }

    fn is_low(&self, delay: Duration) -> bool {
        delay.as_nanos() * 2 < self.pi.target.as_nanos()
    }

    fn update_until(&mut self, now: Time) {
        while self.updates.due(now).is_some() {
            self.update();
        }
    }

    fn update(&mut self) {
        let (old, current) = (self.pi.previous, self.current_qdelay());
        let mut change = self.pi.change(current) / auto_tuning(self.drop_prob);
        if self.drop_prob >= 0.1 {
            // Section 5.5.
            change = change.min(0.02);
        }
        self.drop_prob += change;
        if (old, current) == (Duration::ZERO, Duration::ZERO) {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        let left = self.burst_allowance.as_nanos() - self.updates.period().as_nanos();
        self.burst_allowance = Duration(left.max(0));
    }

    /// Sections 4.1 and 5.4.
    fn drop_early(&mut self, lot: Lot) -> bool {
        let is_light = self.is_low(self.pi.previous) && self.drop_prob < 0.2;
        if is_light || self.waiting.backlog().bytes <= 2 * MEAN_PKTSIZE {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        let drop = self.accu_prob >= 8.5 || self.accu_prob >= 0.85 && lot.hits(self.drop_prob);
        if drop {
            self.accu_prob = 0.0;
        }
        drop
    }
}

fn auto_tuning(drop_prob: f64) -> f64 {
    AUTO_TUNING.iter().find(|(below, _)| drop_prob < *below).map_or(1.0, |(_, divisor)| *divisor)
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut item: Item, now: Time, dropped: &mut Dropped) {
        self.update_until(now);
        let lot = self.lots.next();
        if !self.waiting.backlog().has_room(self.limit, item.bytes) {
            return dropped.refuse(item, Fate::DroppedTail);
        }
        // Section 4.4.
        if self.drop_prob == 0.0 && self.is_low(self.current_qdelay()) && self.is_low(self.pi.previous) {
            self.burst_allowance = self.max_burst;
        }
        if self.burst_allowance == Duration::ZERO && self.drop_early(lot) {
            // Section 5.1.
            let may_mark = self.ecn && self.drop_prob < self.mark_ecnth;
            if !(may_mark && item.mark(Mark::Early)) {
                return dropped.refuse(item, Fate::DroppedEarly);
            }
        }
        self.waiting.push(item);
    }

    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Item> {
        self.update_until(now);
        let item = self.waiting.pop()?;
        self.sojourn = item.sojourn(now);
        Some(item)
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        self.waiting.drain().collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.waiting.passages().collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Queue::Pie { target_ns, t_update_ns, alpha, beta, max_burst_ns, ecn, mark_ecnth } = *spec else {
            return false;
        };
        self.limit = limit;
        (self.max_burst, self.ecn, self.mark_ecnth) = (max_burst_ns, ecn, mark_ecnth);
        self.burst_allowance = self.burst_allowance.min(max_burst_ns);
        self.updates.set_period(t_update_ns);
        (self.pi.target, self.pi.alpha, self.pi.beta) = (target_ns, alpha, beta);
        true
    }
}

#[cfg(test)]
mod tests;
