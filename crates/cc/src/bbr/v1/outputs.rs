//! Pacing rate and window.

use super::super::fixed::{BW_SHIFT, pacing_rate};
use super::{Bbr1, HIGH_GAIN, MIN_CWND, Mode};
use crate::{CaState, RateSample, Socket};

/// The window grows whatever the target until this many packets are delivered.
const INIT_CWND: u32 = 10;
/// The RTT that the first pacing rate assumes while there is none, us.
const FIRST_RTT_US: u64 = 1_000;

impl Bbr1 {
    /// The first rate: the window in an RTT.
    pub(super) fn init_pacing_rate(&mut self, sk: &mut Socket) {
        self.has_seen_rtt = sk.srtt_us > 0;
        let rtt = if self.has_seen_rtt { u64::from(sk.srtt_us >> 3).max(1) } else { FIRST_RTT_US };
        let bw = (u64::from(sk.snd_cwnd) << BW_SHIFT) / rtt;
        sk.sk_pacing_rate = pacing_rate(bw, sk.mss_cache, HIGH_GAIN).min(sk.sk_max_pacing_rate);
    }

    pub(super) fn set_pacing_rate(&mut self, sk: &mut Socket, bw: u64, gain: u32) {
        if !self.has_seen_rtt && sk.srtt_us > 0 {
            self.init_pacing_rate(sk);
        }
        let rate = pacing_rate(bw, sk.mss_cache, gain).min(sk.sk_max_pacing_rate);
        if self.full.is_reached || rate > sk.sk_pacing_rate {
            sk.sk_pacing_rate = rate;
        }
    }

    pub(super) fn set_cwnd(&mut self, sk: &mut Socket, rs: &RateSample) {
        if rs.acked_sacked > 0 {
            self.recover_or_restore(sk, rs);
            if self.is_conserving {
                sk.snd_cwnd = sk.snd_cwnd.max(sk.packets_in_flight().saturating_add(rs.acked_sacked));
            } else {
                self.grow_cwnd(sk, rs.acked_sacked);
            }
        }
        sk.snd_cwnd = sk.snd_cwnd.min(sk.snd_cwnd_clamp);
        if self.mode == Mode::ProbeRtt {
            sk.snd_cwnd = sk.snd_cwnd.min(MIN_CWND);
        }
    }

    fn grow_cwnd(&self, sk: &mut Socket, acked: u32) {
        let bw = self.bw();
        let extra = if self.full.is_reached { self.aggregation.cwnd(bw) } else { 0 };
        let target = self.quantize(sk, self.bdp(bw, self.cwnd_gain).saturating_add(extra));
        let grown = sk.snd_cwnd.saturating_add(acked);
        if self.full.is_reached {
            sk.snd_cwnd = grown.min(target);
        } else if sk.snd_cwnd < target || sk.delivered < INIT_CWND {
            sk.snd_cwnd = grown;
        }
        sk.snd_cwnd = sk.snd_cwnd.max(MIN_CWND);
    }

    /// Lost packets leave the window; entering recovery it becomes what is in flight, leaving it what it was before.
    fn recover_or_restore(&mut self, sk: &mut Socket, rs: &RateSample) {
        sk.snd_cwnd = sk.snd_cwnd.saturating_sub(rs.losses.max(0) as u32).max(1);
        let (before, now) = (self.prev_ca_state, sk.ca_state);
        if now == CaState::Recovery && before != CaState::Recovery {
            self.is_conserving = true;
            self.rounds.restart(sk);
            sk.snd_cwnd = sk.packets_in_flight().saturating_add(rs.acked_sacked);
        } else if before >= CaState::Recovery && now < CaState::Recovery {
            sk.snd_cwnd = sk.snd_cwnd.max(self.prior_cwnd);
            self.is_conserving = false;
        }
        self.prev_ca_state = now;
    }
}
