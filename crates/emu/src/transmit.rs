use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};

use crate::Port;
use crate::ring::set;

/// Packets per system call: enough to spread its cost, few enough to keep the first one from waiting for the last.
pub(crate) const BATCH: usize = 32;

/// Hands frames to hosts' interfaces.
pub(crate) struct Transmitter {
    socket: OwnedFd,
    addresses: Vec<libc::sockaddr_ll>,
    vectors: [libc::iovec; BATCH],
    messages: [libc::mmsghdr; BATCH],
}

/// A frame and the index of the port that it goes to.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub at: *mut u8,
    pub len: usize,
    pub port: usize,
}

impl Transmitter {
    pub(crate) fn open(ports: &[Port]) -> Result<Transmitter> {
        // Protocol 0: this socket never receives.
        // SAFETY: plain system call; the descriptor is owned from here on.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            ensure!(fd >= 0, "opening a packet socket to send: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        set(&socket, libc::PACKET_QDISC_BYPASS, &1i32).context("bypassing the queueing discipline")?;
        let addresses = ports
            .iter()
            .map(|port| {
                // SAFETY: all-zero is a valid sockaddr_ll.
                let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
                address.sll_family = libc::AF_PACKET as u16;
                address.sll_protocol = (libc::ETH_P_IP as u16).to_be();
                address.sll_ifindex = port.ifindex;
                address.sll_halen = 6;
                address.sll_addr[..6].copy_from_slice(&port.mac);
                address
            })
            .collect();
        // SAFETY: all-zero is valid for both; pointers are set before use.
        let (vectors, messages) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Ok(Transmitter { socket, addresses, vectors, messages })
    }

    /// Send up to [`BATCH`] frames; how many were taken. Fewer: the frame after them was refused with the error.
    pub(crate) fn send(&mut self, frames: &[Frame]) -> (usize, Option<std::io::Error>) {
        let frames = &frames[..frames.len().min(BATCH)];
        for (i, frame) in frames.iter().enumerate() {
            self.vectors[i] = libc::iovec { iov_base: frame.at.cast(), iov_len: frame.len };
            let header = &mut self.messages[i].msg_hdr;
            header.msg_iov = &raw mut self.vectors[i];
            header.msg_iovlen = 1;
            header.msg_name = (&raw mut self.addresses[frame.port]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        }
        // SAFETY: the first `frames.len()` messages point to valid vectors, addresses and frames.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                self.messages.as_mut_ptr(),
                frames.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { (0, Some(std::io::Error::last_os_error())) } else { (sent as usize, None) }
    }
}
