//! The IP packets that carry a datagram: one, or fragments if it is longer than the MTU allows.

use std::num::NonZeroU8;

use units::{Ip, Mtu, headers};

/// Offsets of fragments count units of so many bytes (RFC 791 section 3.1, RFC 8200 section 4.5).
pub const UNIT: u32 = 8;
/// Bytes of the extension header that makes a packet a fragment in IPv6 (RFC 8200 section 4.5).
pub const FRAGMENT_HEADER: u32 = 8;
/// The most payload of a datagram: an IPv4 packet has at most 65,535 bytes (RFC 791), headers included.
pub const MOST_PAYLOAD: u32 = 65_507;

/// The place of a fragment in its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Bytes of the datagram before it, UDP's header included, in [`UNIT`]s.
    pub offset: u16,
    /// Fragments before it.
    pub index: u8,
    /// Fragments of the datagram.
    pub count: NonZeroU8,
}

impl Fragment {
    /// Others follow.
    pub const fn has_more(self) -> bool {
        self.index + 1 < self.count.get()
    }
}

/// An IP packet with a datagram, or with a fragment of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// UDP payload in it.
    pub payload: u32,
    /// `None`: the whole datagram.
    pub fragment: Option<Fragment>,
}

impl Part {
    /// The frame around it.
    pub const fn frame_bytes(&self, ip: Ip) -> u32 {
        let around = headers::ETHERNET + ip.header_bytes();
        let (extension, begins) = match (self.fragment, ip) {
            (None, _) => (0, true),
            (Some(fragment), Ip::V4) => (0, fragment.index == 0),
            (Some(fragment), Ip::V6) => (FRAGMENT_HEADER, fragment.index == 0),
        };
        around + extension + if begins { headers::UDP } else { 0 } + self.payload
    }
}

/// The packets that carry a datagram of `payload` bytes, in order, as Linux cuts them: each as full as units of 8 bytes
/// allow, the last one with the rest. In IPv4 the rest may be a few bytes longer than a full fragment, as it needs no whole units.
pub fn parts(payload: u32, ip: Ip, mtu: Mtu) -> impl Iterator<Item = Part> {
    let total = headers::UDP + payload;
    let (room, longest_last) = match ip {
        Ip::V4 => {
            let room = mtu.bytes() - ip.header_bytes();
            (room / UNIT * UNIT, room)
        }
        Ip::V6 => {
            let room = (mtu.bytes() - ip.header_bytes() - FRAGMENT_HEADER) / UNIT * UNIT;
            (room, room)
        }
    };
    let is_whole = payload <= mtu.datagram_bytes(ip);
    let count = if is_whole { 1 } else { 1 + (total - longest_last).div_ceil(room) };
    let part = move |index: u32| {
        let before = index * room;
        let bytes = if index + 1 == count { total - before } else { room };
        let fragment = (!is_whole).then(|| Fragment {
            offset: (before / UNIT) as u16,
            index: index as u8,
            count: NonZeroU8::new(count as u8).expect("at most 128 fragments, at least two"),
        });
        Part { payload: bytes - if index == 0 { headers::UDP } else { 0 }, fragment }
    };
    (0..count).map(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(payload: u32, ip: Ip, mtu: u32) -> Vec<(u32, Option<u16>, u32)> {
        let told = |part: Part| (part.payload, part.fragment.map(|one| one.offset), part.frame_bytes(ip));
        parts(payload, ip, Mtu::try_from(mtu).unwrap()).map(told).collect()
    }

    #[test]
    fn what_fits_is_one_packet() {
        assert_eq!(cut(1472, Ip::V4, 1500), [(1472, None, 1514)]);
        assert_eq!(cut(1452, Ip::V6, 1500), [(1452, None, 1514)]);
        assert_eq!(cut(1, Ip::V4, 1500), [(1, None, 43)]);
    }

    #[test]
    fn a_datagram_of_8_kb_is_six_packets() {
        // RFC 791's algorithm by hand: 8,200 bytes with UDP's header, 1,480 in each packet but the last.
        let full = |index: u16| (1480, Some(185 * index), 1514);
        let expected = [(1472, Some(0), 1514), full(1), full(2), full(3), full(4), (800, Some(925), 834)];
        assert_eq!(cut(8192, Ip::V4, 1500), expected);
        // RFC 8200's: 1,448 behind the headers of IPv6 and of the fragment, 62 bytes with Ethernet's.
        let full = |index: u16| (1448, Some(181 * index), 1510);
        let expected = [(1440, Some(0), 1510), full(1), full(2), full(3), full(4), (960, Some(905), 1022)];
        assert_eq!(cut(8192, Ip::V6, 1500), expected);
    }

    #[test]
    fn one_byte_too_much_makes_a_second_packet() {
        assert_eq!(cut(1473, Ip::V4, 1500), [(1472, Some(0), 1514), (1, Some(185), 35)]);
        // 4 bytes of the room in IPv6 are no whole unit.
        assert_eq!(cut(1453, Ip::V6, 1500), [(1440, Some(0), 1510), (13, Some(181), 75)]);
        assert_eq!(cut(1440 + 1448, Ip::V6, 1500).len(), 2);
        assert_eq!(cut(1440 + 1449, Ip::V6, 1500).len(), 3);
    }

    #[test]
    fn the_last_packet_of_ipv4_may_be_longer_than_the_others() {
        // An MTU of 1,499 leaves 1,479 bytes: 184 units and 7 bytes more, which only the last one can use.
        assert_eq!(cut(1464 + 1479, Ip::V4, 1499), [(1464, Some(0), 1506), (1479, Some(184), 1513)]);
        assert_eq!(cut(1464 + 1480, Ip::V4, 1499).len(), 3);
    }

    #[test]
    fn every_byte_is_in_one_packet_and_none_is_too_long() {
        for (ip, mtu) in [(Ip::V4, 576), (Ip::V4, 577), (Ip::V4, 1500), (Ip::V4, 9000), (Ip::V6, 1280), (Ip::V6, 1500)]
        {
            for payload in [16, 1472, 1473, 8192, 30_001, MOST_PAYLOAD] {
                let parts: Vec<Part> = parts(payload, ip, Mtu::try_from(mtu).unwrap()).collect();
                assert_eq!(parts.iter().map(|part| part.payload).sum::<u32>(), payload);
                assert!(parts.iter().all(|part| part.frame_bytes(ip) <= 14 + mtu), "{mtu}: {parts:?}");
                let last = parts.last().and_then(|part| part.fragment);
                assert!(last.is_none_or(|last| !last.has_more() && usize::from(last.count.get()) == parts.len()));
            }
        }
    }
}
