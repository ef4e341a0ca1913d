//! The receiving end of a UDP flow: what arrived, in what order, how late.

use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Result;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::RcvBuf;
use units::Time;

use crate::poller::Source;
use crate::shared::Shared;
use crate::sockets;
use realtime::{Quantiles, Spans};

/// Sequence number and time of sending, 8 bytes each, little-endian.
pub const HEADER: usize = 16;
/// Asked for; the kernel gives at most `net.core.rmem_max`.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;
const BATCH: usize = 64;

/// Number a datagram and say when it leaves.
pub fn write_header(payload: &mut [u8], sequence: u64, now: Time) {
    payload[..8].copy_from_slice(&sequence.to_le_bytes());
    payload[8..HEADER].copy_from_slice(&now.as_nanos().to_le_bytes());
}

/// Room for the headers of datagrams that are received at once, used by all flows in turn.
pub struct Batch {
    headers: Box<[[u8; HEADER]; BATCH]>,
}

impl Batch {
    pub fn new() -> Batch {
        Batch { headers: Box::new([[0; HEADER]; BATCH]) }
    }

    /// Lengths of the payloads received; their headers are in `headers`.
    fn receive(&mut self, fd: &OwnedFd, lengths: &mut [u32; BATCH]) -> usize {
        // SAFETY: all zero is a valid `iovec` and `mmsghdr`.
        let (mut buffers, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) = unsafe { std::mem::zeroed() };
        for ((header, buffer), message) in self.headers.iter_mut().zip(&mut buffers).zip(&mut messages) {
            *buffer = libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER };
            message.msg_hdr.msg_iov = buffer;
            message.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: every message points to a buffer of `headers`, which outlives the call. MSG_TRUNC reports whole lengths.
        let n = unsafe {
            let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
            libc::recvmmsg(fd.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, flags as _, std::ptr::null_mut())
        };
        let n = n.max(0) as usize;
        for (length, message) in lengths.iter_mut().zip(&messages[..n]) {
            *length = message.msg_len;
        }
        n
    }
}

/// What arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    pub packets: u64,
    pub lost: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub socket_drops: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    pub one_way_delay: Quantiles,
}

/// A bound socket and the tally of its datagrams.
pub struct Receiver {
    fd: OwnedFd,
    bytes: u64,
    arrived: Arrived,
    sequence: Sequence,
    delay: Spans,
}

impl Receiver {
    /// Call in the receiving host's namespace.
    pub fn open(flow: &str, index: u32, to: SocketAddrV4, shared: &Shared) -> Result<Receiver> {
        let fd = sockets::udp(flow)?;
        setsockopt(&fd, RcvBuf, &RECEIVE_BUFFER)?;
        sockets::bind_receiver(flow, &fd, to)?;
        shared.poller.add(&fd, Source::Receiver(index), EpollFlags::EPOLLIN)?;
        let (arrived, sequence, delay) = (Arrived::default(), Sequence::default(), Spans::default());
        Ok(Receiver { fd, bytes: 0, arrived, sequence, delay })
    }

    /// Take one batch, when `sent` datagrams are under way or here. Returns whether there may be more.
    pub fn receive(&mut self, shared: &mut Shared, sent: u64) -> bool {
        let mut lengths = [0; BATCH];
        let n = shared.batch.receive(&self.fd, &mut lengths);
        let now = shared.clock.now();
        for (header, length) in shared.batch.headers.iter().zip(lengths).take(n) {
            if (length as usize) < HEADER {
                continue;
            }
            let (sequence, sent_at) = header.split_at(8);
            let sequence = u64::from_le_bytes(sequence.try_into().expect("8 bytes"));
            let sent_at = i64::from_le_bytes(sent_at.try_into().expect("8 bytes"));
            // A stranger's datagram.
            if sequence >= sent {
                continue;
            }
            match self.sequence.arrive(sequence) {
                Arrival::Duplicate => {
                    self.arrived.duplicates += 1;
                    continue;
                }
                Arrival::Reordered => self.arrived.reordered += 1,
                Arrival::InOrder => {}
            }
            self.bytes += u64::from(length);
            self.arrived.packets += 1;
            self.arrived.first.get_or_insert(now);
            self.arrived.last = Some(now);
            self.delay.add(now - Time(sent_at));
        }
        n == BATCH
    }

    pub fn received_bytes(&self) -> u64 {
        self.bytes
    }

    pub fn lost_packets(&self) -> u64 {
        self.sequence.end - self.arrived.packets
    }

    pub fn arrived(&self) -> Arrived {
        Arrived {
            lost: self.lost_packets(),
            socket_drops: socket_drops(&self.fd),
            one_way_delay: self.delay.quantiles(),
            ..self.arrived
        }
    }
}

/// Datagrams that arrived at a socket whose buffer was full.
fn socket_drops(fd: &OwnedFd) -> u64 {
    /// `SK_MEMINFO_DROPS`.
    const DROPS: usize = 8;
    let mut meminfo = [0_u32; DROPS + 1];
    let mut length = size_of_val(&meminfo) as libc::socklen_t;
    // SAFETY: `meminfo` is valid for `length` bytes.
    unsafe {
        let fd = fd.as_raw_fd();
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, meminfo.as_mut_ptr().cast(), &mut length);
    }
    u64::from(meminfo[DROPS])
}

/// Which sequence numbers have arrived.
#[derive(Clone, Debug, Default)]
struct Sequence {
    seen: Vec<u64>,
    /// One past the highest.
    end: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    InOrder,
    /// After a higher one (RFC 4737).
    Reordered,
    Duplicate,
}

impl Sequence {
    fn arrive(&mut self, sequence: u64) -> Arrival {
        let (word, bit) = ((sequence / 64) as usize, 1 << (sequence % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.seen[word] |= bit;
        if sequence < self.end {
            return Arrival::Reordered;
        }
        self.end = sequence + 1;
        Arrival::InOrder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_arrival() {
        let mut sequence = Sequence::default();
        let arrivals: Vec<Arrival> = [0, 2, 1, 2, 100].into_iter().map(|n| sequence.arrive(n)).collect();
        use Arrival::*;
        assert_eq!(arrivals, [InOrder, InOrder, Reordered, Duplicate, InOrder]);
        assert_eq!(sequence.end - 4, 97, "3 to 99 are missing");
    }
}
