//! A TCP segment as a capture has it.

use crate::layers::Layers;

/// The flags of a TCP header: the low nine bits of its thirteenth and fourteenth byte (RFC 9293, RFC 9768).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x001);
    /// Sequence numbers are synchronised.
    pub const SYN: Flags = Flags(0x002);
    /// The connection is reset.
    pub const RST: Flags = Flags(0x004);
    /// Push.
    pub const PSH: Flags = Flags(0x008);
    /// The acknowledgement number counts.
    pub const ACK: Flags = Flags(0x010);
    /// Urgent.
    pub const URG: Flags = Flags(0x020);
    /// ECN echo.
    pub const ECE: Flags = Flags(0x040);
    /// Congestion window reduced.
    pub const CWR: Flags = Flags(0x080);
    /// Accurate ECN.
    pub const AE: Flags = Flags(0x100);

    /// All bits of `flags` are set.
    pub const fn has(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// A TCP segment: headers without payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Nanoseconds since 1970.
    pub time_ns: i64,
    /// Sender, IPv4 mapped into IPv6.
    pub source: [u8; 16],
    /// Receiver, IPv4 mapped into IPv6.
    pub destination: [u8; 16],
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number, if the flag says so.
    pub ack: u32,
    /// Window, not scaled.
    pub window: u16,
    /// Flags.
    pub flags: Flags,
    /// Payload in bytes by the IP header, whatever was captured.
    pub payload: u32,
    /// Length on the link in bytes.
    pub frame_bytes: u32,
    /// Length of the IP packet in bytes.
    pub ip_bytes: u32,
    /// Length of the TCP header in bytes.
    pub header_bytes: u8,
    /// TTL or hop limit.
    pub ttl: u8,
    /// ECN field of the IP header: 3 is CE.
    pub ecn: u8,
    /// Tunnels and tags around the IP packet.
    pub layers: Layers,
    /// Identifiers of those, as [`Layers::network`] spells them; 0 if there are none. Equal addresses in different networks are
    /// different hosts.
    pub network: u64,
    /// Number of the interface among those of all files.
    pub interface: u32,
    /// IPv4's identification; 0 with IPv6.
    pub ip_id: u16,
    /// TCP checksum as sent.
    pub checksum: u16,
    /// A number for where the frame was seen: interface, addresses on the link, tags, TTL.
    pub place: u32,
    /// True if the segment left the machine that captured it; `None` if that is not known.
    pub outgoing: Option<bool>,
    /// Timestamp option: value and echo.
    pub timestamps: Option<(u32, u32)>,
    /// Maximum segment size option.
    pub mss: Option<u16>,
    /// Window scale option as sent.
    pub window_scale: Option<u8>,
    /// The SACK-permitted option is there.
    pub sack_permitted: bool,
    /// All options were captured: what is missing is absent, not unknown.
    pub options_complete: bool,
    /// Number of blocks in `sack`.
    pub sack_count: u8,
    /// SACK blocks: first byte, and the byte behind the last.
    pub sack: [(u32, u32); 4],
}

impl Segment {
    /// Its SACK blocks.
    pub fn sack_blocks(&self) -> &[(u32, u32)] {
        &self.sack[..usize::from(self.sack_count)]
    }
}
