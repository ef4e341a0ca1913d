//! The minimum RTT and PROBE_RTT.

use super::super::fixed::INF;
use super::super::hold::{Hold, saved_cwnd};
use super::{Bbr1, MIN_CWND, Mode};
use crate::{RateSample, Socket};

/// Window of the filter, us; without a new minimum in it, PROBE_RTT comes.
const WINDOW_US: u64 = 10_000_000;
/// Length of PROBE_RTT, us.
const HOLD_US: u64 = 200_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MinRtt {
    /// us; `u32::MAX`: none yet. When it was seen.
    pub min_rtt: u32,
    at: u64,
    hold: Hold,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt::begin(INF, 0)
    }
}

impl MinRtt {
    pub(super) fn begin(min_rtt: u32, now: u64) -> MinRtt {
        MinRtt { min_rtt, at: now, hold: Hold::default() }
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
            self.rtt.hold = Hold::default();
        }
        if self.mode == Mode::ProbeRtt && self.rtt.hold.step(sk, &mut self.rounds, MIN_CWND, HOLD_US) {
            self.end_probe_rtt(sk);
        }
        if rs.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    /// After idle time: an end of the hold may have been slept through.
    pub(super) fn maybe_end_probe_rtt(&mut self, sk: &mut Socket) {
        if self.rtt.hold.is_over(sk) {
            self.end_probe_rtt(sk);
        }
    }

    fn end_probe_rtt(&mut self, sk: &mut Socket) {
        self.rtt.at = sk.tcp_mstamp;
        sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
        if self.full.is_reached {
            self.start_probe_bw(sk);
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Keep the window for the time after recovery or PROBE_RTT.
    pub(super) fn save_cwnd(&mut self, sk: &Socket) {
        self.prior_cwnd = saved_cwnd(sk, self.prior_cwnd, self.prev_ca_state, self.mode == Mode::ProbeRtt);
    }
}
