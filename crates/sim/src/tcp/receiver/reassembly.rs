use std::collections::VecDeque;

/// Data received behind a hole: ranges of the stream, and those that SACKs report (RFC 2018 section 4).
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    /// Begin and end, rising, with gaps between them.
    ranges: VecDeque<(u64, u64)>,
    /// Beginnings of the ranges that changed last, the latest first, and their lengths, which a window bounds; zeros behind them.
    recent: [u64; RECENT],
    lengths: [u32; RECENT],
    bytes: u64,
    /// The FIN is at the end of the last range.
    has_fin: bool,
}

/// Blocks that are remembered: Linux's `selective_acks`.
const RECENT: usize = 4;

impl Reassembly {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Ranges, which gaps part.
    pub(super) fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A segment came. `false`: all of it had come before.
    pub(super) fn insert(&mut self, begin: u64, end: u64, is_fin: bool) -> bool {
        self.has_fin |= is_fin;
        // The first range that ends where this begins, or later; mostly it is the last.
        let at = match self.ranges.back() {
            Some(last) if last.1 < begin => self.ranges.len(),
            Some(last) if last.0 <= begin => self.ranges.len() - 1,
            _ => self.ranges.partition_point(|range| range.1 < begin),
        };
        let Some(first) = self.ranges.get(at).copied().filter(|range| range.0 <= end) else {
            self.ranges.insert(at, (begin, end));
            self.bytes += end - begin;
            self.touch((begin, end));
            return true;
        };
        if first.0 <= begin && end <= first.1 {
            self.touch(first);
            return false;
        }
        let (mut merged, mut last) = ((first.0.min(begin), first.1.max(end)), at + 1);
        self.bytes -= first.1 - first.0;
        self.forget(first.0);
        while let Some(range) = self.ranges.get(last).copied().filter(|range| range.0 <= merged.1) {
            merged.1 = merged.1.max(range.1);
            self.bytes -= range.1 - range.0;
            self.forget(range.0);
            last += 1;
        }
        if last - at > 1 {
            self.ranges.drain(at + 1..last);
        }
        self.ranges[at] = merged;
        self.bytes += merged.1 - merged.0;
        self.touch(merged);
        true
    }

    /// Where the block that a segment joins stands among those to tell: 0 is the latest. Behind the last if it joins none.
    pub(super) fn place(&self, begin: u64, end: u64) -> usize {
        let joins = |block: (u64, u64)| begin <= block.1 && block.0 <= end;
        self.blocks().take_while(|&block| !joins(block)).count()
    }

    /// All data before `next` came in order. Returns the place of the next gap, and whether the FIN has arrived.
    pub(super) fn take_up_to(&mut self, mut next: u64) -> (u64, bool) {
        while let Some(&(begin, end)) = self.ranges.front().filter(|range| range.0 <= next) {
            next = next.max(end);
            self.bytes -= end - begin;
            self.forget(begin);
            self.ranges.pop_front();
        }
        (next, self.has_fin && self.ranges.is_empty())
    }

    /// The blocks to tell, the latest first.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let known = self.recent.iter().zip(&self.lengths).take_while(|known| *known.0 != 0);
        known.map(|(&begin, &length)| (begin, begin + u64::from(length)))
    }

    fn touch(&mut self, range: (u64, u64)) {
        let at = self.recent.iter().position(|&known| known == range.0).unwrap_or(RECENT - 1);
        self.recent.copy_within(0..at, 1);
        self.lengths.copy_within(0..at, 1);
        (self.recent[0], self.lengths[0]) = (range.0, (range.1 - range.0) as u32);
    }

    fn forget(&mut self, begin: u64) {
        if let Some(at) = self.recent.iter().position(|&known| known == begin) {
            self.recent.copy_within(at + 1.., at);
            self.lengths.copy_within(at + 1.., at);
            (self.recent[RECENT - 1], self.lengths[RECENT - 1]) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn with(segments: &[(u64, u64)]) -> Reassembly {
        let mut ahead = Reassembly::default();
        segments.iter().for_each(|&(begin, end)| {
            ahead.insert(begin, end, false);
        });
        ahead
    }

    fn blocks(ahead: &Reassembly) -> Vec<(u64, u64)> {
        ahead.blocks().collect()
    }

    #[test]
    fn the_block_that_changed_last_comes_first() {
        assert_eq!(blocks(&with(&[(10, 20), (30, 40), (50, 60)])), [(50, 60), (30, 40), (10, 20)]);
        assert_eq!(blocks(&with(&[(10, 20), (30, 40), (20, 25)])), [(10, 25), (30, 40)]);
        assert_eq!(blocks(&with(&[(10, 20), (30, 40), (20, 30)])), [(10, 40)]);
    }

    #[test]
    fn only_the_latest_four_are_told() {
        let ahead = with(&[(10, 11), (20, 21), (30, 31), (40, 41), (50, 51)]);
        assert_eq!(blocks(&ahead), [(50, 51), (40, 41), (30, 31), (20, 21)]);
    }

    #[test]
    fn a_segment_joins_a_block_or_makes_one() {
        let ahead = with(&[(10, 20), (30, 40), (50, 60)]);
        let places = [(60, 70), (35, 38), (5, 10), (100, 110)].map(|(begin, end)| ahead.place(begin, end));
        assert_eq!(places, [0, 1, 2, 3]);
    }

    #[test]
    fn a_segment_that_came_before_is_noticed() {
        let mut ahead = with(&[(10, 20)]);
        assert!(!ahead.insert(12, 15, false));
        assert!(ahead.insert(15, 25, false));
    }

    proptest! {
        #[test]
        fn as_a_set_of_bytes_would(segments in prop::collection::vec((1..100u64, 1..20u64), 0..60), next in 1..120u64) {
            let mut ahead = Reassembly::default();
            let mut set = std::collections::BTreeSet::new();
            for &(begin, len) in &segments {
                let is_new = (begin..begin + len).filter(|&byte| set.insert(byte)).count() > 0;
                prop_assert_eq!(ahead.insert(begin, begin + len, false), is_new);
                prop_assert_eq!(ahead.bytes(), set.len() as u64);
                for (from, to) in ahead.blocks() {
                    prop_assert!((from..to).all(|byte| set.contains(&byte)));
                    prop_assert!(!set.contains(&(from - 1)) && !set.contains(&to));
                }
            }
            let expected = (next..).find(|byte| !set.contains(byte)).unwrap();
            // The taken part begins at or before `next`.
            prop_assert_eq!(ahead.take_up_to(next).0, expected);
            prop_assert_eq!(ahead.bytes(), set.range(expected..).count() as u64);
        }
    }
}
