use crate::algorithms::{Declared, Made};
use crate::state::VegasState;
use crate::tunable::plain;
use crate::{AckSample, CaEvent, CaState, CongestionControl, Setting, Socket, State, after};

/// Vegas (Brakmo, Peterson: "TCP Vegas", JSAC 1995) as Linux runs it: it holds 2 to 4 packets in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vegas {
    /// The round ends when this is acknowledged.
    beg_snd_nxt: u32,
    /// Vegas decides only while nothing is lost; else it is Reno.
    is_deciding: bool,
    /// RTT samples in this round, and their minimum, us.
    samples: u32,
    min_rtt: u32,
    /// The least RTT ever seen: the path without a queue, us.
    base_rtt: u32,
}

/// Fewer packets than this in the queue: the window grows.
const ALPHA: u64 = 2;
/// More than this: it shrinks.
const BETA: u64 = 4;
/// More than this: slow start ends.
const GAMMA: u64 = 1;
/// A round needs more RTT samples than this: one may be a delayed ACK.
const FEW_SAMPLES: u32 = 2;
const NO_RTT: u32 = u32::MAX;

impl Default for Vegas {
    fn default() -> Vegas {
        Vegas { beg_snd_nxt: 0, is_deciding: false, samples: 0, min_rtt: NO_RTT, base_rtt: NO_RTT }
    }
}

pub(crate) fn create(_declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    plain(Vegas::default(), settings)
}

impl CongestionControl for Vegas {
    fn name(&self) -> &'static str {
        "vegas"
    }

    fn init(&mut self, sk: &mut Socket) {
        self.base_rtt = NO_RTT;
        self.enable(sk);
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        sk.reno_ssthresh()
    }

    fn cong_avoid(&mut self, sk: &mut Socket, ack: u32, acked: u32) {
        if !self.is_deciding {
            sk.reno_cong_avoid(acked);
        } else if after(ack, self.beg_snd_nxt) {
            self.beg_snd_nxt = sk.snd_nxt;
            if self.samples <= FEW_SAMPLES {
                sk.reno_cong_avoid(acked);
            } else {
                self.decide(sk, acked);
            }
            self.start_round();
        } else if sk.is_in_slow_start() {
            sk.slow_start(acked);
        }
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        if state == CaState::Open {
            self.enable(sk);
        } else {
            self.is_deciding = false;
        }
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        // After idleness the path may be another one.
        if matches!(event, CaEvent::CwndRestart | CaEvent::TxStart) {
            self.init(sk);
        }
    }

    fn pkts_acked(&mut self, _sk: &mut Socket, sample: &AckSample) {
        if sample.rtt_us < 0 {
            return;
        }
        let rtt = sample.rtt_us as u32 + 1; // Never 0.
        self.base_rtt = self.base_rtt.min(rtt);
        self.min_rtt = self.min_rtt.min(rtt);
        self.samples = self.samples.saturating_add(1);
    }

    fn state(&self) -> State {
        VegasState { base_rtt: self.base_rtt, min_rtt: self.min_rtt }.into()
    }
}

impl Vegas {
    fn enable(&mut self, sk: &Socket) {
        self.is_deciding = true;
        self.beg_snd_nxt = sk.snd_nxt;
        self.start_round();
    }

    fn start_round(&mut self) {
        self.samples = 0;
        self.min_rtt = NO_RTT;
    }

    /// A round is over: the window minus what an empty path would need of it is what waits in the queue.
    fn decide(&self, sk: &mut Socket, acked: u32) {
        let (cwnd, rtt, base) = (u64::from(sk.snd_cwnd), u64::from(self.min_rtt), u64::from(self.base_rtt));
        let queued = cwnd * (rtt - base) / base;
        if sk.is_in_slow_start() {
            if queued > GAMMA {
                // The window falls to the need of an empty path, plus a packet for the division's loss.
                let needed = cwnd * base / rtt;
                sk.snd_cwnd = sk.snd_cwnd.min((needed + 1) as u32);
                sk.snd_ssthresh = threshold(sk);
            } else {
                sk.slow_start(acked);
            }
        } else if queued > BETA {
            sk.snd_cwnd -= 1;
            sk.snd_ssthresh = threshold(sk);
        } else if queued < ALPHA {
            sk.snd_cwnd = sk.snd_cwnd.saturating_add(1);
        }
        sk.snd_cwnd = sk.snd_cwnd.max(2).min(sk.snd_cwnd_clamp);
        sk.snd_ssthresh = sk.current_ssthresh();
    }
}

/// The threshold is not above the window: slow start is over.
fn threshold(sk: &Socket) -> u32 {
    sk.snd_ssthresh.min(sk.snd_cwnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round with three RTT samples of `rtt_us`, the window after it.
    fn round(vegas: &mut Vegas, sk: &mut Socket, rtt_us: i32) -> u32 {
        (0..3).for_each(|_| vegas.pkts_acked(sk, &AckSample { rtt_us, ..AckSample::default() }));
        sk.snd_nxt += 1000;
        vegas.cong_avoid(sk, sk.snd_nxt - 1, 1);
        sk.snd_cwnd
    }

    /// Congestion avoidance with 20 packets on a path of 10 ms.
    fn cruising() -> (Vegas, Socket) {
        let mut sk = Socket { snd_cwnd: 20, snd_ssthresh: 10, is_cwnd_limited: true, ..Socket::new(1448, 1) };
        let mut vegas = Vegas::default();
        vegas.init(&mut sk);
        vegas.base_rtt = 10_000;
        (vegas, sk)
    }

    #[test]
    fn it_holds_two_to_four_packets_in_the_queue() {
        for (rtt, cwnd) in [(10_000, 21), (11_200, 20), (12_400, 20), (12_600, 19)] {
            let (mut vegas, mut sk) = cruising();
            assert_eq!(round(&mut vegas, &mut sk, rtt), cwnd, "RTT {rtt} us");
        }
    }

    #[test]
    fn an_rtt_below_a_microsecond_is_no_division_by_zero() {
        let (mut vegas, mut sk) = cruising();
        assert_eq!(round(&mut vegas, &mut sk, 0), 21);
        assert_eq!(vegas.base_rtt, 1);
    }

    #[test]
    fn slow_start_ends_when_a_queue_builds() {
        let (mut vegas, mut sk) = cruising();
        sk.snd_ssthresh = u32::MAX;
        assert_eq!(round(&mut vegas, &mut sk, 12_000), 17); // 20 * 10 / 12 + 1
        assert!(!sk.is_in_slow_start());
    }

    #[test]
    fn with_few_samples_and_in_recovery_it_is_reno() {
        let (mut vegas, mut sk) = cruising();
        vegas.cong_avoid(&mut sk, 1, 20);
        assert_eq!(sk.snd_cwnd, 21);
        vegas.set_state(&mut sk, CaState::Recovery);
        vegas.cong_avoid(&mut sk, 1, 21);
        assert_eq!(sk.snd_cwnd, 22);
    }

    #[test]
    fn idleness_forgets_the_base_rtt() {
        let (mut vegas, mut sk) = cruising();
        vegas.cwnd_event(&mut sk, CaEvent::TxStart);
        assert_eq!(vegas.base_rtt, NO_RTT);
    }
}
