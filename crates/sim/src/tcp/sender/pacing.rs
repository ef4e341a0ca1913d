//! Pacing as TCP does it itself, without a queue discipline that would.

use units::Time;

use super::Sender;

/// A flow is not paced before it has sent this many segments: the initial window leaves at once.
const UNPACED_SEGMENTS: u64 = 10;

impl Sender {
    /// Must the next train wait for its departure time? Then it will be reminded.
    pub(super) fn must_wait(&mut self) -> bool {
        if !self.sk.sk_pacing_needed || self.sk.tcp_wstamp_ns <= self.sk.tcp_clock_cache {
            return false;
        }
        self.timers.pacing = Time(self.sk.tcp_wstamp_ns as i64);
        true
    }

    /// A train leaves now. Returns by how much later than its departure time, ns.
    pub(super) fn depart(&mut self) -> u64 {
        let due = self.sk.tcp_wstamp_ns;
        self.sk.tcp_wstamp_ns = due.max(self.sk.tcp_clock_cache);
        self.sk.tcp_wstamp_ns - due
    }

    /// The departure time of what leaves now, us, which its timestamp tells. After a timeout a segment leaves at once, though
    /// pacing would let it go later: then this is in the future, and the RTT that its ACK gives is too short. In Linux, too
    /// (`__tcp_transmit_skb` stamps `tcp_wstamp_ns`, and `tcp_retransmit_timer` doesn't ask `tcp_pacing_check`).
    pub(super) fn departure_us(&self) -> u64 {
        self.sk.tcp_wstamp_ns / 1000
    }

    /// Time since a departure, us; 0 if it is to come.
    pub(super) fn since_us(&self, departure_us: u64) -> u64 {
        self.now_us().saturating_sub(departure_us)
    }

    /// `bytes` have left, `late_ns` after their time: when may the next ones?
    pub(super) fn pace(&mut self, bytes: u32, late_ns: u64) {
        let rate = self.sk.sk_pacing_rate;
        if !self.sk.sk_pacing_needed || rate == 0 || rate == u64::MAX || self.counters.segments_sent < UNPACED_SEGMENTS
        {
            return;
        }
        let gap = u64::from(bytes) * 1_000_000_000 / rate;
        // A timer that fired late must not cost rate: half of a gap may be made up for.
        self.sk.tcp_wstamp_ns += gap - late_ns.min(gap / 2);
    }

    /// The rate of those that don't set one themselves: the window in an RTT and some more, so that the window can grow.
    pub(super) fn update_pacing_rate(&mut self) {
        let sk = &mut self.sk;
        let ratio = match sk.snd_cwnd < sk.snd_ssthresh / 2 {
            true => self.settings.pacing_ss_ratio,
            false => self.settings.pacing_ca_ratio,
        };
        let window = u64::from(sk.mss_cache) * u64::from(sk.snd_cwnd.max(sk.packets_out));
        let scaled = window * 8 * 1_000_000 / 100 * u64::from(ratio);
        let rate = if sk.srtt_us > 0 { scaled / u64::from(sk.srtt_us) } else { scaled };
        sk.sk_pacing_rate = rate.min(sk.sk_max_pacing_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sender, timestamp_ms};
    use crate::segment::{Flags, Segment};
    use crate::tcp::Settings;
    use units::{Duration, Time};

    #[test]
    fn a_segment_that_a_timeout_sends_tells_the_time_at_which_pacing_would_let_it_go() {
        let mut sender = Sender::new(Settings::default(), cc::create("bbr").unwrap(), 1, false);
        let (start, mut out) = (Time(1_000_000_000), Vec::new());
        sender.connect(start, &mut out);
        let flags = Flags { syn: true, ..Flags::default() };
        let answer = Segment { ack: 1, window: 1 << 20, ts_val: 1, ts_ecr: out[0].ts_val, flags, ..Segment::default() };
        sender.on_segment(&Segment { is_reply: true, ..answer }, start + Duration::from_millis(40), &mut out);
        sender.write(1448, start + Duration::from_millis(40), &mut out);
        out.clear();
        let now_us = sender.now_us();
        sender.sk.tcp_wstamp_ns = (now_us + 70_000) * 1000;
        sender.retransmit_head(&mut out);
        assert_eq!(out[0].ts_val, timestamp_ms(now_us + 70_000));
        assert_eq!(sender.since_us(sender.board.get(0).sent_us), 0);
    }
}
