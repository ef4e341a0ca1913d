//! Segments that an ACK acknowledges cumulatively leave the scoreboard, and give an RTT sample.

use cc::AckSample;

use super::Sender;
use super::ack::Ack;
use super::scoreboard::Sent;

impl Sender {
    /// Forget all before `snd_una`.
    pub(super) fn clean_up(&mut self, ack: &mut Ack) {
        let mut sent_us: Option<(u64, u64)> = None;
        let (prior_sacked, mut acked, mut reordered_from) = (self.sk.sacked_out, 0, u64::MAX);
        while let Some(sent) = self.board.pop(self.snd_una) {
            if sent.was_retransmitted {
                ack.acks_retransmitted = true;
            } else if !sent.is_sacked {
                sent_us = Some((sent_us.map_or(sent.sent_us, |(first, _)| first), sent.sent_us));
                reordered_from = reordered_from.min(sent.seq);
                ack.delivers_original |= sent.end() <= self.high_seq;
            }
            self.deliver(&sent);
            self.sample_delivery(&sent, false, ack);
            acked += 1;
        }
        ack.acks_data = acked > 0;
        if self.board.len() == 0 {
            self.usage.drained(self.now_us(), self.snd_nxt < self.stream_end(), &mut self.counters);
        }
        let is_small = self.snd_una - ack.prior_una < u64::from(self.sk.mss_cache);
        if let Some((first, last)) = sent_us.filter(|_| !ack.acks_retransmitted) {
            let is_alone = acked == 1 && prior_sacked == 0 && is_small;
            let is_quiet = !ack.sacks_data && !ack.is_ece && !ack.has_dsack;
            // A lone small segment: its receiver probably waited for another.
            ack.rs.is_ack_delayed = is_alone && is_quiet && ack.rs.prior_delivered.wrapping_add(1) == self.sk.delivered;
            self.take_rtt(first, last, ack);
        } else if let Some((first, last)) = ack.sacked_sent_us {
            self.take_rtt(first, last, ack);
        } else if acked > 0 {
            self.take_timestamp_rtt(ack);
        }
        if acked > 0 {
            ack.restarts_timer = true;
            if reordered_from < ack.prior_highest_sack {
                self.check_reordering_up_to(reordered_from, ack.prior_highest_sack);
            }
        } else if let (Some((sent, _)), Some(head)) = (ack.sacked_sent_us, self.board.head())
            && sent < head.sent_us
        {
            // SACKed data was sent before the oldest segment was sent again: its timeout need not wait for longer.
            ack.restarts_timer = true;
        }
        let in_flight = self.sk.delivered.wrapping_sub(ack.rs.prior_delivered).saturating_mul(self.sk.mss_cache);
        let sample = AckSample { pkts_acked: acked, rtt_us: ack.rs.rtt_us as i32, in_flight };
        self.cc.pkts_acked(&mut self.sk, &sample);
    }

    fn deliver(&mut self, sent: &Sent) {
        let sk = &mut self.sk;
        sk.packets_out -= 1;
        sk.retrans_out -= u32::from(sent.is_retransmitting);
        sk.lost_out -= u32::from(sent.is_lost);
        if sent.is_sacked {
            sk.sacked_out -= 1;
            return;
        }
        sk.delivered = sk.delivered.wrapping_add(1);
        if !self.is_spurious_retransmission(sent) {
            self.rack_advance(sent);
        }
    }

    /// The original of a retransmission arrived: the ACK echoes a timestamp from before it was sent again (RFC 3522).
    fn is_spurious_retransmission(&self, sent: &Sent) -> bool {
        sent.was_retransmitted && self.echoes_before(sent.sent_us)
    }

    /// True if the ACK echoes a timestamp from before `us`.
    pub(super) fn echoes_before(&self, us: u64) -> bool {
        self.ts_ecr != 0 && self.ts_ecr < super::timestamp_ms(us)
    }

    /// The timeout takes the RTT of the first segment that an ACK tells of, congestion control that of the last.
    fn take_rtt(&mut self, first_us: u64, last_us: u64, ack: &mut Ack) {
        // A SACK is newer than what is acknowledged cumulatively with it.
        let last_us = ack.sacked_sent_us.map_or(last_us, |(_, sacked)| sacked);
        let rtt = self.since_us(last_us) as u32;
        ack.rs.rtt_us = i64::from(rtt);
        let of_min = (!ack.rs.is_ack_delayed || rtt <= self.sk.min_rtt_us).then_some(rtt);
        self.sample_rtt(self.since_us(first_us) as u32, of_min);
    }

    /// Only retransmitted segments are acknowledged: timestamps tell which copy it was (RFC 7323 section 4), to a
    /// millisecond.
    #[cold]
    fn take_timestamp_rtt(&mut self, ack: &mut Ack) {
        let elapsed = self.timestamp().wrapping_sub(self.ts_ecr);
        if self.ts_ecr == 0 || elapsed > u32::MAX / 2000 {
            return;
        }
        let rtt = elapsed.max(1) * 1000;
        ack.rs.rtt_us = i64::from(rtt);
        self.sample_rtt(rtt, Some(rtt));
    }

    /// RTT samples: for the timeout, and for the minimum.
    pub(super) fn sample_rtt(&mut self, rtt: u32, of_min: Option<u32>) {
        let now = self.now_us();
        if let Some(rtt) = of_min {
            self.sk.min_rtt_us = self.rtt.sample_min(rtt, now);
        }
        self.sk.srtt_us = self.rtt.sample(self.sk.srtt_us, rtt, self.snd_una, self.snd_nxt);
        self.backoff = 0;
    }

    #[cold]
    fn check_reordering_up_to(&mut self, seq: u64, highest: u64) {
        let distance = (highest - seq).div_ceil(u64::from(self.sk.mss_cache));
        let most = u64::from(self.settings.max_reordering);
        self.reordering = self.reordering.max(distance.min(most) as u32);
        self.reordering_seen += 1;
    }
}
