//! PROBE_BW: how its phases begin (spec section 8.8).

use super::Bbr;
use super::fixed::INF;
use super::state::{AckPhase, State};
use crate::Socket;

impl Bbr {
    pub(super) fn start_down(&mut self, sk: &mut Socket) {
        self.signals.reset();
        self.probe.up_cnt = INF;
        // Random, so that flows that share a bottleneck don't probe at the same time.
        self.probe.rounds_since = sk.random.below(2) as u8;
        let random_us = sk.random.below(self.params.probe_wait_random_us);
        self.probe.wait_us = self.params.probe_wait_us.wrapping_add(random_us);
        self.probe.cycle_start = sk.tcp_mstamp;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart(sk);
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        if self.bounds.inflight_lo != INF {
            self.bounds.inflight_lo = self.bounds.inflight_lo.min(self.bounds.inflight_hi);
        }
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self, sk: &Socket, up_rounds: u32) {
        self.bounds.reset_lower();
        (self.probe.up_rounds, self.probe.up_acks) = (up_rounds, 0);
        self.probe.was_stopped_as_risky = false;
        self.probe.has_ok_sample = false;
        self.probe.probes = self.probe.probes.wrapping_add(1);
        self.probe.ack_phase = AckPhase::Refilling;
        self.rounds.restart(sk);
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, sk: &Socket, sample: u64) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart(sk);
        self.probe.cycle_start = sk.tcp_mstamp;
        if self.is_v3() {
            self.full.reset(sample);
        }
        self.state = State::Up;
        self.raise_slope(sk);
    }
}
