//! Opening a connection (RFC 9293 section 3.5).

use super::timers::Timer;
use super::{Phase, RTO_INITIAL_US, RTO_MAX_US, Sender};
use crate::segment::{Flags, Segment};
use link::Ecn;
use units::Time;

/// SYNs that are sent again before the timeout doubles: `net.ipv4.tcp_syn_linear_timeouts`, since Linux 6.5.
const SYN_LINEAR_TIMEOUTS: u32 = 4;

/// No SYN-ACK offers more: its window is not scaled (RFC 7323 section 2.2).
const UNSCALED_WINDOW: u32 = 65_535;

/// SYNs that are sent again before the sender gives up: these, and `net.ipv4.tcp_syn_retries`.
const SYN_RETRIES: u32 = SYN_LINEAR_TIMEOUTS + 6;

impl Sender {
    /// Begin the handshake.
    pub fn connect(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.at(now);
        self.phase = Phase::SynSent;
        self.set_nxt(1);
        self.send_syn(out);
    }

    fn send_syn(&mut self, out: &mut Vec<Segment>) {
        // A path may drop SYNs that ask for ECN, so one that is sent again doesn't (RFC 3168 section 6.1.1.1,
        // `net.ipv4.tcp_ecn_fallback`). If the first SYN arrived, the answer grants ECN all the same.
        let asks = self.sk.ecn_flags.ok && self.backoff == 0;
        out.push(Segment {
            ts_val: self.timestamp(),
            flags: Flags { syn: true, ece: asks, cwr: asks, ..Flags::default() },
            ecn: if self.cc.needs_ecn() { Ecn::Ect0 } else { Ecn::NotEct },
            ..Segment::default()
        });
        self.rate.first_tx_us = self.now_us();
        let timeout = (RTO_INITIAL_US << self.backoff.saturating_sub(SYN_LINEAR_TIMEOUTS)).min(RTO_MAX_US);
        self.set_timer(Timer::Syn, timeout);
    }

    pub(super) fn on_syn_timeout(&mut self, out: &mut Vec<Segment>) {
        if self.phase != Phase::SynSent {
            return;
        }
        if self.backoff == SYN_RETRIES {
            self.phase = Phase::Closed;
            return;
        }
        self.backoff += 1;
        // `tcpi_total_retrans` has it, `tcpi_bytes_retrans` nothing of it.
        self.counters.segments_retransmitted += 1;
        self.send_syn(out);
    }

    /// The peer's SYN came: acknowledge it, and send.
    #[cold]
    pub(super) fn on_syn_ack(&mut self, segment: &Segment, out: &mut Vec<Segment>) {
        if self.phase != Phase::SynSent {
            // Our ACK was lost.
            return if self.phase != Phase::Closed {
                self.send_ack(out)
            };
        }
        self.timers.clear();
        // RFC 6298 section 3: no sample of what was sent twice, but for its timestamp's.
        let rtt = match self.backoff {
            0 => (self.now_us() - self.rate.first_tx_us) as u32,
            _ => self.timestamp().saturating_sub(segment.ts_ecr).max(1) * 1000,
        };
        if std::mem::take(&mut self.backoff) > 1 {
            self.sk.snd_cwnd = 1;
        }
        self.establish(segment.window, rtt, segment.flags.ece);
        self.send_ack(out);
        // The application that waited for this writes now, and finds nothing in the way: Linux takes the first window for
        // limited by the application, of whatever length the write is.
        self.run_application(out);
    }

    /// The peer has opened the connection, and this end sends, too: `window`, `rtt_us` and `grants_ecn` are the
    /// handshake's, `ts_recent` is the peer's latest timestamp.
    pub(crate) fn accept(&mut self, window: u32, rtt_us: u32, grants_ecn: bool, ts_recent: u32, now: Time) {
        self.at(now);
        self.set_nxt(1);
        self.rate.first_tx_us = self.now_us();
        self.ts_recent = ts_recent;
        self.establish(window, rtt_us, grants_ecn);
    }

