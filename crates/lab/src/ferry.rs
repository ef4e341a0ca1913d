//! Nodes on their way from the process that has made them to another one of the lab.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use anyhow::{Context, Result, ensure};
use nix::errno::Errno;

use crate::{Host, Own};

/// Namespaces of a node, and its root directory.
const DESCRIPTORS: usize = 4;
const BYTES: u32 = (DESCRIPTORS * size_of::<RawFd>()) as u32;

/// Sends a node's namespaces over a Unix socket.
///
/// # Errors
/// The other end is gone.
pub fn send(socket: BorrowedFd<'_>, host: &Host) -> Result<()> {
    let Own { mounts, uts, root } = &host.own;
    let all = [&host.netns, mounts, uts, root].map(AsRawFd::as_raw_fd);
    with_header(|header| {
        // SAFETY: the header has room for one message of so many descriptors.
        unsafe {
            let message = libc::CMSG_FIRSTHDR(header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(BYTES) as usize;
            libc::CMSG_DATA(message).cast::<[RawFd; DESCRIPTORS]>().write_unaligned(all);
            Errno::result(libc::sendmsg(socket.as_raw_fd(), header, libc::MSG_NOSIGNAL))
        }
    })
    .with_context(|| format!("handing {} over", host.name))?;
    Ok(())
}

/// Receives the namespaces of the node `name`. Its interfaces are not known to this process.
///
/// # Errors
/// The other end is gone, or sends something else.
pub fn receive(socket: BorrowedFd<'_>, name: &str, address: Option<Ipv4Addr>, cpus: &[u16]) -> Result<Host> {
    let received = with_header(|header| {
        // SAFETY: the header points to valid memory; the kernel fills in the message, whose descriptors are new and ours.
        unsafe {
            Errno::result(libc::recvmsg(socket.as_raw_fd(), header, libc::MSG_CMSG_CLOEXEC))?;
            let Some(message) = libc::CMSG_FIRSTHDR(header).as_ref() else { return Ok(None) };
            let is_ours = (message.cmsg_level, message.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            Ok((is_ours && message.cmsg_len == libc::CMSG_LEN(BYTES) as usize)
                .then(|| libc::CMSG_DATA(message).cast::<[RawFd; DESCRIPTORS]>().read_unaligned()))
        }
    });
    let received = received.with_context(|| format!("receiving {name}"))?;
    ensure!(received.is_some(), "receiving {name}: no descriptors came");
    // SAFETY: the kernel has made these descriptors for this process.
    let owned = |one: RawFd| unsafe { OwnedFd::from_raw_fd(one) };
    let [netns, mounts, uts, root] = received.expect("checked").map(owned);
    Ok(Host {
        name: name.to_owned(),
        address,
        interfaces: Vec::new(),
        netns,
        own: Own { mounts, uts, root },
        cpus: cpus.to_vec(),
        share: None,
    })
}

/// Calls `work` with the header of a message of one byte, and with room for descriptors beside it.
fn with_header<T>(work: impl FnOnce(&mut libc::msghdr) -> nix::Result<T>) -> nix::Result<T> {
    let mut byte = 0_u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    // Aligned as control messages must be.
    let mut control = [0_u64; 8];
    // SAFETY: all zero is a valid header.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.as_mut_ptr().cast();
    // SAFETY: computes a length.
    header.msg_controllen = unsafe { libc::CMSG_SPACE(BYTES) } as usize;
    work(&mut header)
}
