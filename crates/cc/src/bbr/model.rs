//! The quantities that follow from the model (spec section 5).

use super::Bbr;
use super::fixed::{INF, INF_BW, UNIT, bdp, packets, scale};
use super::state::State;
use super::tso::tso_goal;
use crate::{CongestionControl, Socket};

/// The least window, packets (spec section 3).
pub(super) const MIN_CWND: u32 = 4;

/// The bandwidth filter, and the bounds that losses and marks taught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The greatest delivery rate of the previous and of the current probing cycle.
    pub bw_win: [u64; 2],
    /// Short-term bound of the rate.
    pub bw_lo: u64,
    /// Long-term bound of the rate \[v2\].
    pub bw_hi: u64,
    /// Short-term bound of the volume, packets.
    pub inflight_lo: u32,
    /// Long-term bound of the volume, packets.
    pub inflight_hi: u32,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bw_win: [0; 2], bw_lo: INF_BW, bw_hi: INF_BW, inflight_lo: INF, inflight_hi: INF }
    }
}

impl Bounds {
    /// The long-term bandwidth: the maximum of the last two cycles.
    pub(super) fn max_bw(&self) -> u64 {
        self.bw_win[0].max(self.bw_win[1])
    }

    /// Bandwidth within bounds. bw_hi is only ever set by v2.
    pub(super) fn bw(&self) -> u64 {
        self.max_bw().min(self.bw_lo).min(self.bw_hi)
    }

    /// Forget the short-term bounds.
    pub(super) fn reset_lower(&mut self) {
        (self.bw_lo, self.inflight_lo) = (INF_BW, INF);
    }

    /// inflight_hi less the room for others, a packet at least.
    pub(super) fn headroomed(&self, headroom: u32) -> u32 {
        if self.inflight_hi == INF {
            return INF;
        }
        let room = scale(self.inflight_hi, headroom).max(1);
        self.inflight_hi.saturating_sub(room).max(MIN_CWND)
    }
}

impl Bbr {
    pub(super) fn bw(&self) -> u64 {
        self.bounds.bw()
    }

    pub(super) fn max_bw(&self) -> u64 {
        self.bounds.max_bw()
    }

    pub(super) fn headroomed(&self) -> u32 {
        self.bounds.headroomed(self.params.headroom)
    }

    /// `gain * bw * min_rtt`; before there is an RTT, the initial window.
    pub(super) fn bdp(&self, bw: u64, gain: u32) -> u32 {
        if self.rtt.min_rtt == INF { self.init_cwnd } else { bdp(bw, self.rtt.min_rtt, gain) }
    }

    pub(super) fn tso_goal(&self, sk: &Socket) -> u32 {
        tso_goal(sk, self.rtt.min_rtt, self.min_tso_segs(sk))
    }

    /// Room for three trains: one being sent, one in the network, one being acknowledged.
    pub(super) fn quantize(&self, sk: &Socket, cwnd: u32) -> u32 {
        let quantized = cwnd.max(3 * self.tso_goal(sk)).max(MIN_CWND);
        if self.state == State::Up { quantized.saturating_add(2) } else { quantized }
    }

    pub(super) fn inflight(&self, sk: &Socket, bw: u64, gain: u32) -> u32 {
        self.quantize(sk, self.bdp(bw, gain))
    }

    pub(super) fn target_inflight(&self, sk: &Socket) -> u32 {
        self.inflight(sk, self.bw(), UNIT).min(sk.snd_cwnd)
    }

    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        self.bdp(self.bw(), self.params.probe_rtt_bdp).max(MIN_CWND)
    }

    /// The part of `n` packets in flight that will be in the network when the next paced train leaves.
    pub(super) fn in_net(&self, sk: &Socket, n: u32) -> u32 {
        if !self.params.edt_inflight {
            return n;
        }
        let train = if self.pacing_gain > UNIT { self.tso_goal(sk) } else { 0 };
        n.saturating_add(train).saturating_sub(packets(self.bw(), until_departure(sk)))
    }
}

/// Time until the earliest departure of the next packet, us.
pub(super) fn until_departure(sk: &Socket) -> u64 {
    sk.tcp_wstamp_ns.saturating_sub(sk.tcp_clock_cache) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headroom_is_15_percent_and_a_packet_at_least() {
        // Spec section 16.
        let headroomed = |inflight_hi| Bounds { inflight_hi, ..Bounds::default() }.headroomed(38);
        assert_eq!([5, 6, 10, 100, 1000].map(headroomed), [4, 5, 9, 86, 852]);
        assert_eq!(headroomed(INF), INF);
    }

    #[test]
    fn packets_that_leave_before_the_next_train_are_not_in_the_network() {
        // Spec section 5: 1 packet a millisecond, and 5 ms until the next departure.
        let mut bbr = Bbr::new(super::super::Parameters::v3());
        (bbr.bounds.bw_win, bbr.pacing_gain) = ([0, (1 << 24) / 1000 + 1], UNIT);
        let sk = Socket { tcp_wstamp_ns: 7_000_000, tcp_clock_cache: 2_000_000, ..Socket::new(1448, 1) };
        assert_eq!(bbr.in_net(&sk, 20), 15);
        assert_eq!(bbr.in_net(&sk, 3), 0);
    }
}
