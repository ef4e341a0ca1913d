use cc::{AckSample, CaEvent, CaState, LostPacket, RateSample};

use super::{MS, MSS, Path, SECOND};

/// A transmission, with what the kernel stores in `tcp_skb_cb`.
pub struct Sent {
    id: u64,
    at: u64,
    delivered: u32,
    delivered_ce: u32,
    delivered_time: u64,
    first_tx_time: u64,
    tx_in_flight: u32,
    lost: u32,
    is_app_limited: bool,
}

impl Sent {
    fn end_seq(&self) -> u32 {
        (self.id as u32 + 1).wrapping_mul(MSS)
    }
}

/// Later packets that must be ACKed before one is lost (RFC 5681's three duplicate ACKs).
const DUP_THRESH: u64 = 3;

impl Path {
    fn has_data(&self) -> bool {
        !self.is_silent() && (self.app_rate == 0 || self.app_sent < self.app_supply())
    }

    fn is_silent(&self) -> bool {
        self.app_silence.is_some_and(|(from, until)| (from..until).contains(&self.now))
    }

    fn app_supply(&self) -> u64 {
        1 + (self.now - self.app_origin) * self.app_rate / SECOND
    }

    /// The application supplies `rate` packets per second from now on; 0: without limit.
    pub fn limit_app(&mut self, rate: u64) {
        (self.app_rate, self.app_origin, self.app_sent) = (rate, self.now, 0);
    }

    pub(super) fn app_wakeup(&self) -> Option<u64> {
        if let Some((_, until)) = self.app_silence.filter(|_| self.is_silent()) {
            return Some(until);
        }
        let is_waiting = self.app_rate > 0 && !self.has_data();
        is_waiting.then(|| self.app_origin + (self.app_sent * SECOND).div_ceil(self.app_rate))
    }

    fn can_send(&self) -> bool {
        self.has_data() && (self.sent.len() as u32) < self.sk.snd_cwnd
    }

    /// The time at which pacing lets the next packet go.
    pub(super) fn departure(&self) -> Option<u64> {
        self.can_send().then(|| self.next_departure.max(self.now))
    }

    pub(super) fn send_all(&mut self) {
        while self.can_send() && self.next_departure <= self.now {
            self.send();
        }
        let is_full = self.sent.len() as u32 >= self.sk.snd_cwnd;
        self.was_limited |= is_full;
        self.sk.is_cwnd_limited = self.was_limited;
        // There is nothing to send, and the window isn't the reason: the samples of the data in flight say too little.
        if !self.has_data() && !is_full {
            self.sk.app_limited = self.sk.delivered.wrapping_add(self.sent.len() as u32).max(1);
        }
    }

    fn send(&mut self) {
        if self.sent.is_empty() {
            (self.first_tx_time, self.delivered_time) = (self.now, self.now);
            self.last_progress = self.now;
            if self.next_id > 0 {
                self.cc.cwnd_event(&mut self.sk, CaEvent::TxStart);
            }
        }
        self.sent.push_back(Sent {
            id: self.next_id,
            at: self.now,
            delivered: self.sk.delivered,
            delivered_ce: self.sk.delivered_ce,
            delivered_time: self.delivered_time,
            first_tx_time: self.first_tx_time,
            tx_in_flight: self.sent.len() as u32 + 1,
            lost: self.sk.lost,
            is_app_limited: self.sk.app_limited != 0,
        });
        match self.bottleneck.send(self.now) {
            Some((at, is_marked)) => {
                let lump = self.ack_lump.max(1);
                self.acks.push_back((at.div_ceil(lump) * lump, self.next_id, is_marked));
            }
            None => self.dropped += 1,
        }
        self.next_id += 1;
        self.app_sent += 1;
        self.sk.lsndtime = self.sk.tcp_mstamp;
        if self.sk.sk_pacing_needed {
            let gap = u64::from(MSS) * SECOND / self.sk.sk_pacing_rate.max(1);
            self.next_departure = self.next_departure.max(self.now) + gap;
            self.sk.tcp_wstamp_ns = self.next_departure;
        }
        self.count();
    }

