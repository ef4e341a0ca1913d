//! Sending new data: how much, and in what trains.

use cc::{CaEvent, CaState};

use super::scoreboard::Sent;
use super::timers::Timer;
use super::{Sender, timestamp_ms};
use crate::segment::Segment;

/// Why new data is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Window and pacing allow it.
    All,
    /// An application has filled the first buffer that waits: a train goes, and doesn't wait for company (`tcp_push_one`).
    Train,
    /// A tail loss probe: one segment, whatever the window is.
    Probe,
}

impl Sender {
    /// Send as much new data as may be sent.
    pub(super) fn push(&mut self, out: &mut Vec<Segment>) {
        self.write_out(Push::All, out);
    }

    pub(super) fn write_out(&mut self, why: Push, out: &mut Vec<Segment>) {
        if !self.has_unsent() {
            return;
        }
        let mut train = None;
        let starts_timer = self.sk.packets_out == 0 || self.timers.waiting == Some(Timer::LossProbe);
        let (mut sent_segments, mut is_cwnd_limited, mut is_rwnd_limited) = (0, false, false);
        while self.has_unsent() {
            if self.must_wait() {
                break;
            }
            let room = self.cwnd_quota();
            if room == 0 && why != Push::Probe {
                break;
            }
            // Most ACKs find that pacing or the window says no. The first train decides how long all are.
            let most = train.unwrap_or_else(|| self.train_segments());
            train = Some(most);
            let quota = room.min(most).max(1);
            if !self.window_allows() {
                is_rwnd_limited = true;
                break;
            }
            // A probe says that Nagle's rule is off (`TCP_NAGLE_OFF`).
            if why != Push::Probe && self.holds_small_segment() {
                break;
            }
            let available = self.stream_end() - self.snd_nxt;
            let buffer = self.buffers.next(u64::from(quota) * u64::from(self.sk.mss_cache));
            if why == Push::All && available > u64::from(self.sk.mss_cache) {
                let (defers, by_cwnd, by_rwnd) = self.defers_train(most, buffer);
                is_cwnd_limited |= by_cwnd;
                is_rwnd_limited |= by_rwnd;
                if defers {
                    break;
                }
            }
            sent_segments += self.send_train(quota, buffer, out);
            if why != Push::All {
                break;
            }
        }
        self.usage.limited_by_window(is_rwnd_limited, self.now_us(), &mut self.counters);
        is_cwnd_limited |= self.sk.packets_in_flight() >= self.sk.snd_cwnd;
        if sent_segments > 0 || is_cwnd_limited {
            self.validate_window(is_cwnd_limited);
        }
        if sent_segments > 0 {
            if self.is_reducing() {
                self.prr_out += sent_segments;
            }
            let is_scheduled = why != Push::Probe && self.schedule_loss_probe(false);
            if !is_scheduled && starts_timer {
                self.rearm_retransmission();
            }
        }
    }

    /// The window's room, but no more than half of the window at once, so that ACKs keep coming.
    fn cwnd_quota(&self) -> u32 {
        let (cwnd, in_flight) = (self.sk.snd_cwnd, self.sk.packets_in_flight());
        if in_flight >= cwnd { 0 } else { (cwnd - in_flight).min((cwnd / 2).max(1)) }
    }

    /// True if the receive window has room for the next segment.
    pub(super) fn window_allows(&self) -> bool {
        let segment = (self.stream_end() - self.snd_nxt).min(u64::from(self.sk.mss_cache));
        self.snd_nxt + segment <= self.window_end
    }

    /// Segments that a train may hold: about a millisecond's, and on short paths more.
    pub(super) fn train_segments(&self) -> u32 {
        if !self.settings.tso {
            return 1;
        }
        let sk = &self.sk;
        let least = self.settings.min_tso_segs.unwrap_or_else(|| self.cc.min_tso_segs(sk));
        let bonus = u64::from(sk.sk_gso_max_size).checked_shr(sk.min_rtt_us >> self.settings.tso_rtt_log).unwrap_or(0);
        let bytes = sk.sk_pacing_rate.checked_shr(sk.sk_pacing_shift).unwrap_or(0).saturating_add(bonus);
        let bytes = bytes.min(u64::from(sk.sk_gso_max_size)) as u32;
        (bytes / self.sk.mss_cache).max(least).min(u32::from(self.sizes.train))
    }

    /// Nagle's rule as modified by Minshall: one small segment at a time (RFC 9293 section 3.7.4).
    fn holds_small_segment(&self) -> bool {
        let available = self.stream_end() - self.snd_nxt;
        let is_small = available < u64::from(self.sk.mss_cache) && !self.is_closing;
        is_small && !self.has_no_delay && self.sk.packets_out > 0 && self.small_end > self.snd_una
    }

