use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use plan::EmulatePath;

use crate::Port;
use crate::gso::{HEADER_ROOM, Vnet};
use crate::ring::set;

/// Frames that are handed to hosts' interfaces together: spreads the cost of a system call.
///
/// A frame is made of parts: on the GSO path a virtio-net header and the frame's own headers first.
pub(crate) struct Transmitter {
    socket: OwnedFd,
    addresses: Vec<libc::sockaddr_ll>,
    vnet: bool,
    frames: Vec<Frame>,
    parts: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

struct Frame {
    port: u16,
    /// Where its parts begin.
    first: usize,
    head: [u8; Vnet::BYTES + HEADER_ROOM],
    head_bytes: usize,
}

impl Transmitter {
    pub(crate) fn open(ports: &[Port], path: EmulatePath) -> Result<Transmitter> {
        // Protocol 0: this socket never receives.
        // SAFETY: plain system call; the descriptor is owned from here on.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            ensure!(fd >= 0, "opening a packet socket to send: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        set(&socket, libc::PACKET_QDISC_BYPASS, &1i32).context("bypassing the queueing discipline")?;
        let vnet = path == EmulatePath::Gso;
        if vnet {
            set(&socket, libc::PACKET_VNET_HDR, &1i32).context("announcing virtio-net headers")?;
        }
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
        Ok(Transmitter { socket, addresses, vnet, frames: Vec::new(), parts: Vec::new(), messages: Vec::new() })
    }

    /// Forget all frames.
    pub(crate) fn clear(&mut self) {
        self.frames.clear();
        self.parts.clear();
    }

    /// Begin a frame for a port. It begins with `header`; on the wire path `vnet` says nothing.
    pub(crate) fn begin(&mut self, port: u16, vnet: Vnet, header: &[u8]) {
        let mut frame = Frame { port, first: self.parts.len(), head: [0; Vnet::BYTES + HEADER_ROOM], head_bytes: 0 };
        if self.vnet {
            frame.head[..Vnet::BYTES].copy_from_slice(&vnet.to_bytes());
            frame.head[Vnet::BYTES..][..header.len()].copy_from_slice(header);
            frame.head_bytes = Vnet::BYTES + header.len();
            // The frame may move until all are there: the pointer is set then.
            self.parts.push(libc::iovec { iov_base: std::ptr::null_mut(), iov_len: frame.head_bytes });
        }
        self.frames.push(frame);
    }

    /// The frame goes on with `bytes`, which must stay until the frames are sent.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.parts.push(libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() });
    }

    /// Make the frames ready to be sent.
    pub(crate) fn close(&mut self) {
        self.messages.clear();
        for (i, frame) in self.frames.iter().enumerate() {
            let end = self.frames.get(i + 1).map_or(self.parts.len(), |next| next.first);
            if frame.head_bytes > 0 {
                self.parts[frame.first].iov_base = frame.head.as_ptr().cast_mut().cast();
            }
            // SAFETY: all-zero is a valid mmsghdr.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            let header = &mut message.msg_hdr;
            header.msg_iov = self.parts[frame.first..end].as_mut_ptr();
            header.msg_iovlen = end - frame.first;
            header.msg_name = (&raw mut self.addresses[usize::from(frame.port)]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            self.messages.push(message);
        }
    }

    /// Send frames from the `first` on; how many were taken. Fewer: the frame after them was refused with the error.
    pub(crate) fn send(&mut self, first: usize) -> (usize, Option<std::io::Error>) {
        let messages = &mut self.messages[first..];
        // SAFETY: the messages point to parts, addresses and heads that have not moved since `close`.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                messages.as_mut_ptr(),
                messages.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { (0, Some(std::io::Error::last_os_error())) } else { (sent as usize, None) }
    }
}
