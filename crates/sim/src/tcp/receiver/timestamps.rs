//! Timestamps at the receiver: the one to echo, and those that are too old (RFC 7323 sections 4.3 and 5, PAWS).

use super::{Receiver, acks};
use crate::segment::Segment;

/// Timestamps may go back by this without a segment being refused, ms: `TCP_PAWS_WINDOW`.
pub(crate) const PAWS_WINDOW: u32 = 1;

impl Receiver {
    /// Returns true for data that the receiver doesn't look into (RFC 9293 section 3.10.7.4): what an ACK told of as
    /// received, or what PAWS takes for data of an earlier wrap of sequence numbers, since a newer segment in order was
    /// sent later. A path that reorders makes such segments as soon as a retransmission overtakes what was sent before
    /// it.
    pub(super) fn is_refused(&self, segment: &Segment) -> bool {
        let has_data = segment.len > 0 || segment.flags.fin;
        has_data && (segment.end() < self.rcv_wup || self.ts_recent > segment.ts_val + PAWS_WINDOW)
    }

    /// A refused segment is not taken, and the sender is told at once what is expected (`tcp_send_dupack`).
    #[cold]
    pub(super) fn refuse(&mut self, segment: &Segment, out: &mut Vec<Segment>) {
        if segment.seq < self.rcv_nxt {
            self.acks.duplicate((segment.seq, segment.end().min(self.rcv_nxt)));
            self.acks.be_quick(self.quickacks(acks::MAX_QUICKACKS));
        }
        self.send_ack(out);
    }

    /// RFC 7323 section 4.3: not the timestamp of what comes behind a hole.
    pub(super) fn take_timestamp(&mut self, segment: &Segment) {
        let is_next = segment.seq <= self.rcv_wup && self.rcv_wup <= segment.end();
        if is_next && segment.ts_val > self.ts_recent {
            self.ts_recent = segment.ts_val;
        }
    }
}