    /// The counts that follow from what is in flight.
    fn count(&mut self) {
        self.sk.packets_out = self.sent.len() as u32;
        self.sk.max_packets_out = self.sk.max_packets_out.max(self.sk.packets_out);
        self.sk.snd_nxt = (self.next_id as u32).wrapping_mul(MSS);
        let first = self.sent.front().map_or(self.next_id, |sent| sent.id);
        self.sk.snd_una = (first as u32).wrapping_mul(MSS);
    }

    pub(super) fn receive_acks(&mut self) {
        let prior_in_flight = self.sent.len() as u32;
        let mut rs = RateSample { prior_in_flight, delivered: -1, rtt_us: -1, ..RateSample::default() };
        let mut newest = None;
        while self.acks.front().is_some_and(|ack| ack.0 <= self.now) {
            let (_, id, is_marked) = self.acks.pop_front().unwrap();
            self.received += 1;
            // A packet that a timeout marked lost may still arrive.
            let Ok(index) = self.sent.binary_search_by_key(&id, |sent| sent.id) else { continue };
            newest = self.sent.remove(index);
            rs.acked_sacked += 1;
            self.sk.delivered = self.sk.delivered.wrapping_add(1);
            self.sk.delivered_ce += u32::from(is_marked);
            rs.is_ece |= is_marked;
        }
        let Some(newest) = newest else { return };
        (self.delivered_time, self.sk.delivered_mstamp) = (self.now, self.now / 1000);
        self.last_progress = self.now;
        self.count();
        self.sample_rtt(&newest, &mut rs);
        self.cc.in_ack_event(&mut self.sk, if rs.is_ece { cc::ack_event::ECE } else { 0 });
        self.mark_losses(newest.id, &mut rs);
        self.sample_rate(&newest, &mut rs);
        self.control(newest.id, &rs);
        if newest.id >= self.round_end {
            (self.round_end, self.was_limited) = (self.next_id, false);
        }
    }

    fn sample_rtt(&mut self, newest: &Sent, rs: &mut RateSample) {
        let rtt = ((self.now - newest.at) / 1000) as u32;
        rs.rtt_us = i64::from(rtt);
        self.sk.min_rtt_us = self.sk.min_rtt_us.min(rtt);
        let srtt = self.sk.srtt_us;
        self.sk.srtt_us = if srtt == 0 { rtt << 3 } else { srtt - (srtt >> 3) + rtt };
        let sample = AckSample { pkts_acked: rs.acked_sacked, rtt_us: rtt as i32, in_flight: 0 };
        self.cc.pkts_acked(&mut self.sk, &sample);
    }

    fn mark_losses(&mut self, newest: u64, rs: &mut RateSample) {
        while self.sent.front().is_some_and(|sent| sent.id + DUP_THRESH <= newest) {
            let packet = self.sent.pop_front().unwrap();
            rs.losses += 1;
            self.mark_lost(&packet);
        }
    }

    fn mark_lost(&mut self, packet: &Sent) {
        self.sk.lost = self.sk.lost.wrapping_add(1);
        self.count();
        let packet = LostPacket {
            tx_in_flight: packet.tx_in_flight,
            tx_lost: packet.lost,
            tx_delivered: packet.delivered,
            end_seq: packet.end_seq(),
            segments: 1,
            is_app_limited: packet.is_app_limited,
            was_sacked: false,
        };
        self.cc.skb_marked_lost(&mut self.sk, &packet);
    }

