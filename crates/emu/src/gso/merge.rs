use super::vnet::Vnet;
use super::{CWR, FIN, FLAGS_AT, PSH, UDP_LENGTH_AT, set_length, set_pseudo, version};
use crate::frame::{ETHERNET, TCP};

/// Room for the headers of a frame: Ethernet, and IPv4 and TCP with all options. IPv6 has room for 20 bytes of options.
pub(crate) const HEADER_ROOM: usize = ETHERNET + 60 + 60;

/// Properties that consecutive segments share.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The headers of the first segment.
    pub header: &'a [u8],
    /// Offset of the transport header, and its protocol: TCP or UDP.
    pub transport: usize,
    pub protocol: u8,
    /// The last segment, headers first.
    pub last: &'a [u8],
    /// Payload of each segment except the last.
    pub gso_size: usize,
    /// Payload of all segments.
    pub payload_bytes: usize,
}

/// Write the headers of the one frame that carries all segments; what to tell the kernel of it.
pub(crate) fn write_header(run: &Run<'_>, into: &mut [u8; HEADER_ROOM]) -> Vnet {
    let tcp = run.protocol == TCP;
    let header = &mut into[..run.header.len()];
    header.copy_from_slice(run.header);
    let len = run.header.len() + run.payload_bytes;
    let below = len - run.transport;
    let (ip, transport) = header[ETHERNET..].split_at_mut(run.transport - ETHERNET);
    set_length(ip, len - ETHERNET, 0);
    if tcp {
        transport[FLAGS_AT] |= run.last[run.transport + FLAGS_AT] & (FIN | PSH);
    } else {
        transport[UDP_LENGTH_AT..UDP_LENGTH_AT + 2].copy_from_slice(&(below as u16).to_be_bytes());
    }
    let at = set_pseudo(ip, transport, tcp, below);
    let partial = Vnet::partial(run.transport as u16, at as u16);
    let (header_bytes, gso_size) = (run.header.len() as u16, run.gso_size as u16);
    if tcp {
        partial.tcp_burst(version(ip), header_bytes, gso_size, transport[FLAGS_AT] & CWR != 0)
    } else {
        partial.udp_burst(header_bytes, gso_size)
    }
}
