//! Sending again.

use super::scoreboard::Sent;
use super::timers::Timer;
use super::{Sender, timestamp_ms};
use crate::segment::{Resent, Segment};
use cc::CaState;

impl Sender {
    /// Send what is lost again, as window and pacing allow (`tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, out: &mut Vec<Segment>) {
        if self.sk.packets_out == 0 {
            return;
        }
        let mut train = None;
        let why = if self.sk.ca_state == CaState::Loss { Resent::AfterTimeout } else { Resent::Fast };
        let mut index = self.board.retransmit_hint();
        let mut sent_head = false;
        while self.sk.retrans_out < self.sk.lost_out && index < self.board.len() {
            let sent = self.board.get(index);
            if !sent.is_lost || sent.is_retransmitting {
                index += 1;
                continue;
            }
            self.board.set_retransmit_hint(index);
            if self.must_wait() {
                return self.rearm_after_head(sent_head);
            }
            let most = train.unwrap_or_else(|| self.train_segments());
            train = Some(most);
            let quota = self.sk.snd_cwnd.saturating_sub(self.sk.packets_in_flight()).min(most);
            if quota == 0 {
                break;
            }
            // Linux sends a buffer again, or the first part of it: no more than what left at once.
            let (first, sent_us) = (index, self.board.get(index).sent_us);
            while index - first < quota as usize && index < self.board.len() {
                let sent = self.board.get(index);
                if !sent.is_lost || sent.is_retransmitting || sent.sent_us != sent_us {
                    break;
                }
                index += 1;
            }
            self.retransmit(first..index, why, out);
            if self.is_reducing() {
                self.prr_out += (index - first) as u32;
            }
            sent_head |= first == 0;
            self.board.set_retransmit_hint(index);
        }
        self.rearm_after_head(sent_head);
    }

    /// The oldest segment was sent again: its timeout begins anew.
    fn rearm_after_head(&mut self, sent_head: bool) {
        if sent_head && self.timers.waiting != Some(Timer::Reordering) {
            self.set_timer(Timer::Retransmit, self.rto_us());
        }
    }

    /// After a timeout.
    pub(super) fn retransmit_head(&mut self, out: &mut Vec<Segment>) {
        if !self.board.get(0).is_retransmitting {
            self.retransmit(0..1, Resent::Timeout, out);
        }
    }

    /// A tail loss probe's: it doesn't count as a retransmission under way.
    pub(super) fn retransmit_last(&mut self, out: &mut Vec<Segment>) {
        let index = self.board.len() - 1;
        self.send_again(index..index + 1, Resent::Probe, out);
    }

    fn retransmit(&mut self, indices: std::ops::Range<usize>, why: Resent, out: &mut Vec<Segment>) {
        self.send_again(indices.clone(), why, out);
        for index in indices {
            self.undo.retransmit(self.board.get(index).sent_us);
            if !std::mem::replace(&mut self.board.get_mut(index).is_retransmitting, true) {
                self.sk.retrans_out += 1;
            }
        }
    }

    fn send_again(&mut self, indices: std::ops::Range<usize>, resent: Resent, out: &mut Vec<Segment>) {
        let late_ns = self.depart();
        let sent_us = self.departure_us();
        self.note_transmission();
        let ecn = self.codepoint(false);
        let header = Segment { ts_val: timestamp_ms(sent_us), ..self.header() };
        let (mut bytes, mut in_flight) = (0, self.sk.packets_in_flight());
        for index in indices {
            in_flight += 1;
            let sent = self.stamp(*self.board.get(index), sent_us, in_flight);
            self.board.replace(index, Sent { was_retransmitted: true, ..sent });
            self.board.resend(index);
            bytes += u32::from(sent.len);
            self.counters.segments_retransmitted += 1;
            self.counters.bytes_retransmitted += u64::from(sent.len);
            self.counters.segments_sent += 1;
            let mut segment = Segment { seq: sent.seq, len: u32::from(sent.len), ecn, resent, ..header };
            segment.flags.fin = sent.is_fin;
            out.push(segment);
        }
        self.counters.bytes_sent += u64::from(bytes);
        self.pace(bytes, late_ns);
    }
}
