//! The memory of packets that wait at a host, as the kernel counts it.

use units::headers::ETHERNET;

/// Memory of a frame: 2304 bytes for a full one at Ethernet's MTU.
///
/// A frame with its headroom and the description of its fragments lies in a block whose size is a power of two, and beside
/// it is the packet's own structure. One that is longer than a page lies in whole pages, behind a block for its headers.
pub(crate) fn of_frame(bytes: u32) -> u32 {
    const STRUCTURE: u32 = 256;
    const FRAGMENTS: u32 = 320;
    const HEADROOM: u32 = 16;
    const HEADERS: u32 = 576;
    const PAGE: u32 = 4096;
    let block = HEADROOM + bytes;
    if block < PAGE {
        STRUCTURE + (block + FRAGMENTS).next_power_of_two()
    } else {
        STRUCTURE + HEADERS + (bytes - ETHERNET).next_multiple_of(PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_takes_a_block_of_memory_or_pages() {
        let sizes = [576, 1500, 1698, 1699, 4065, 4066, 9000].map(|mtu| of_frame(ETHERNET + mtu));
        assert_eq!(sizes, [1280, 2304, 2304, 4352, 8448, 4928, 13_120]);
    }
}
