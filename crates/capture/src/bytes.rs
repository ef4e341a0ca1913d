//! Integers in the bytes of packets and of capture files. Only those of packets are checked for their length.

/// Reads two bytes in network order; `None` behind the end.
pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// Reads four bytes in network order; `None` behind the end.
pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The byte order of a file or section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// Reads two bytes. Panics if they are not there: the caller has checked the length.
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = [bytes[at], bytes[at + 1]];
        if self == Order::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
    }

    /// Reads four bytes, as [`u16`](Order::u16) does.
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        if self == Order::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
    }

    /// Reads eight bytes, as [`u16`](Order::u16) does.
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        if self == Order::Little { second << 32 | first } else { first << 32 | second }
    }
}
