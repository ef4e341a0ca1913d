//! A packet socket on one interface, as an emulator uses it.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{Context, Result};

/// A frame and what the kernel thinks of its destination (PACKET_HOST, PACKET_OTHERHOST, ...).
pub struct Frame {
    pub bytes: Vec<u8>,
    pub packet_type: u8,
}

impl Frame {
    /// The same frame on its last hop.
    pub fn to(&self, host: &lab::Host) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        let eth0 = &host.interfaces[0];
        bytes[..6].copy_from_slice(&eth0.mac);
        bytes[6..12].copy_from_slice(&eth0.gateway_mac.expect("a core network's host has a gateway"));
        bytes
    }
}

/// Reads for two seconds at most.
pub struct PacketSocket(OwnedFd);

impl PacketSocket {
    pub fn bind(ifindex: i32) -> Result<PacketSocket> {
        let protocol = (libc::ETH_P_IP as u16).to_be();
        // SAFETY: plain system calls; a descriptor that is not negative is ours.
        unsafe {
            let raw = libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, protocol.into());
            let socket = PacketSocket(OwnedFd::from_raw_fd(check(raw as isize).context("packet socket")? as i32));
            let mut address: libc::sockaddr_ll = mem::zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = protocol;
            address.sll_ifindex = ifindex;
            let length = mem::size_of_val(&address) as u32;
            check(libc::bind(raw, (&raw const address).cast(), length) as isize)?;
            let timeout = libc::timeval { tv_sec: 2, tv_usec: 0 };
            let length = mem::size_of_val(&timeout) as u32;
            let option = (&raw const timeout).cast();
            check(libc::setsockopt(raw, libc::SOL_SOCKET, libc::SO_RCVTIMEO, option, length) as isize)?;
            let one = 1i32;
            const PACKET_IGNORE_OUTGOING: i32 = 23;
            check(libc::setsockopt(raw, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, (&raw const one).cast(), 4) as isize)?;
            Ok(socket)
        }
    }

    pub fn receive(&self) -> Result<Frame> {
        let mut bytes = vec![0; 2048];
        // SAFETY: the buffer and the address have the lengths that the kernel gets.
        unsafe {
            let mut address: libc::sockaddr_ll = mem::zeroed();
            let mut size = mem::size_of_val(&address) as u32;
            let from = (&raw mut address).cast();
            let length = libc::recvfrom(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0, from, &mut size);
            bytes.truncate(check(length).context("waiting for a frame")? as usize);
            Ok(Frame { bytes, packet_type: address.sll_pkttype })
        }
    }

    pub fn send(&self, frame: &[u8]) -> Result<()> {
        // SAFETY: the kernel reads the frame only.
        check(unsafe { libc::send(self.0.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) })
            .context("sending a frame")?;
        Ok(())
    }
}

fn check(result: isize) -> io::Result<isize> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
