use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use plan::EmulatePath;

use crate::Port;
use crate::outgoing::{Outgoing, Transmit};
use crate::ring::set;

/// Sends several frames by one system call, which spreads its cost.
pub(crate) struct PacketSocket {
    socket: OwnedFd,
    addresses: Vec<libc::sockaddr_ll>,
    messages: Vec<libc::mmsghdr>,
}

impl PacketSocket {
    pub(crate) fn open(ports: &[Port], path: EmulatePath) -> Result<PacketSocket> {
        // Protocol 0: this socket never receives.
        // SAFETY: plain system call; the descriptor is owned from here on.
        let socket = unsafe {
            let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
            ensure!(fd >= 0, "opening a packet socket to send: {}", std::io::Error::last_os_error());
            OwnedFd::from_raw_fd(fd)
        };
        set(&socket, libc::PACKET_QDISC_BYPASS, &1i32).context("bypassing the queueing discipline")?;
        if path == EmulatePath::Gso {
            set(&socket, libc::PACKET_VNET_HDR, &1i32).context("announcing virtio-net headers")?;
        }
        let addresses = ports
            .iter()
            .map(|port| {
                // SAFETY: all-zero is a valid sockaddr_ll.
                let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
                address.sll_family = libc::AF_PACKET as u16;
                // None: the kernel reads it from the frame.
                address.sll_protocol = if port.gateway_mac.is_some() { (libc::ETH_P_IP as u16).to_be() } else { 0 };
                address.sll_ifindex = port.ifindex;
                address.sll_halen = 6;
                address.sll_addr[..6].copy_from_slice(&port.mac);
                address
            })
            .collect();
        Ok(PacketSocket { socket, addresses, messages: Vec::new() })
    }
}

impl Transmit for PacketSocket {
    fn send(&mut self, frames: &Outgoing, first: usize) -> (usize, Option<std::io::Error>) {
        self.messages.clear();
        for (port, parts) in frames.frames(first) {
            // SAFETY: all-zero is a valid mmsghdr.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            let header = &mut message.msg_hdr;
            // The kernel only reads them.
            header.msg_iov = parts.as_ptr().cast_mut();
            header.msg_iovlen = parts.len();
            header.msg_name = (&raw mut self.addresses[usize::from(port)]).cast();
            header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            self.messages.push(message);
        }
        // SAFETY: the messages point to parts and addresses that outlive the call.
        let sent = unsafe {
            libc::sendmmsg(
                self.socket.as_raw_fd(),
                self.messages.as_mut_ptr(),
                self.messages.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { (0, Some(std::io::Error::last_os_error())) } else { (sent as usize, None) }
    }
}
