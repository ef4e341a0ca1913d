use crate::{ImmediateAck, Socket};

/// The receiver's half of ECN with marks that count (RFC 8257 section 3.2): each mark is echoed, not one per round trip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CeEcho {
    /// The last data that came was CE-marked, and what was expected next before it came.
    pub is_ce: bool,
    prior_rcv_nxt: u32,
}

impl CeEcho {
    pub(crate) fn begin(sk: &Socket) -> CeEcho {
        CeEcho { is_ce: false, prior_rcv_nxt: sk.rcv_nxt }
    }

    /// Data came, marked or not. If that changes, the data before it is acknowledged at once and with the old echo: the
    /// sender can count marked packets in spite of delayed ACKs.
    pub(crate) fn receive(&mut self, sk: &mut Socket, is_ce: bool) {
        if self.is_ce != is_ce && sk.is_ack_pending {
            sk.immediate_ack = Some(ImmediateAck { rcv_nxt: self.prior_rcv_nxt, ece: self.is_ce });
        }
        self.prior_rcv_nxt = sk.rcv_nxt;
        self.is_ce = is_ce;
        sk.ecn_flags.demand_cwr = is_ce;
    }
}
