//! The handshake.

use capture::{Flags, Segment};

use super::{Connection, direction};
use crate::rows::{Cause, Class, EventRow};
use crate::table::Sink;

impl Connection {
    pub(super) fn syn(&mut self, segment: &Segment, by: usize, sink: &mut impl Sink) {
        let half = &mut self.halves[by];
        let is_again = half.syn_seq == Some(segment.seq);
        if half.syn_seq.is_none() {
            half.syn_seq = Some(segment.seq);
            half.sequence.begin(segment.seq.wrapping_add(1));
            half.counters.mss_bytes = segment.mss.unwrap_or(0).into();
            half.scale = match segment.window_scale {
                Some(scale) => Some(Some(scale.min(14))),
                None => segment.options_complete.then_some(None),
            };
        }
        let tsval = segment.timestamps.map(|(value, _)| value);
        if segment.flags.has(Flags::ACK) {
            if is_again {
                self.syn_ack_repeats += 1;
            } else {
                self.syn_ack_ns = Some(segment.time_ns);
                let echo = segment.timestamps.map(|(_, echo)| echo);
                // Its echo tells which SYN it answers; without one, an answer to the only SYN is clear.
                let told = self.syns.iter().flatten().find(|syn| syn.1.is_some() && syn.1 == echo);
                let answered = match (told, self.syns) {
                    (Some(told), _) => Some(told.0),
                    (None, [Some(first), None]) => Some(first.0),
                    _ => None,
                };
                self.handshake_server_ns = answered.map(|sent| segment.time_ns - sent).filter(|&ns| ns >= 0);
            }
        } else if self.syns[0].is_none() {
            self.syns[0] = Some((segment.time_ns, tsval));
        } else {
            self.syns[1] = Some((segment.time_ns, tsval));
        }
        if is_again {
            let direction = direction(by, self.client);
            let bare = EventRow::bare(self.number, direction, Class::Repeat, -1, segment.time_ns);
            sink.event(EventRow { cause: Some(Cause::Syn), tsval, ip_id: segment.ip_id, ..bare });
        }
    }

    /// The handshake's third packet.
    pub(super) fn third(&mut self, segment: &Segment, by: usize) {
        if by == self.client
            && self.handshake_client_ns.is_none()
            && self.syn_ack_repeats == 0
            && segment.flags.has(Flags::ACK)
            && let Some(answered) = self.syn_ack_ns.take()
        {
            self.handshake_client_ns = Some(segment.time_ns - answered).filter(|&ns| ns >= 0);
        }
    }
}
