//! Segments that wait for their acknowledgement.

use std::collections::VecDeque;

/// Segments that are remembered at once. Older ones have no RTT and no cause.
const MOST: usize = 1 << 20;
/// Segments that may be moved for one that comes, on average, to make room among them. A capture can be made so that each moves half of
/// them.
const MOST_MOVED: usize = 1 << 12;

/// A segment that was sent and not acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) first_ns: i64,
    pub(crate) last_ns: i64,
    pub(crate) tsval: u32,
    pub(crate) ip_id: u16,
    pub(crate) copies: u16,
    pub(crate) is_sacked: bool,
    pub(crate) is_lost: bool,
    /// Its last copy is deemed under way, besides a copy that is deemed lost.
    pub(crate) is_again: bool,
    /// True if the segment filled a hole: its ACK may acknowledge more.
    pub(crate) is_fill: bool,
}

/// Facts that an ACK carries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// When the last segment that was sent once, and is told of for the first time, was sent, and where it ends.
    pub(crate) clean: Option<(i64, i64)>,
    /// A segment sent twice was acknowledged.
    pub(crate) is_ambiguous: bool,
    /// Bytes told of by SACK for the first time.
    pub(crate) sacked: i64,
}

/// Unacknowledged segments in the order of their bytes.
#[derive(Debug, Default)]
pub(crate) struct Scoreboard {
    ring: VecDeque<Sent>,
    pub(crate) sacked: i64,
    pub(crate) lost: i64,
    pub(crate) again: i64,
    /// End of the highest SACK block.
    pub(crate) sacked_to: i64,
    /// Segments before it have been looked at for losses.
    looked: i64,
    /// When the last delivered segment was sent (RFC 8985).
    delivered_sent: (i64, i64),
    /// The time that it took.
    delivered_rtt_ns: i64,
    /// Segments came in another order than that in which they were sent.
    pub(crate) is_reordered: bool,
    /// Segments that came late.
    pub(crate) late: u64,
    /// Repeats under way: when sent, their first byte, and the one behind their last.
    repeats: VecDeque<(i64, i64, i64)>,
    /// Segments that may still be moved.
    may_move: usize,
    blocks: [(i64, i64); 4],
    pub(crate) hidden: u64,
}

impl Scoreboard {
    /// A segment behind all others.
    pub(crate) fn push(&mut self, sent: Sent) {
        if self.ring.len() == MOST {
            if let Some(gone) = self.ring.pop_front() {
                self.leave(&gone);
            }
            self.hidden += 1;
        }
        self.may_move = self.may_move.saturating_add(MOST_MOVED);
        self.ring.push_back(sent);
    }

    /// A segment among others.
    pub(crate) fn insert(&mut self, sent: Sent) {
        let at = self.ring.partition_point(|one| one.start < sent.start);
        if self.has_room(at) {
            self.ring.insert(at, sent);
        } else {
            self.hidden += 1;
        }
    }

    /// Returns true if a segment may be put at `at`.
    fn has_room(&mut self, at: usize) -> bool {
        let moved = at.min(self.ring.len() - at);
        if self.ring.len() >= MOST || moved > self.may_move {
            return false;
        }
        self.may_move -= moved;
        true
    }

    /// The segment with byte `place`.
    pub(crate) fn at(&self, place: i64) -> Option<&Sent> {
        let at = self.ring.partition_point(|one| one.end <= place);
        self.ring.get(at).filter(|one| one.start <= place)
    }

    /// The first segment that begins at `place` or behind it.
    pub(crate) fn behind(&self, place: i64) -> Option<&Sent> {
        self.ring.get(self.ring.partition_point(|one| one.start < place))
    }

    /// Forget all segments.
    pub(crate) fn clear(&mut self) {
        *self = Scoreboard { hidden: self.hidden, late: self.late, ..Scoreboard::default() };
    }

    fn split(&mut self, place: i64) {
        let at = self.ring.partition_point(|one| one.end <= place);
        // Without room, the segment counts as a whole.
        if self.ring.get(at).is_some_and(|one| one.start < place)
            && self.has_room(at + 1)
            && let Some(one) = self.ring.get_mut(at)
        {
            let tail = Sent { start: place, ..*one };
            one.end = place;
            self.ring.insert(at + 1, tail);
        }
    }

