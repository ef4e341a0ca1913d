//! ECN at the receiver (RFC 3168 section 6.1.3), and as DCTCP wants it (RFC 8257 section 3.2).

use cc::CaEvent;
use link::Ecn as Codepoint;

use super::Receiver;
use crate::segment::Segment;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Negotiated.
    pub is_ok: bool,
    /// ACKs carry ECE.
    pub demands_cwr: bool,
    /// An ECT or CE codepoint was seen.
    has_seen: bool,
}

impl Receiver {
    pub(super) fn init_observer(&mut self) {
        if let Some(observer) = &mut self.observer {
            observer.sk.rcv_nxt = self.rcv_nxt as u32;
            observer.sk.ecn_flags.ok = self.ecn.is_ok;
            observer.cc.init(&mut observer.sk);
        }
    }

    /// The sender has reduced its window.
    pub(super) fn accept_cwr(&mut self, segment: &Segment) {
        if segment.flags.cwr && self.ecn.is_ok {
            self.ecn.demands_cwr = false;
            if let Some(observer) = &mut self.observer {
                observer.sk.ecn_flags.demand_cwr = false;
            }
            // It may be down to a packet or two: don't let it wait.
            self.acks.is_immediate |= segment.len > 0;
        }
    }

    /// Data came with this codepoint.
    #[inline]
    pub(super) fn see_codepoint(&mut self, codepoint: Codepoint, out: &mut Vec<Segment>) {
        if self.ecn.is_ok {
            self.take_codepoint(codepoint, out);
        }
    }

    #[cold]
    fn take_codepoint(&mut self, codepoint: Codepoint, out: &mut Vec<Segment>) {
        match codepoint {
            // After ECT: probably a retransmission, so the sender waits for its ACK.
            Codepoint::NotEct if self.ecn.has_seen => self.acks.be_quick(self.quickacks(2)),
            Codepoint::NotEct => {}
            Codepoint::Ce => {
                self.tell_observer(CaEvent::EcnIsCe, out);
                if !self.ecn.demands_cwr {
                    self.acks.be_quick(self.quickacks(2));
                    self.ecn.demands_cwr = true;
                }
                self.ecn.has_seen = true;
            }
            Codepoint::Ect0 | Codepoint::Ect1 => {
                self.tell_observer(CaEvent::EcnNoCe, out);
                self.ecn.has_seen = true;
            }
        }
    }

    fn tell_observer(&mut self, event: CaEvent, out: &mut Vec<Segment>) {
        let Some(observer) = &mut self.observer else { return };
        observer.sk.rcv_nxt = self.rcv_nxt as u32;
        observer.sk.is_ack_pending = self.acks.is_delayed();
        observer.sk.ecn_flags.demand_cwr = self.ecn.demands_cwr;
        observer.cc.cwnd_event(&mut observer.sk, event);
        let demands_cwr = observer.sk.ecn_flags.demand_cwr;
        // The first packet that is marked, or no longer is, is acknowledged at once.
        self.acks.is_immediate |= demands_cwr != self.ecn.demands_cwr;
        if let Some(ack) = observer.sk.immediate_ack.take() {
            let behind = (self.rcv_nxt as u32).wrapping_sub(ack.rcv_nxt);
            self.ecn.demands_cwr = ack.ece;
            self.send_ack_of(self.rcv_nxt - u64::from(behind), out);
        }
        self.ecn.demands_cwr = demands_cwr;
    }
}
