use units::Ip;

/// `struct virtio_net_hdr` (VIRTIO 1.2, section 5.1.6), in this machine's byte order as packet sockets have it: what a
/// frame lacks to be what a wire would carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vnet {
    pub flags: u8,
    pub gso_type: u8,
    /// Bytes before the payload.
    pub header_bytes: u16,
    /// Payload of each segment but the last.
    pub gso_size: u16,
    /// Offset of the part that the missing checksum covers.
    pub csum_start: u16,
    /// Offset of the checksum in that part.
    pub csum_offset: u16,
}

const NEEDS_CSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

impl Vnet {
    pub(crate) const BYTES: usize = 10;

    pub(crate) fn from_bytes(bytes: [u8; Vnet::BYTES]) -> Vnet {
        let [flags, gso_type, rest @ ..] = bytes;
        let field = |i: usize| u16::from_ne_bytes([rest[2 * i], rest[2 * i + 1]]);
        Vnet {
            flags,
            gso_type,
            header_bytes: field(0),
            gso_size: field(1),
            csum_start: field(2),
            csum_offset: field(3),
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; Vnet::BYTES] {
        let mut bytes = [self.flags, self.gso_type, 0, 0, 0, 0, 0, 0, 0, 0];
        for (i, field) in [self.header_bytes, self.gso_size, self.csum_start, self.csum_offset].into_iter().enumerate()
        {
            bytes[2 + 2 * i..4 + 2 * i].copy_from_slice(&field.to_ne_bytes());
        }
        bytes
    }

    /// The checksum field holds the pseudo header's sum only.
    pub(crate) fn needs_checksum(self) -> bool {
        self.flags & NEEDS_CSUM != 0
    }

    /// True if it is a burst of TCP segments.
    pub(crate) fn is_tcp(self) -> bool {
        [GSO_TCPV4, GSO_TCPV6].contains(&(self.gso_type & !GSO_ECN))
    }

    /// True if it is a burst of UDP datagrams.
    pub(crate) fn is_udp(self) -> bool {
        self.gso_type == GSO_UDP_L4
    }

    /// True if it is not a burst.
    pub(crate) fn is_single(self) -> bool {
        self.gso_type == 0
    }

    /// The header of one frame whose checksum is not complete.
    pub(crate) fn partial(csum_start: u16, csum_offset: u16) -> Vnet {
        Vnet { flags: NEEDS_CSUM, csum_start, csum_offset, ..Vnet::default() }
    }

    /// The same of a burst of TCP segments; `cwr`: Congestion Window Reduced is set, and is for the first alone.
    pub(crate) fn tcp_burst(self, ip: Ip, header_bytes: u16, gso_size: u16, cwr: bool) -> Vnet {
        let tcp = if ip == Ip::V4 { GSO_TCPV4 } else { GSO_TCPV6 };
        Vnet { gso_type: tcp | if cwr { GSO_ECN } else { 0 }, header_bytes, gso_size, ..self }
    }

    /// The same of a burst of UDP datagrams.
    pub(crate) fn udp_burst(self, header_bytes: u16, gso_size: u16) -> Vnet {
        Vnet { gso_type: GSO_UDP_L4, header_bytes, gso_size, ..self }
    }
}
