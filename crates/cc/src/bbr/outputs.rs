//! The outputs of the model: gains, pacing rate and window (spec sections 6 and 11).

use super::Bbr;
use super::fixed::{BW_SHIFT, INF, UNIT, pacing_rate};
use super::model::MIN_CWND;
use super::state::State;
use crate::{RateSample, Socket};

/// The RTT that the first pacing rate assumes while there is none, us (spec section 11).
const FIRST_RTT_US: u64 = 1_000;

impl Bbr {
    /// Spec section 6.
    pub(super) fn refresh_gains(&mut self) {
        let p = &self.params;
        (self.pacing_gain, self.cwnd_gain) = match self.state {
            State::Startup => (p.startup_pacing_gain, p.startup_cwnd_gain),
            State::Drain => (p.drain_pacing_gain, p.drain_cwnd_gain),
            State::Down => (p.down_pacing_gain, p.probe_bw_cwnd_gain),
            State::Cruise | State::Refill => (UNIT, p.probe_bw_cwnd_gain),
            State::Up => (p.up_pacing_gain, p.up_cwnd_gain),
            State::ProbeRtt => (UNIT, p.probe_rtt_cwnd_gain),
        };
    }

    /// The first rate: the window in an RTT.
    pub(super) fn init_pacing_rate(&mut self, sk: &mut Socket) {
        self.has_seen_rtt = sk.srtt_us > 0;
        let rtt = if self.has_seen_rtt { u64::from(sk.srtt_us >> 3).max(1) } else { FIRST_RTT_US };
        let bw = (u64::from(sk.snd_cwnd) << BW_SHIFT) / rtt;
        sk.sk_pacing_rate = self.capped_rate(sk, bw, self.params.startup_pacing_gain);
    }

    pub(super) fn set_pacing_rate(&mut self, sk: &mut Socket, bw: u64, gain: u32) {
        if !self.has_seen_rtt && sk.srtt_us > 0 {
            self.init_pacing_rate(sk);
        }
        let rate = self.capped_rate(sk, bw, gain);
        // The estimate may be missing until the pipe is full.
        if self.full.is_reached || rate > sk.sk_pacing_rate {
            sk.sk_pacing_rate = rate;
        }
    }

    fn capped_rate(&self, sk: &Socket, bw: u64, gain: u32) -> u64 {
        pacing_rate(bw, sk.mss_cache, gain).min(sk.sk_max_pacing_rate)
    }

    pub(super) fn set_cwnd(&mut self, sk: &mut Socket, rs: &RateSample) {
        if rs.acked_sacked > 0 {
            self.grow_cwnd(sk, rs.acked_sacked);
        }
        sk.snd_cwnd = sk.snd_cwnd.min(sk.snd_cwnd_clamp);
        if self.state == State::ProbeRtt {
            sk.snd_cwnd = sk.snd_cwnd.min(self.probe_rtt_cwnd());
        }
        sk.snd_cwnd = sk.snd_cwnd.min(self.model_cap().min(self.bounds.inflight_lo).max(MIN_CWND));
    }

    fn grow_cwnd(&self, sk: &mut Socket, acked: u32) {
        let bw = self.bw();
        let volume = self.bdp(bw, self.cwnd_gain).saturating_add(self.aggregation.cwnd(bw));
        let target = self.quantize(sk, volume);
        let grown = sk.snd_cwnd.saturating_add(acked);
        if self.full.is_reached {
            sk.snd_cwnd = grown.min(target);
        } else if sk.snd_cwnd < target || self.is_first_growth(sk) {
            sk.snd_cwnd = grown;
        }
        sk.snd_cwnd = sk.snd_cwnd.max(MIN_CWND);
    }

    /// Too early for a target.
    fn is_first_growth(&self, sk: &Socket) -> bool {
        match self.params.grow_until_delivered {
            true => sk.delivered < self.init_cwnd,
            false => sk.snd_cwnd < 2 * self.init_cwnd,
        }
    }

    /// The long-term bound on the window, by state.
    fn model_cap(&self) -> u32 {
        match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_hi,
            State::Cruise | State::ProbeRtt => self.headroomed(),
            State::Drain if self.params.drain_obeys_inflight_hi => self.bounds.inflight_hi,
            State::Startup | State::Drain => INF,
        }
    }
}
