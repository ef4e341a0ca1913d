//! H-TCP: a window that grows the faster the longer there was no congestion, and a cut that only empties the queue.
//!
//! Sources: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks" (PFLDnet 2004), and
//! draft-leith-tcp-htcp-06, whose sections are cited. Slow start, recovery and undo are the stack's.

use alloc::boxed::Box;

use crate::algorithms::{Declared, Made};
use crate::state::{HtcpState, narrow};
use crate::tunable::{Tunable, defaults, flag, number, with};
use crate::{AckSample, CongestionControl, Setting, Socket, State};

/// 1 in the fixed point of shares and of the growth.
const ONE: u64 = 1024;
/// beta's bounds (section 3.2): 0.5 and 0.8.
const BETA_MIN: u64 = ONE / 2;
const BETA_MAX: u64 = ONE * 8 / 10;
/// The RTT at which RTT scaling changes nothing (section 3.4), us.
const REFERENCE_RTT: u64 = 100_000;
const SECOND: u64 = 1_000_000;

/// The parameters of H-TCP: `bpf/algorithms/htcp/algorithm.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parameters {
    delta_low_us: u64,
    bandwidth_change: u64,
    adaptive_backoff: bool,
    rtt_scaling: bool,
}

const TUNABLES: [Tunable<Parameters>; 4] =
    [number!(delta_low_us), number!(bandwidth_change), flag!(adaptive_backoff), flag!(rtt_scaling)];

impl Default for Parameters {
    fn default() -> Parameters {
        let blank = Parameters { delta_low_us: 0, bandwidth_change: 0, adaptive_backoff: false, rtt_scaling: false };
        defaults(&TUNABLES, blank, crate::parameters("htcp").unwrap_or_default())
    }
}

/// The values that last from one congestion event to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Epoch {
    /// The time of the last congestion event, us.
    start: u64,
    /// The greatest RTT since, us; 0: none yet.
    max_rtt: u32,
    /// The throughput before that event, packets per second; 0: there was none, or it is not to be compared.
    bandwidth: u64,
}

/// H-TCP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Htcp {
    params: Parameters,
    epoch: Epoch,
    /// The epoch that the last congestion event ended: an undo restores it.
    before: Epoch,
    /// The share of the window that the next congestion event leaves, of 1024.
    beta: u64,
    /// The least RTT of the connection, us; 0: none yet.
    min_rtt: u32,
    /// Throughput of the last round trip, packets per second; 0: none yet.
    bandwidth: u64,
    /// The time at which the round trip that is measured began, us, and `delivered` then.
    round_start: u64,
    round_delivered: u32,
}

pub(crate) fn create(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    let params = with(&TUNABLES, Parameters::default(), declared.parameters, settings)?;
    Ok(Box::new(Htcp { params, ..Htcp::default() }))
}

impl CongestionControl for Htcp {
    fn name(&self) -> &'static str {
        "htcp"
    }

    fn init(&mut self, sk: &mut Socket) {
        let epoch = Epoch { start: sk.tcp_mstamp, ..Epoch::default() };
        *self = Htcp { params: self.params, epoch, beta: BETA_MIN, ..Htcp::default() };
        self.start_round(sk);
    }

    /// A congestion event (section 3.2).
    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.beta = self.backoff();
        self.before = self.epoch;
        self.epoch = Epoch { start: sk.tcp_mstamp, max_rtt: 0, bandwidth: self.bandwidth };
        let left = u64::from(sk.snd_cwnd) * self.beta / ONE;
        (left as u32).max(2)
    }

    fn cong_avoid(&mut self, sk: &mut Socket, _ack: u32, acked: u32) {
        if !sk.is_window_limiting() {
            return;
        }
        let left = if sk.is_in_slow_start() { sk.slow_start(acked) } else { acked };
        if left > 0 {
            let acks_per_packet = u64::from(sk.snd_cwnd) * ONE / self.growth(sk.tcp_mstamp);
            sk.cong_avoid_ai(u32::try_from(acks_per_packet).unwrap_or(u32::MAX), left);
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.epoch = self.before;
        sk.reno_undo_cwnd()
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        self.measure_bandwidth(sk);
        if sample.rtt_us > 0 {
            let rtt = sample.rtt_us as u32;
            self.min_rtt = if self.min_rtt == 0 { rtt } else { self.min_rtt.min(rtt) };
            self.epoch.max_rtt = self.epoch.max_rtt.max(rtt);
        }
    }

    fn state(&self) -> State {
        HtcpState {
            beta: narrow(self.beta),
            bandwidth: narrow(self.bandwidth),
            min_rtt: self.min_rtt,
            max_rtt: self.epoch.max_rtt,
        }
        .into()
    }
}

