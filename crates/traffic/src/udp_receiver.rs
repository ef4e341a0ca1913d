//! The receiving end of a UDP flow: what arrived, in what order, how late.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::Result;
use datagrams::{Arrival, Jitter, Sequence};
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{IpRecvTos, Ipv6RecvTClass, RcvBuf};
use units::Time;

use crate::poller::Source;
use crate::shared::Shared;
use crate::sockets;
use realtime::{Quantiles, Spans};

/// Sequence number and time of sending, 8 bytes each, little-endian.
pub const HEADER: usize = 16;
/// The size that is asked for; the kernel gives at most `net.core.rmem_max`.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;
const BATCH: usize = 64;
/// Size of a control message of one byte, or of an integer, aligned.
const CONTROL: usize = size_of::<libc::cmsghdr>() + size_of::<u64>();

/// Number a datagram and say when it leaves.
pub fn write_header(payload: &mut [u8], sequence: u64, now: Time) {
    payload[..8].copy_from_slice(&sequence.to_le_bytes());
    payload[8..HEADER].copy_from_slice(&now.as_nanos().to_le_bytes());
}

/// Facts about a received datagram beside its header.
#[derive(Clone, Copy, Debug, Default)]
struct Outside {
    /// Length of the payload.
    length: usize,
    congestion_experienced: bool,
}

/// Room for one control message.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// Room for datagrams that are received at once, used by all flows in turn.
pub struct Batch {
    headers: Box<[[u8; HEADER]; BATCH]>,
    controls: Box<[Control; BATCH]>,
}

impl Batch {
    pub fn new() -> Batch {
        Batch { headers: Box::new([[0; HEADER]; BATCH]), controls: Box::new([Control([0; CONTROL]); BATCH]) }
    }

    /// Returns how many; their headers are in `headers`.
    fn receive(&mut self, fd: &OwnedFd, outsides: &mut [Outside; BATCH]) -> usize {
        // SAFETY: all zero is a valid `iovec` and `mmsghdr`.
        let (mut buffers, mut messages): ([libc::iovec; BATCH], [libc::mmsghdr; BATCH]) = unsafe { std::mem::zeroed() };
        let room = self.headers.iter_mut().zip(self.controls.iter_mut()).zip(&mut buffers);
        for (((header, control), buffer), message) in room.zip(&mut messages) {
            *buffer = libc::iovec { iov_base: header.as_mut_ptr().cast(), iov_len: HEADER };
            message.msg_hdr.msg_iov = buffer;
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL as _;
        }
        // SAFETY: every message points to buffers that outlive the call. MSG_TRUNC reports whole lengths.
        let n = unsafe {
            let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
            libc::recvmmsg(fd.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, flags as _, std::ptr::null_mut())
        };
        let n = n.max(0) as usize;
        for (outside, message) in outsides.iter_mut().zip(&messages[..n]) {
            *outside = Outside {
                length: message.msg_len as usize,
                congestion_experienced: tos(&message.msg_hdr).is_some_and(|tos| tos & CE == CE),
            };
        }
        n
    }
}

/// Both bits of the codepoint (RFC 3168 section 5).
const CE: u8 = 0b11;

/// The type of service, or in IPv6 the traffic class, of a received message of a socket that asks for it.
fn tos(message: &libc::msghdr) -> Option<u8> {
    // SAFETY: the kernel has filled the control buffer; its first message is within it, if there is one.
    unsafe {
        let control = libc::CMSG_FIRSTHDR(message).as_ref()?;
        let data = libc::CMSG_DATA(control);
        match (control.cmsg_level, control.cmsg_type) {
            (libc::IPPROTO_IP, libc::IP_TOS) => Some(*data),
            (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => Some(data.cast::<libc::c_int>().read_unaligned() as u8),
            _ => None,
        }
    }
}

/// The datagrams that arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrived {
    pub packets: u64,
    pub congestion_experienced: u64,
    pub lost: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub socket_drops: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    pub one_way_delay: Quantiles,
    pub jitter_us: Option<f64>,
}

/// A bound socket and the tally of its datagrams.
pub struct Receiver {
    fd: OwnedFd,
    bytes: u64,
    arrived: Arrived,
    sequence: Sequence,
    delay: Spans,
    jitter: Jitter,
}

