//! A stack that does anything that a stack may do, in any order.

use cc::{AckSample, CaEvent, CaState, CongestionControl, LostPacket, RateSample, Socket, ack_event};
use proptest::prelude::*;

/// The events of a connection.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Time passes, us.
    Wait(u32),
    Send(u8),
    /// `acked` of the packets in flight are ACKed and `lost` are marked lost, `marked` are CE.
    Ack {
        acked: u8,
        lost: u8,
        marked: u8,
        rtt: i32,
        interval: i32,
        is_app_limited: bool,
        tx_in_flight: u16,
    },
    Event(CaEvent),
    State(CaState),
    Undo,
    TimeOut,
    /// The application has nothing to send.
    AppLimited,
    Clamp(u16),
    MaxPacingRate(u32),
}

const EVENTS: [CaEvent; 7] = [
    CaEvent::TxStart,
    CaEvent::CwndRestart,
    CaEvent::CompleteCwr,
    CaEvent::Loss,
    CaEvent::EcnNoCe,
    CaEvent::EcnIsCe,
    CaEvent::TlpRecovery,
];

const STATES: [CaState; 5] = [CaState::Open, CaState::Disorder, CaState::Cwr, CaState::Recovery, CaState::Loss];

pub fn operation() -> impl Strategy<Value = Operation> {
    let ack = (any::<u8>(), 0..20u8, any::<u8>(), -1..200_000i32, -1..200_000i32, any::<bool>(), any::<u16>())
        .prop_map(|(acked, lost, marked, rtt, interval, is_app_limited, tx_in_flight)| Operation::Ack {
            acked,
            lost,
            marked,
            rtt,
            interval,
            is_app_limited,
            tx_in_flight,
        });
    prop_oneof![
        4 => (0..2_000_000u32).prop_map(Operation::Wait),
        4 => any::<u8>().prop_map(Operation::Send),
        12 => ack,
        1 => prop::sample::select(&EVENTS[..]).prop_map(Operation::Event),
        2 => prop::sample::select(&STATES[..]).prop_map(Operation::State),
        1 => Just(Operation::Undo),
        1 => Just(Operation::TimeOut),
        1 => Just(Operation::AppLimited),
        1 => (2..u16::MAX).prop_map(Operation::Clamp),
        1 => (1_000..u32::MAX).prop_map(Operation::MaxPacingRate),
    ]
}

/// A stack that obeys the algorithm, and keeps its counts consistent.
pub struct Model {
    pub cc: Box<dyn CongestionControl>,
    pub sk: Socket,
    pub columns: Vec<&'static str>,
}

impl Model {
    /// `offset` of all counts that wrap, so that they do.
    pub fn new(mut cc: Box<dyn CongestionControl>, offset: u32) -> Model {
        let mut sk = Socket::new(1448, 7);
        (sk.delivered, sk.lost, sk.snd_una, sk.snd_nxt) = (offset, offset, offset, offset);
        sk.ecn_flags.ok = true;
        sk.ecn_flags.low = true;
        cc.init(&mut sk);
        let columns = columns(&*cc);
        Model { cc, sk, columns }
    }

    pub fn apply(&mut self, operation: &Operation) {
        let sk = &mut self.sk;
        match *operation {
            Operation::Wait(us) => {
                sk.tcp_mstamp += u64::from(us);
                sk.tcp_clock_cache = sk.tcp_mstamp * 1000;
            }
            Operation::Send(packets) => {
                let room = sk.snd_cwnd.saturating_sub(sk.packets_in_flight());
                let packets = u32::from(packets).min(room);
                sk.packets_out += packets;
                sk.snd_nxt = sk.snd_nxt.wrapping_add(packets * 1448);
                sk.is_cwnd_limited = packets == room;
                sk.max_packets_out = sk.packets_out;
                sk.lsndtime = sk.tcp_mstamp;
                sk.tcp_wstamp_ns = sk.tcp_clock_cache + u64::from(packets) * 100_000;
            }
            Operation::Ack { .. } => self.ack(operation),
            Operation::Event(event) => self.cc.cwnd_event(sk, event),
            Operation::State(state) => self.enter(state),
            Operation::Undo => {
                sk.snd_cwnd = self.cc.undo_cwnd(sk).max(1);
                self.enter(CaState::Open);
            }
            Operation::TimeOut => {
                self.reduce();
                self.cc.cwnd_event(&mut self.sk, CaEvent::Loss);
                let lost = self.sk.packets_out;
                self.lose(lost);
                self.sk.snd_cwnd = 1;
                self.change_state(CaState::Loss);
            }
            Operation::AppLimited => sk.app_limited = sk.delivered.wrapping_add(sk.packets_in_flight()).max(1),
            Operation::Clamp(clamp) => sk.snd_cwnd_clamp = u32::from(clamp),
            Operation::MaxPacingRate(rate) => sk.sk_max_pacing_rate = u64::from(rate),
        }
    }

