//! Tail loss probes (RFC 8985 section 7), and probes of a closed window.

use cc::{CaEvent, CaState};

use super::ack::Ack;
use super::output::Push;
use super::timers::Timer;
use super::{Phase, Sender};
use crate::segment::Segment;

/// A tail loss probe that is not answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    /// `TLP.end_seq`: `snd_nxt` when it was sent. `None`: there is none.
    end: Option<u64>,
    /// `TLP.is_retrans`.
    is_retransmission: bool,
}

impl Probe {
    pub(super) fn forget(&mut self) {
        self.end = None;
    }

    /// Its segment had been sent before.
    pub(super) fn is_retransmission(&self) -> bool {
        self.end.is_some() && self.is_retransmission
    }

    /// ... and what ends at `end` may be it.
    pub(super) fn is_retransmission_below(&self, end: u64) -> bool {
        self.is_retransmission && self.end == Some(end)
    }

    pub(super) fn is_answered_by(&self, ack: u64) -> bool {
        self.is_retransmission() && self.end == Some(ack)
    }
}

impl Sender {
    /// No ACK came for two RTTs: send something whose ACK shows what was lost (RFC 8985 section 7.3).
    #[cold]
    pub(super) fn send_loss_probe(&mut self, out: &mut Vec<Segment>) {
        if self.phase != Phase::Established || self.sk.packets_out == 0 {
            return;
        }
        // One at a time.
        let was_sent = self.probe.end.is_none() && self.send_probe(out);
        if was_sent {
            self.probe.end = Some(self.snd_nxt);
            self.counters.probes += 1;
            // The timeout counts from now, not from when the oldest segment was sent.
            self.timers.clear();
        } else {
            self.timers.waiting = Some(Timer::LossProbe);
        }
        self.rearm_retransmission();
    }

    fn send_probe(&mut self, out: &mut Vec<Segment>) -> bool {
        self.probe.is_retransmission = false;
        if self.has_unsent() && self.window_allows() {
            let packets_out = self.sk.packets_out;
            self.write_out(Push::Probe, out);
            return self.sk.packets_out > packets_out;
        }
        self.sk.tlp_orig_data_app_limited = self.board.get(self.board.len() - 1).is_app_limited;
        self.retransmit_last(out);
        self.probe.is_retransmission = true;
        true
    }

    /// RFC 8985 section 7.4: did the probe repair a loss?
    pub(super) fn finish_probe(&mut self, ack_number: u64, ack: &Ack) {
        let Some(end) = self.probe.end.filter(|&end| ack_number >= end) else { return };
        if !self.probe.is_retransmission || ack.dsacks_probe {
            self.probe.forget();
        } else if ack_number > end {
            // The repeated segment was not acknowledged twice: it had been lost.
            self.begin_reduction();
            self.set_ca_state(CaState::Cwr);
            self.end_reduction();
            self.keep_open();
            self.cc.cwnd_event(&mut self.sk, CaEvent::TlpRecovery);
        } else if !ack.is_advancing && !ack.acks_data && !ack.updates_window && !ack.sacks_data {
            // A duplicate: both arrived.
            self.probe.forget();
        }
    }

    /// There is data, nothing in flight, and no window: ask for it now and then (RFC 9293 section 3.8.6.1).
    pub(super) fn arm_window_probe(&mut self) {
        if self.sk.packets_out == 0 && self.has_unsent() && self.timers.waiting.is_none() && !self.window_allows() {
            self.set_timer(Timer::WindowProbe, self.rto_us());
        }
    }

    /// The window has opened: the next timeout is an ordinary one.
    #[cold]
    pub(super) fn end_window_probes(&mut self) {
        self.backoff = 0;
        if self.timers.waiting == Some(Timer::WindowProbe) {
            self.timers.clear();
        }
    }

    #[cold]
    pub(super) fn probe_window(&mut self, out: &mut Vec<Segment>) {
        if self.phase != Phase::Established || self.sk.packets_out > 0 || !self.has_unsent() {
            return;
        }
        // A segment that was acknowledged before: the answer says what the window is.
        let probe = Segment { seq: self.snd_una.saturating_sub(1), ..self.header() };
        out.push(probe);
        self.backoff += 1;
        self.set_timer(Timer::WindowProbe, self.rto_us());
    }
}
