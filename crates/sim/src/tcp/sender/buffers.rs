//! The buffers that an application's writes fill: no train goes beyond the end of one.

/// Where buffers end in the stream.
///
/// An application that always has more to say fills each to its brim: half of the largest window that the peer has offered so far,
/// and no more than the largest train. So those of its first write, before anything is acknowledged, are smaller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Buffers {
    /// Payload of each buffer of the first write, and of each later one, bytes.
    first: u32,
    later: u32,
}

/// No SYN-ACK offers more: its window is not scaled (RFC 7323 section 2.2).
const UNSCALED_WINDOW: u32 = 65_535;
/// Buffers of the first write: the memory for sending holds no more at first, 87,040 bytes with what describes them.
const FIRST_BUFFERS: u64 = 3;

impl Buffers {
    /// `window`: what the peer's SYN-ACK offers, bytes; `largest`: segments of the largest train.
    pub(super) fn new(window: u32, largest: u32, mss: u32) -> Buffers {
        let later = largest * mss;
        let first = (window.min(UNSCALED_WINDOW) / 2 / mss * mss).clamp(mss, later);
        Buffers { first, later }
    }

    /// Bytes from `next` to the end of its buffer. One that holds less than `quota` segments is filled up from the one behind it,
    /// since Linux 6.10.
    pub(super) fn bytes(&self, next: u64, quota: u32, mss: u32) -> u64 {
        let (first, later) = (u64::from(self.first), u64::from(self.later));
        let first_end = 1 + FIRST_BUFFERS * first;
        let left = if next < first_end { first - (next - 1) % first } else { later - (next - first_end) % later };
        left.max(u64::from(quota) * u64::from(mss))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn segments(buffers: &Buffers, after: u64, quota: u32) -> u64 {
        buffers.bytes(1 + after * u64::from(MSS), quota, MSS) / u64::from(MSS)
    }

    #[test]
    fn the_first_write_has_smaller_buffers() {
        let buffers = Buffers::new(65_535, 45, MSS);
        let left = [0, 21, 22, 44, 65, 66, 110, 111].map(|after| segments(&buffers, after, 1));
        assert_eq!(left, [22, 1, 22, 22, 1, 45, 1, 45]);
    }

    #[test]
    fn a_train_is_filled_up_from_the_next_buffer() {
        let buffers = Buffers::new(65_535, 45, MSS);
        assert_eq!([1, 5, 8].map(|quota| segments(&buffers, 106, quota)), [5, 5, 8]);
    }

    #[test]
    fn a_small_window_makes_small_buffers() {
        assert_eq!([4_000, 1_000].map(|window| segments(&Buffers::new(window, 45, MSS), 0, 1)), [1, 1]);
    }
}
