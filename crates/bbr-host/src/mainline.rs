use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use cc::bbr::Parameters;
use cc::{CaEvent, CaState, Column, CongestionControl, LostPacket, RateSample, Socket};

use crate::Core;
use crate::ffi::{Ack, Sample, SkBuff, SkbCb, Tx};

const TCPCB_LOST: u8 = 4;

/// The C core with the information of a mainline kernel alone, as the BPF programs run it. `bbr/transport.h` finds out
/// the data in flight and lost when a packet was sent, the packet that was lost, and repairs by tail loss probes.
#[derive(Clone, Debug)]
pub struct Mainline {
    core: Core,
    /// The core's estimate for the last ACK.
    ack: Estimate,
    quality: Arc<Quality>,
}

/// The estimate for an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Packets in flight right after the newest packet ACKed was sent; 0: not looked for.
    pub tx_in_flight: u32,
    /// Packets marked lost since.
    pub lost: i32,
    /// True if the ACK covers the sequence of a TLP's retransmission.
    pub is_of_tlp: bool,
    /// True if the ACK carries ECE.
    pub is_ece: bool,
}

/// Notes of TCP about a packet (`struct tcp_skb_cb`).
#[derive(Clone, Copy, Debug)]
pub struct SentPacket {
    /// The sequence number after its last byte.
    pub end_seq: u32,
    /// `delivered` when it was sent.
    pub delivered: u32,
    /// Segments in it.
    pub segments: u16,
    /// True if the packet was sent while the application limited the flow.
    pub is_app_limited: bool,
    /// Fate of the packet: 1 SACKed, 2 sent again, 4 marked lost (`TCPCB_...`).
    pub sacked: u8,
}

/// Estimates of ACKs, compared with the truth.
#[derive(Debug, Default)]
pub struct Quality {
    /// ACKs for which the packets in flight were looked for.
    pub samples: AtomicU64,
    /// The ACKs with the right number of lost packets.
    pub exact: AtomicU64,
    /// The sum of errors, packets.
    pub error: AtomicU64,
    /// ACKs with the wrong number of packets lost since.
    pub lost_wrong: AtomicU64,
}

impl Mainline {
    /// A flow with these parameters.
    pub fn new(parameters: &Parameters) -> Mainline {
        Mainline { core: Core::new(parameters), ack: Estimate::default(), quality: Arc::default() }
    }

    /// Compares the estimates with the rate samples.
    pub fn quality(&self) -> Arc<Quality> {
        self.quality.clone()
    }

    /// The estimate for the last ACK.
    pub fn estimate(&self) -> Estimate {
        self.ack
    }

    /// The state of a tail loss probe: `tlp_high_seq` (0: none is pending) and whether it was a retransmission.
    pub fn set_tlp(&mut self, high_seq: u32, is_retransmission: bool) {
        (self.core.beyond.tlp_high_seq, self.core.beyond.tlp_retrans) = (high_seq, is_retransmission);
    }

    /// `is_reneging`: the receiver has thrown away data that it had SACKed.
    pub fn set_sack_reneg(&mut self, is_reneging: bool) {
        self.core.beyond.is_sack_reneg = is_reneging;
    }

    /// The bytes of `struct bbr`.
    pub fn bytes(&self) -> &[u8] {
        self.core.bytes()
    }

    /// The first of the packets that are lost and not retransmitted yet: a train of `segments`. TCP's hint points at it.
    pub fn set_first_lost(&mut self, end_seq: u32, delivered: u32, segments: u16, is_app_limited: bool) {
        let packet = SentPacket { end_seq, delivered, segments, is_app_limited, sacked: TCPCB_LOST };
        self.set_sent(&[packet], Some(0), None);
    }

    /// Packets that were sent and are not yet ACKed, the oldest first, nine at most; among them the one at TCP's hint, and the
    /// one behind the highest that was SACKed.
    pub fn set_sent(&mut self, packets: &[SentPacket], hint: Option<usize>, above_sacked: Option<usize>) {
        assert!(hint.max(above_sacked).is_none_or(|at| at < packets.len()), "C reads the packets at these places");
        let place = |at: Option<usize>| at.map_or(0, |at| at as u8 + 1);
        for (at, packet) in packets.iter().enumerate() {
            let &SentPacket { end_seq, delivered, segments, is_app_limited, sacked } = packet;
            let cb = SkbCb { end_seq, tcp_gso_segs: segments, sacked, tx: Tx { delivered, is_app_limited } };
            self.core.beyond.sent[at] = SkBuff { cb, is_first: at == 0 };
        }
        self.core.beyond.retransmit_skb_hint = place(hint);
        self.core.beyond.highest_sack = place(above_sacked);
    }

