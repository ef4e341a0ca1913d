//! CUBIC (RFC 9438) as Linux runs it, with HyStart.
//!
//! Its clock counts ticks, as Linux's does: how often the curve is looked at decides how fast a small window grows. Linux's cube
//! root is a table and one Newton step, within 0.2 % on average; here it is exact.

mod curve;
mod hystart;
mod parameters;

use alloc::boxed::Box;

use crate::algorithms::{Declared, Made};
use crate::socket::{TICK_US, TICKS_PER_S};
use crate::state::CubicState;
use crate::tunable::with;
use crate::{AckSample, CaEvent, CaState, CongestionControl, Setting, Socket, State};
use curve::Curve;
use hystart::HyStart;
use parameters::{Parameters, TUNABLES};

/// CUBIC (RFC 9438), with HyStart's delay and train detection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cubic {
    curve: Curve,
    hystart: HyStart,
    /// The least RTT seen, us; 0: none yet.
    delay_min: u32,
}

/// RTT samples of the first second after a reduction are not trusted: retransmissions and the draining queue are in them. Ticks.
const DISTRUST_AFTER_REDUCTION: u64 = TICKS_PER_S;

pub(crate) fn create(declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    Ok(Box::new(Cubic::new(with(&TUNABLES, Parameters::default(), declared.parameters, settings)?)))
}

impl CongestionControl for Cubic {
    fn name(&self) -> &'static str {
        "cubic"
    }

    fn init(&mut self, sk: &mut Socket) {
        *self = Cubic::new(self.curve.params);
        self.hystart.start_round(sk);
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.curve.reduce(sk.snd_cwnd)
    }

    fn cong_avoid(&mut self, sk: &mut Socket, _ack: u32, acked: u32) {
        if !sk.is_window_limiting() {
            return;
        }
        let left = if sk.is_in_slow_start() { sk.slow_start(acked) } else { acked };
        if left > 0 {
            let acks_per_packet = self.curve.update(sk.snd_cwnd, left, sk.ticks(), self.delay_min);
            sk.cong_avoid_ai(acks_per_packet, left);
        }
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        if state == CaState::Loss {
            // A time-out says that what was known of the path no longer holds (RFC 9438 section 4.8).
            self.init(sk);
        }
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        if event == CaEvent::TxStart {
            self.curve.shift_epoch(sk.ticks(), sk.lsndtime / TICK_US);
        }
    }

    fn pkts_acked(&mut self, sk: &mut Socket, sample: &AckSample) {
        if sample.rtt_us < 0 || self.curve.began_within(sk.ticks(), DISTRUST_AFTER_REDUCTION) {
            return;
        }
        let delay = (sample.rtt_us as u32).max(1);
        if self.delay_min == 0 || delay < self.delay_min {
            self.delay_min = delay;
        }
        if self.curve.params.hystart {
            self.hystart.on_ack(sk, delay, self.delay_min);
        }
    }

    fn state(&self) -> State {
        let hystart_found = u32::from(self.hystart.has_found());
        CubicState { delay_min: self.delay_min, hystart_found, ..self.curve.published() }.into()
    }
}

impl Cubic {
    pub(crate) fn new(params: Parameters) -> Cubic {
        Cubic { curve: Curve::new(params), ..Cubic::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(cwnd: u32, ssthresh: u32) -> Socket {
        let mut sk = Socket::new(1448, 1);
        (sk.snd_cwnd, sk.snd_ssthresh, sk.is_cwnd_limited) = (cwnd, ssthresh, true);
        sk
    }

    #[test]
    fn a_timeout_forgets_the_last_maximum() {
        let (mut cubic, mut sk) = (Cubic::default(), socket(100, u32::MAX));
        assert_eq!(cubic.ssthresh(&mut sk), 70);
        cubic.set_state(&mut sk, CaState::Loss);
        assert_eq!(cubic.curve, Curve::default());
    }

    #[test]
    fn rtt_samples_right_after_a_reduction_do_not_count() {
        let (mut cubic, mut sk) = (Cubic::default(), socket(100, 100));
        sk.tcp_mstamp = 5_000_000;
        cubic.cong_avoid(&mut sk, 0, 1);
        cubic.pkts_acked(&mut sk, &AckSample { rtt_us: 30_000, ..AckSample::default() });
        assert_eq!(cubic.delay_min, 0);
        sk.tcp_mstamp += 1_000_000;
        cubic.pkts_acked(&mut sk, &AckSample { rtt_us: 30_000, ..AckSample::default() });
        assert_eq!(cubic.delay_min, 30_000);
    }

    #[test]
    fn idle_time_is_no_time_of_the_epoch() {
        let (mut cubic, mut sk) = (Cubic::default(), socket(100, 100));
        sk.tcp_mstamp = 5_000_000;
        cubic.cong_avoid(&mut sk, 0, 1);
        (sk.tcp_mstamp, sk.lsndtime) = (9_000_000, 6_000_000);
        cubic.cwnd_event(&mut sk, CaEvent::TxStart);
        assert!(cubic.curve.began_within(2_250, 251) && !cubic.curve.began_within(2_250, 250));
    }
}