    /// Three answers: it is better to wait for the next ACK and send more at once; that waits for cwnd; that waits for
    /// the receive window. `buffer`: bytes in the buffer that is sent next.
    fn defers_train(&self, most: u32, buffer: u64) -> (bool, bool, bool) {
        const NO: (bool, bool, bool) = (false, false, false);
        const MS: u64 = 1_000_000;
        let sk = &self.sk;
        let now = sk.tcp_clock_cache;
        // It does not wait in recovery, nor after a pause: that would be a burst later on.
        if sk.ca_state >= CaState::Recovery || now > sk.tcp_wstamp_ns + MS {
            return NO;
        }
        let mss = u64::from(self.sk.mss_cache);
        let window = self.window_end.saturating_sub(self.snd_nxt);
        let congestion = u64::from(sk.snd_cwnd.saturating_sub(sk.packets_in_flight())) * mss;
        let limit = window.min(congestion);
        let is_last = self.stream_end() - self.snd_nxt <= buffer;
        if limit >= u64::from(most) * mss || (!is_last && limit >= buffer) {
            return NO;
        }
        if self.settings.tso_win_divisor > 0 {
            let whole = self.window_end.saturating_sub(self.snd_una).min(u64::from(sk.snd_cwnd) * mss);
            if limit >= whole / u64::from(self.settings.tso_win_divisor) {
                return NO;
            }
        } else if limit > 3 * mss {
            return NO;
        }
        let Some(head) = self.board.head() else { return NO };
        let srtt_ns = u64::from(sk.srtt_us) * 125;
        let ack_in = (head.sent_us * 1000 + srtt_ns) as i64 - now as i64;
        if ack_in > (srtt_ns / 2).min(MS) as i64 {
            return NO;
        }
        if congestion < window && congestion <= buffer {
            return (true, true, false);
        }
        if congestion >= window && window <= buffer {
            return (true, false, true);
        }
        (!self.is_closing, false, false)
    }

    /// Send up to `quota` segments, of the next `buffer` bytes, as a train. Returns how many.
    fn send_train(&mut self, quota: u32, buffer: u64, out: &mut Vec<Segment>) -> u32 {
        let mss = u64::from(self.sk.mss_cache);
        let mut end = self.snd_nxt + (u64::from(quota) * mss).min(buffer);
        if end > self.window_end {
            end = self.snd_nxt + (self.window_end.saturating_sub(self.snd_nxt) / mss).max(1) * mss;
        }
        end = end.min(self.written_end);
        // A part of a segment waits if Nagle's rule says so; whole ones go.
        let rest = (end - self.snd_nxt) % mss;
        let is_held = rest > 0 && !self.is_closing && self.small_end > self.snd_una && self.sk.packets_out > 0;
        if is_held && end - self.snd_nxt > mss {
            end -= rest;
        }
        let has_end = self.buffers.take(end - self.snd_nxt);
        let late_ns = self.depart();
        let sent_us = self.departure_us();
        self.note_transmission();
        let ecn = self.codepoint(true);
        let header = Segment { ts_val: timestamp_ms(sent_us), ..self.header() };
        let had_none = self.sk.packets_out == 0;
        let (mut seq, mut bytes, mut in_flight, mut segments) = (self.snd_nxt, 0, self.sk.packets_in_flight(), 0);
        loop {
            let len = (end - seq).min(mss);
            let is_fin = self.is_closing && seq + len == self.written_end;
            in_flight += 1;
            let sent = Sent { seq, len: len as u16, is_fin, ..Sent::default() };
            let sent = self.stamp(sent, sent_us, in_flight);
            self.board.push(sent);
            let mut segment = Segment { seq, len: len as u32, ecn, ..header };
            segment.flags.fin = is_fin;
            segment.flags.cwr = std::mem::take(&mut self.queue_cwr);
            segment.flags.psh = sent.end() >= end && (segments > 0 || has_end);
            out.push(segment);
            if len < mss {
                self.small_end = seq + len;
            }
            seq = sent.end();
            bytes += len as u32;
            segments += 1;
            if seq >= end {
                break;
            }
        }
        self.counters.segments_sent += u64::from(segments);
        self.counters.bytes_sent += u64::from(bytes);
        self.pace(bytes, late_ns);
        self.set_nxt(seq);
        self.sk.packets_out += segments;
        if had_none {
            self.usage.busy(self.now_us());
        }
        self.check_space();
        segments
    }

    /// Data leaves: the algorithm learns if nothing was in flight.
    pub(super) fn note_transmission(&mut self) {
        if self.sk.packets_in_flight() == 0 {
            self.cc.cwnd_event(&mut self.sk, CaEvent::TxStart);
        }
        self.sk.lsndtime = self.now_us();
    }
}