    fn enter(&mut self, state: CaState) {
        let (is_reduced, was_reduced) = (state >= CaState::Cwr, self.sk.ca_state >= CaState::Cwr);
        if is_reduced && !was_reduced {
            self.reduce();
            if !self.cc.has_cong_control() {
                self.sk.snd_cwnd = self.sk.snd_cwnd.min(self.sk.snd_ssthresh);
            }
        }
        self.change_state(state);
    }

    fn reduce(&mut self) {
        self.sk.prior_cwnd = self.sk.snd_cwnd;
        self.sk.snd_ssthresh = self.cc.ssthresh(&mut self.sk);
        assert!(self.sk.snd_ssthresh >= 2, "ssthresh {}", self.sk.snd_ssthresh);
    }

    fn change_state(&mut self, state: CaState) {
        self.cc.set_state(&mut self.sk, state);
        self.sk.ca_state = state;
    }

    fn lose(&mut self, packets: u32) {
        for _ in 0..packets {
            self.sk.lost = self.sk.lost.wrapping_add(1);
            self.sk.packets_out -= 1;
            let packet = LostPacket {
                tx_in_flight: self.sk.packets_out,
                tx_lost: self.sk.lost.wrapping_sub(packets),
                segments: 1,
                ..LostPacket::default()
            };
            self.cc.skb_marked_lost(&mut self.sk, &packet);
        }
    }

    fn ack(&mut self, operation: &Operation) {
        let &Operation::Ack { acked, lost, marked, rtt, interval, is_app_limited, tx_in_flight } = operation else {
            return;
        };
        let (prior_in_flight, before) = (self.sk.packets_out, self.sk.snd_cwnd);
        let acked = u32::from(acked).min(prior_in_flight);
        let marked = u32::from(marked).min(acked);
        let sk = &mut self.sk;
        sk.packets_out -= acked;
        sk.delivered = sk.delivered.wrapping_add(acked);
        sk.delivered_ce += marked;
        sk.delivered_mstamp = sk.tcp_mstamp;
        sk.snd_una = sk.snd_una.wrapping_add(acked * 1448);
        if rtt > 0 {
            (sk.srtt_us, sk.min_rtt_us) = (rtt as u32 * 8, sk.min_rtt_us.min(rtt as u32));
        }
        let sample = AckSample { pkts_acked: acked, rtt_us: rtt, in_flight: 0 };
        self.cc.pkts_acked(sk, &sample);
        self.cc.in_ack_event(sk, if marked > 0 { ack_event::ECE } else { 0 });
        let lost = u32::from(lost).min(self.sk.packets_out);
        self.lose(lost);
        let sk = &mut self.sk;
        if self.cc.has_cong_control() {
            let rs = RateSample {
                prior_delivered: sk.delivered.wrapping_sub(acked * 2),
                delivered: if interval > 0 { acked as i32 * 2 } else { -1 },
                delivered_ce: marked as i32,
                interval_us: i64::from(interval),
                rtt_us: i64::from(rtt),
                losses: lost as i32,
                acked_sacked: acked,
                prior_in_flight,
                is_app_limited,
                tx_in_flight: u32::from(tx_in_flight),
                lost: lost as i32,
                is_ece: marked > 0,
                ..RateSample::default()
            };
            let rate = sk.sk_pacing_rate;
            self.cc.cong_control(sk, &rs);
            // Start-up doesn't lower a rate that was there.
            assert!(sk.sk_pacing_rate > 0 && sk.sk_pacing_rate <= sk.sk_max_pacing_rate.max(rate));
        } else if sk.ca_state <= CaState::Disorder {
            let una = sk.snd_una;
            self.cc.cong_avoid(sk, una, acked);
        }
        let floor = if self.cc.name().starts_with("bbr") && self.cc.name() != "bbr" && acked > 0 { 4 } else { 1 };
        let cwnd = self.sk.snd_cwnd;
        assert!(cwnd >= floor.min(self.sk.snd_cwnd_clamp), "a window of {cwnd} after an ACK");
        assert!(cwnd <= self.sk.snd_cwnd_clamp.max(before), "a window of {cwnd} above its clamp");
    }
}

pub fn columns(cc: &dyn CongestionControl) -> Vec<&'static str> {
    let mut names = Vec::new();
    cc.publish(&mut |column| names.push(column.name));
    names
}
