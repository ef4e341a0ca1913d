use plan::{Buffer, Queue};
use units::{Duration, Time};

use super::aqm::pi::Pi;
use super::aqm::{Updates, Waiting};
use super::{Backlog, Discipline, Dropped, Item};
use crate::Ecn;
use crate::packet::{Fate, Mark, Passage};

/// The coupled dual queue with PI2 (RFC 9332 appendix A).
///
/// ECT(1) and CE go to the low-latency queue L, the rest to the classic queue C; both share the buffer. A controller of
/// the delay of the longer wait yields p'. C drops, or marks ECT(0), with p_C = p'^2; L marks with the larger of p_CL =
/// k p' and what a ramp over the packet's own wait says, if another waits behind it (`Th_len` is 1 packet). Decisions
/// are taken when a packet leaves, and spaced evenly, not drawn (`recur` of appendix A.1).
///
/// Overload (section 4.2.3, appendix A.2): where p_CL reaches 1, L drops with p_C and marks the rest; from p_Cmax = 1 /
/// k^2 on, at most 1, ECN no longer saves a packet of C.
///
/// The scheduler is a weighted round robin (section 4.2.2): L goes first, but while both wait C gets its share of the
/// bytes.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    limit: Buffer,
    k: f64,
    min_th: Duration,
    range: Duration,
    classic_share: f64,
    low: Waiting,
    classic: Waiting,
    low_signals: Recurrence,
    classic_signals: Recurrence,
    updates: Updates,
    pi: Pi,
    /// p'.
    base: f64,
    /// Bytes that C has earned while L was served before it.
    credit: f64,
}

/// Happens at even intervals, with a likelihood per packet that may change: `recur` of RFC 9332 appendix A.1.
#[derive(Clone, Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn next(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let happens = self.0 >= 1.0;
        if happens {
            self.0 -= 1.0;
        }
        happens
    }
}

impl DualPi2 {
    /// An empty queue. `spec` is [`Queue::Dualpi2`]. It draws no random numbers.
    pub(crate) fn new(spec: &Queue, limit: Buffer, _: u64, _: &str) -> DualPi2 {
        let Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, min_th_ns, range_ns, classic_share } = *spec
        else {
            unreachable!("the parameters of another discipline")
        };
        DualPi2 {
            limit,
            k,
            min_th: min_th_ns,
            range: range_ns,
            classic_share,
            low: Waiting::default(),
            classic: Waiting::default(),
            low_signals: Recurrence::default(),
            classic_signals: Recurrence::default(),
            updates: Updates::every(t_update_ns),
            pi: Pi::new(target_ns, alpha, beta),
            base: 0.0,
            credit: 0.0,
        }
    }

    fn update_until(&mut self, now: Time) {
        while let Some(at) = self.updates.due(now) {
            let wait = |queue: &Waiting| queue.head().map_or(Duration::ZERO, |item| item.sojourn(at));
            let longest = wait(&self.low).max(wait(&self.classic));
            self.base = (self.base + self.pi.change(longest)).clamp(0.0, 1.0);
        }
    }

    /// p_C.
    fn classic_probability(&self) -> f64 {
        self.base * self.base
    }

    /// p_CL.
    fn coupled_probability(&self) -> f64 {
        self.k * self.base
    }

    /// p_C >= p_Cmax: ECN is over for C.
    fn is_overloaded(&self) -> bool {
        self.base >= (1.0 / self.k).min(1.0)
    }

    /// Takes a packet from the queue whose turn it is.
    fn next(&mut self) -> Option<(Item, bool)> {
        let (low, classic) = (self.low.head().map(|item| item.bytes), self.classic.head().map(|item| item.bytes));
        let (Some(low), Some(classic)) = (low, classic) else {
            self.credit = 0.0;
            return self.low.pop().map(|item| (item, true)).or_else(|| Some((self.classic.pop()?, false)));
        };
        let price = (1.0 - self.classic_share) * f64::from(classic);
        if self.credit >= price {
            self.credit -= price;
            self.classic.pop().map(|item| (item, false))
        } else {
            self.credit += self.classic_share * f64::from(low);
            self.low.pop().map(|item| (item, true))
        }
    }

    /// Mark a packet of L. `false`: drop it.
    fn passes_low(&mut self, item: &mut Item, now: Time) -> bool {
        let coupled = self.coupled_probability();
        if coupled >= 1.0 {
            let drop = self.low_signals.next(self.classic_probability());
            return !drop && item.mark(Mark::Coupled);
        }
        let native = if self.low.is_empty() { 0.0 } else { self.ramp(item.sojourn(now)) };
        if self.low_signals.next(native.max(coupled)) {
            item.mark(if native >= coupled { Mark::Threshold } else { Mark::Coupled });
        }
        true
    }

    /// p'_L: L's own AQM, `laqm` of appendix A.1. A range of 0 makes it a step.
    fn ramp(&self, wait: Duration) -> f64 {
        let above = wait.as_nanos() - self.min_th.as_nanos();
        match self.range.as_nanos() {
            _ if above <= 0 => 0.0,
            range if above >= range => 1.0,
            range => above as f64 / range as f64,
        }
    }

    /// Mark a packet of C. `false`: drop it.
    fn passes_classic(&mut self, item: &mut Item) -> bool {
        let signal = self.classic_signals.next(self.classic_probability());
        !signal || !self.is_overloaded() && item.mark(Mark::Early)
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, item: Item, now: Time, dropped: &mut Dropped) {
        self.update_until(now);
        if !self.backlog().has_room(self.limit, item.bytes) {
            return dropped.refuse(item, Fate::DroppedTail);
        }
        match item.passage.packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.low.push(item),
            Ecn::NotEct | Ecn::Ect0 => self.classic.push(item),
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Dropped) -> Option<Item> {
        self.update_until(now);
        loop {
            let (mut item, from_low) = self.next()?;
            let passes = if from_low { self.passes_low(&mut item, now) } else { self.passes_classic(&mut item) };
            if passes {
                return Some(item);
            }
            dropped.take_out(item, Fate::DroppedEarly, now);
        }
    }

    fn backlog(&self) -> Backlog {
        let (low, classic) = (self.low.backlog(), self.classic.backlog());
        Backlog { bytes: low.bytes + classic.bytes, packets: low.packets + classic.packets }
    }

    fn drain(&mut self, _: Time) -> Vec<Item> {
        self.low.drain().chain(self.classic.drain()).collect()
    }

    fn inside(&self) -> Vec<Passage> {
        self.low.passages().chain(self.classic.passages()).collect()
    }

    fn configure(&mut self, spec: &Queue, limit: Buffer) -> bool {
        let Queue::Dualpi2 { target_ns, t_update_ns, alpha, beta, k, min_th_ns, range_ns, classic_share } = *spec
        else {
            return false;
        };
        (self.limit, self.k, self.classic_share) = (limit, k, classic_share);
        (self.min_th, self.range) = (min_th_ns, range_ns);
        self.updates.set_period(t_update_ns);
        (self.pi.target, self.pi.alpha, self.pi.beta) = (target_ns, alpha, beta);
        true
    }
}

#[cfg(test)]
mod tests;
