//! An ACK, from its arrival to what it lets out: the order of things is Linux's.

use cc::{CaState, RateSample, ack_event};
use units::Time;

use super::recovery::Resend;
use super::{Phase, Sender};
use crate::segment::Segment;
use crate::tcp::receiver::PAWS_WINDOW;

/// The findings from one ACK, filled in as it is processed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    /// `snd_una` before it.
    pub prior_una: u64,
    /// Behind the last SACKed segment before it.
    pub prior_highest_sack: u64,
    /// Segments delivered and lost before it.
    pub prior_delivered: u32,
    pub prior_lost: u32,
    /// True if the ACK acknowledges more than the one before.
    pub is_advancing: bool,
    /// True if the ACK acknowledges data, cumulatively, some of which had been sent again.
    pub acks_data: bool,
    pub acks_retransmitted: bool,
    /// True if the ACK SACKs data that was not SACKed before.
    pub sacks_data: bool,
    /// True if the ACK (S)ACKs data below `high_seq` that was never sent again: the original arrived (F-RTO).
    pub delivers_original: bool,
    /// True if the ACK has a D-SACK of a tail loss probe.
    pub has_dsack: bool,
    pub dsacks_probe: bool,
    /// True if the ACK changes the window.
    pub updates_window: bool,
    /// True if the ACK carries ECE.
    pub is_ece: bool,
    /// True if the ACK shows that a retransmission was lost.
    pub loses_retransmission: bool,
    /// The timer is to be set anew.
    pub restarts_timer: bool,
    /// The first byte that was delivered though something behind it had been SACKed before: reordering.
    pub reordered_from: u64,
    /// The times at which the first and the last segment that it newly SACKs were sent, us.
    pub sacked_sent_us: Option<(u64, u64)>,
    /// The end of the segment that the rate sample belongs to.
    pub newest_end: u64,
    /// The sample has the end of the rest of that segment's train: this ACK has not cut the segment out of it.
    pub samples_train: bool,
    /// The piece that it is cutting out of a train: its end, and the time at which it was sent, us.
    pub cut: (u64, u64),
    pub rs: RateSample,
}

/// The effect of an ACK: a row of the per-ACK table, with the socket and the algorithm as they are after it.
#[derive(Clone, Copy, Debug)]
pub struct AckReport {
    /// The input of the congestion control.
    pub sample: RateSample,
    /// The state of loss recovery before it.
    pub prior_state: CaState,
    /// Packets in flight, the next byte to be sent and segments sent again, all after the ACK and before it let anything
    /// out.
    pub in_flight: u32,
    /// See [`in_flight`](AckReport::in_flight).
    pub snd_nxt: u64,
    /// See [`in_flight`](AckReport::in_flight).
    pub segments_retransmitted: u64,
}

impl Sender {
    /// A segment of the peer arrives. `Some`: it was an ACK of data, and this is what it did.
    pub fn on_segment(&mut self, segment: &Segment, now: Time, out: &mut Vec<Segment>) -> Option<AckReport> {
        self.at(now);
        if segment.flags.syn {
            self.ts_recent = segment.ts_val;
            self.on_syn_ack(segment, out);
            return None;
        }
        if matches!(self.phase, Phase::Closed | Phase::SynSent) {
            return None;
        }
        if self.is_outdated(segment) {
            return None;
        }
        let report = if self.phase == Phase::Established { self.acknowledge(segment, out) } else { None };
        // RFC 7323 section 4.3.
        if segment.seq <= 1 {
            self.ts_recent = self.ts_recent.max(segment.ts_val);
        }
        if segment.flags.fin {
            self.phase = Phase::Finished;
            self.send_ack(out);
            self.timers.clear();
        } else if self.phase == Phase::Established {
            self.push(out);
            self.arm_window_probe();
            self.check_space();
            self.run_application(out);
        }
        report
    }

    /// A newer ACK has overtaken it, so PAWS refuses it (RFC 7323 section 5), unless it only repeats what is acknowledged
    /// and is no older than a timeout (`tcp_disordered_ack`).
    fn is_outdated(&self, segment: &Segment) -> bool {
        let age_ms = self.ts_recent.saturating_sub(segment.ts_val);
        let repeats = segment.ack == self.snd_una
            && !segment.flags.fin
            && segment.ack + u64::from(segment.window) <= self.window_end
            && u64::from(age_ms) * 1000 <= self.rto_us();
        age_ms > PAWS_WINDOW && !repeats
    }

