//! Hybrid slow start: Ha, Rhee: "Taming the elephants: new TCP slow start" (Computer Networks 55, 2011), with the
//! constants that Linux has. It leaves slow start before the first loss, by either of two signs of a queue.

use crate::{Socket, after};

/// Smaller windows are left alone, packets; but rounds are counted from the first, so that they begin with the ACKs' bursts.
const LOW_WINDOW: u32 = 16;
/// ACKs closer than this belong to one train, us.
const ACK_DELTA: u64 = 2_000;
/// RTT samples that a round's minimum needs.
const MIN_SAMPLES: u32 = 8;
/// The rise of the round's minimum RTT that counts, us: an eighth of the least delay, within these bounds.
const DELAY_MIN: u32 = 4_000;
const DELAY_MAX: u32 = 16_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    found: Option<Sign>,
    /// The start of the round, us.
    round_start: u64,
    /// The arrival of the train's last ACK, us.
    last_ack: u64,
    /// The round ends when this is acknowledged.
    end_seq: u32,
    /// RTT samples in this round (at most 8), and their minimum, us.
    samples: u32,
    curr_rtt: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Train,
    Delay,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart { found: None, round_start: 0, last_ack: 0, end_seq: 0, samples: 0, curr_rtt: u32::MAX }
    }
}

impl HyStart {
    pub(super) fn start_round(&mut self, sk: &Socket) {
        self.round_start = sk.tcp_mstamp;
        self.last_ack = sk.tcp_mstamp;
        self.end_seq = sk.snd_nxt;
        self.samples = 0;
        self.curr_rtt = u32::MAX;
    }

    /// An ACK with an RTT of `delay` us; `delay_min`: the least so far.
    pub(super) fn on_ack(&mut self, sk: &mut Socket, delay: u32, delay_min: u32) {
        if self.found.is_some() || !sk.is_in_slow_start() {
            return;
        }
        if after(sk.snd_una, self.end_seq) {
            self.start_round(sk);
        }
        if sk.snd_cwnd < LOW_WINDOW {
            return;
        }
        // Both signs are checked on every ACK; if both are present, the train is reported.
        let is_train = self.is_train_long(sk, delay_min);
        let is_late = self.is_delay_risen(delay, delay_min);
        self.found = if is_train { Some(Sign::Train) } else { is_late.then_some(Sign::Delay) };
        if self.found.is_some() {
            sk.snd_ssthresh = sk.snd_cwnd;
        }
    }

    /// True if the ACKs of a round come without a gap for longer than the path's one-way delay: the path is full.
    fn is_train_long(&mut self, sk: &Socket, delay_min: u32) -> bool {
        let now = sk.tcp_mstamp;
        if now.saturating_sub(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let whole = u64::from(delay_min) + ack_delay(sk);
        // Paced ACKs are spread over the whole RTT, those of a burst over the half.
        let threshold = if sk.sk_pacing_needed { whole } else { whole / 2 };
        now.saturating_sub(self.round_start) > threshold
    }

    /// True if the least RTT of this round is well above the least of all.
    fn is_delay_risen(&mut self, delay: u32, delay_min: u32) -> bool {
        self.curr_rtt = self.curr_rtt.min(delay);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.curr_rtt > delay_min.saturating_add((delay_min >> 3).clamp(DELAY_MIN, DELAY_MAX))
    }

    /// True if it has ended slow start.
    pub(super) fn has_found(&self) -> bool {
        self.found.is_some()
    }
}

/// The time that TSO and GRO may hold an ACK back, us: that of four of the largest trains, 1 ms at most.
fn ack_delay(sk: &Socket) -> u64 {
    match sk.sk_pacing_rate {
        0 => 0,
        rate => (u64::from(sk.sk_gso_max_size) * 4 * 1_000_000 / rate).min(1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket in slow start, with a window of 20 packets and a pacing rate at which TSO holds nothing back.
    fn socket() -> Socket {
        let mut sk = Socket::new(1448, 1);
        (sk.snd_cwnd, sk.is_cwnd_limited) = (20, true);
        sk
    }

    #[test]
    fn a_rise_of_an_eighth_ends_slow_start_after_eight_samples() {
        let (mut sk, mut hystart) = (socket(), HyStart::default());
        for n in 0..9 {
            sk.tcp_mstamp += 3_000; // The ACKs form no train.
            assert_eq!(hystart.found, None, "sample {n}");
            hystart.on_ack(&mut sk, 45_100, 40_000);
        }
        assert_eq!((hystart.found, sk.snd_ssthresh), (Some(Sign::Delay), 20));
    }

    #[test]
    fn the_rise_is_4_ms_at_least_and_16_ms_at_most() {
        for (delay_min, limit) in [(1_000, 5_000), (64_000, 72_000), (400_000, 416_000)] {
            let mut hystart = HyStart { samples: 8, ..HyStart::default() };
            assert!(!hystart.is_delay_risen(limit, delay_min));
            let mut hystart = HyStart { samples: 8, ..HyStart::default() };
            assert!(hystart.is_delay_risen(limit + 1, delay_min));
        }
    }

    #[test]
    fn a_train_as_long_as_half_the_rtt_ends_slow_start() {
        let (mut sk, mut hystart) = (socket(), HyStart::default());
        while hystart.found.is_none() {
            sk.tcp_mstamp += 1_000;
            hystart.on_ack(&mut sk, 40_000, 40_000);
        }
        assert_eq!((hystart.found, sk.tcp_mstamp), (Some(Sign::Train), 21_000));
    }

    #[test]
    fn a_gap_breaks_the_train() {
        let (mut sk, mut hystart) = (socket(), HyStart::default());
        for _ in 0..100 {
            sk.tcp_mstamp += 2_001;
            hystart.on_ack(&mut sk, 40_000, 40_000);
        }
        assert_eq!(hystart.found, None);
    }

    #[test]
    fn small_windows_are_left_alone() {
        let (mut sk, mut hystart) = (socket(), HyStart { samples: 8, ..HyStart::default() });
        sk.snd_cwnd = 15;
        hystart.on_ack(&mut sk, 90_000, 40_000);
        assert_eq!(hystart.found, None);
    }
}
