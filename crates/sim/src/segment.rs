//! The segments that hosts send to each other.

use datagrams::Fragment;
use link::Ecn;
use units::Ip;
use units::headers::{ETHERNET, TCP, TIMESTAMPS};

/// A TCP segment, a UDP datagram or a fragment of one, as far as it matters.
///
/// Sequence numbers count from the connection's SYN, which has 0, and don't wrap; SACK blocks are truncated to what is on
/// the wire and read relative to `ack`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// The first byte; of a datagram, its number.
    pub seq: u64,
    /// The next byte expected from the peer.
    pub ack: u64,
    /// Payload, bytes.
    pub len: u32,
    /// The receive window, bytes.
    pub window: u32,
    /// Timestamp of the sending host (RFC 7323), ms.
    pub ts_val: u32,
    /// The timestamp that it echoes, ms.
    pub ts_ecr: u32,
    /// SACK blocks (RFC 2018), of which the first `sacks` count; one below `ack` or within the next is a D-SACK (RFC
    /// 2883).
    pub sack: [(u32, u32); MAX_SACKS],
    /// The number of SACK blocks.
    pub sacks: u8,
    /// Its flags.
    pub flags: Flags,
    /// The codepoint with which it is sent.
    pub ecn: Ecn,
    /// Its place, if it is a fragment of a datagram.
    pub fragment: Option<Fragment>,
    /// True if it goes from the flow's receiver to its sender.
    pub is_reply: bool,
    /// Why it is sent again, which no header says.
    pub resent: Resent,
}

/// Why data are sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resent {
    /// They are not.
    #[default]
    No,
    /// Acknowledgements tell that they are lost.
    Fast,
    /// A tail loss probe (RFC 8985 section 7).
    Probe,
    /// The timer ran out (RFC 6298).
    Timeout,
    /// Segment that a timeout took for lost, too.
    AfterTimeout,
}

/// SACK blocks that fit beside a timestamp (RFC 2018 section 3).
pub const MAX_SACKS: usize = 3;

/// Flags of a TCP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Synchronise: the first segment of each direction.
    pub syn: bool,
    /// No more data follows.
    pub fin: bool,
    /// ECN echo (RFC 3168 section 6.1.3).
    pub ece: bool,
    /// Congestion window reduced (RFC 3168 section 6.1.2).
    pub cwr: bool,
    /// Push (RFC 9293 section 3.9.1.2): on the last segment of a train, as Linux sets it.
    pub psh: bool,
}

/// Ethernet and TCP headers with the timestamp option, as Linux aligns it.
const TCP_HEADERS: u32 = ETHERNET + TCP + TIMESTAMPS;
/// The options of a SYN take 20 bytes: MSS, SACK permitted, timestamp, window scale.
const SYN_HEADERS: u32 = ETHERNET + TCP + 20;

impl Segment {
    /// The frame of this TCP segment: 1514 bytes for a full one.
    #[inline]
    pub fn frame_bytes(&self, ip: Ip) -> u32 {
        let headers = if self.flags.syn { SYN_HEADERS } else { TCP_HEADERS };
        let sacks = if self.sacks > 0 { 4 + 8 * u32::from(self.sacks) } else { 0 };
        headers + ip.header_bytes() + sacks + self.len
    }

    /// The sequence number after it: SYN and FIN count as a byte each.
    pub fn end(&self) -> u64 {
        self.seq + u64::from(self.len) + u64::from(self.flags.syn) + u64::from(self.flags.fin)
    }

    /// Its SACK blocks, begin and end.
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u64, u64)> {
        let expand = |seq: u32| self.ack.wrapping_add_signed(i64::from(seq.wrapping_sub(self.ack as u32) as i32));
        self.sack[..usize::from(self.sacks)].iter().map(move |&(begin, end)| (expand(begin), expand(end)))
    }

    /// Add a SACK block, if there is room.
    pub(crate) fn push_sack(&mut self, (begin, end): (u64, u64)) {
        if let Some(block) = self.sack.get_mut(usize::from(self.sacks)) {
            *block = (begin as u32, end as u32);
            self.sacks += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_as_long_as_linux_makes_them() {
        let data = Segment { len: 1448, ..Segment::default() };
        assert_eq!((data.frame_bytes(Ip::V4), data.frame_bytes(Ip::V6)), (1514, 1534));
        let mut ack = Segment::default();
        assert_eq!(ack.frame_bytes(Ip::V4), 66);
        ack.push_sack((1, 2));
        assert_eq!(ack.frame_bytes(Ip::V4), 78);
        let syn = Segment { flags: Flags { syn: true, ..Flags::default() }, ..Segment::default() };
        assert_eq!((syn.frame_bytes(Ip::V4), syn.end()), (74, 1));
    }

    #[test]
    fn blocks_survive_the_wrap_on_the_wire() {
        let ack = (7 << 32) - 1000;
        let mut segment = Segment { ack, ..Segment::default() };
        let blocks = [(ack - 500, ack - 100), (ack + 200, ack + 3000), (ack + 5000, ack + 5001)];
        blocks.iter().for_each(|&block| segment.push_sack(block));
        segment.push_sack((ack, ack));
        assert_eq!(segment.sack_blocks().collect::<Vec<_>>(), blocks);
    }
}
