use std::collections::VecDeque;

/// A segment that was sent and is not cumulatively acknowledged: what `tcp_skb_cb` holds, for a single segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Its first byte.
    pub seq: u64,
    /// The time at which it was last sent, us.
    pub sent_us: u64,
    /// The time at which the first segment of its flight was sent (draft-cheng-iccrg-delivery-rate-estimation section 3.1), us.
    pub first_tx_us: u64,
    /// The time at which `delivered` had grown last before it was sent, us; 0: its delivery has been counted.
    pub delivered_us: u64,
    /// The connection's `delivered`, `delivered_ce` and `lost` when it was sent.
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    /// Segments in flight right after it was sent, with it.
    pub tx_in_flight: u32,
    /// Payload, bytes.
    pub len: u16,
    /// True if it ends the stream.
    pub is_fin: bool,
    /// SACKed.
    pub is_sacked: bool,
    /// Marked lost.
    pub is_lost: bool,
    /// Sent again, and that may still arrive.
    pub is_retransmitting: bool,
    /// Ever sent again.
    pub was_retransmitted: bool,
    /// Sent while the application limited the flow.
    pub is_app_limited: bool,
    /// The ones sent before and after it, as places in the order of transmission.
    pub(super) earlier: u32,
    pub(super) later: u32,
}

impl Sent {
    /// The sequence number after it.
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.is_fin)
    }

    /// Segments in a row are in one buffer if this is the same: those that are SACKed, or that left at once.
    fn buffer(&self) -> u64 {
        if self.is_sacked { u64::MAX } else { self.sent_us }
    }
}

/// True if this (time and end of a segment) was sent after that. If both were sent at once, the one counts that is
/// further in the stream (RFC 8985 section 5.2, `RACK_sent_after`).
pub(crate) fn is_sent_after(this: (u64, u64), that: (u64, u64)) -> bool {
    this > that
}

/// The segments in flight, in the order of the stream, and threaded in the order of transmission.
///
/// A segment has a number for as long as it is here: it is counted from the connection's first one and wraps at 2^31.
#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Sent>,
    /// The number of the first.
    base: u32,
    /// The first and the last sent of the segments that may be found lost by time: neither SACKed nor found so already.
    first_sent: u32,
    last_sent: u32,
    /// No segment before this number is lost and yet to be sent again.
    retransmit_from: u32,
    /// The payload of a full segment.
    mss: u32,
    /// Places at which a buffer ends and another begins.
    seams: u32,
}

const NONE: u32 = u32::MAX;
const NUMBERS: u32 = 1 << 31;

impl Scoreboard {
    pub(crate) fn new(mss: u32) -> Scoreboard {
        Scoreboard {
            segments: VecDeque::new(),
            base: 0,
            first_sent: NONE,
            last_sent: NONE,
            retransmit_from: 0,
            mss,
            seams: 0,
        }
    }

    /// Buffers (`sk_buff`) that hold the segments. What left at once is in one, until a part of it is SACKed or sent again; what is
    /// SACKed in a row is in one, too (`tcp_shifted_skb`).
    pub(crate) fn buffers(&self) -> usize {
        if self.segments.is_empty() { 0 } else { self.seams as usize + 1 }
    }

