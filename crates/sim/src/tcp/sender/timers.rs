//! The one timer of a sender that waits for ACKs, and the one that paces (RFC 6298, RFC 8985).

use units::{Duration, Time};

use super::{Phase, Sender};
use crate::segment::Segment;
use crate::tcp::ticks;

/// The sender's timer. There is one deadline, and one action that is due then, as in Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// A SYN's answer.
    Syn,
    /// An ACK, for the retransmission timeout (RFC 6298).
    Retransmit,
    /// An ACK, for a tail loss probe (RFC 8985 section 7).
    LossProbe,
    /// Segments that may just be late (RFC 8985 section 6.2 step 5).
    Reordering,
    /// A window to send into (RFC 9293 section 3.8.6.1).
    WindowProbe,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    /// The timer that is due at `at`, if any.
    pub waiting: Option<Timer>,
    pub at: Time,
    /// Pacing lets something go at this time; [`Time::NEVER`]: nothing waits for that.
    pub pacing: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { waiting: None, at: Time::NEVER, pacing: Time::NEVER }
    }
}

impl Timers {
    pub(super) fn set(&mut self, what: Timer, at: Time) {
        (self.waiting, self.at) = (Some(what), at);
    }

    pub(super) fn clear(&mut self) {
        (self.waiting, self.at) = (None, Time::NEVER);
    }
}

impl Sender {
    /// The time at which [`on_timer`](Sender::on_timer) wants to be called; [`Time::NEVER`]: not at all.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timers.at.min(self.timers.pacing)
    }

    /// Carries out what is due by `now`.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.at(now);
        if self.timers.pacing <= now {
            self.timers.pacing = Time::NEVER;
            self.on_pacing(out);
        }
        if self.timers.at <= now {
            self.on_due(out);
        }
        self.run_application(out);
    }

    fn on_due(&mut self, out: &mut Vec<Segment>) {
        let Some(due) = self.timers.waiting else { return };
        if due != Timer::Reordering {
            self.timers.clear();
        }
        match due {
            Timer::Syn => self.on_syn_timeout(out),
            Timer::Retransmit => self.on_retransmission_timeout(out),
            Timer::LossProbe => self.send_loss_probe(out),
            Timer::Reordering => self.on_reordering_timeout(out),
            Timer::WindowProbe => self.probe_window(out),
        }
    }

    fn on_pacing(&mut self, out: &mut Vec<Segment>) {
        if self.phase != Phase::Established {
            return;
        }
        if self.sk.lost_out > self.sk.retrans_out && self.sk.snd_cwnd > self.sk.packets_in_flight() {
            self.retransmit_lost(out);
        }
        self.push(out);
    }

    pub(super) fn set_timer(&mut self, what: Timer, after_us: u64) {
        self.timers.set(what, ticks::fires(self.now, Duration::from_micros(after_us as i64), &self.settings));
    }

    /// Remaining retransmission timeout of the oldest segment, us, counted from its transmission.
    fn retransmission_left_us(&self) -> i64 {
        let sent = self.board.head().map_or(self.now_us(), |head| head.sent_us);
        sent as i64 + self.rto_us() as i64 - self.now_us() as i64
    }

    /// Start the retransmission timer anew; after a probe or a reordering timer it keeps its old end.
    pub(super) fn rearm_retransmission(&mut self) {
        if self.sk.packets_out == 0 {
            return self.timers.clear();
        }
        let left = match self.timers.waiting {
            Some(Timer::LossProbe | Timer::Reordering) => self.retransmission_left_us().max(1) as u64,
            _ => self.rto_us(),
        };
        self.set_timer(Timer::Retransmit, left);
    }

    /// An ACK made progress: the next thing to wait for is a probe's time, or the retransmission timeout.
    pub(super) fn restart_timer(&mut self) {
        if !self.schedule_loss_probe(true) {
            self.rearm_retransmission();
        }
    }

    /// Schedule a tail loss probe (RFC 8985 section 7.2) if the flow is not in recovery. `advancing`: the retransmission
    /// timer begins anew, too.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool) -> bool {
        use cc::CaState::{Cwr, Open};
        if !self.settings.loss_probes || self.sk.packets_out == 0 || !matches!(self.sk.ca_state, Open | Cwr) {
            return false;
        }
        let mut timeout = match self.sk.srtt_us {
            0 => super::RTO_INITIAL_US,
            // Twice the RTT; a lone segment's ACK may be delayed.
            srtt => u64::from(srtt >> 2) + if self.sk.packets_out == 1 { ALONE_US } else { TIMER_MIN_US },
        };
        let left = if advancing { self.rto_us() as i64 } else { self.retransmission_left_us() };
        if left > 0 {
            timeout = timeout.min(left as u64);
        }
        self.set_timer(Timer::LossProbe, timeout);
        true
    }
}

/// RFC 8985's `WCDelAckT`: Linux takes the least retransmission timeout.
const ALONE_US: u64 = super::RTO_MIN_US as u64;
/// Linux adds this to short timers (`TCP_TIMEOUT_MIN_US`).
pub(super) const TIMER_MIN_US: u64 = 2_000;
