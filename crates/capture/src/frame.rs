//! A frame as a file has it.

/// A captured frame. The bytes are the reader's, until its next frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970; `None` of a simple packet block, which has no time.
    pub time_ns: Option<i64>,
    /// Number of the interface among those of all files that were read.
    pub interface: u32,
    /// Type of the link layer, as <https://www.tcpdump.org/linktypes.html> numbers them.
    pub link: u16,
    /// Bytes of a frame check sequence at the end of each frame.
    pub fcs_bytes: u8,
    /// Length on the link, which may be more than was captured.
    pub length: u32,
    /// True if the frame left the machine that captured it; `None` if the file does not say.
    pub outgoing: Option<bool>,
    /// Captured bytes of the frame.
    pub bytes: &'a [u8],
    /// Comment of a pcapng file on the frame; empty if there is none. The text is the file's: escape it wherever it is shown.
    pub comment: &'a [u8],
}

/// An interface of a capture.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// Its name, if the file has one. The text is the file's: escape it wherever it is shown.
    pub name: Option<String>,
    /// Type of the link layer.
    pub link: u16,
    /// Bytes of a frame check sequence.
    pub fcs_bytes: u8,
    /// Packets that the interface dropped before the capture (`isb_ifdrop`), so far as the file says.
    pub dropped_by_interface: u64,
    /// Packets that the operating system dropped (`isb_osdrop`), so far as the file says.
    pub dropped_by_system: u64,
    /// Packets lost between this interface's packets (`epb_dropcount`).
    pub dropped_between: u64,
    pub(crate) clock: Clock,
}

/// How a file counts time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// `if_tsresol`: 10^-n s, or 2^-n s with the top bit set.
    pub(crate) resolution: u8,
    /// Seconds to add.
    pub(crate) offset_s: i64,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { resolution: 6, offset_s: 0 }
    }
}

impl Clock {
    /// The time of `ticks` in ns since 1970; saturates at the ends of what an `i64` holds.
    pub(crate) fn time_ns(self, ticks: u64) -> i64 {
        // Nearly all files count us or ns since 1970.
        let per = match self.resolution {
            6 => 1_000,
            9 => 1,
            _ => 0,
        };
        if self.offset_s == 0
            && per > 0
            && let Some(ns) = i64::try_from(ticks).ok().and_then(|ticks| ticks.checked_mul(per))
        {
            return ns;
        }
        let ns = match self.resolution {
            6 => u128::from(ticks) * 1_000,
            9 => u128::from(ticks),
            n @ 0..=127 => {
                let n = u32::from(n);
                if n <= 9 {
                    u128::from(ticks) * 10_u128.pow(9 - n)
                } else {
                    // 10^38 is the largest power of ten in 128 bits: anything finer is 0 ns.
                    10_u128.checked_pow(n - 9).map_or(0, |per| u128::from(ticks) / per)
                }
            }
            n => {
                let shift = u32::from(n & 0x7f);
                (u128::from(ticks) * 1_000_000_000).checked_shr(shift).unwrap_or(0)
            }
        };
        let ns = i128::try_from(ns).unwrap_or(i128::MAX);
        let offset = i128::from(self.offset_s) * 1_000_000_000;
        i64::try_from(ns.saturating_add(offset)).unwrap_or(if offset < 0 && ns < -offset { i64::MIN } else { i64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_any_resolution() {
        let at = |resolution, ticks| Clock { resolution, offset_s: 0 }.time_ns(ticks);
        assert_eq!(at(6, 1_500_000), 1_500_000_000);
        assert_eq!(at(9, 1_500_000_001), 1_500_000_001);
        assert_eq!(at(0, 3), 3_000_000_000);
        assert_eq!(at(12, 1_000), 1);
        assert_eq!(at(0x80 | 10, 1_536), 1_500_000_000);
        assert_eq!(at(127, u64::MAX), 0);
        assert_eq!(at(0x80 | 127, u64::MAX), 0);
        assert_eq!(at(0, u64::MAX), i64::MAX);
        assert_eq!(Clock { resolution: 6, offset_s: -2 }.time_ns(1_500_000), -500_000_000);
    }
}
