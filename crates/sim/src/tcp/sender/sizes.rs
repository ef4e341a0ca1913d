//! Sizes that follow from a host's settings. Each ACK asks for them, so they are worked out once.

use crate::tcp::Settings;

/// The largest train, bytes, with room for headers: 64 KB less one.
const GSO_MAX_SIZE: u32 = 65_536 - 1;
/// Bytes that describe a buffer's pieces (`skb_shared_info`) and the buffer itself (`sk_buff`).
const SHARED_INFO: u32 = 320;
const DESCRIPTION: u32 = 256;
/// The option that each segment has room for, bytes: Linux counts with segments that have none.
const TIMESTAMP: u32 = 12;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Segments of the largest train.
    pub train: u16,
    /// Memory that a buffer takes beyond its payload (`SKB_TRUESIZE`), bytes: the largest header, with what receiving would need.
    pub overhead: u16,
    /// Memory that Linux gives for each segment of a window, bytes: some windows' (`sndbuf_expand`), each segment in a buffer of its own.
    pub window_segment: u32,
}

/// The largest train, bytes.
pub(super) fn train_bytes(settings: &Settings) -> u32 {
    GSO_MAX_SIZE - settings.max_header
}

impl Sizes {
    /// `windows`: those that the congestion control wants memory for.
    pub(super) fn new(settings: &Settings, windows: u32) -> Sizes {
        let mss = settings.mss();
        let frame = mss + TIMESTAMP + settings.max_header + SHARED_INFO;
        Sizes {
            train: (train_bytes(settings) / mss).max(1) as u16,
            overhead: (settings.max_header + 64 + SHARED_INFO + DESCRIPTION) as u16,
            window_segment: windows * (frame.next_power_of_two() + DESCRIPTION),
        }
    }
}
