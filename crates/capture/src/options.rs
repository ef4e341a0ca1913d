//! TCP options (RFC 9293, 7323, 2018).

use crate::Segment;
use crate::bytes::{be16, be32};

/// Fill in the options of a header. `bytes` begin behind the fixed header, and may end before `length`.
pub(crate) fn read(bytes: &[u8], length: usize, segment: &mut Segment) {
    segment.options_complete = bytes.len() >= length;
    let bytes = &bytes[..bytes.len().min(length)];
    // Nearly all segments of a connection have this, and nothing else.
    if length == 12 && bytes.len() == 12 && bytes[..4] == [1, 1, 8, 10] {
        segment.timestamps = be32(bytes, 4).zip(be32(bytes, 8));
        return;
    }
    let mut at = 0;
    while let Some(&kind) = bytes.get(at) {
        match kind {
            0 => {
                segment.options_complete = true;
                return;
            }
            1 => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let Some(&size) = bytes.get(at + 1) else { return };
        let size = usize::from(size);
        if size < 2 {
            return;
        }
        match (kind, size) {
            (2, 4) => segment.mss = be16(bytes, at + 2),
            (3, 3) => segment.window_scale = bytes.get(at + 2).copied(),
            (4, 2) => segment.sack_permitted = true,
            (5, 10 | 18 | 26 | 34) => {
                segment.sack_count = 0;
                for block in 0..(size - 2) / 8 {
                    let edges = be32(bytes, at + 2 + 8 * block).zip(be32(bytes, at + 6 + 8 * block));
                    let Some(edges) = edges else { return };
                    segment.sack[block] = edges;
                    segment.sack_count += 1;
                }
            }
            (8, 10) => segment.timestamps = be32(bytes, at + 2).zip(be32(bytes, at + 6)),
            _ => {}
        }
        at += size;
    }
}
