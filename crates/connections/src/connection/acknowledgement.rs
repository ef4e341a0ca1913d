//! Acknowledgements and SACK blocks.

use capture::{Flags, Segment};

use super::{Connection, FAR};
use crate::table::Sink;

impl Connection {
    pub(super) fn acknowledge(&mut self, segment: &Segment, by: usize, interval_ns: i64, sink: &mut impl Sink) {
        let now = segment.time_ns;
        let of = 1 - by;
        let (shift, is_known) = self.shift_of(segment, by);
        let window = u64::from(segment.window) << shift;
        let was_window = u64::from(self.halves[by].window) << shift;
        self.halves[by].count_window(segment, window);
        let mss = self.mss(of);
        let scope = self.scope(of, now, interval_ns);
        let sender = &mut self.halves[of];
        let mut una = sender.sequence.place(segment.ack);
        // An ACK far beyond everything is nonsense, or another connection's.
        if sender.is_acked && una > sender.nxt.max(sender.una) + FAR {
            return;
        }
        if let Some(end) = sender.fin_end
            && una > end
        {
            sender.fin_acked = true;
            una = end;
        }
        // Before the first data was seen, this is where they begin.
        let first = !sender.is_acked;
        sender.is_acked = true;
        if first && sender.syn_seq.is_none() && self.streams[of].is_none() {
            (sender.una, sender.nxt) = (una, sender.nxt.max(una));
            sender.sequence.reached(una);
            return;
        }
        let (before, nxt) = (sender.una, sender.nxt);
        let advances = una > before;
        if advances {
            sender.una = una;
            sender.nxt = sender.nxt.max(una);
            sender.sequence.reached(una);
        }
        let nxt_now = sender.nxt;
        let Some(stream) = &mut self.streams[of] else {
            // Data that were never seen.
            return;
        };
        if stream_needs_nothing(advances, segment) && una < before {
            return;
        }
        stream.acknowledged(segment, una.max(before), before, &scope, sink);
        if is_known {
            stream.window(window, una.max(before));
        }
        stream.zero_window(segment.window == 0 && !segment.flags.has(Flags::SYN), now);
        let mut has_news = false;
        if segment.sack_count > 0 {
            let mut blocks = [(0, 0); 4];
            let mut count = 0;
            let sequence = &mut self.halves[of].sequence;
            let places: Vec4 = places(segment, |number| sequence.place(number));
            let una_now = una.max(before);
            for (index, &(start, end)) in places.iter().enumerate() {
                if start >= end {
                    continue;
                }
                let is_duplicate =
                    index == 0 && (end <= una_now || (places.len() > 1 && places[1].0 <= start && end <= places[1].1));
                if is_duplicate {
                    self.halves[by].counters.dsack_packets += 1;
                    stream.duplicate_sacked(start, end);
                } else if start >= una_now && start < nxt_now {
                    blocks[count] = (start, end.min(nxt_now));
                    count += 1;
                }
            }
            has_news = stream.sacked(&blocks[..count], &scope, sink);
        }
        // RFC 5681: the same acknowledgement and window, no data, while data are outstanding. With SACK, news count.
        let is_bare = segment.payload == 0 && segment.flags.0 & (Flags::SYN.0 | Flags::FIN.0) == 0;
        if !advances && una == before && is_bare && nxt > una && (window == was_window || has_news) {
            stream.duplicate_acks += 1;
            self.halves[by].counters.duplicate_acks += 1;
        }
        let scope = self.scope(of, now, interval_ns);
        let una = self.halves[of].una;
        if let Some(stream) = &mut self.streams[of] {
            stream.settle(nxt_now, una, mss, &scope);
        }
    }
}

fn stream_needs_nothing(advances: bool, segment: &Segment) -> bool {
    !advances && segment.sack_count == 0
}

/// Places of up to four SACK blocks.
struct Vec4([(i64, i64); 4], usize);

impl std::ops::Deref for Vec4 {
    type Target = [(i64, i64)];
    fn deref(&self) -> &[(i64, i64)] {
        &self.0[..self.1]
    }
}

fn places(segment: &Segment, mut place: impl FnMut(u32) -> i64) -> Vec4 {
    let mut found = Vec4([(0, 0); 4], segment.sack_blocks().len());
    for (to, &(start, end)) in found.0.iter_mut().zip(segment.sack_blocks()) {
        *to = (place(start), place(end));
    }
    found
}
