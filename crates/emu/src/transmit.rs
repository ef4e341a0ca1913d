use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result, ensure};
use lab::ClosedAside;
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{SndBuf, SndBufForce};
use plan::EmulatePath;

use crate::outgoing::{Outgoing, Transmit};
use crate::ring::set;
use crate::{Hop, Port};

/// Bytes that may wait in the kernel's links: more than any link's buffer and delay hold.
const QUEUED: usize = 1 << 30;

/// Sends several frames by one system call, which spreads its cost.
pub(crate) struct PacketSocket {
    socket: ClosedAside,
    /// Sends into the kernel's links, whose queueing disciplines it does not bypass.
    queued: ClosedAside,
    /// The number of hosts' interfaces; those of the kernel's links stand behind them.
    hosts: usize,
    addresses: Vec<libc::sockaddr_ll>,
    messages: Vec<libc::mmsghdr>,
}

impl PacketSocket {
    pub(crate) fn open(ports: &[Port], hops: &[Hop], path: EmulatePath) -> Result<PacketSocket> {
        let socket = sender(path)?;
        set(&socket, libc::PACKET_QDISC_BYPASS, &1i32).context("bypassing the queueing discipline")?;
        let of_port = |port: &Port| address(port.ifindex, port.gateway_mac.is_some(), port.mac);
        // The address is not looked at: all that comes out of a part of a link is taken.
        let of_hop = |hop: &Hop| address(hop.into, true, [0; 6]);
        let addresses = ports.iter().map(of_port).chain(hops.iter().map(of_hop)).collect();
        let queued = sender(path)?;
        // What waits in a queueing discipline is in this socket's buffer still.
        setsockopt(&queued, SndBufForce, &QUEUED)
            .or_else(|_| setsockopt(&queued, SndBuf, &QUEUED))
            .context("making room for what waits in the kernel's links")?;
        Ok(PacketSocket {
            socket: socket.into(),
            queued: queued.into(),
            hosts: ports.len(),
            addresses,
            messages: Vec::new(),
        })
    }
}

/// A packet socket that never receives: its protocol is 0.
fn sender(path: EmulatePath) -> Result<OwnedFd> {
    // SAFETY: plain system call; the descriptor is owned from here on.
    let socket = unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0);
        ensure!(fd >= 0, "opening a packet socket to send: {}", std::io::Error::last_os_error());
        OwnedFd::from_raw_fd(fd)
    };
    if path == EmulatePath::Gso {
        set(&socket, libc::PACKET_VNET_HDR, &1i32).context("announcing virtio-net headers")?;
    }
    Ok(socket)
}

/// An interface's. `is_ip`: all its frames are; else the kernel reads their protocol.
fn address(ifindex: i32, is_ip: bool, mac: [u8; 6]) -> libc::sockaddr_ll {
    // SAFETY: all-zero is a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = if is_ip { (libc::ETH_P_IP as u16).to_be() } else { 0 };
    address.sll_ifindex = ifindex;
    address.sll_halen = 6;
    address.sll_addr[..6].copy_from_slice(&mac);
    address
}

impl Transmit for PacketSocket {
    fn send(&mut self, frames: &Outgoing, first: usize) -> (usize, Option<std::io::Error>) {
        self.messages.clear();
        let mut socket = &self.socket;
        for (port, parts) in frames.frames(first) {
            // SAFETY: all-zero is a valid mmsghdr.
            let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
            let header = &mut message.msg_hdr;
            // Frames for hosts and for hops are never sent together.
            if usize::from(port) >= self.hosts {
                socket = &self.queued;
            }
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
                socket.as_raw_fd(),
                self.messages.as_mut_ptr(),
                self.messages.len() as libc::c_uint,
                libc::MSG_DONTWAIT,
            )
        };
        if sent < 0 { (0, Some(std::io::Error::last_os_error())) } else { (sent as usize, None) }
    }
}
