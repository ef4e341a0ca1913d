//! The minimum RTT, and PROBE_RTT, which refreshes it (spec section 8.9). Its cost is about 0.5 * 0.2 s / 5 s = 2 %.

use super::Bbr;
use super::fixed::INF;
use super::hold::{Hold, saved_cwnd};
use super::state::{AckPhase, State};
use crate::{RateSample, Socket};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MinRtt {
    /// The minimum over 10 s, us; `u32::MAX`: none yet. When it was seen, us.
    pub min_rtt: u32,
    min_rtt_at: u64,
    /// The minimum over 5 s, which schedules PROBE_RTT. When it was seen.
    prtt_min: u32,
    prtt_at: u64,
    hold: Hold,
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt::begin(INF, 0)
    }
}

impl MinRtt {
    pub(super) fn begin(rtt: u32, now: u64) -> MinRtt {
        MinRtt { min_rtt: rtt, min_rtt_at: now, prtt_min: rtt, prtt_at: now, hold: Hold::default() }
    }
}

impl Bbr {
    pub(super) fn update_min_rtt(&mut self, sk: &mut Socket, rs: &RateSample) {
        let now = sk.tcp_mstamp;
        let has_expired = now > self.rtt.prtt_at + self.params.probe_rtt_interval_us;
        self.filter_rtt(rs, now, has_expired);
        if has_expired && !self.is_idle_restart && self.state != State::ProbeRtt {
            self.start_probe_rtt(sk);
        }
        if self.state == State::ProbeRtt {
            let (window, length_us) = (self.probe_rtt_cwnd(), self.params.probe_rtt_hold_us);
            if self.rtt.hold.step(sk, &mut self.rounds, window, length_us) {
                self.end_probe_rtt(sk);
            }
        }
        if rs.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    fn filter_rtt(&mut self, rs: &RateSample, now: u64, has_expired: bool) {
        if let Ok(rtt) = u32::try_from(rs.rtt_us) {
            // v2 refreshes the filter by an equal RTT too (spec section 14, item 8).
            let is_lower = rtt < self.rtt.prtt_min || (self.is_v2() && rtt == self.rtt.prtt_min);
            let is_trusted = self.params.trust_delayed_acks || !rs.is_ack_delayed;
            if is_lower || (has_expired && is_trusted) {
                (self.rtt.prtt_min, self.rtt.prtt_at) = (rtt, now);
            }
        }
        if self.rtt.prtt_min <= self.rtt.min_rtt || now > self.rtt.min_rtt_at + self.params.min_rtt_window_us {
            (self.rtt.min_rtt, self.rtt.min_rtt_at) = (self.rtt.prtt_min, self.rtt.prtt_at);
        }
    }

    fn start_probe_rtt(&mut self, sk: &Socket) {
        self.save_cwnd(sk);
        self.state = State::ProbeRtt;
        self.rtt.hold = Hold::default();
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(sk);
    }

    /// After idle time: an end of the hold may have been slept through.
    pub(super) fn maybe_end_probe_rtt(&mut self, sk: &mut Socket) {
        if self.rtt.hold.is_over(sk) {
            self.end_probe_rtt(sk);
        }
    }

    /// Back to where it came from.
    fn end_probe_rtt(&mut self, sk: &mut Socket) {
        self.rtt.prtt_at = sk.tcp_mstamp;
        sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
        self.bounds.reset_lower();
        if self.full.is_reached {
            self.start_down(sk);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    /// Keep the window for the time after recovery or PROBE_RTT.
    pub(super) fn save_cwnd(&mut self, sk: &Socket) {
        self.prior_cwnd = saved_cwnd(sk, self.prior_cwnd, self.prev_ca_state, self.state == State::ProbeRtt);
    }
}
