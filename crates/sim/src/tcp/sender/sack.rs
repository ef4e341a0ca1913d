//! The SACK scoreboard (RFC 2018, RFC 2883, RFC 6675 section 4): what has arrived out of order.

use super::Sender;
use super::ack::Ack;
use crate::segment::{MAX_SACKS, Segment};

impl Sender {
    /// Behind the last segment that is SACKed.
    pub(super) fn highest_sacked(&self) -> u64 {
        if self.sk.sacked_out > 0 { self.highest_sack.max(self.snd_una) } else { self.snd_una }
    }

    /// Mark what an ACK's SACK blocks tell.
    pub(super) fn take_sacks(&mut self, segment: &Segment, ack: &mut Ack) {
        let mut blocks = [(0, 0); MAX_SACKS];
        let mut count = 0;
        for (n, block) in segment.sack_blocks().enumerate() {
            let (begin, end) = block;
            let is_duplicate = n == 0 && is_dsack(segment);
            if begin >= end || end > self.snd_nxt {
                continue;
            }
            if is_duplicate {
                self.take_dsack(block, ack);
            } else if begin >= self.snd_una {
                blocks[count] = block;
                count += 1;
            }
        }
        let blocks = &mut blocks[..count];
        blocks.sort_unstable();
        if self.sk.sacked_out == 0 {
            self.highest_sack = self.snd_una;
        }
        for &(begin, end) in blocks.iter() {
            self.mark_sacked(begin, end, ack);
        }
        self.sacked_before = [(0, 0); MAX_SACKS];
        self.sacked_before[..count].copy_from_slice(blocks);
        self.check_reordering(ack.reordered_from);
    }

    /// Something arrived that had arrived before (RFC 2883 section 4).
    #[cold]
    fn take_dsack(&mut self, (begin, end): (u64, u64), ack: &mut Ack) {
        let segments = (end - begin).div_ceil(u64::from(self.sk.mss_cache)).max(1);
        self.counters.duplicates += segments;
        // More than was ever sent again: the network duplicates, and nothing follows from it.
        if self.counters.duplicates > self.counters.segments_retransmitted {
            return;
        }
        ack.has_dsack = true;
        if self.probe.is_retransmission_below(end) {
            ack.dsacks_probe = true;
        } else if self.reordering_seen > 0 {
            self.rack.see_dsack();
        }
        self.sk.delivered = self.sk.delivered.wrapping_add(segments as u32);
        self.undo.take_dsack(end, segments as u32);
        let mut index = self.board.index_of(begin.max(self.snd_una));
        while index < self.board.len() && self.board.get(index).end() <= end && end > self.snd_una {
            let sent = self.board.get_mut(index);
            if sent.is_sacked && sent.was_retransmitted {
                ack.reordered_from = ack.reordered_from.min(sent.seq);
            }
            if std::mem::take(&mut sent.is_retransmitting) {
                self.sk.retrans_out -= 1;
            }
            index += 1;
        }
    }

    /// All segments from `begin` to `end` have arrived. Segments that the last SACK covered are marked already, and
    /// passed over.
    fn mark_sacked(&mut self, begin: u64, end: u64, ack: &mut Ack) {
        let mut next = self.behind_known(begin);
        if next >= end {
            return;
        }
        let mut index = self.board.index_of(next);
        let mut known_from = 0;
        while index < self.board.len() {
            let sent = self.board.get(index);
            let (seq, sent_end) = (sent.seq, sent.end());
            if seq >= known_from {
                let known;
                (known, known_from) = self.known_around(seq);
                if known > seq {
                    if known >= end {
                        return;
                    }
                    index = self.board.index_of(known);
                    continue;
                }
            }
            if sent_end > end {
                return;
            }
            if seq >= next && !sent.is_sacked {
                self.mark_segment_sacked(index, ack);
            }
            next = sent_end;
            index += 1;
        }
    }

    /// End of the last SACK's block that contains `seq`; `seq` itself if none does.
    fn behind_known(&self, seq: u64) -> u64 {
        self.sacked_before.iter().find(|known| known.0 <= seq && seq < known.1).map_or(seq, |known| known.1)
    }

    /// End of the last SACK's block that contains `seq`; `seq` itself if none does, and then none contains anything from `seq` to the
    /// second number. Asked for once or twice per ACK: it must not burden the loop over segments.
    #[inline(never)]
    fn known_around(&self, seq: u64) -> (u64, u64) {
        let ahead = self.sacked_before.iter().filter(|known| seq < known.1);
        (self.behind_known(seq), ahead.map(|known| known.0).min().unwrap_or(u64::MAX))
    }

    fn mark_segment_sacked(&mut self, index: usize, ack: &mut Ack) {
        let highest = self.highest_sacked();
        let mut sent = *self.board.get(index);
        self.rack_advance(&sent);
        if sent.is_retransmitting {
            // If it isn't marked lost, the other copy is believed to be still under way.
            if sent.is_lost {
                (sent.is_lost, sent.is_retransmitting) = (false, false);
                self.sk.lost_out -= 1;
                self.sk.retrans_out -= 1;
            }
        } else {
            if !sent.was_retransmitted {
                if sent.seq < highest {
                    ack.reordered_from = ack.reordered_from.min(sent.seq);
                }
                ack.delivers_original |= sent.end() <= self.high_seq;
                let first = ack.sacked_sent_us.map_or(sent.sent_us, |(first, _)| first);
                ack.sacked_sent_us = Some((first, sent.sent_us));
            }
            if sent.is_lost {
                sent.is_lost = false;
                self.sk.lost_out -= 1;
            }
        }
        sent.is_sacked = true;
        ack.sacks_data = true;
        self.sk.sacked_out += 1;
        self.sk.delivered = self.sk.delivered.wrapping_add(1);
        self.highest_sack = self.highest_sack.max(sent.end());
        let goes_on = index > 0 && self.board.get(index - 1).is_sacked;
        let is_cut = !goes_on || ack.cut == (sent.seq, sent.sent_us);
        if is_cut {
            ack.cut = (sent.end(), sent.sent_us);
        }
        self.sample_delivery(&sent, is_cut, ack);
        sent.delivered_us = 0;
        self.board.replace(index, sent);
        self.board.settle(index);
    }

    /// Something below the highest SACK came late, from `seq` on: that far segments may overtake others.
    pub(super) fn check_reordering(&mut self, seq: u64) {
        let highest = self.highest_sacked();
        if seq >= highest {
            return;
        }
        let distance = (highest - seq).div_ceil(u64::from(self.sk.mss_cache));
        if distance > u64::from(self.reordering) {
            self.reordering = (distance.min(u64::from(self.settings.max_reordering))) as u32;
        }
        self.reordering_seen += 1;
    }
}

/// True if the first block is a D-SACK (RFC 2883 section 4: below the ACK, or a part of the second block).
fn is_dsack(segment: &Segment) -> bool {
    let mut blocks = segment.sack_blocks();
    let Some((begin, end)) = blocks.next() else { return false };
    begin < segment.ack || blocks.next().is_some_and(|second| second.0 <= begin && end <= second.1)
}