    /// Bytes from `start` to before `end` are sent again. Returns how many of them had been sacked.
    pub(crate) fn repeat(&mut self, start: i64, end: i64, now_ns: i64, tsval: u32, ip_id: u16) -> i64 {
        self.split(start);
        self.split(end);
        let mut reneged = 0;
        let at = self.ring.partition_point(|one| one.end <= start);
        for one in self.ring.range_mut(at..).take_while(|one| one.start < end) {
            one.copies = one.copies.saturating_add(1);
            (one.last_ns, one.tsval, one.ip_id) = (now_ns, tsval, ip_id);
            if one.is_sacked {
                reneged += one.end - one.start;
                continue;
            }
            if !one.is_again {
                one.is_again = true;
                self.again += one.end - one.start;
            }
            if !one.is_lost {
                one.is_lost = true;
                self.lost += one.end - one.start;
            }
            // One packet may repeat thousands. Of an older repeat it stays unknown whether its time is over.
            if self.repeats.len() == MOST {
                self.repeats.pop_front();
            }
            self.repeats.push_back((now_ns, one.start, one.end));
        }
        reneged
    }

    fn leave(&mut self, sent: &Sent) {
        let bytes = sent.end - sent.start;
        self.sacked -= bytes * i64::from(sent.is_sacked);
        self.lost -= bytes * i64::from(sent.is_lost);
        self.again -= bytes * i64::from(sent.is_again);
    }

    /// All before `una` is acknowledged.
    pub(crate) fn acknowledge(&mut self, una: i64, now_ns: i64, least_rtt_ns: i64) -> News {
        let mut told = News::default();
        while let Some(one) = self.ring.front().copied() {
            if one.end > una {
                if one.start < una {
                    self.leave(&Sent { end: una, ..one });
                    self.ring[0].start = una;
                }
                break;
            }
            self.ring.pop_front();
            self.leave(&one);
            if one.copies > 1 || one.is_fill {
                told.is_ambiguous = true;
            } else if !one.is_sacked {
                told.clean = Some((one.last_ns, one.end));
                self.came(one.start < self.sacked_to && !one.is_lost);
            }
            self.delivered(&one, now_ns, least_rtt_ns);
        }
        if told.is_ambiguous {
            told.clean = None;
        }
        told
    }

    /// A segment was delivered, late or not.
    fn came(&mut self, is_late: bool) {
        self.is_reordered |= is_late;
        self.late += u64::from(is_late);
    }

    fn delivered(&mut self, sent: &Sent, now_ns: i64, least_rtt_ns: i64) {
        // Either copy of a repeat may have come: this sent only if it had the time.
        if sent.copies == 1 || now_ns - sent.last_ns >= least_rtt_ns {
            self.delivered_sent = self.delivered_sent.max((sent.last_ns, sent.end));
            self.delivered_rtt_ns = now_ns - sent.last_ns;
        }
    }

    /// A SACK block, of bytes that were seen.
    pub(crate) fn sack(&mut self, start: i64, end: i64, now_ns: i64, least_rtt_ns: i64, news: &mut News) {
        // A block grows: only what is new of it is walked through.
        let known = self.blocks.iter().copied().find(|block| block.0 <= start && start < block.1);
        let from = known.map_or(start, |block| block.1.min(end));
        match known.and_then(|block| self.blocks.iter_mut().find(|one| **one == block)) {
            Some(block) => block.1 = block.1.max(end),
            None => {
                self.blocks.rotate_right(1);
                self.blocks[0] = (start, end);
            }
        }
        let sacked_to = self.sacked_to;
        self.sacked_to = sacked_to.max(end);
        if from >= end {
            return;
        }
        self.split(from);
        self.split(end);
        let at = self.ring.partition_point(|one| one.end <= from);
        let mut delivered = Sent::default();
        let mut most = (0, 0);
        let mut late = 0;
        for one in self.ring.range_mut(at..).take_while(|one| one.start < end) {
            if one.is_sacked {
                continue;
            }
            let bytes = one.end - one.start;
            late += u64::from(one.copies == 1 && one.start < sacked_to && !one.is_fill);
            self.lost -= bytes * i64::from(one.is_lost);
            self.again -= bytes * i64::from(one.is_again);
            (one.is_sacked, one.is_lost, one.is_again) = (true, false, false);
            self.sacked += bytes;
            news.sacked += bytes;
            if one.copies == 1 && !one.is_fill {
                news.clean = news.clean.max(Some((one.last_ns, one.end)));
            }
            if (one.copies == 1 || now_ns - one.last_ns >= least_rtt_ns) && (one.last_ns, one.end) > most {
                (most, delivered) = ((one.last_ns, one.end), *one);
            }
        }
        self.is_reordered |= late > 0;
        self.late += late;
        if most.1 > 0 {
            self.delivered(&delivered, now_ns, least_rtt_ns);
        }
    }