    fn acknowledge(&mut self, segment: &Segment, out: &mut Vec<Segment>) -> Option<AckReport> {
        if segment.ack > self.snd_nxt {
            return None;
        }
        let prior_state = self.sk.ca_state;
        self.counters.acks += 1;
        self.ts_ecr = segment.ts_ecr;
        let mut ack = self.begin(segment);
        if segment.ack < self.snd_una {
            self.on_old_ack(segment, &mut ack, out);
            return None;
        }
        self.take_window(segment, &mut ack);
        if segment.sacks > 0 {
            self.take_sacks(segment, &mut ack);
        }
        ack.is_ece = segment.flags.ece && self.sk.ecn_flags.ok;
        ack.rs.is_ece = ack.is_ece;
        self.count_delivered_ce(ack.prior_delivered, ack.is_ece);
        if self.sk.packets_out == 0 {
            self.cc.in_ack_event(&mut self.sk, ack_events(&ack, segment));
            self.on_ack_of_nothing(segment, &ack);
            return None;
        }
        let sacked = self.sk.delivered;
        self.clean_up(&mut ack);
        self.sample_train(&mut ack);
        self.count_delivered_ce(sacked, ack.is_ece);
        self.rack.adapt(&self.sk, &ack.rs);
        self.cc.in_ack_event(&mut self.sk, ack_events(&ack, segment));
        self.finish_probe(segment.ack, &ack);
        let resend = if self.is_dubious(&ack) { self.alert(&mut ack) } else { Resend::Nothing };
        if ack.restarts_timer {
            self.restart_timer();
        }
        ack.rs.acked_sacked = self.sk.delivered.wrapping_sub(ack.prior_delivered);
        ack.rs.losses = self.sk.lost.wrapping_sub(ack.prior_lost) as i32;
        self.complete_sample(&mut ack.rs);
        self.control(&ack);
        let report = AckReport {
            sample: ack.rs,
            prior_state,
            in_flight: self.sk.packets_in_flight(),
            snd_nxt: self.snd_nxt,
            segments_retransmitted: self.counters.segments_retransmitted,
        };
        self.resend(resend, out);
        Some(report)
    }

    fn begin(&mut self, segment: &Segment) -> Ack {
        let rs = RateSample {
            rtt_us: -1,
            prior_in_flight: self.sk.packets_in_flight(),
            is_acking_tlp_retrans_seq: self.probe.is_answered_by(segment.ack),
            ..RateSample::default()
        };
        Ack {
            prior_una: self.snd_una,
            prior_highest_sack: self.highest_sacked(),
            prior_delivered: self.sk.delivered,
            prior_lost: self.sk.lost,
            is_advancing: segment.ack > self.snd_una,
            acks_data: false,
            acks_retransmitted: false,
            sacks_data: false,
            delivers_original: false,
            has_dsack: false,
            dsacks_probe: false,
            updates_window: false,
            is_ece: false,
            loses_retransmission: false,
            restarts_timer: false,
            reordered_from: u64::MAX,
            sacked_sent_us: None,
            newest_end: 0,
            samples_train: false,
            cut: (0, 0),
            rs,
        }
    }

    /// An ACK that another has overtaken: its SACKs may still be news.
    #[cold]
    fn on_old_ack(&mut self, segment: &Segment, ack: &mut Ack, out: &mut Vec<Segment>) {
        if segment.sacks == 0 {
            return;
        }
        self.take_sacks(segment, ack);
        let resend = self.alert(ack);
        self.resend(resend, out);
    }

    #[cold]
    fn on_ack_of_nothing(&mut self, segment: &Segment, ack: &Ack) {
        if ack.has_dsack {
            self.try_undo_by_dsack();
        }
        self.finish_probe(segment.ack, ack);
        if self.has_unsent() && self.window_allows() {
            self.end_window_probes();
        }
        self.usage.idle(self.now_us(), &mut self.counters);
    }

    fn take_window(&mut self, segment: &Segment, ack: &mut Ack) {
        if ack.is_advancing {
            self.set_una(segment.ack);
            self.timeouts = 0;
        }
        self.buffers.offer(segment.window, u32::from(self.sizes.train), self.sk.mss_cache);
        let end = segment.ack + u64::from(segment.window);
        // News is only an edge that moves without data being acknowledged.
        ack.updates_window = !ack.is_advancing && end > self.window_end;
        if ack.is_advancing || ack.updates_window {
            self.window_end = end;
        }
    }

