//! Sequence numbers as 64-bit places of bytes.

/// The numbering of a direction's bytes: the first one of payload is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    base: Option<u32>,
    /// A place near which others are.
    near: i64,
}

impl Sequence {
    /// `number` is the sequence number of byte 0, unless another is known.
    pub(crate) fn begin(&mut self, number: u32) {
        self.base.get_or_insert(number);
    }

    /// The numbering has begun.
    pub(crate) fn is_known(self) -> bool {
        self.base.is_some()
    }

    /// The place of a sequence number: the one nearest to what was seen before.
    pub(crate) fn place(&mut self, number: u32) -> i64 {
        let base = *self.base.get_or_insert(number);
        let near = base.wrapping_add(self.near as u32);
        self.near + i64::from(number.wrapping_sub(near) as i32)
    }

    /// Others will be near `place`.
    pub(crate) fn reached(&mut self, place: i64) {
        self.near = self.near.max(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_behind_a_wrap() {
        let mut sequence = Sequence::default();
        sequence.begin(u32::MAX - 9);
        assert_eq!(sequence.place(u32::MAX), 9);
        assert_eq!(sequence.place(5), 15);
        sequence.reached(5_000_000_000);
        assert_eq!(sequence.place((u32::MAX - 9).wrapping_add(5_000_000_100_u64 as u32)), 5_000_000_100);
        assert_eq!(sequence.place((u32::MAX - 9).wrapping_add(4_999_999_900_u64 as u32)), 4_999_999_900);
    }
}
