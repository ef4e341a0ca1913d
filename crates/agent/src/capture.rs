//! A socket that sees each frame at an interface.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use anyhow::{Context, Result};
use lab::Host;
use messages::Failure;
use nix::errno::Errno;

use crate::client;
use crate::request::Answer;

/// Open the socket in `node`, in a child of the agent, and give it to the client at the other end of `to`.
pub(crate) fn open(node: &Host, interface: &str, to: RawFd) -> Result<Answer> {
    node.doors().enter().with_context(|| format!("entering {}", node.name))?;
    let name = CString::new(interface)?;
    // SAFETY: a valid name.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(
            Failure::new(format!("capturing at {interface} of {}", node.name), "there is no such interface").into()
        );
    }
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    // Without a protocol it sees nothing until it is bound: else it would see frames of other interfaces.
    // SAFETY: system calls with valid arguments; the new descriptor is ours.
    let socket = unsafe {
        let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        let socket = OwnedFd::from_raw_fd(Errno::result(libc::socket(libc::AF_PACKET, kind, 0))?);
        let stamps: libc::c_int = 1;
        let (value, length) = ((&raw const stamps).cast(), size_of_val(&stamps) as libc::socklen_t);
        let set = libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, value, length);
        Errno::result(set)?;
        let mut address: libc::sockaddr_ll = std::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol;
        address.sll_ifindex = index as i32;
        let length = size_of_val(&address) as libc::socklen_t;
        Errno::result(libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length))
            .with_context(|| format!("capturing at {interface} of {}", node.name))?;
        socket
    };
    client::give(to, socket.as_raw_fd())?;
    Ok(Answer::Done)
}
