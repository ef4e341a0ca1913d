//! Sizes that follow from a host's settings. Each ACK asks for them, so they are worked out once.

use crate::tcp::Settings;

/// The largest train, bytes, with room for headers: 64 KB less one.
const GSO_MAX_SIZE: u32 = 65_536 - 1;
/// What describes a buffer's pieces (`skb_shared_info`) and the buffer itself (`sk_buff`), bytes.
const SHARED_INFO: u32 = 320;
const DESCRIPTION: u32 = 256;
/// The option that each segment has room for, bytes: Linux counts with segments that have none.
const TIMESTAMP: u32 = 12;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// The largest train, bytes, and the segments that it holds.
    pub train_bytes: u32,
    pub train: u32,
    /// Memory that a buffer takes beyond its payload (`SKB_TRUESIZE`), bytes: the largest header, with what receiving would need.
    pub overhead: u32,
    /// Memory that Linux gives for each segment of a window, bytes: some windows' (`sndbuf_expand`), each segment in a buffer of its own.
    pub window_segment: u32,
}

impl Sizes {
    /// `windows`: those that the congestion control wants memory for.
    pub(super) fn new(settings: &Settings, windows: u32) -> Sizes {
        let (mss, train_bytes) = (settings.mss(), GSO_MAX_SIZE - settings.max_header);
        let frame = mss + TIMESTAMP + settings.max_header + SHARED_INFO;
        Sizes {
            mss,
            train_bytes,
            train: (train_bytes / mss).max(1),
            overhead: settings.max_header + 64 + SHARED_INFO + DESCRIPTION,
            window_segment: windows * (frame.next_power_of_two() + DESCRIPTION),
        }
    }
}