    /// Deem segments lost that were sent before one that was delivered, and have had its time and `reordering_ns` more (RFC
    /// 8985 section 6.2).
    pub(crate) fn judge(&mut self, una: i64, now_ns: i64, reordering_ns: i64) {
        self.looked = self.looked.max(una);
        let newest = self.delivered_sent;
        let horizon = now_ns - self.delivered_rtt_ns - reordering_ns;
        let is_late = |sent_ns: i64, end: i64| (sent_ns, end) < newest && sent_ns <= horizon;
        let at = self.ring.partition_point(|one| one.start < self.looked);
        for one in self.ring.range_mut(at..) {
            if !one.is_fill && !is_late(one.first_ns, one.end) {
                break;
            }
            self.looked = one.end;
            if !one.is_sacked && !one.is_lost && one.copies == 1 {
                one.is_lost = true;
                self.lost += one.end - one.start;
            }
        }
        while let Some(&(sent_ns, start, end)) = self.repeats.front() {
            if start >= una && !is_late(sent_ns, end) {
                break;
            }
            self.repeats.pop_front();
            let at = self.ring.partition_point(|one| one.end <= start);
            if let Some(one) = self.ring.get_mut(at)
                && one.is_again
                && one.last_ns == sent_ns
                && start >= una
            {
                one.is_again = false;
                self.again -= one.end - one.start;
            }
        }
    }

    /// The timer ran out: what has had the time of the segment delivered last is lost, and so are repeats (RFC 8985 section 6.3).
    pub(crate) fn time_out(&mut self, now_ns: i64) {
        let horizon = now_ns - self.delivered_rtt_ns;
        for one in self.ring.iter_mut().filter(|one| !one.is_sacked && one.last_ns <= horizon) {
            let bytes = one.end - one.start;
            if !one.is_lost {
                one.is_lost = true;
                self.lost += bytes;
            }
            if one.is_again {
                one.is_again = false;
                self.again -= bytes;
            }
        }
    }

    /// Something sent behind `sent`, or at the same time and above it, was delivered (RFC 8985 section 6.2).
    pub(crate) fn is_overtaken(&self, sent: &Sent) -> bool {
        self.delivered_sent > (sent.last_ns, sent.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(start: i64, end: i64) -> Sent {
        Sent { start, end, copies: 1, ..Sent::default() }
    }

    #[test]
    fn packets_that_repeat_thousands_take_bounded_memory() {
        let mut board = Scoreboard::default();
        (0..65_000).for_each(|byte| board.push(sent(byte, byte + 1)));
        (0..100).for_each(|now_ns| assert_eq!(board.repeat(0, 65_000, now_ns, 0, 0), 0));
        assert_eq!((board.repeats.len(), board.lost, board.again), (MOST, 65_000, 65_000));
        board.acknowledge(65_000, 100, 0);
        assert_eq!((board.lost, board.again, board.ring.len()), (0, 0, 0));
    }

    #[test]
    fn segments_in_the_midst_of_many_are_left_out_before_they_take_long() {
        let mut board = Scoreboard::default();
        let (many, half) = (100_000, 50_000);
        (0..many).for_each(|place| board.push(sent(10 * place, 10 * place + 2)));
        // On average each may move 4,096, and here it would be 50,000.
        let mut left_out = 0;
        for place in 0..many {
            board.insert(sent(10 * half + 3 + (place & 1), 10 * half + 4 + (place & 1)));
            left_out = board.hidden;
        }
        assert_eq!(board.ring.len() as i64 + left_out as i64, 2 * many);
        assert!(left_out > 90_000, "{left_out}");
        // At either end there is room.
        board.insert(sent(-1, 0));
        assert_eq!(board.hidden, left_out);
    }

    #[test]
    fn the_segments_that_are_remembered_are_bounded() {
        let mut board = Scoreboard::default();
        (0..2 * MOST as i64).for_each(|place| board.insert(sent(2 * place, 2 * place + 1)));
        assert_eq!((board.ring.len(), board.hidden), (MOST, MOST as u64));
        board.sack(0, 2 * MOST as i64, 1, 0, &mut News::default());
        assert_eq!((board.ring.len(), board.sacked), (MOST, MOST as i64));
    }
}
