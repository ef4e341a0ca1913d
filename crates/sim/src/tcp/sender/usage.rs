//! The use of the window (RFC 7661), the reduction of an unused one (RFC 2861), and the limits of the flow.

use cc::CaEvent;

use super::{Counters, Sender};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// The round in which the use of the window is judged ends when this is acknowledged.
    round_end: u64,
    /// The most packets in flight since the window was last full.
    used: u32,
    /// The time at which the window was last full or changed, us.
    full_at: u64,
    /// Span that the flow is in, and since when, us.
    span: Span,
    since: u64,
}

/// Activities of a flow. A later one takes precedence (`enum tcp_chrono`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Span {
    /// Nothing is outstanding.
    #[default]
    Idle,
    /// Data is outstanding or waits.
    Busy,
    /// The receive window keeps data from being sent.
    WindowLimited,
    /// The memory for sending keeps the application from writing what could be sent.
    MemoryLimited,
}

impl Usage {
    /// The window changed, or the connection is open.
    pub(super) fn grew(&mut self, now: u64) {
        self.full_at = now;
    }

    /// Data is outstanding.
    pub(super) fn busy(&mut self, now: u64) {
        if self.span == Span::Idle {
            (self.span, self.since) = (Span::Busy, now);
        }
    }

    /// Nothing is in flight any more; `has_more`: there is more to send.
    pub(super) fn drained(&mut self, now: u64, has_more: bool, counters: &mut Counters) {
        if !has_more {
            self.idle(now, counters);
        }
    }

    /// Nothing is outstanding.
    #[cold]
    pub(super) fn idle(&mut self, now: u64, counters: &mut Counters) {
        self.turn(Span::Idle, now, counters);
    }

    /// The counters with the span that has not ended at `now`.
    pub(super) fn up_to(mut self, now: u64, mut counters: Counters) -> Counters {
        self.idle(now, &mut counters);
        counters
    }

    /// Something was to be sent: the receive window kept it from that, or didn't.
    pub(super) fn limited_by_window(&mut self, is_limited: bool, now: u64, counters: &mut Counters) {
        self.limit(Span::WindowLimited, is_limited, now, counters);
    }

    /// The memory for sending keeps the application from writing what could be sent, or doesn't.
    pub(super) fn limited_by_memory(&mut self, is_limited: bool, now: u64, counters: &mut Counters) {
        self.limit(Span::MemoryLimited, is_limited, now, counters);
    }

    fn limit(&mut self, span: Span, is_limited: bool, now: u64, counters: &mut Counters) {
        if is_limited && self.span < span {
            self.turn(span, now, counters);
        } else if !is_limited && self.span == span {
            self.turn(Span::Busy, now, counters);
        }
    }

    /// One span ends, and another begins.
    fn turn(&mut self, next: Span, now: u64, counters: &mut Counters) {
        let length = now - self.since;
        counters.busy_us += if self.span == Span::Idle { 0 } else { length };
        counters.rwnd_limited_us += if self.span == Span::WindowLimited { length } else { 0 };
        counters.sndbuf_limited_us += if self.span == Span::MemoryLimited { length } else { 0 };
        (self.span, self.since) = (next, now);
    }
}

impl Sender {
    /// Something was sent, or the window kept it from being sent.
    pub(super) fn validate_window(&mut self, is_cwnd_limited: bool) {
        let (una, nxt, now) = (self.snd_una, self.snd_nxt, self.now_us());
        let (sk, usage) = (&mut self.sk, &mut self.usage);
        // The strongest signal of a round counts: that the window was full once, else the most that was in flight.
        let is_more = !sk.is_cwnd_limited && sk.packets_out > sk.max_packets_out;
        if una >= usage.round_end || is_cwnd_limited || is_more {
            sk.is_cwnd_limited = is_cwnd_limited;
            sk.max_packets_out = sk.packets_out;
            usage.round_end = nxt;
        }
        if sk.is_window_limiting() {
            (usage.used, usage.full_at) = (0, now);
            return;
        }
        usage.used = usage.used.max(sk.packets_out);
        if self.settings.slow_start_after_idle
            && !self.has_cong_control
            && now.saturating_sub(usage.full_at) >= self.rtt.backed_off(self.backoff)
        {
            self.shrink_to_use();
        }
        if !self.has_unsent() && self.buffers.is_short() {
            self.usage.limited_by_memory(true, now, &mut self.counters);
        }
    }

    /// If a window was not used for a timeout, it shrinks halfway down to the used part (RFC 2861 section 3.2), unless
    /// the application waits for its socket: then the receive window, or the memory for sending, is the limit.
    #[cold]
    fn shrink_to_use(&mut self) {
        let threshold = self.current_ssthresh();
        let is_blocked = self.buffers.is_short();
        let (sk, usage) = (&mut self.sk, &mut self.usage);
        if sk.ca_state == cc::CaState::Open && !is_blocked {
            let used = usage.used.max(self.settings.initial_cwnd);
            if used < sk.snd_cwnd {
                sk.snd_ssthresh = threshold;
                sk.snd_cwnd = (sk.snd_cwnd + used) / 2;
            }
            usage.used = 0;
        }
        usage.full_at = sk.tcp_mstamp;
    }

    /// The application writes after a pause: halve the window for each timeout that it lasted, down to the initial one (RFC
    /// 2861 section 3.1, RFC 5681 section 4.1).
    pub(super) fn restart_after_idle(&mut self) {
        if !self.settings.slow_start_after_idle || self.sk.packets_out > 0 || self.has_cong_control {
            return;
        }
        let rto = self.rto_us();
        let mut idle = self.now_us().saturating_sub(self.sk.lsndtime);
        if self.counters.segments_sent == 0 || idle <= rto {
            return;
        }
        self.cc.cwnd_event(&mut self.sk, CaEvent::CwndRestart);
        self.sk.snd_ssthresh = self.current_ssthresh();
        let restart = self.settings.initial_cwnd.min(self.sk.snd_cwnd);
        while idle > rto && self.sk.snd_cwnd > restart {
            idle -= rto;
            self.sk.snd_cwnd /= 2;
        }
        self.sk.snd_cwnd = self.sk.snd_cwnd.max(restart);
        (self.usage.used, self.usage.full_at) = (0, self.now_us());
    }
}
