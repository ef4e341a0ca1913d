//! RACK: a segment is lost if one that was sent later has arrived, and it has had time to (RFC 8985 section 6).

use cc::{CaState, LostPacket, RateSample, Socket, before};

use super::Sender;
use super::scoreboard::{Sent, is_sent_after};
use super::timers::{TIMER_MIN_US, Timer};
use crate::segment::Segment;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    /// `RACK.xmit_ts`, us, and `RACK.end_seq` of the segment sent last of those delivered.
    newest: (u64, u64),
    /// `RACK.rtt`, us.
    rtt_us: u32,
    /// True if RACK's state changed since losses were looked for.
    pub is_advanced: bool,
    /// `RACK.reo_wnd_mult`: quarters of the minimum RTT.
    window_steps: u32,
    /// `RACK.reo_wnd_persist`: recoveries until it goes back to one.
    pub window_persist: u32,
    /// A D-SACK came that the window hasn't been widened for.
    has_dsack: bool,
    /// `delivered` when it was widened last.
    widened_at: u32,
}

/// RFC 8985 section 6.2 step 4: 16 recoveries.
const PERSIST: u32 = 16;
const MAX_STEPS: u32 = 255;

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            newest: (0, 0),
            rtt_us: 0,
            is_advanced: false,
            window_steps: 1,
            window_persist: 0,
            has_dsack: false,
            widened_at: 0,
        }
    }
}

impl Rack {
    pub(super) fn see_dsack(&mut self) {
        self.has_dsack = true;
    }

    /// Retransmissions that were needless widen the reordering window, once a round (RFC 8985 section 6.2 step 4).
    pub(super) fn adapt(&mut self, sk: &Socket, rs: &RateSample) {
        if rs.prior_mstamp == 0 {
            return;
        }
        if before(rs.prior_delivered, self.widened_at) {
            self.has_dsack = false;
        }
        if std::mem::take(&mut self.has_dsack) {
            self.window_steps = (self.window_steps + 1).min(MAX_STEPS);
            (self.widened_at, self.window_persist) = (sk.delivered, PERSIST);
        } else if self.window_persist == 0 {
            self.window_steps = 1;
        }
    }

    /// A recovery was needed, or was not.
    pub(super) fn end_recovery(&mut self, was_needed: bool) {
        self.window_persist = match was_needed {
            true => self.window_persist.saturating_sub(1),
            false => (self.window_persist + 1).min(PERSIST),
        };
    }
}

impl Sender {
    /// A segment was delivered (RFC 8985 section 6.2 steps 1 and 2).
    pub(super) fn rack_advance(&mut self, sent: &Sent) {
        let rtt = self.since_us(sent.sent_us) as u32;
        // Quicker than the path: it is the original that was acknowledged.
        if sent.was_retransmitted && rtt < self.sk.min_rtt_us {
            return;
        }
        self.rack.is_advanced = true;
        self.rack.rtt_us = rtt;
        let this = (sent.sent_us, sent.end());
        if is_sent_after(this, self.rack.newest) {
            self.rack.newest = this;
        }
    }

    /// The time that a segment may be late (RFC 8985 section 6.2 step 4), us.
    fn reordering_window_us(&self) -> u32 {
        let sk = &self.sk;
        // No segment was ever reordered: losses are repaired at once, in recovery and from the third SACK on.
        if self.reordering_seen == 0 && (sk.ca_state >= CaState::Recovery || sk.sacked_out >= self.reordering) {
            return 0;
        }
        (sk.min_rtt_us / 4).saturating_mul(self.rack.window_steps).min(sk.srtt_us >> 3)
    }

    /// Mark what is lost (RFC 8985 section 6.2 step 5). Returns how long to wait for the rest, us; 0: there is none.
    fn detect_losses(&mut self) -> u64 {
        let window = self.reordering_window_us();
        let mut wait = 0;
        let mut next = self.board.oldest_sent();
        while let Some(index) = next {
            let sent = self.board.get(index);
            next = self.board.sent_after(index);
            if sent.is_lost && !sent.is_retransmitting {
                // A timeout has marked it.
                continue;
            }
            if !is_sent_after(self.rack.newest, (sent.sent_us, sent.end())) {
                break;
            }
            let left = self.time_left(sent, window);
            if left <= 0 {
                self.mark_lost(index);
                self.board.settle(index);
            } else {
                wait = wait.max(left as u64);
            }
        }
        wait
    }

    /// Time until a segment counts as lost if it isn't delivered, us.
    pub(super) fn time_left(&self, sent: &Sent, window: u32) -> i64 {
        i64::from(self.rack.rtt_us) + i64::from(window) - self.since_us(sent.sent_us) as i64
    }

    /// Look for losses after an ACK. `true`: some are not certain yet, and the timer is set to look again.
    pub(super) fn look_for_losses(&mut self) -> bool {
        if !std::mem::take(&mut self.rack.is_advanced) {
            return false;
        }
        let wait = self.detect_losses();
        if wait > 0 {
            self.set_timer(Timer::Reordering, wait + TIMER_MIN_US);
        }
        wait > 0
    }

    /// Late segments are lost now.
    pub(super) fn on_reordering_timeout(&mut self, out: &mut Vec<Segment>) {
        let (in_flight, lost) = (self.sk.packets_in_flight(), self.sk.lost);
        self.detect_losses();
        if self.sk.packets_in_flight() != in_flight {
            if self.sk.ca_state != CaState::Recovery {
                self.enter_recovery(false);
                if !self.has_cong_control {
                    self.reduce_window(1, self.sk.lost.wrapping_sub(lost) as i32, false);
                }
            }
            self.retransmit_lost(out);
        }
        if self.timers.waiting != Some(Timer::Retransmit) {
            self.rearm_retransmission();
        }
    }

    /// A segment is lost, or its retransmission is.
    pub(super) fn mark_lost(&mut self, index: usize) {
        let sent = self.board.get_mut(index);
        if sent.is_sacked {
            return;
        }
        if sent.is_lost {
            if !std::mem::take(&mut sent.is_retransmitting) {
                return;
            }
            self.sk.retrans_out -= 1;
        } else {
            sent.is_lost = true;
            self.sk.lost_out += 1;
        }
        let packet = LostPacket {
            tx_in_flight: sent.tx_in_flight,
            tx_lost: sent.lost,
            tx_delivered: sent.delivered,
            end_seq: sent.end() as u32,
            segments: 1,
            is_app_limited: sent.is_app_limited,
            was_sacked: false,
        };
        self.board.hint_retransmit(index);
        self.sk.lost = self.sk.lost.wrapping_add(1);
        self.cc.skb_marked_lost(&mut self.sk, &packet);
    }
}