impl Htcp {
    /// The share that a congestion event leaves (section 3.2): a half where the throughput has changed since the one before
    /// it, else the share of the window that fills the path without its queue.
    fn backoff(&self) -> u64 {
        let (now, before) = (self.bandwidth, self.epoch.bandwidth);
        let has_changed = now.abs_diff(before) * ONE > before * self.params.bandwidth_change;
        if !self.params.adaptive_backoff || before == 0 || has_changed || self.epoch.max_rtt == 0 {
            return BETA_MIN;
        }
        (u64::from(self.min_rtt) * ONE / u64::from(self.epoch.max_rtt)).clamp(BETA_MIN, BETA_MAX)
    }

    /// Packets that the window grows by in a round trip, of 1024 (section 3.1): with t seconds after the end of
    /// `delta_low_us`, 1 + 10 t + (t/2)^2; times 2 (1 - beta), which makes it fair to Reno whatever the cut.
    fn growth(&self, now: u64) -> u64 {
        let t = u128::from(now.saturating_sub(self.epoch.start).saturating_sub(self.params.delta_low_us));
        let (one, second) = (u128::from(ONE), u128::from(SECOND));
        let faster = one + 10 * one * t / second + one * t * t / (4 * second * second);
        let mut alpha = u64::try_from(faster).unwrap_or(u64::MAX >> 32);
        if self.params.rtt_scaling && self.min_rtt > 0 {
            let ratio = (u64::from(self.min_rtt) * ONE / REFERENCE_RTT).clamp(ONE / 10, 2 * ONE);
            alpha = alpha.saturating_mul(ratio) / ONE;
        }
        (alpha.saturating_mul(2 * (ONE - self.beta)) / ONE).max(1)
    }

    fn start_round(&mut self, sk: &Socket) {
        self.round_start = sk.tcp_mstamp;
        self.round_delivered = sk.delivered;
    }

