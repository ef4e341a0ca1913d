//! PROBE_BW: when its phases end (spec section 8.8).

use super::Bbr;
use super::fixed::{INF, UNIT, scale};
use super::parameters::UpExit;
use super::state::{AckPhase, State};
use crate::{CaState, RateSample, Socket};

/// Packets in flight that mean a full pipe in v2's UP, as a gain on the BDP (spec section 3: 1.25).
const UP_QUEUE_GAIN: u32 = 320;

/// The current probing cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    pub ack_phase: AckPhase,
    /// The ACKs and losses that arrive are of packets that were sent in the probe.
    pub is_sampling: bool,
    /// The start of the cycle (DOWN) or of UP, us.
    pub cycle_start: u64,
    /// Probes so far: times that REFILL began.
    pub probes: u32,
    /// Rounds since DOWN began; DOWN begins with 0 or 1, drawn at random.
    pub rounds_since: u8,
    /// Time until the next probe, us.
    pub wait_us: u32,
    /// The last probe was too high.
    pub was_too_high: bool,
    /// The last probe was stopped just because the one before it was too high.
    pub was_stopped_as_risky: bool,
    /// A sample of this probe was good \[v2\].
    pub has_ok_sample: bool,
    /// Doublings of the growth of inflight_hi in UP.
    pub up_rounds: u32,
    /// Packets that have to be ACKed for inflight_hi to grow by one.
    pub up_cnt: u32,
    /// Packets ACKed since inflight_hi grew last.
    pub up_acks: u32,
}

impl Default for Probe {
    fn default() -> Probe {
        Probe {
            ack_phase: AckPhase::Init,
            is_sampling: false,
            cycle_start: 0,
            probes: 0,
            rounds_since: 0,
            wait_us: 0,
            was_too_high: false,
            was_stopped_as_risky: false,
            has_ok_sample: false,
            up_rounds: 0,
            up_cnt: INF,
            up_acks: 0,
        }
    }
}

impl Bbr {
    pub(super) fn step_probe_bw(&mut self, sk: &mut Socket, rs: &RateSample, sample: u64) {
        let in_net = self.in_net(sk, rs.prior_in_flight);
        match self.state {
            State::Cruise => {
                self.check_time_to_probe(sk);
            }
            State::Refill if self.rounds.is_start => {
                self.probe.is_sampling = true;
                self.start_up(sk, sample);
            }
            State::Up => self.step_up(sk, in_net, sample),
            State::Down => self.step_down(sk, in_net),
            _ => {}
        }
    }

    fn step_down(&mut self, sk: &mut Socket, in_net: u32) {
        if self.check_time_to_probe(sk) {
            return;
        }
        if in_net <= self.headroomed() && in_net <= self.inflight(sk, self.max_bw(), UNIT) {
            self.start_cruise();
        }
    }

    fn step_up(&mut self, sk: &mut Socket, in_net: u32, sample: u64) {
        let is_risky = self.probe.was_too_high && in_net >= self.bounds.inflight_hi;
        if is_risky {
            self.probe.was_stopped_as_risky = true;
        }
        if is_risky || self.is_pipe_full(sk, in_net, sample) {
            self.probe.was_too_high = false;
            self.start_down(sk);
        }
    }

    /// Returns true if UP has filled the pipe, by the sign of the version.
    fn is_pipe_full(&mut self, sk: &Socket, in_net: u32, sample: u64) -> bool {
        match self.params.up_exit {
            UpExit::Queue => {
                sk.tcp_mstamp > self.probe.cycle_start + u64::from(self.rtt.min_rtt)
                    && in_net >= self.inflight(sk, self.max_bw(), UP_QUEUE_GAIN)
            }
            UpExit::Plateau if sk.is_cwnd_limited && sk.snd_cwnd >= self.bounds.inflight_hi => {
                // The bound is what limits the flow: that the bandwidth doesn't grow means nothing.
                self.full.reset(sample);
                false
            }
            UpExit::Plateau => self.full.is_now,
        }
    }

    /// Starts REFILL if it is time for the next probe. Returns true if so.
    fn check_time_to_probe(&mut self, sk: &mut Socket) -> bool {
        if let Some(up_rounds) = self.ecn_reprobe(sk) {
            self.start_refill(sk, up_rounds);
            return true;
        }
        let is_due = sk.tcp_mstamp > self.probe.cycle_start + u64::from(self.probe.wait_us)
            || u32::from(self.probe.rounds_since) >= self.reno_rounds(sk);
        if is_due {
            self.start_refill(sk, 0);
        }
        is_due
    }

    /// Returns the rounds in which a Reno flow grows by the target in flight, a packet per round. Bounded, so that large windows don't
    /// wait for ever.
    fn reno_rounds(&self, sk: &Socket) -> u32 {
        self.target_inflight(sk).min(self.params.probe_max_rounds)
    }

    /// Returns the slope that the next probe starts with (`up_rounds`), if it may come at once: marks, and no losses, ended the last
    /// probe.
    fn ecn_reprobe(&self, sk: &Socket) -> Option<u32> {
        let gain = self.params.ecn_reprobe_gain;
        let is_marked_only = self.signals.ecn_in_cycle && !self.signals.loss_in_cycle;
        let is_due = gain > 0 && self.ecn.is_eligible && is_marked_only && sk.ca_state == CaState::Open;
        is_due.then(|| scale(self.bounds.inflight_hi, gain).checked_ilog2().unwrap_or(0))
    }
}