    /// draft-cheng-iccrg-delivery-rate-estimation section 3.
    fn sample_rate(&mut self, newest: &Sent, rs: &mut RateSample) {
        if self.sk.app_limited != 0 && cc::after(self.sk.delivered, self.sk.app_limited) {
            self.sk.app_limited = 0;
        }
        self.first_tx_time = newest.at;
        rs.last_end_seq = newest.end_seq();
        rs.prior_delivered = newest.delivered;
        rs.delivered = self.sk.delivered.wrapping_sub(newest.delivered) as i32;
        rs.delivered_ce = self.sk.delivered_ce.wrapping_sub(newest.delivered_ce) as i32;
        let (send, ack) = (newest.at - newest.first_tx_time, self.now - newest.delivered_time);
        (rs.snd_interval_us, rs.rcv_interval_us) = ((send / 1000) as u32, (ack / 1000) as u32);
        rs.interval_us = (send.max(ack) / 1000) as i64;
        if rs.interval_us < i64::from(self.sk.min_rtt_us) {
            rs.interval_us = -1;
        }
        rs.is_app_limited = newest.is_app_limited;
        rs.tx_in_flight = newest.tx_in_flight;
        rs.lost = self.sk.lost.wrapping_sub(newest.lost) as i32;
    }

    /// Recovery's state, then the algorithm.
    fn control(&mut self, newest: u64, rs: &RateSample) {
        // By then all losses among the data in flight at the beginning of recovery are known.
        if self.recovery_point.is_some_and(|point| newest >= point + DUP_THRESH) {
            self.recovery_point = None;
            if !self.cc.has_cong_control() {
                self.sk.snd_cwnd = self.sk.snd_cwnd.max(2).min(self.sk.snd_ssthresh);
            }
            self.change_state(CaState::Open);
        }
        let is_signal = rs.losses > 0 || (rs.is_ece && self.cc.needs_ecn());
        if is_signal && self.recovery_point.is_none() {
            self.reduce(if rs.losses > 0 { CaState::Recovery } else { CaState::Cwr });
        }
        if self.cc.has_cong_control() {
            self.cc.cong_control(&mut self.sk, rs);
        } else if matches!(self.sk.ca_state, CaState::Open | CaState::Loss) {
            let una = self.sk.snd_una;
            self.cc.cong_avoid(&mut self.sk, una, rs.acked_sacked);
        }
    }

    fn reduce(&mut self, state: CaState) {
        self.recovery_point = Some(self.next_id);
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
        if !self.cc.has_cong_control() {
            self.sk.snd_cwnd = self.sk.snd_cwnd.min(self.sk.snd_ssthresh);
            self.sk.snd_cwnd_cnt = 0;
        }
        self.change_state(state);
    }

    fn change_state(&mut self, state: CaState) {
        self.cc.set_state(&mut self.sk, state);
        self.sk.ca_state = state;
    }

    pub(super) fn timeout(&self) -> Option<u64> {
        let rto = (u64::from(self.sk.srtt_us >> 3) * 2_000).max(200 * MS) + u64::from(self.sk.srtt_us == 0) * SECOND;
        (!self.sent.is_empty()).then_some(self.last_progress + rto)
    }

    /// RFC 6298 section 5: all that is in flight is lost, one packet goes.
    pub fn time_out(&mut self) {
        self.last_progress = self.now;
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
        self.cc.cwnd_event(&mut self.sk, CaEvent::Loss);
        while let Some(packet) = self.sent.pop_front() {
            self.mark_lost(&packet);
        }
        self.sk.snd_cwnd = 1;
        self.sk.snd_cwnd_cnt = 0;
        self.recovery_point = Some(self.next_id);
        self.change_state(CaState::Loss);
    }

    /// Losses that were none (D-SACK, Eifel): the stack undoes the reduction.
    pub fn undo(&mut self) {
        self.sk.snd_cwnd = self.cc.undo_cwnd(&mut self.sk);
        self.recovery_point = None;
        self.change_state(CaState::Open);
    }

    /// A reduction for losses that were none: `packet` is the newest in flight.
    pub fn spurious_recovery(&mut self) {
        let newest = self.sent.back().expect("a packet in flight");
        let packet = LostPacket {
            tx_in_flight: newest.tx_in_flight,
            tx_lost: newest.lost,
            tx_delivered: newest.delivered,
            end_seq: newest.end_seq(),
            segments: 1,
            ..LostPacket::default()
        };
        self.sk.lost = self.sk.lost.wrapping_add(1);
        self.cc.skb_marked_lost(&mut self.sk, &packet);
        self.reduce(CaState::Recovery);
    }
}
