//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation, section 3).

use cc::{RateSample, after};

use super::Sender;
use super::ack::Ack;
use super::scoreboard::{Sent, is_sent_after};

/// The connection's part of the estimate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RateEstimator {
    /// `C.first_sent_time`, us.
    pub first_tx_us: u64,
    /// The latest sample that counts: packets, in us, and whether the application limited it.
    pub delivered: u32,
    pub interval_us: u32,
    pub is_app_limited: bool,
}

impl Sender {
    /// The connection's state when a segment is sent, including `tx_in_flight`.
    pub(super) fn stamp(&mut self, sent: Sent, sent_us: u64, tx_in_flight: u32) -> Sent {
        // If a flow begins, or begins again, the time without anything in flight is not the network's.
        if self.sk.packets_out == 0 {
            self.rate.first_tx_us = sent_us;
            self.sk.delivered_mstamp = sent_us;
        }
        Sent {
            sent_us,
            first_tx_us: self.rate.first_tx_us,
            delivered_us: self.sk.delivered_mstamp,
            delivered: self.sk.delivered,
            delivered_ce: self.sk.delivered_ce,
            lost: self.sk.lost,
            tx_in_flight,
            is_app_limited: self.sk.app_limited != 0,
            ..sent
        }
    }

    /// A segment was delivered: the sample belongs to the one sent last of those that an ACK tells of. `is_cut`: the ACK has cut it
    /// out of its train.
    pub(super) fn sample_delivery(&mut self, sent: &Sent, is_cut: bool, ack: &mut Ack) {
        if sent.delivered_us == 0 {
            return;
        }
        let newest = (self.rate.first_tx_us, ack.newest_end);
        if ack.rs.prior_mstamp != 0 && !is_sent_after((sent.sent_us, sent.end()), newest) {
            return;
        }
        (ack.newest_end, ack.samples_train) = (sent.end(), !is_cut);
        let rs = &mut ack.rs;
        rs.prior_mstamp = sent.delivered_us;
        rs.prior_delivered = sent.delivered;
        rs.prior_delivered_ce = sent.delivered_ce;
        rs.is_app_limited = sent.is_app_limited;
        rs.is_retrans = sent.was_retransmitted;
        rs.last_end_seq = sent.end() as u32;
        rs.tx_in_flight = sent.tx_in_flight;
        // The sample holds these until it is complete: the lost packets when the segment was sent, and the send phase.
        rs.lost = sent.lost as i32;
        rs.interval_us = sent.sent_us.saturating_sub(sent.first_tx_us) as i64;
        self.rate.first_tx_us = sent.sent_us;
    }

    /// Linux keeps a train's segments in one buffer (`sk_buff`), and a sample has the end of the buffer's rest (`last_end_seq`), by which
    /// BBR finds what was in flight. A SACK behind a hole cuts a piece out of a buffer. What an ACK takes from its front leaves the rest whole, and
    /// so does a SACK that goes on where another ended (`tcp_shifted_skb`).
    ///
    /// Trains are told apart by their times; a connection's first packets, which are not paced, count as one. What is sent again as a train
    /// counts by segments. Of two SACKs in one ACK that take from one train the second counts; in Linux it may be the first.
    pub(super) fn sample_train(&mut self, ack: &mut Ack) {
        // Other algorithms don't look at it.
        if !self.has_cong_control || !ack.samples_train || ack.rs.is_retrans || ack.newest_end < self.snd_una {
            return;
        }
        let mut index = self.board.index_of(ack.newest_end);
        while index < self.board.len() {
            let sent = self.board.get(index);
            if sent.sent_us != self.rate.first_tx_us || sent.is_sacked || sent.was_retransmitted {
                return;
            }
            (ack.rs.tx_in_flight, ack.rs.last_end_seq) = (sent.tx_in_flight, sent.end() as u32);
            index += 1;
        }
    }

    /// The ACK is processed: complete its sample.
    pub(super) fn complete_sample(&mut self, rs: &mut RateSample) {
        let (sk, now) = (&mut self.sk, self.now.as_nanos() as u64 / 1000);
        if sk.app_limited != 0 && after(sk.delivered, sk.app_limited) {
            sk.app_limited = 0;
        }
        if rs.acked_sacked > 0 {
            sk.delivered_mstamp = now;
        }
        if rs.prior_mstamp == 0 {
            (rs.delivered, rs.interval_us, rs.lost) = (-1, -1, 0);
            return;
        }
        rs.delivered = sk.delivered.wrapping_sub(rs.prior_delivered) as i32;
        rs.delivered_ce = sk.delivered_ce.wrapping_sub(rs.prior_delivered_ce) as i32;
        rs.lost = sk.lost.wrapping_sub(rs.lost as u32) as i32;
        let (send, ack) = (rs.interval_us, (now - rs.prior_mstamp) as i64);
        (rs.snd_interval_us, rs.rcv_interval_us) = (send as u32, ack as u32);
        rs.interval_us = send.max(ack);
        // Shorter than any RTT: a retransmission that was ACKed in place of the original.
        if rs.interval_us < i64::from(sk.min_rtt_us) {
            rs.interval_us = -1;
            return;
        }
        let last = &mut self.rate;
        let is_faster =
            rs.delivered as u64 * u64::from(last.interval_us) >= u64::from(last.delivered) * rs.interval_us as u64;
        if !rs.is_app_limited || is_faster {
            (last.delivered, last.interval_us) = (rs.delivered as u32, rs.interval_us as u32);
            last.is_app_limited = rs.is_app_limited;
        }
    }

    /// The application has nothing to send, and it is not the window that keeps it: what is in flight makes samples that
    /// say too little of the path.
    pub(super) fn check_app_limited(&mut self) {
        let unsent = self.written_end.saturating_sub(self.snd_nxt);
        let sk = &mut self.sk;
        let in_flight = sk.packets_in_flight();
        let has_segment = unsent >= u64::from(sk.mss_cache);
        if !has_segment && in_flight < sk.snd_cwnd && sk.lost_out <= sk.retrans_out {
            sk.app_limited = sk.delivered.wrapping_add(in_flight).max(1);
        }
    }

    /// The latest delivery rate, bytes per second, and whether the application limited it; `None`: no sample yet.
    pub fn delivery_rate(&self) -> Option<(u64, bool)> {
        let RateEstimator { delivered, interval_us, is_app_limited, .. } = self.rate;
        let bytes = u64::from(delivered) * u64::from(self.sk.mss_cache) * 1_000_000;
        (interval_us > 0).then(|| (bytes / u64::from(interval_us), is_app_limited))
    }
}