impl Receiver {
    /// Call in the receiving host's namespace.
    pub fn open(flow: &str, index: u32, to: SocketAddr, shared: &Shared) -> Result<Receiver> {
        let fd = sockets::udp(flow, sockets::version(to.ip()))?;
        setsockopt(&fd, RcvBuf, &RECEIVE_BUFFER)?;
        ask_for_marks(&fd, to)?;
        sockets::bind_receiver(flow, &fd, to)?;
        shared.poller.add(&fd, Source::Receiver(index), EpollFlags::EPOLLIN)?;
        let (arrived, sequence) = (Arrived::default(), Sequence::default());
        Ok(Receiver { fd, bytes: 0, arrived, sequence, delay: Spans::default(), jitter: Jitter::default() })
    }

    /// Take one batch, when `sent` datagrams are under way or here. Returns whether there may be more.
    pub fn receive(&mut self, shared: &mut Shared, sent: u64) -> bool {
        let mut outsides = [Outside::default(); BATCH];
        let n = shared.batch.receive(&self.fd, &mut outsides);
        let now = shared.clock.now();
        for (header, outside) in shared.batch.headers.iter().zip(outsides).take(n) {
            if outside.length < HEADER {
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
            self.bytes += outside.length as u64;
            self.arrived.packets += 1;
            self.arrived.congestion_experienced += u64::from(outside.congestion_experienced);
            self.arrived.first.get_or_insert(now);
            self.arrived.last = Some(now);
            self.delay.add(now - Time(sent_at));
            self.jitter.arrive(now - Time(sent_at));
        }
        n == BATCH
    }

    pub fn received_bytes(&self) -> u64 {
        self.bytes
    }

    pub fn lost_packets(&self) -> u64 {
        self.sequence.gaps()
    }

    pub fn arrived(&self) -> Arrived {
        Arrived {
            lost: self.lost_packets(),
            socket_drops: socket_drops(&self.fd),
            one_way_delay: self.delay.quantiles(),
            jitter_us: self.jitter.us(),
            ..self.arrived
        }
    }
}

/// Let the kernel tell the marks of datagrams to an address.
fn ask_for_marks(fd: &OwnedFd, to: SocketAddr) -> nix::Result<()> {
    match to {
        SocketAddr::V4(_) => setsockopt(fd, IpRecvTos, &true),
        SocketAddr::V6(_) => setsockopt(fd, Ipv6RecvTClass, &true),
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

#[cfg(test)]
mod tests {
    use nix::sys::socket::sockopt::{Ipv4Tos, Ipv6TClass};
    use nix::sys::socket::{MsgFlags, SockaddrStorage, getsockname, sendto};

    use super::*;

    #[test]
    fn marks_are_of_the_datagram_that_bears_them() {
        let [v4, v6] = ["127.0.0.1:0", "[::1]:0"].map(|to| to.parse().unwrap());
        marks_between_sockets(v4, |sender, tos| setsockopt(sender, Ipv4Tos, &tos).unwrap());
        marks_between_sockets(v6, |sender, class| setsockopt(sender, Ipv6TClass, &class).unwrap());
    }

    fn marks_between_sockets(to: SocketAddr, set: impl Fn(&OwnedFd, i32)) {
        let ip = sockets::version(to.ip());
        let (sender, receiver) = (sockets::udp("f", ip).unwrap(), sockets::udp("f", ip).unwrap());
        ask_for_marks(&receiver, to).unwrap();
        sockets::bind_receiver("f", &receiver, to).unwrap();
        let to: SockaddrStorage = getsockname(receiver.as_raw_fd()).unwrap();
        // A whole byte, of which the upper six bits are the DSCP: here expedited forwarding.
        for (n, tos) in [0b00, 0b01, 0b10, 0b11, 0b1011_1011, 0b1011_1010].into_iter().enumerate() {
            set(&sender, tos);
            sendto(sender.as_raw_fd(), &vec![0; HEADER + n], &to, MsgFlags::empty()).unwrap();
        }
        let mut outsides = [Outside::default(); BATCH];
        assert_eq!(Batch::new().receive(&receiver, &mut outsides), 6);
        let seen: Vec<_> = outsides[..6].iter().map(|o| (o.length - HEADER, o.congestion_experienced)).collect();
        assert_eq!(seen, [(0, false), (1, false), (2, false), (3, true), (4, true), (5, false)]);
    }
}
