use crate::algorithms::{Declared, Made};
use crate::tunable::plain;
use crate::{CongestionControl, Setting, Socket};

/// Reno, or NewReno with the stack's recovery (RFC 5681, RFC 6582), as Linux runs it. It has no private state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

pub(crate) fn create(_declared: &'static Declared, settings: &[(&str, Setting)]) -> Made {
    plain(Reno, settings)
}

impl CongestionControl for Reno {
    fn name(&self) -> &'static str {
        "reno"
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        sk.reno_ssthresh()
    }

    fn cong_avoid(&mut self, sk: &mut Socket, _ack: u32, acked: u32) {
        sk.reno_cong_avoid(acked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(cwnd: u32, ssthresh: u32) -> Socket {
        Socket { snd_cwnd: cwnd, snd_ssthresh: ssthresh, is_cwnd_limited: true, ..Socket::new(1448, 1) }
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_the_rest_counts_for_congestion_avoidance() {
        let mut sk = socket(10, 12);
        Reno.cong_avoid(&mut sk, 0, 5);
        assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (12, 3));
    }

    #[test]
    fn congestion_avoidance_adds_a_packet_per_window() {
        let mut sk = socket(10, 10);
        (0..9).for_each(|_| Reno.cong_avoid(&mut sk, 0, 1));
        assert_eq!(sk.snd_cwnd, 10);
        Reno.cong_avoid(&mut sk, 0, 1);
        assert_eq!((sk.snd_cwnd, sk.snd_cwnd_cnt), (11, 0));
    }

    #[test]
    fn a_window_that_is_not_used_does_not_grow() {
        let mut sk = Socket { is_cwnd_limited: false, max_packets_out: 5, ..socket(10, u32::MAX) };
        Reno.cong_avoid(&mut sk, 0, 5);
        assert_eq!(sk.snd_cwnd, 10);
        sk.max_packets_out = 6; // More than half of it: in slow start that counts as used.
        Reno.cong_avoid(&mut sk, 0, 5);
        assert_eq!(sk.snd_cwnd, 15);
    }

    #[test]
    fn a_loss_halves_the_window_to_two_packets_at_least() {
        assert_eq!(Reno.ssthresh(&mut socket(11, 10)), 5);
        assert_eq!(Reno.ssthresh(&mut socket(1, 10)), 2);
    }

    #[test]
    fn an_undo_gives_the_window_back() {
        let mut sk = Socket { prior_cwnd: 20, ..socket(10, 10) };
        assert_eq!(Reno.undo_cwnd(&mut sk), 20);
        sk.snd_cwnd = 30;
        assert_eq!(Reno.undo_cwnd(&mut sk), 30);
    }
}