    fn count_delivered_ce(&mut self, before: u32, is_ece: bool) {
        if is_ece {
            let delivered = self.sk.delivered.wrapping_sub(before);
            self.sk.delivered_ce = self.sk.delivered_ce.wrapping_add(delivered);
        }
    }

    /// Could it be a sign of trouble? If not, recovery needn't look at it.
    fn is_dubious(&self, ack: &Ack) -> bool {
        let is_duplicate = !ack.acks_data && !ack.updates_window;
        is_duplicate || ack.sacks_data || ack.is_ece || ack.has_dsack || self.sk.ca_state != CaState::Open
    }

    /// Window and pacing rate: by the algorithm alone, by PRR in a reduction, or by the algorithm's growth.
    fn control(&mut self, ack: &Ack) {
        if self.has_cong_control {
            return self.cc.cong_control(&mut self.sk, &ack.rs);
        }
        if self.is_reducing() {
            self.reduce_window(ack.rs.acked_sacked, ack.rs.losses, ack.is_advancing);
        } else if self.may_grow(ack) {
            let una = self.sk.snd_una;
            self.cc.cong_avoid(&mut self.sk, una, ack.rs.acked_sacked);
            self.usage.grew(self.now_us());
        }
        self.update_pacing_rate();
    }

    /// If much reordering is usual, any delivery is progress (RFC 5681 knows only cumulative ACKs).
    fn may_grow(&self, ack: &Ack) -> bool {
        ack.acks_data || (ack.sacks_data && self.reordering > self.settings.reordering)
    }
}

fn ack_events(ack: &Ack, segment: &Segment) -> u32 {
    let is_expected = ack.is_advancing && segment.sacks == 0 && !ack.is_ece;
    let mut flags = if is_expected { 0 } else { ack_event::SLOWPATH };
    if ack.updates_window || is_expected {
        flags |= ack_event::WIN_UPDATE;
    }
    if ack.is_ece {
        flags |= ack_event::ECE;
    }
    flags
}

#[cfg(test)]
mod tests {
    use units::Duration;

    use super::*;
    use crate::segment::Flags;
    use crate::tcp::Settings;

    const MSS: u64 = 1448;
    /// The timestamp of the newest ACK.
    const NEWEST: u32 = 50_000;

    /// An ACK up to a packet. All offer what ends at the same byte.
    fn acknowledging(packet: u64, ts_val: u32) -> Segment {
        let window = ((40 - packet) * MSS) as u32;
        Segment { seq: 1, ack: 1 + packet * MSS, window, ts_val, ts_ecr: 1041, is_reply: true, ..Segment::default() }
    }

    /// Ten segments, of which the newest ACK has acknowledged three, and another ACK: what does that change?
    fn after(ack: u64, age_ms: u32, sacked: u64) -> (u64, u32) {
        let (mut now, mut out) = (Time(1_000_000_000), Vec::new());
        let mut sender = Sender::new(Settings::default(), cc::create("reno").unwrap(), 1, false);
        sender.connect(now, &mut out);
        now += Duration::from_millis(40);
        let answer = Segment { ack: 1, window: 1 << 16, ts_val: 1, ts_ecr: 1001, is_reply: true, ..Segment::default() };
        sender.on_segment(&Segment { flags: Flags { syn: true, ..Flags::default() }, ..answer }, now, &mut out);
        sender.write(10 * MSS, now, &mut out);
        now += Duration::from_millis(40);
        sender.on_segment(&acknowledging(3, NEWEST), now, &mut out);
        let mut second = acknowledging(ack, NEWEST - age_ms);
        if sacked > 0 {
            second.push_sack((1 + (sacked - 1) * MSS, 1 + sacked * MSS));
        }
        sender.on_segment(&second, now, &mut out);
        ((sender.snd_una() - 1) / MSS, sender.socket().sacked_out)
    }

    #[test]
    fn an_outdated_ack_is_refused_unless_it_repeats_what_is_known() {
        let rto_ms = 240;
        assert_eq!([0, 1, 2].map(|age_ms| after(5, age_ms, 0).0), [5, 5, 3], "what it acknowledges");
        let repeating = [0, 1, 2, rto_ms, rto_ms + 10].map(|age_ms| after(3, age_ms, 7).1);
        assert_eq!(repeating, [1, 1, 1, 1, 0], "what its SACK says");
    }
}
