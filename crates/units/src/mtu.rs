use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ip;

/// Bytes of the headers that a frame can have.
pub mod headers {
    /// Ethernet, without preamble and frame check sequence.
    pub const ETHERNET: u32 = 14;
    /// UDP. The header of an ICMP echo is as long.
    pub const UDP: u32 = 8;
    /// TCP without options.
    pub const TCP: u32 = 20;
    /// TCP's timestamp option (RFC 7323), as Linux aligns it: every segment but a SYN has it.
    pub const TIMESTAMPS: u32 = 12;
}

/// A network's maximum transmission unit: the most bytes of an IP packet that its links carry (RFC 1122 section 1.3.3).
///
/// What full packets carry follows from it. Ethernet's, 1500 bytes, is the default. It is 576 bytes at least, which every
/// host takes (RFC 791), and at most 9000, those of a jumbo frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[serde(try_from = "u32", into = "u32")]
pub struct Mtu(u32);

impl Mtu {
    const LEAST: u32 = 576;
    const MOST: u32 = 9000;

    /// True if it is Ethernet's.
    pub fn is_default(&self) -> bool {
        *self == Mtu::default()
    }

    /// Bytes of a full IP packet.
    pub const fn bytes(self) -> u32 {
        self.0
    }

    /// Bytes of a frame with a full packet: 1514.
    pub const fn frame_bytes(self) -> u32 {
        headers::ETHERNET + self.0
    }

    /// Payload of a full TCP segment with timestamps: 1448 bytes in IPv4, 1428 in IPv6.
    pub const fn segment_bytes(self, ip: Ip) -> u32 {
        self.0 - ip.header_bytes() - headers::TCP - headers::TIMESTAMPS
    }

    /// Payload of a full UDP datagram, or of a full echo request: 1472 bytes in IPv4, 1452 in IPv6.
    pub const fn datagram_bytes(self, ip: Ip) -> u32 {
        self.0 - ip.header_bytes() - headers::UDP
    }
}

impl Default for Mtu {
    fn default() -> Mtu {
        Mtu(1500)
    }
}

impl TryFrom<u32> for Mtu {
    type Error = String;
    fn try_from(bytes: u32) -> Result<Self, Self::Error> {
        let known = Mtu::LEAST..=Mtu::MOST;
        if known.contains(&bytes) { Ok(Mtu(bytes)) } else { Err(format!("an MTU of {bytes} bytes: 576 to 9000")) }
    }
}

impl From<Mtu> for u32 {
    fn from(mtu: Mtu) -> u32 {
        mtu.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(mtu: Mtu, ip: Ip) -> [u32; 4] {
        [mtu.bytes(), mtu.frame_bytes(), mtu.segment_bytes(ip), mtu.datagram_bytes(ip)]
    }

    #[test]
    fn full_packets_carry_what_the_headers_leave() {
        assert_eq!(sizes(Mtu::default(), Ip::V4), [1500, 1514, 1448, 1472]);
        assert_eq!(sizes(Mtu::default(), Ip::V6), [1500, 1514, 1428, 1452]);
        assert_eq!(sizes(Mtu::try_from(9000).unwrap(), Ip::V4), [9000, 9014, 8948, 8972]);
        assert_eq!(sizes(Mtu::try_from(576).unwrap(), Ip::V4), [576, 590, 524, 548]);
    }

    #[test]
    fn others_are_refused() {
        assert_eq!(serde_json::from_str::<Mtu>("576").unwrap().bytes(), 576);
        for bytes in ["575", "9001"] {
            let error = serde_json::from_str::<Mtu>(bytes).unwrap_err().to_string();
            assert!(error.contains(&format!("an MTU of {bytes} bytes: 576 to 9000")), "{error}");
        }
    }
}