    /// The connection is open. `rtt_us`: that of the handshake.
    fn establish(&mut self, window: u32, rtt_us: u32, grants_ecn: bool) {
        self.phase = Phase::Established;
        self.set_una(1);
        self.window_end = 1 + u64::from(window);
        self.small_end = 1;
        self.sk.ecn_flags.ok &= grants_ecn;
        // The SYN counts as delivered.
        self.sk.delivered = 1;
        self.sk.delivered_mstamp = self.now_us();
        self.sample_rtt(rtt_us, Some(rtt_us));
        self.usage.grew(self.now_us());
        if !self.has_cong_control {
            // The rate is set as after every ACK (`tcp_cong_control`): the first window, too, goes in trains of a
            // millisecond.
            self.update_pacing_rate();
        }
        self.cc.init(&mut self.sk);
        self.open_buffers(window.min(UNSCALED_WINDOW));
    }

    /// An ACK without data.
    pub(super) fn send_ack(&mut self, out: &mut Vec<Segment>) {
        let segment = self.header();
        out.push(Segment { seq: self.snd_nxt, ..segment });
    }

    /// The fields that all our segments share.
    pub(super) fn header(&self) -> Segment {
        Segment {
            ack: if self.phase == Phase::Finished { 2 } else { 1 },
            window: u32::from(u16::MAX),
            ts_val: self.timestamp(),
            ts_ecr: self.ts_recent,
            ecn: if self.sk.ecn_flags.ok && self.cc.needs_ecn() { Ecn::Ect0 } else { Ecn::NotEct },
            ..Segment::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::Settings;
    use units::Duration;

    /// A sender that asks for ECN, after this many lost SYNs, and the last SYN that it sent.
    fn opening(cc: &str, lost: usize) -> (Sender, Segment) {
        let mut sender = Sender::new(Settings::default(), cc::create(cc).unwrap(), 1, true);
        let mut out = Vec::new();
        sender.connect(Time(1_000_000_000), &mut out);
        for _ in 0..lost {
            sender.on_timer(sender.next_timer(), &mut out);
        }
        assert_eq!(out.len(), lost + 1);
        (sender, out[lost])
    }

    /// The codepoint of the first segment with data. `ece`: the SYN-ACK grants ECN.
    fn codepoint_after(lost: usize, ece: bool) -> Ecn {
        let (mut sender, syn) = opening("reno", lost);
        let flags = Flags { syn: true, ece, ..Flags::default() };
        let answer = Segment { ack: 1, window: 1 << 15, ts_val: 1, ts_ecr: syn.ts_val, flags, ..Segment::default() };
        let (now, mut out) = (sender.now + Duration::from_millis(10), Vec::new());
        sender.on_segment(&Segment { is_reply: true, ..answer }, now, &mut out);
        sender.write(1000, now, &mut out);
        out.iter().find(|segment| segment.len > 0).unwrap().ecn
    }

    #[test]
    fn a_syn_that_is_sent_again_does_not_ask_for_ecn() {
        for cc in ["reno", "dctcp"] {
            let asks = [0, 1, 2].map(|lost| opening(cc, lost).1.flags).map(|flags| (flags.ece, flags.cwr));
            assert_eq!(asks, [(true, true), (false, false), (false, false)], "{cc}");
        }
    }

    #[test]
    fn a_segment_acknowledges_and_offers_a_window() {
        let (mut sender, syn) = opening("reno", 0);
        let answer = Segment { ack: 1, window: 1 << 15, ts_val: 7, ts_ecr: syn.ts_val, is_reply: true, ..syn };
        let (now, mut out) = (sender.now + Duration::from_millis(10), Vec::new());
        sender.on_segment(&answer, now, &mut out);
        let ack = out[0];
        assert_eq!((ack.seq, ack.ack, ack.window, ack.ts_val, ack.ts_ecr), (1, 1, 65_535, 1011, 7));
    }

    #[test]
    fn an_answer_to_the_first_syn_grants_ecn_even_if_that_was_sent_again() {
        assert_eq!([0, 1].map(|lost| codepoint_after(lost, true)), [Ecn::Ect0, Ecn::Ect0]);
        assert_eq!(codepoint_after(1, false), Ecn::NotEct);
    }
}