    /// The segment at `index` was SACKed or sent again: it is `sent` now.
    pub(crate) fn replace(&mut self, index: usize, sent: Sent) {
        let was = std::mem::replace(&mut self.segments[index], sent);
        for neighbour in [index.wrapping_sub(1), index + 1] {
            if let Some(neighbour) = self.segments.get(neighbour) {
                self.seams = self.seams + seam(neighbour, &sent) - seam(neighbour, &was);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }

    pub(crate) fn get(&self, index: usize) -> &Sent {
        &self.segments[index]
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> &mut Sent {
        &mut self.segments[index]
    }

    /// The oldest in the stream.
    pub(crate) fn head(&self) -> Option<&Sent> {
        self.segments.front()
    }

    /// A segment is sent for the first time.
    pub(crate) fn push(&mut self, sent: Sent) {
        self.seams += self.segments.back().map_or(0, |before| seam(before, &sent));
        let (number, earlier) = (self.number(self.segments.len()), self.last_sent);
        self.segments.push_back(Sent { earlier, later: NONE, ..sent });
        self.link_last(number, earlier);
    }

    /// Forget the oldest, if it ends by `una`.
    pub(crate) fn pop(&mut self, una: u64) -> Option<Sent> {
        let first = *self.segments.front().filter(|sent| sent.end() <= una)?;
        self.bypass(self.base, first.earlier, first.later);
        self.segments.pop_front();
        self.seams -= self.segments.front().map_or(0, |next| seam(&first, next));
        let next = (self.base + 1) % NUMBERS;
        if self.retransmit_from == self.base {
            self.retransmit_from = next;
        }
        self.base = next;
        Some(first)
    }

    /// The index of the first segment that ends after `seq`.
    pub(crate) fn index_of(&self, seq: u64) -> usize {
        let Some(first) = self.segments.front() else { return 0 };
        // Segments are full, but for a few: the guess is right, or near.
        let guess = (seq.saturating_sub(first.seq) / u64::from(self.mss)) as usize;
        match self.segments.get(guess) {
            Some(sent) if sent.seq <= seq && seq < sent.end() => guess,
            _ => self.segments.partition_point(|sent| sent.end() <= seq),
        }
    }

    /// The segment that was sent first, of those that may be found lost by time, and how to go on from there.
    pub(crate) fn oldest_sent(&self) -> Option<usize> {
        self.index(self.first_sent)
    }

    /// The one sent next after that at `index`.
    pub(crate) fn sent_after(&self, index: usize) -> Option<usize> {
        self.index(self.segments[index].later)
    }

    /// Marks a segment as sent again: it is now the one sent last.
    pub(crate) fn resend(&mut self, index: usize) {
        self.unlink(index);
        self.append(index);
    }

    /// Takes a segment off the list by which time finds losses, unless it is sent again.
    pub(crate) fn settle(&mut self, index: usize) {
        self.unlink(index);
    }

    /// Position from which to look for lost segments to retransmit.
    pub(crate) fn retransmit_hint(&self) -> usize {
        self.distance(self.retransmit_from).min(self.segments.len())
    }

    /// No segment before `index` is lost and to be sent again.
    pub(crate) fn set_retransmit_hint(&mut self, index: usize) {
        self.retransmit_from = self.number(index);
    }

    /// The one at `index` is.
    pub(crate) fn hint_retransmit(&mut self, index: usize) {
        if index < self.retransmit_hint() {
            self.retransmit_from = self.number(index);
        }
    }

    fn number(&self, index: usize) -> u32 {
        (self.base + index as u32) % NUMBERS
    }

    fn distance(&self, number: u32) -> usize {
        (number.wrapping_sub(self.base) % NUMBERS) as usize
    }

    fn index(&self, number: u32) -> Option<usize> {
        (number != NONE).then(|| self.distance(number))
    }

    fn at(&mut self, number: u32) -> &mut Sent {
        let index = self.distance(number);
        &mut self.segments[index]
    }

    /// The segment of this number becomes the one sent last, after `earlier`.
    fn link_last(&mut self, number: u32, earlier: u32) {
        match earlier {
            NONE => self.first_sent = number,
            earlier => self.at(earlier).later = number,
        }
        self.last_sent = number;
    }

    fn append(&mut self, index: usize) {
        let (number, earlier) = (self.number(index), self.last_sent);
        let sent = &mut self.segments[index];
        (sent.earlier, sent.later) = (earlier, NONE);
        self.link_last(number, earlier);
    }

    fn unlink(&mut self, index: usize) {
        let number = self.number(index);
        let sent = &mut self.segments[index];
        let (earlier, later) = (sent.earlier, sent.later);
        (sent.earlier, sent.later) = (NONE, NONE);
        self.bypass(number, earlier, later);
    }

    /// The segment of this number is no longer between those, if it was.
    fn bypass(&mut self, number: u32, earlier: u32, later: u32) {
        if earlier == NONE && later == NONE && self.first_sent != number {
            return;
        }
        match earlier {
            NONE => self.first_sent = later,
            earlier => self.at(earlier).later = later,
        }
        match later {
            NONE => self.last_sent = earlier,
            later => self.at(later).earlier = earlier,
        }
    }
}

/// 1 if a buffer ends between two segments that are neighbours in the stream.
fn seam(first: &Sent, other: &Sent) -> u32 {
    u32::from(first.buffer() != other.buffer())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::new(1000);
        for n in 0..segments {
            board.push(Sent { seq: 1 + n * 1000, len: 1000, ..Sent::default() });
        }
        board
    }

    fn order(board: &Scoreboard) -> Vec<u64> {
        std::iter::successors(board.oldest_sent(), |&at| board.sent_after(at)).map(|at| board.get(at).seq).collect()
    }

    #[test]
    fn a_segment_costs_a_cache_line() {
        assert_eq!(size_of::<Sent>(), 64);
    }

    #[test]
    fn segments_are_in_as_many_buffers_as_trains_were_sent_until_pieces_are_cut_out() {
        let mut board = Scoreboard::new(1000);
        for n in 0..6 {
            board.push(Sent { seq: 1 + n * 1000, len: 1000, sent_us: n / 2, ..Sent::default() });
        }
        assert_eq!(board.buffers(), 3);
        // The train in the middle is cut, and what follows is one with its SACKed part.
        for (index, buffers) in [(3, 4), (4, 4), (5, 3)] {
            let sent = *board.get(index);
            board.replace(index, Sent { is_sacked: true, ..sent });
            assert_eq!(board.buffers(), buffers, "{index}");
        }
        // The second half of the first train is sent again by itself.
        let sent = *board.get(1);
        board.replace(1, Sent { sent_us: 9, ..sent });
        let left: Vec<usize> = std::iter::from_fn(|| board.pop(u64::MAX).map(|_| board.buffers())).collect();
        assert_eq!(left, [3, 2, 1, 1, 1, 0]);
    }

    #[test]
    fn the_order_of_transmission_follows_retransmissions_and_acknowledgements() {
        let mut board = board(4);
        board.resend(1);
        assert_eq!(order(&board), [1, 2001, 3001, 1001]);
        board.settle(2);
        board.settle(2);
        assert_eq!(order(&board), [1, 3001, 1001]);
        board.pop(u64::MAX);
        assert_eq!(order(&board), [3001, 1001]);
        board.push(Sent { seq: 4001, len: 1000, ..Sent::default() });
        board.settle(0);
        assert_eq!(order(&board), [3001, 4001]);
        board.resend(0);
        assert_eq!(order(&board), [3001, 4001, 1001]);
    }

    #[test]
    fn numbers_wrap() {
        let mut board = Scoreboard { base: NUMBERS - 2, retransmit_from: NUMBERS - 2, ..board(0) };
        for n in 0..5 {
            board.push(Sent { seq: 1 + n * 1000, len: 1000, ..Sent::default() });
        }
        board.set_retransmit_hint(4);
        board.hint_retransmit(3);
        for left in (1..5).rev() {
            board.pop(u64::MAX);
            assert_eq!(order(&board).len(), left);
            assert_eq!(board.retransmit_hint(), 3usize.saturating_sub(5 - left));
        }
    }

    #[test]
    fn a_sequence_number_finds_its_segment() {
        let mut board = board(3);
        board.push(Sent { seq: 3001, len: 10, ..Sent::default() });
        board.push(Sent { seq: 3011, len: 1000, ..Sent::default() });
        for (seq, index) in [(0, 0), (1, 0), (1000, 0), (1001, 1), (3001, 3), (3010, 3), (3011, 4), (4011, 5)] {
            assert_eq!(board.index_of(seq), index, "{seq}");
        }
    }
}
