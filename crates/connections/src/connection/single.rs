//! Single packets as rows.

use capture::{Flags, Segment};

use super::{Connection, direction};
use crate::rows::{SackRow, SegmentRow};
use crate::table::Sink;

/// The ECN field of a packet that was marked.
const CE: u8 = 3;

impl Connection {
    pub(super) fn events_so_far(&self, by: usize) -> u64 {
        self.streams[by].as_ref().map_or(0, |stream| stream.events_so_far())
    }

    /// Give the row of a segment that was counted, and those of its SACK blocks. `before`: events of its direction then.
    pub(super) fn single(&self, segment: &Segment, by: usize, before: u64, sink: &mut impl Sink) {
        let of = 1 - by;
        let (half, other) = (&self.halves[by], &self.halves[of]);
        let is_syn = segment.flags.has(Flags::SYN);
        let has_ack = segment.flags.has(Flags::ACK) && other.sequence.is_known();
        // Places are near what was seen: a copy keeps the numbering as it is.
        let (mut own, mut others) = (half.sequence, other.sequence);
        let first = segment.seq.wrapping_add(u32::from(is_syn));
        let ack = has_ack.then(|| others.place(segment.ack));
        let (shift, is_known) = self.shift_of(segment, by);
        let window_end = |ack: i64| ack + (i64::from(segment.window) << shift);
        let stream = self.streams[by].as_deref();
        let event = stream
            .filter(|stream| stream.events_so_far() > before)
            .and_then(|stream| stream.last_event())
            .filter(|event| event.time_ns == segment.time_ns);
        let told_of = if segment.payload > 0 { by } else { of };
        let sender = &self.halves[told_of];
        let in_flight = self.streams[told_of].as_deref().filter(|_| sender.is_acked);
        let number = self.number;
        sink.segment(SegmentRow {
            connection: number,
            direction: direction(by, self.client),
            time_ns: segment.time_ns,
            seq: if half.sequence.is_known() { own.place(first) } else { 0 },
            bytes: segment.payload,
            ack,
            window_end: ack.filter(|_| is_known && !segment.flags.has(Flags::RST)).map(window_end),
            flags: segment.flags,
            ce: segment.ecn == CE,
            class: event.map(|event| event.class),
            cause: event.and_then(|event| event.cause),
            in_flight_bytes: in_flight.map(|stream| stream.in_flight_bytes(sender.nxt, sender.una)),
            tsval: segment.timestamps.map(|(value, _)| value),
            tsecr: segment.timestamps.map(|(_, echo)| echo),
            sack_blocks: segment.sack_count,
            ip_id: segment.ip_id,
        });
        if !has_ack {
            return;
        }
        for (block, &(start, end)) in (1..).zip(segment.sack_blocks()) {
            sink.sack(SackRow {
                connection: number,
                direction: direction(of, self.client),
                time_ns: segment.time_ns,
                start: others.place(start),
                end: others.place(end),
                block,
            });
        }
    }
}
