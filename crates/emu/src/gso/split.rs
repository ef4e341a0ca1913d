use super::merge::HEADER_ROOM;
use super::vnet::Vnet;
use super::{CWR, FIN, FLAGS_AT, PSH, UDP_LENGTH_AT, set_length, set_pseudo};
use crate::frame::{ETHERNET, Header, TCP, UDP};

/// A burst that the kernel handed over as one frame: as segments of wire size, each a separate frame.
#[derive(Clone, Copy)]
pub(crate) struct Burst<'a> {
    frame: &'a [u8],
    tcp: bool,
    /// Offset of the transport header.
    transport: usize,
    /// Offset of the payload.
    payload: usize,
    gso_size: usize,
}

impl<'a> Burst<'a> {
    /// `header` is that of `frame`. `None` if it is no burst that can be taken apart.
    pub(crate) fn new(frame: &'a [u8], header: &Header, vnet: &Vnet) -> Option<Burst<'a>> {
        let tcp = match header.tuple.protocol {
            TCP if vnet.is_tcp() => true,
            UDP if vnet.is_udp() => false,
            _ => return None,
        };
        let (transport, payload) = (usize::from(header.transport), usize::from(header.payload));
        let whole = frame.len() == payload + header.payload_bytes as usize;
        let partial = vnet.needs_checksum() && vnet.csum_start == header.transport;
        let sized = vnet.gso_size > 0 && header.payload_bytes > 0 && payload <= HEADER_ROOM;
        (whole && partial && sized).then_some(Burst {
            frame,
            tcp,
            transport,
            payload,
            gso_size: usize::from(vnet.gso_size),
        })
    }

    /// Number of segments.
    pub(crate) fn segments(&self) -> usize {
        (self.frame.len() - self.payload).div_ceil(self.gso_size)
    }

    /// Payload bytes of each but the last.
    pub(crate) fn gso_size(&self) -> usize {
        self.gso_size
    }

    /// Payload bytes of segment `index`, as a range of the burst's.
    pub(crate) fn range(&self, index: usize) -> std::ops::Range<usize> {
        let begin = index * self.gso_size;
        begin..(begin + self.gso_size).min(self.frame.len() - self.payload)
    }

    /// True if each segment, as a frame, is at most so long.
    pub(crate) fn fits(&self, bytes: usize) -> bool {
        self.payload + self.gso_size <= bytes
    }

    /// Write segment `index` as a frame; returns its length. Its checksum is still to be completed.
    ///
    /// The headers are as a network interface that segments would write them: IPv4's identification and sequence number count
    /// on, FIN and PSH are the last segment's, CWR is the first one's.
    pub(crate) fn write(&self, index: usize, into: &mut [u8]) -> usize {
        let range = self.range(index);
        let len = self.payload + range.len();
        let into = &mut into[..len];
        let (header, payload) = into.split_at_mut(self.payload);
        header.copy_from_slice(&self.frame[..self.payload]);
        payload.copy_from_slice(&self.frame[self.payload + range.start..self.payload + range.end]);
        let (ip, transport) = header[ETHERNET..].split_at_mut(self.transport - ETHERNET);
        let below = len - self.transport;
        set_length(ip, len - ETHERNET, index);
        if self.tcp {
            let sequence = u32::from_be_bytes([transport[4], transport[5], transport[6], transport[7]]);
            transport[4..8].copy_from_slice(&sequence.wrapping_add(range.start as u32).to_be_bytes());
            if index + 1 < self.segments() {
                transport[FLAGS_AT] &= !(FIN | PSH);
            }
            if index > 0 {
                transport[FLAGS_AT] &= !CWR;
            }
        } else {
            transport[UDP_LENGTH_AT..UDP_LENGTH_AT + 2].copy_from_slice(&(below as u16).to_be_bytes());
        }
        set_pseudo(ip, transport, self.tcp, below);
        len
    }
}
