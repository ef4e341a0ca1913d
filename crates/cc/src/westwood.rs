//! Westwood+: Reno whose cut leaves what fills the path, by an estimate of the bandwidth that the ACKs tell.
//!
//! Source: L. A. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion
//! control" (ACM CCR 34(2), 2004). The least span of a sample is Linux's.

use alloc::boxed::Box;

use crate::algorithms::{Declared, Made};
use crate::state::{WestwoodState, narrow};
use crate::tunable::{Tunable, defaults, number, with};
use crate::{AckSample, CongestionControl, Setting, Socket, State};

/// The parameters of Westwood+: `bpf/algorithms/westwood/algorithm.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parameters {
    filter_keep: u64,
    least_round_us: u64,
}

const TUNABLES: [Tunable<Parameters>; 2] = [number!(filter_keep), number!(least_round_us)];

impl Default for Parameters {
    fn default() -> Parameters {
        let blank = Parameters { filter_keep: 0, least_round_us: 0 };
        defaults(&TUNABLES, blank, crate::parameters("westwood").unwrap_or_default())
    }
}

const SECOND: u64 = 1_000_000;

/// Westwood+.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Westwood {
    params: Parameters,
    /// The bandwidth estimate, packets per second of 1024; 0: none yet.
    bandwidth: u64,
    /// The least RTT of the connection, us; 0: none yet.
    min_rtt: u32,
    /// The time at which the sample's round trip began, us, and `delivered` then.
    round_start: u64,
    round_delivered: u32,
}

pub(crate) fn create(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    let params = with(&TUNABLES, Parameters::default(), declared.parameters, settings)?;
    Ok(Box::new(Westwood { params, ..Westwood::default() }))
}

impl CongestionControl for Westwood {
    fn name(&self) -> &'static str {
        "westwood"
    }

    fn init(&mut self, sk: &mut Socket) {
        *self = Westwood { params: self.params, ..Westwood::default() };
        self.start_round(sk);
    }

    /// bandwidth * min_rtt, never above the window (section 2.1); Reno's half as long as nothing is known.
    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        match self.pipe() {
            0 => sk.reno_ssthresh(),
            pipe => u32::try_from(pipe).unwrap_or(u32::MAX).min(sk.snd_cwnd).max(2),
        }
    }

    fn cong_avoid(&mut self, sk: &mut Socket, _ack: u32, acked: u32) {
        sk.reno_cong_avoid(acked);
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        if sample.rtt_us > 0 {
            let rtt = sample.rtt_us as u32;
            self.min_rtt = if self.min_rtt == 0 { rtt } else { self.min_rtt.min(rtt) };
        }
        self.measure(sk);
    }

    fn state(&self) -> State {
        WestwoodState { bandwidth: narrow(self.bandwidth), min_rtt: self.min_rtt }.into()
    }
}

impl Westwood {
    /// Packets that fill the path without a queue; 0: not known.
    fn pipe(&self) -> u64 {
        let packets = u128::from(self.bandwidth) * u128::from(self.min_rtt) / u128::from(1024 * SECOND);
        u64::try_from(packets).unwrap_or(u64::MAX)
    }

    fn start_round(&mut self, sk: &Socket) {
        self.round_start = sk.tcp_mstamp;
        self.round_delivered = sk.delivered;
    }

    /// A sample for each round trip: what was delivered in it, by a filter of first order (section 2.2). The delivery
    /// before the first sample is not averaged with it.
    fn measure(&mut self, sk: &Socket) {
        let span = sk.tcp_mstamp.saturating_sub(self.round_start);
        let round = u64::from(sk.srtt_us >> 3).max(self.params.least_round_us).max(1);
        if sk.srtt_us == 0 || span < round {
            return;
        }
        let sample = u64::from(sk.delivered.wrapping_sub(self.round_delivered)) * 1024 * SECOND / span;
        let keep = self.params.filter_keep;
        self.bandwidth =
            if self.bandwidth == 0 { sample } else { (self.bandwidth * keep + sample * (1024 - keep)) / 1024 };
        self.start_round(sk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beginning() -> (Westwood, Socket) {
        let mut sk = Socket { snd_cwnd: 100, srtt_us: 100_000 << 3, is_cwnd_limited: true, ..Socket::new(1448, 1) };
        let mut westwood = Westwood::default();
        westwood.init(&mut sk);
        (westwood, sk)
    }

    /// A round trip of 100 ms that delivers `packets`.
    fn round(westwood: &mut Westwood, sk: &mut Socket, packets: u32) {
        (sk.tcp_mstamp, sk.delivered) = (sk.tcp_mstamp + 100_000, sk.delivered + packets);
        westwood.pkts_acked(sk, &AckSample { rtt_us: 100_000, ..AckSample::default() });
    }

    #[test]
    fn a_cut_leaves_what_fills_the_path() {
        let (mut westwood, mut sk) = beginning();
        round(&mut westwood, &mut sk, 80);
        assert_eq!(westwood.bandwidth, 800 * 1024);
        assert_eq!(westwood.ssthresh(&mut sk), 80); // 800 packets/s for 100 ms.
    }

    #[test]
    fn a_cut_never_raises_the_window_and_leaves_two_packets() {
        let (mut westwood, mut sk) = beginning();
        round(&mut westwood, &mut sk, 150);
        assert_eq!(westwood.ssthresh(&mut sk), 100);
        let (mut westwood, mut sk) = beginning();
        round(&mut westwood, &mut sk, 1);
        assert_eq!(westwood.ssthresh(&mut sk), 2);
    }

    #[test]
    fn without_an_estimate_it_is_reno() {
        let (mut westwood, mut sk) = beginning();
        assert_eq!(westwood.ssthresh(&mut sk), 50);
        sk.snd_ssthresh = 100;
        westwood.cong_avoid(&mut sk, 0, 100);
        assert_eq!(sk.snd_cwnd, 101);
    }

    #[test]
    fn the_filter_keeps_nine_tenths() {
        let (mut westwood, mut sk) = beginning();
        round(&mut westwood, &mut sk, 80);
        round(&mut westwood, &mut sk, 180);
        assert_eq!(westwood.bandwidth / 1024, 899); // 0.9 * 800 + 0.1 * 1800 = 900, with 922/1024 for 0.9.
    }

    #[test]
    fn a_sample_takes_50_ms_at_least() {
        let (mut westwood, mut sk) = beginning();
        sk.srtt_us = 1_000 << 3;
        for (at, bandwidth) in [(49_999, 0), (50_000, 1000 * 1024)] {
            (sk.tcp_mstamp, sk.delivered) = (at, 50);
            westwood.pkts_acked(&mut sk, &AckSample { rtt_us: 1_000, ..AckSample::default() });
            assert_eq!(westwood.bandwidth, bandwidth, "{at} us");
        }
    }
}
