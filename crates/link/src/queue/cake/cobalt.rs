use units::{Duration, Time};

use super::super::aqm::Lots;
use super::super::codel::{Source, control_law, drop_head};
use super::super::{Dropped, Item};
use crate::packet::Mark;

/// BLUE's probability is kept in steps of this.
const STEPS: u32 = 4096;

/// An overflow raises BLUE's probability by 1/256, an empty queue lowers it by 1/4096.
const RISE: u32 = STEPS / 256;
const FALL: u32 = 1;

/// COBALT's parameters, and what they decide: CoDel and BLUE side by side (Palmei, Gupta, Imputato, Morton, Tahiliani,
/// Avallone, Täht: "Design and evaluation of COBALT queue discipline", LANMAN 2019; the "COBALT" that tc-cake(8) names).
///
/// CoDel signals to flows that answer. It differs from RFC 8289 in what it remembers: outside the dropping state its count
/// falls by one at each time at which it would have signalled, so that it re-enters at a rate that fits how long ago the
/// last one was. BLUE drops packets of flows that don't answer, whatever their ECN field says: its probability rises when
/// the buffer overflows and this queue is the longest, and falls while the queue is empty, once per `target` at most.
///
/// The last packet of a queue is never dropped. CoDel wants more than an MTU behind a packet, as in RFC 8289 section 5.6.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cobalt {
    pub target: Duration,
    pub interval: Duration,
    /// CoDel marks instead of dropping.
    pub ecn: bool,
}

/// The state of COBALT for a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    dropping: bool,
    /// Signals since the queue was at rest, less those that were forgotten.
    count: u32,
    /// The time at which CoDel signals next, or forgets a signal.
    next: Time,
    /// BLUE's probability times [`STEPS`].
    blue: u32,
    /// The time at which it changed last.
    blue_changed: Time,
}

impl Cobalt {
    /// The next packet that leaves the queue. `mtu`: the largest packet that came so far.
    pub(super) fn dequeue(
        &self,
        control: &mut Control,
        queue: &mut impl Source,
        mtu: u32,
        lots: &mut Lots,
        now: Time,
        dropped: &mut Dropped,
    ) -> Option<Item> {
        loop {
            let Some(head) = queue.head() else {
                self.found_empty(control, now);
                return None;
            };
            let behind = queue.bytes() - u64::from(head.bytes);
            let is_above = head.sojourn(now) > self.target && behind > u64::from(mtu);
            let signal = self.codel_signals(control, is_above, now);
            let is_marked = signal && self.ecn && head.passage.packet.ecn.is_capable();
            let blue = lots.next().hits(f64::from(control.blue) / f64::from(STEPS)) && behind > 0;
            if blue || signal && !is_marked {
                drop_head(queue, now, dropped);
                continue;
            }
            let mut item = queue.pop()?;
            if is_marked {
                item.mark(Mark::Early);
            }
            return Some(item);
        }
    }

    /// Returns true if CoDel signals now.
    fn codel_signals(&self, control: &mut Control, is_above: bool, now: Time) -> bool {
        if !is_above {
            control.dropping = false;
            self.forget(control, now);
            return false;
        }
        if !control.dropping {
            self.forget(control, now);
            control.dropping = true;
            control.count = control.count.max(1);
            control.next = control_law(self.interval, now, control.count);
        }
        let signals = now >= control.next;
        if signals {
            control.count = control.count.saturating_add(1);
            control.next = control_law(self.interval, control.next, control.count);
        }
        signals
    }

    /// Outside the dropping state, lowers CoDel's count by one at each time at which it would have signalled.
    fn forget(&self, control: &mut Control, now: Time) {
        while control.count > 0 && now >= control.next {
            control.count -= 1;
            control.next = control_law(self.interval, control.next, control.count.max(1));
        }
    }

    /// The buffer is full, and this is its longest queue: BLUE drops more, and CoDel is due.
    pub(super) fn overflow(&self, control: &mut Control, now: Time) {
        if now - control.blue_changed > self.target {
            control.blue = (control.blue + RISE).min(STEPS);
            control.blue_changed = now;
        }
        control.dropping = true;
        control.next = now;
        control.count = control.count.max(1);
    }

    /// The queue was empty when its turn came.
    pub(super) fn found_empty(&self, control: &mut Control, now: Time) {
        control.dropping = false;
        self.forget(control, now);
        if control.blue > 0 && now - control.blue_changed > self.target {
            control.blue -= FALL;
            control.blue_changed = now;
        }
    }

    /// Catches up with the time for which the queue was empty, when a packet comes to it: CoDel and BLUE forget.
    pub(super) fn rest(&self, control: &mut Control, now: Time) {
        control.dropping = false;
        self.forget(control, now);
        if control.blue > 0 {
            let times = (now - control.blue_changed).as_nanos() / self.target.as_nanos().max(1);
            control.blue = control.blue.saturating_sub(u32::try_from(times).unwrap_or(u32::MAX).saturating_mul(FALL));
            control.blue_changed += Duration(times * self.target.as_nanos());
        }
    }

    /// Returns true if an empty queue has forgotten everything by `now`.
    pub(super) fn is_at_rest(&self, control: &Control, now: Time) -> bool {
        let mut control = *control;
        self.rest(&mut control, now);
        control.count == 0 && control.blue == 0
    }
}

#[cfg(test)]
impl Control {
    /// BLUE's probability times [`STEPS`].
    pub(super) fn blue(&self) -> u32 {
        self.blue
    }
}