    /// From now on, ACKs and losses belong to a probe.
    pub fn begin_sampling(&mut self, sk: &mut Socket) {
        let begin_sampling = self.core.functions.begin_sampling;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, _| unsafe { begin_sampling(flow) });
    }

    fn take_losses(&mut self, sk: &mut Socket) {
        let take_losses = self.core.functions.take_losses;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, sk| unsafe { take_losses(flow, sk) });
        self.core.beyond.retransmit_skb_hint = 0;
    }

    fn compare(&mut self, rs: &RateSample) {
        if rs.interval_us <= 0 {
            return;
        }
        let Quality { samples, exact, error, lost_wrong } = &*self.quality;
        lost_wrong.fetch_add(u64::from(self.ack.lost != rs.lost), Relaxed);
        if self.ack.tx_in_flight > 0 {
            let off = self.ack.tx_in_flight.abs_diff(rs.tx_in_flight);
            samples.fetch_add(1, Relaxed);
            exact.fetch_add(u64::from(off == 0), Relaxed);
            error.fetch_add(u64::from(off), Relaxed);
        }
    }
}

impl CongestionControl for Mainline {
    fn name(&self) -> &'static str {
        self.core.name()
    }

    fn init(&mut self, sk: &mut Socket) {
        self.core.init(sk);
        let begin_transport = self.core.functions.begin_transport;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, sk| unsafe { begin_transport(flow, sk) });
    }

    fn ssthresh(&mut self, sk: &mut Socket) -> u32 {
        self.core.ssthresh(sk)
    }

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, sk: &mut Socket, rs: &RateSample) {
        let sample = Sample {
            prior_delivered: rs.prior_delivered,
            delivered: rs.delivered,
            delivered_ce: rs.delivered_ce,
            interval_us: rs.interval_us as _,
            rtt_us: rs.rtt_us as _,
            losses: rs.losses,
            acked_sacked: rs.acked_sacked,
            prior_in_flight: rs.prior_in_flight,
            last_end_seq: rs.last_end_seq,
            is_app_limited: rs.is_app_limited,
            is_ack_delayed: rs.is_ack_delayed,
        };
        let mut ack = Ack::default();
        let take_ack = self.core.functions.take_ack;
        // ECE is not passed on, as before Linux 6.10.
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, sk| unsafe { take_ack(flow, sk, &sample, false, &mut ack) });
        self.core.beyond.retransmit_skb_hint = 0;
        let Ack { tx_in_flight, lost, is_of_tlp, is_ece, .. } = ack;
        self.ack = Estimate { tx_in_flight, lost, is_of_tlp, is_ece };
        self.compare(rs);
        let on_ack = self.core.functions.on_ack;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, sk| unsafe { on_ack(flow, sk, &ack) });
    }

    fn set_state(&mut self, sk: &mut Socket, state: CaState) {
        let take_ca_state = self.core.functions.take_ca_state;
        // SAFETY: `call` hands over a flow of the right size and a socket, which live as long as the call.
        self.core.call(sk, |flow, sk| unsafe { take_ca_state(flow, sk, state as u8) });
        self.core.beyond.retransmit_skb_hint = 0;
        self.core.set_state(sk, state);
    }

    fn cwnd_event(&mut self, sk: &mut Socket, event: CaEvent) {
        match event {
            CaEvent::TxStart => self.core.cwnd_event(sk, event),
            CaEvent::Loss => self.take_losses(sk),
            _ => {}
        }
    }

    fn undo_cwnd(&mut self, sk: &mut Socket) -> u32 {
        self.take_losses(sk);
        self.core.undo_cwnd(sk)
    }

    /// Mainline doesn't call this; here it only tells which packet waits for its retransmission.
    fn skb_marked_lost(&mut self, _sk: &mut Socket, packet: &LostPacket) {
        if self.core.beyond.retransmit_skb_hint == 0 {
            self.set_first_lost(packet.end_seq, packet.tx_delivered, packet.segments as u16, packet.is_app_limited);
        }
    }

    fn min_tso_segs(&self, sk: &Socket) -> u32 {
        self.core.min_tso_segs(sk)
    }

    fn sndbuf_expand(&self) -> u32 {
        self.core.sndbuf_expand()
    }

    fn publish(&self, column: &mut dyn FnMut(Column)) {
        self.core.publish(column);
    }
}
