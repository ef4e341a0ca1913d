//! ICMP echo (RFC 792) over a raw socket. It needs CAP_NET_RAW in the host's namespace, which a lab has.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Result;
use messages::Failure;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};

const HEADER: usize = 8;
const ECHO_REPLY: u8 = 0;
const ECHO_REQUEST: u8 = 8;

/// A non-blocking raw socket that receives echo replies only. `whose` and `hint` are for an error.
pub fn open(whose: &str, hint: &str) -> Result<OwnedFd> {
    /// `SOL_RAW` and `ICMP_FILTER` of Linux: a bit for each type of message that is not delivered.
    const SOL_RAW: libc::c_int = 255;
    const ICMP_FILTER: libc::c_int = 1;
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, SockType::Raw, flags, SockProtocol::Icmp)
        .map_err(|errno| Failure::new(format!("{whose}: opening a socket for ICMP"), errno).hint(hint))?;
    let filter: u32 = !(1 << ECHO_REPLY);
    // SAFETY: `filter` is valid for its length.
    let set = unsafe {
        let (value, length) = ((&raw const filter).cast(), size_of_val(&filter) as libc::socklen_t);
        libc::setsockopt(fd.as_raw_fd(), SOL_RAW, ICMP_FILTER, value, length)
    };
    Errno::result(set)?;
    Ok(fd)
}

/// An echo request.
pub fn request(identifier: u16, sequence: u16, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![ECHO_REQUEST, 0, 0, 0];
    message.extend_from_slice(&identifier.to_be_bytes());
    message.extend_from_slice(&sequence.to_be_bytes());
    message.extend_from_slice(payload);
    let checksum = checksum(&message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    message
}

/// The payload of an answer to `identifier`'s requests, in an IPv4 packet as a raw socket receives it.
pub fn answer(packet: &[u8], identifier: u16) -> Option<&[u8]> {
    let message = packet.get(usize::from(packet.first()? & 0xf) * 4..)?;
    let is_ours = message.first()? == &ECHO_REPLY && message.get(4..6)? == identifier.to_be_bytes();
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
    fn a_request_is_sound_and_its_answer_is_recognised() {
        let payload: Vec<u8> = (0..57).collect();
        let message = request(0x1234, 9, &payload);
        assert_eq!(checksum(&message), 0, "the sum over all with the checksum in place is 0");
        assert_eq!((message.len(), &message[..2]), (HEADER + 57, &[8, 0][..]));
        let mut packet = vec![0x45; 20];
        packet.extend(&message);
        assert_eq!(answer(&packet, 0x1234), None, "a request is no answer");
        packet[20] = ECHO_REPLY;
        assert_eq!(answer(&packet, 0x1234), Some(&payload[..]));
        assert_eq!((answer(&packet, 0x1235), answer(&packet[..22], 0x1234)), (None, None));
    }
}