    /// A sample for each round trip.
    fn measure_bandwidth(&mut self, sk: &Socket) {
        let span = sk.tcp_mstamp.saturating_sub(self.round_start);
        if sk.srtt_us == 0 || span < u64::from(sk.srtt_us >> 3).max(1) {
            return;
        }
        self.bandwidth = u64::from(sk.delivered.wrapping_sub(self.round_delivered)) * SECOND / span;
        self.start_round(sk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Congestion avoidance with 100 packets on a path of 100 ms, with an epoch that began at 0.
    fn cruising() -> (Htcp, Socket) {
        let mut sk = Socket { snd_cwnd: 100, snd_ssthresh: 50, is_cwnd_limited: true, ..Socket::new(1448, 1) };
        let mut htcp = Htcp::default();
        htcp.init(&mut sk);
        htcp.min_rtt = 100_000;
        (htcp, sk)
    }

    #[test]
    fn growth_is_renos_for_a_second_and_quadratic_after_it() {
        let (htcp, _) = cruising();
        // alpha(t) = 1 + 10 (t - 1) + ((t - 1)/2)^2, with beta = 0.5.
        for (at_ms, alpha) in [(0, 1.0), (1_000, 1.0), (2_000, 11.25), (3_000, 22.0), (11_000, 126.0)] {
            assert_eq!(htcp.growth(at_ms * 1000) as f64 / ONE as f64, alpha, "{at_ms} ms");
        }
    }

    #[test]
    fn growth_makes_up_for_a_gentler_cut() {
        let htcp = Htcp { beta: BETA_MAX, ..cruising().0 };
        assert_eq!(htcp.growth(0), 2 * (ONE - BETA_MAX));
    }

    #[test]
    fn growth_is_scaled_by_the_rtt_within_a_tenth_and_two() {
        for (rtt_ms, alpha) in [(5, ONE / 10), (50, ONE / 2), (100, ONE), (300, 2 * ONE)] {
            let htcp = Htcp { min_rtt: rtt_ms * 1000, ..cruising().0 };
            assert_eq!(htcp.growth(0), alpha, "{rtt_ms} ms");
            let params = Parameters { rtt_scaling: false, ..htcp.params };
            assert_eq!(Htcp { params, ..htcp }.growth(0), ONE, "{rtt_ms} ms, unscaled");
        }
    }

    #[test]
    fn a_window_grows_by_alpha_in_a_round() {
        let (mut htcp, mut sk) = cruising();
        sk.tcp_mstamp = 2_000_000;
        htcp.cong_avoid(&mut sk, 0, 100);
        assert_eq!(sk.snd_cwnd, 112); // 11.25 packets, and cwnd * 1024 / alpha is rounded down.
    }

    #[test]
    fn a_cut_empties_the_queue_and_no_more() {
        // RTTs of min and max, us, and what is left of 100 packets.
        for (min, max, left) in [(100_000, 150_000, 66), (100_000, 110_000, 79), (100_000, 400_000, 50)] {
            let (mut htcp, mut sk) = cruising();
            (htcp.min_rtt, htcp.epoch.max_rtt) = (min, max);
            (htcp.bandwidth, htcp.epoch.bandwidth) = (1000, 1000);
            assert_eq!(htcp.ssthresh(&mut sk), left, "{min} to {max} us");
        }
    }

    #[test]
    fn a_changed_throughput_halves_the_window() {
        for (before, now, left) in [(1000, 1190, 66), (1000, 1210, 50), (1000, 790, 50), (0, 1000, 50)] {
            let (mut htcp, mut sk) = cruising();
            (htcp.epoch.max_rtt, htcp.epoch.bandwidth, htcp.bandwidth) = (150_000, before, now);
            assert_eq!(htcp.ssthresh(&mut sk), left, "{before} to {now} packets/s");
        }
        let (mut htcp, mut sk) = cruising();
        (htcp.epoch.max_rtt, htcp.epoch.bandwidth, htcp.bandwidth) = (150_000, 1000, 1000);
        htcp.params.adaptive_backoff = false;
        assert_eq!(htcp.ssthresh(&mut sk), 50);
    }

    #[test]
    fn an_undo_goes_on_with_the_epoch() {
        let (mut htcp, mut sk) = cruising();
        sk.tcp_mstamp = 5_000_000;
        let epoch = htcp.epoch;
        sk.prior_cwnd = sk.snd_cwnd;
        sk.snd_cwnd = htcp.ssthresh(&mut sk);
        assert_eq!(htcp.epoch.start, 5_000_000);
        assert_eq!(htcp.undo_cwnd(&mut sk), 100);
        assert_eq!(htcp.epoch, epoch);
    }

    #[test]
    fn throughput_is_measured_in_each_round_trip() {
        let (mut htcp, mut sk) = cruising();
        sk.srtt_us = 100_000 << 3;
        for (at, delivered, bandwidth) in
            [(50_000, 40, 0), (100_000, 80, 800), (150_000, 90, 800), (200_000, 180, 1000)]
        {
            (sk.tcp_mstamp, sk.delivered) = (at, delivered);
            htcp.pkts_acked(&mut sk, &AckSample { rtt_us: 100_000, ..AckSample::default() });
            assert_eq!(htcp.bandwidth, bandwidth, "{at} us");
        }
    }
}
