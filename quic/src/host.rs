//! Facts that the kernel counts of this program and its socket.

use std::net::UdpSocket;
use std::os::fd::AsRawFd;

use nix::sys::resource::{UsageWho, getrusage};

/// Index of dropped datagrams in the answer to `SO_MEMINFO` (`SK_MEMINFO_DROPS`).
const DROPS: usize = 8;

/// Datagrams that the kernel dropped because the socket's buffer was full, or their checksum was wrong.
pub fn drops(socket: &UdpSocket) -> u64 {
    let mut counts = [0u32; DROPS + 1];
    let mut length = size_of_val(&counts) as libc::socklen_t;
    // SAFETY: `counts` has room for `length` bytes, and both outlive the call.
    let code = unsafe {
        let to = counts.as_mut_ptr().cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO, to, &mut length)
    };
    if code == 0 { u64::from(counts[DROPS]) } else { 0 }
}

/// How often something else took this program's CPU while the program wanted to run on.
pub fn preempted() -> u64 {
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| usage.involuntary_context_switches().max(0) as u64)
}
