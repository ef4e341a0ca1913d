//! Notes on a capture beside its TCP segments.

use serde::Serialize;

/// Counters of a capture. All are of frames or blocks, if they say nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// Files that were read.
    pub files: u32,
    /// Their bytes after decompression.
    pub bytes: u64,
    /// Frames in them.
    pub frames: u64,
    /// Frames whose end was not captured.
    pub cut_frames: u64,
    /// Frames of which too little was captured for a TCP header.
    pub headless_frames: u64,
    /// Frames whose headers contradict each other.
    pub malformed_frames: u64,
    /// Frames without a time.
    pub timeless_frames: u64,
    /// Frames of link types that dumbbell does not read: type and count, in the order of types.
    pub unknown_links: Vec<(u16, u64)>,
    /// Files whose last record is cut off, as that of a file which still grows.
    pub cut_files: u32,
    /// Places at which a file is damaged, behind which reading went on.
    pub damages: u64,
    /// Datagrams of which fragments are missing.
    pub open_datagrams: u64,
    /// Packets that an interface or the system dropped before they were captured, as the file says.
    pub capture_drops: u64,
    /// Times at which the clock went backwards within a file.
    pub backward_steps: u64,
    /// The largest of these steps in ns.
    pub largest_backward_step_ns: i64,
    /// Files that begin before the end of one that was read before them.
    pub overlapping_files: u32,
    /// Protocols other than TCP.
    pub others: Vec<Protocol>,
}

/// Packets of a protocol other than TCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Protocol {
    /// Its name.
    pub name: &'static str,
    /// Packets.
    pub packets: u64,
    /// Bytes on the link.
    pub bytes: u64,
}

impl Notes {
    pub(crate) fn other(&mut self, name: &'static str, bytes: u32) {
        let bytes = u64::from(bytes);
        match self.others.iter_mut().find(|one| one.name == name) {
            Some(one) => (one.packets, one.bytes) = (one.packets + 1, one.bytes + bytes),
            None => self.others.push(Protocol { name, packets: 1, bytes }),
        }
    }

    pub(crate) fn unknown_link(&mut self, link: u16) {
        // A file may have each of 65,536 types.
        match self.unknown_links.binary_search_by_key(&link, |one| one.0) {
            Ok(at) => self.unknown_links[at].1 += 1,
            Err(at) => self.unknown_links.insert(at, (link, 1)),
        }
    }
}
