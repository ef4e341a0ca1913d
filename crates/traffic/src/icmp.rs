//! ICMP echo (RFC 792, RFC 4443) over a raw socket. It needs CAP_NET_RAW in the host's namespace, which a lab has.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Result;
use messages::Failure;
use nix::errno::Errno;
use nix::sys::socket::{SockFlag, SockProtocol, SockType, socket};
use units::Ip;

use crate::sockets::family;

const HEADER: usize = 8;

/// The types of an echo request and of its reply.
fn types(ip: Ip) -> (u8, u8) {
    match ip {
        Ip::V4 => (8, 0),
        Ip::V6 => (128, 129),
    }
}

/// A non-blocking raw socket that receives echo replies only. `whose` and `hint` are for an error.
pub fn open(ip: Ip, whose: &str, hint: &str) -> Result<OwnedFd> {
    /// `SOL_RAW`, `SOL_ICMPV6`, `ICMP_FILTER` and `ICMPV6_FILTER` of Linux: a bit for each type of message that is not
    /// delivered.
    const SOL_RAW: libc::c_int = 255;
    const SOL_ICMPV6: libc::c_int = 58;
    const FILTER: libc::c_int = 1;
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let (protocol, level, words) = match ip {
        Ip::V4 => (SockProtocol::Icmp, SOL_RAW, 1),
        Ip::V6 => (SockProtocol::IcmpV6, SOL_ICMPV6, 8),
    };
    let fd = socket(family(ip), SockType::Raw, flags, protocol)
        .map_err(|errno| Failure::new(format!("{whose}: opening a socket for ICMP"), errno).hint(hint))?;
    let (_, reply) = types(ip);
    let mut filter = [u32::MAX; 8];
    filter[usize::from(reply / 32)] &= !(1 << (reply % 32));
    // SAFETY: `filter` is valid for its length.
    let set = unsafe {
        let (value, length) = (filter.as_ptr().cast(), (words * size_of::<u32>()) as libc::socklen_t);
        libc::setsockopt(fd.as_raw_fd(), level, FILTER, value, length)
    };
    Errno::result(set)?;
    Ok(fd)
}

/// An echo request. In IPv6 its checksum covers the addresses: the kernel computes it.
pub fn request(ip: Ip, identifier: u16, sequence: u16, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![types(ip).0, 0, 0, 0];
    message.extend_from_slice(&identifier.to_be_bytes());
    message.extend_from_slice(&sequence.to_be_bytes());
    message.extend_from_slice(payload);
    if ip == Ip::V4 {
        let checksum = checksum(&message);
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
    }
    message
}

/// The payload of an answer to `identifier`'s requests, in what a raw socket receives: an IPv4 packet, or in IPv6 what is
/// below the headers (RFC 3542 section 3).
pub fn answer(ip: Ip, packet: &[u8], identifier: u16) -> Option<&[u8]> {
    let header_bytes = if ip == Ip::V4 { usize::from(packet.first()? & 0xf) * 4 } else { 0 };
    let message = packet.get(header_bytes..)?;
    let is_ours = message.first()? == &types(ip).1 && message.get(4..6)? == identifier.to_be_bytes();
    is_ours.then(|| message.get(HEADER..))?
}

/// The Internet checksum (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_ipv6_has_no_header() {
        let mut message = request(Ip::V6, 0x1234, 9, &[7; 9]);
        assert_eq!((answer(Ip::V6, &message, 0x1234), message[0]), (None, 128));
        message[0] = 129;
        assert_eq!(answer(Ip::V6, &message, 0x1234), Some(&[7; 9][..]));
    }

    #[test]
    fn a_request_is_sound_and_its_answer_is_recognised() {
        let payload: Vec<u8> = (0..57).collect();
        let message = request(Ip::V4, 0x1234, 9, &payload);
        assert_eq!(checksum(&message), 0, "the sum over all with the checksum in place is 0");
        assert_eq!((message.len(), &message[..2]), (HEADER + 57, &[8, 0][..]));
        let mut packet = vec![0x45; 20];
        packet.extend(&message);
        assert_eq!(answer(Ip::V4, &packet, 0x1234), None, "a request is no answer");
        packet[20] = 0;
        assert_eq!(answer(Ip::V4, &packet, 0x1234), Some(&payload[..]));
        assert_eq!((answer(Ip::V4, &packet, 0x1235), answer(Ip::V4, &packet[..22], 0x1234)), (None, None));
    }
}
