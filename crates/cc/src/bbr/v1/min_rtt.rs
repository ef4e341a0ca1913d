//! The minimum RTT and PROBE_RTT.

use super::super::fixed::INF;
use super::{Bbr1, MIN_CWND, Mode};
use crate::{CaState, RateSample, Socket};

/// Window of the filter, us; without a new minimum in it, PROBE_RTT comes.
const WINDOW_US: u64 = 10_000_000;
/// Length of PROBE_RTT, us.
const HOLD_US: u64 = 200_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MinRtt {
    /// us; `u32::MAX`: none yet. When it was seen.
    pub min_rtt: u32,
    at: u64,
    /// When PROBE_RTT may end, us; `None`: the window is not down yet.
    done_at: Option<u64>,
    is_round_done: bool,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt::begin(INF, 0)
    }
}

impl MinRtt {
    pub(super) fn begin(min_rtt: u32, now: u64) -> MinRtt {
        MinRtt { min_rtt, at: now, done_at: None, is_round_done: false }
    }
}

impl Bbr1 {
    pub(super) fn update_min_rtt(&mut self, sk: &mut Socket, rs: &RateSample) {
        let has_expired = sk.tcp_mstamp > self.rtt.at + WINDOW_US;
        if let Ok(rtt) = u32::try_from(rs.rtt_us)
            && (rtt < self.rtt.min_rtt || (has_expired && !rs.is_ack_delayed))
        {
            (self.rtt.min_rtt, self.rtt.at) = (rtt, sk.tcp_mstamp);
        }
        if has_expired && !self.is_idle_restart && self.mode != Mode::ProbeRtt {
            self.save_cwnd(sk);
            self.mode = Mode::ProbeRtt;
            self.rtt.done_at = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.step_probe_rtt(sk);
        }
        if rs.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    fn step_probe_rtt(&mut self, sk: &mut Socket) {
        sk.app_limited = sk.delivered.wrapping_add(sk.packets_in_flight()).max(1);
        if self.rtt.done_at.is_none() {
            if sk.packets_in_flight() <= MIN_CWND {
                self.rtt.done_at = Some(sk.tcp_mstamp + HOLD_US);
                self.rtt.is_round_done = false;
                self.rounds.restart(sk);
            }
            return;
        }
        self.rtt.is_round_done |= self.rounds.is_start;
        if self.rtt.is_round_done {
            self.maybe_end_probe_rtt(sk);
        }
    }

    pub(super) fn maybe_end_probe_rtt(&mut self, sk: &mut Socket) {
        if self.rtt.done_at.is_none_or(|done| sk.tcp_mstamp <= done) {
            return;
        }
        self.rtt.at = sk.tcp_mstamp;
        sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
        if self.full.is_reached {
            self.start_probe_bw(sk);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Keep the window for the time after recovery or PROBE_RTT: while in either, the greatest that was.
    pub(super) fn save_cwnd(&mut self, sk: &Socket) {
        let is_undisturbed = self.prev_ca_state < CaState::Recovery && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if is_undisturbed { sk.snd_cwnd } else { self.prior_cwnd.max(sk.snd_cwnd) };
    }
}
