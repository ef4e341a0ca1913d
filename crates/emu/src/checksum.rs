//! The Internet checksum (RFC 1071).

/// One's complement sum of 16-bit words in network order; an odd last byte is the upper half of a word.
pub(crate) fn sum(bytes: &[u8], start: u32) -> u32 {
    let (words, odd) = bytes.as_chunks::<2>();
    let sum = words.iter().fold(u64::from(start), |sum, &word| sum + u64::from(u16::from_be_bytes(word)));
    let sum = sum + odd.first().map_or(0, |&byte| u64::from(byte) << 8);
    u32::from(fold(sum))
}

/// Add the carries until 16 bits are left.
pub(crate) fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Set the checksum of an IPv4 header.
pub(crate) fn set_ipv4(ip: &mut [u8]) {
    ip[10..12].fill(0);
    let checksum = !(sum(ip, 0) as u16);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Sum of the pseudo header for `bytes` of `protocol`, TCP or UDP, below the IP header `ip` (RFC 9293 section 3.1, RFC 8200
/// section 8.1). The kernel leaves it in the checksum field of a segment whose checksum is still to be completed.
pub(crate) fn pseudo(ip: &[u8], protocol: u8, bytes: usize) -> u16 {
    let addresses = if ip[0] >> 4 == 4 { &ip[12..20] } else { &ip[8..40] };
    sum(addresses, u32::from(protocol) + bytes as u32) as u16
}

/// Complete the checksum of a TCP or UDP segment whose field, `at` bytes into it, holds the pseudo header's sum.
pub(crate) fn complete(segment: &mut [u8], at: usize) {
    // A datagram's zero would mean that it has none (RFC 768); for TCP the two zeros are equal.
    let checksum = match !(sum(segment, 0) as u16) {
        0 => 0xffff,
        checksum => checksum,
    };
    segment[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7], 0), 0xddf2);
        assert_eq!(sum(&[0x00, 0x01, 0xf2], 0), 0xf201);
    }

    #[test]
    fn a_completed_segment_sums_to_ones() {
        // 127.0.0.1 to 127.0.0.1, UDP, ports 1 and 2, 11 bytes: payload "abc".
        let mut ip = [0u8; 20];
        ip[0] = 0x45;
        ip[12..20].copy_from_slice(&[127, 0, 0, 1, 127, 0, 0, 1]);
        let mut segment = [0, 1, 0, 2, 0, 11, 0, 0, b'a', b'b', b'c'];
        segment[6..8].copy_from_slice(&pseudo(&ip, 17, 11).to_be_bytes());
        complete(&mut segment, 6);
        assert_eq!(sum(&segment, u32::from(pseudo(&ip, 17, 11))), 0xffff);
    }
}
