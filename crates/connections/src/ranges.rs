//! Sets of bytes as ranges.

/// Ranges that neither touch nor overlap, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(Vec<(i64, i64)>);

impl Ranges {
    /// Add the bytes from `start` to before `end`. Returns how many of them are new.
    pub(crate) fn add(&mut self, start: i64, end: i64) -> i64 {
        if start >= end {
            return 0;
        }
        // The usual case: behind everything.
        match self.0.last_mut() {
            Some(last) if last.1 == start => {
                last.1 = end;
                return end - start;
            }
            Some(last) if last.1 > start => {}
            _ => {
                self.0.push((start, end));
                return end - start;
            }
        }
        let first = self.0.partition_point(|range| range.1 < start);
        let behind = self.0.partition_point(|range| range.0 <= end);
        let covered: i64 = self.0[first..behind].iter().map(|range| range.1.min(end) - range.0.max(start)).sum();
        if first == behind {
            self.0.insert(first, (start, end));
        } else {
            let merged = (self.0[first].0.min(start), self.0[behind - 1].1.max(end));
            self.0.splice(first..behind, [merged]);
        }
        end - start - covered
    }

    /// How many bytes from `start` to before `end` are in the set.
    pub(crate) fn covered(&self, start: i64, end: i64) -> i64 {
        let first = self.0.partition_point(|range| range.1 <= start);
        let ranges = self.0[first..].iter().take_while(|range| range.0 < end);
        ranges.map(|range| range.1.min(end) - range.0.max(start)).sum()
    }

    /// The bytes from `start` to before `end` that are not in the set, as ranges in order.
    pub(crate) fn holes(&self, start: i64, end: i64) -> Vec<(i64, i64)> {
        let first = self.0.partition_point(|range| range.1 <= start);
        let mut holes = Vec::new();
        let mut at = start;
        for &(from, to) in self.0[first..].iter().take_while(|range| range.0 < end) {
            if from > at {
                holes.push((at, from));
            }
            at = to;
        }
        if at < end {
            holes.push((at, end));
        }
        holes
    }

    /// Forget what is before `place`. Returns the end of a range that reaches over it, or `place`.
    pub(crate) fn forget(&mut self, place: i64) -> i64 {
        let gone = self.0.partition_point(|range| range.0 <= place);
        let reached = gone.checked_sub(1).map_or(place, |last| self.0[last].1.max(place));
        self.0.drain(..gone);
        reached
    }

    /// Ranges in the set.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_what_a_set_of_bytes_is(adds in prop::collection::vec((0_i64..60, 0_i64..12), 0..30), from in 0_i64..60) {
            let mut ranges = Ranges::default();
            let mut bytes = [false; 80];
            for (start, size) in adds {
                let fresh = (start..start + size).filter(|&byte| !bytes[byte as usize]).count();
                (start..start + size).for_each(|byte| bytes[byte as usize] = true);
                prop_assert_eq!(ranges.add(start, start + size), fresh as i64);
            }
            let count = bytes[from as usize..70].iter().filter(|&&there| there).count();
            prop_assert_eq!(ranges.covered(from, 70), count as i64);
            let holes = ranges.holes(from, 70);
            prop_assert!(holes.iter().all(|&(start, end)| start < end && (start..end).all(|byte| !bytes[byte as usize])));
            prop_assert_eq!(holes.iter().map(|hole| hole.1 - hole.0).sum::<i64>(), 70 - from - count as i64);
            let reached = ranges.forget(from);
            prop_assert!(bytes[from as usize..reached as usize].iter().all(|&there| there));
            prop_assert_eq!(ranges.covered(reached, 80), bytes[reached as usize..].iter().filter(|&&there| there).count() as i64);
        }
    }
}
