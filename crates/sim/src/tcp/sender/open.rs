//! Opening a connection (RFC 9293 section 3.5).

use super::buffers::Buffers;
use super::timers::Timer;
use super::{Phase, RTO_INITIAL_US, RTO_MAX_US, Sender};
use crate::segment::{Flags, Segment};
use link::Ecn;
use units::Time;

/// SYNs that are sent again before the timeout doubles: `net.ipv4.tcp_syn_linear_timeouts`, since Linux 6.5.
const SYN_LINEAR_TIMEOUTS: u32 = 4;

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
        let asks = self.sk.ecn_flags.ok;
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
    pub(super) fn on_syn_ack(&mut self, segment: &Segment, out: &mut Vec<Segment>) {
        if self.phase != Phase::SynSent {
            // Our ACK was lost.
            return if self.phase != Phase::Closed {
                self.send_ack(out)
            };
        }
        self.phase = Phase::Established;
        self.set_una(1);
        self.window_end = 1 + u64::from(segment.window);
        self.small_end = 1;
        self.buffers = Buffers::new(segment.window, self.largest_train(), self.settings.mss());
        self.sk.ecn_flags.ok &= segment.flags.ece;
        // The SYN counts as delivered.
        self.sk.delivered = 1;
        self.sk.delivered_mstamp = self.now_us();
        self.timers.clear();
        // RFC 6298 section 3: no sample of what was sent twice, but for its timestamp's.
        let rtt = match self.backoff {
            0 => (self.now_us() - self.rate.first_tx_us) as u32,
            _ => self.timestamp().saturating_sub(segment.ts_ecr).max(1) * 1000,
        };
        if std::mem::take(&mut self.backoff) > 1 {
            self.sk.snd_cwnd = 1;
        }
        self.sample_rtt(rtt, Some(rtt));
        self.usage.begin(self.now_us());
        if !self.cc.has_cong_control() {
            // The rate is set as after every ACK (`tcp_cong_control`): the first window, too, goes in trains of a
            // millisecond.
            self.update_pacing_rate();
        }
        self.cc.init(&mut self.sk);
        if self.written_end > 1 {
            // The application that waited for this writes now, and finds nothing in the way: Linux takes the first window
            // for limited by the application, of whatever length the write is.
            self.check_app_limited_by(0);
        }
        self.send_ack(out);
        self.push(out);
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
