//! Socket calls that both ends of a flow use, with errors that name the flow.

use std::fs;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use anyhow::Result;
use messages::Failure;
use nix::errno::Errno;
use nix::sys::socket::sockopt::{IpBindAddressNoPort, Linger, ReuseAddr, TcpCongestion};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, bind, getsockname, getsockopt, setsockopt, socket,
};

/// A congestion control: as records call it, and as the kernel does.
#[derive(Clone, Debug)]
pub struct Algorithm {
    pub label: String,
    pub kernel: String,
}

/// A non-blocking TCP socket that sends as `cc` says and whose close discards what is unsent: an orphaned sender would keep
/// its namespace alive for minutes.
pub fn tcp(flow: &str, cc: &Algorithm) -> Result<OwnedFd> {
    let fd = open(flow, SockType::Stream, SockProtocol::Tcp)?;
    setsockopt(&fd, Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
    setsockopt(&fd, TcpCongestion, &cc.kernel.as_str().into()).map_err(|errno| refused(flow, cc, errno))?;
    Ok(fd)
}

/// Let a TCP socket take no more than about `bytes` that are yet to be sent.
pub fn hold_at_most(fd: &OwnedFd, bytes: u64) -> Result<()> {
    let bytes = bytes as libc::c_int;
    // SAFETY: `bytes` is valid for its length.
    let set = unsafe {
        let (value, length) = ((&raw const bytes).cast(), size_of_val(&bytes) as libc::socklen_t);
        libc::setsockopt(fd.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, value, length)
    };
    Errno::result(set)?;
    Ok(())
}

/// A non-blocking UDP socket.
pub fn udp(flow: &str) -> Result<OwnedFd> {
    open(flow, SockType::Datagram, SockProtocol::Udp)
}

fn open(flow: &str, kind: SockType, protocol: SockProtocol) -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    socket(AddressFamily::Inet, kind, flags, protocol).map_err(|errno| {
        let hint = if errno == Errno::EMFILE { "raise the limit of open files (ulimit -Hn)" } else { "" };
        Failure::new(format!("flow {flow}: opening a socket"), errno).hint(hint).into()
    })
}

/// Bind the receiving end.
pub fn bind_receiver(flow: &str, fd: &OwnedFd, to: SocketAddrV4) -> Result<()> {
    setsockopt(fd, ReuseAddr, &true)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(to)).map_err(|errno| {
        let hint = match errno {
            Errno::EADDRINUSE => "give the flow another port",
            Errno::EADDRNOTAVAIL => "the receiving host lacks this address",
            Errno::EACCES => "ports below 1024 need CAP_NET_BIND_SERVICE in the host's namespace",
            _ => "",
        };
        Failure::new(format!("flow {flow}: binding its receiver to {to}"), errno).hint(hint).into()
    })
}

/// Bind the sending end to its host's address; connecting chooses the port.
pub fn bind_sender(flow: &str, fd: &OwnedFd, from: Ipv4Addr) -> Result<()> {
    setsockopt(fd, IpBindAddressNoPort, &true)?;
    bind(fd.as_raw_fd(), &SockaddrIn::from(SocketAddrV4::new(from, 0)))
        .map_err(|errno| Failure::new(format!("flow {flow}: binding its sender to {from}"), errno).into())
}

/// The socket's port.
pub fn local_port(fd: impl AsFd) -> Result<u16> {
    Ok(getsockname::<SockaddrIn>(fd.as_fd().as_raw_fd())?.port())
}

/// The algorithm that the socket really uses.
pub fn congestion_control(fd: impl AsFd) -> Result<String> {
    Ok(getsockopt(&fd, TcpCongestion)?.to_string_lossy().trim_end_matches('\0').to_owned())
}

/// Fail unless the kernel uses the algorithm that was asked for.
pub fn require_cc(flow: &str, end: &str, asked: &Algorithm, got: &str) -> Result<()> {
    if asked.kernel == got {
        return Ok(());
    }
    let hint = "a route with a congctl option, or a BPF program, overrides the socket's choice: remove it";
    let why = format!("asked for {}, got {got}", asked.label);
    Err(Failure::new(format!("flow {flow}: congestion control of its {end}"), why).hint(hint).into())
}

fn refused(flow: &str, cc: &Algorithm, errno: Errno) -> Failure {
    let what = format!("flow {flow}: setting its congestion control to {}", cc.label);
    let known = |name: &str| fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap_or_default();
    match errno {
        Errno::ENOENT => {
            let available = known("tcp_available_congestion_control");
            let module = format!("If it is a module, load it as root: modprobe tcp_{}", cc.kernel);
            let hint = format!("available: {}. {module}", available.trim());
            Failure::new(what, "this kernel has no such algorithm loaded").hint(hint)
        }
        Errno::EPERM => {
            let allowed = known("tcp_allowed_congestion_control");
            let hint =
                format!("allowed without privileges: {} (net.ipv4.tcp_allowed_congestion_control)", allowed.trim());
            Failure::new(what, "an ordinary user may not use it").hint(hint)
        }
        _ => Failure::new(what, errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cc(name: &str) -> Algorithm {
        Algorithm { label: name.to_owned(), kernel: name.to_owned() }
    }

    #[test]
    fn an_unknown_algorithm_is_refused_by_name() {
        let error = tcp("f7", &cc("nosuch")).unwrap_err().downcast::<Failure>().unwrap();
        assert_eq!(error.what, "flow f7: setting its congestion control to nosuch");
        assert!(error.hint.starts_with("available: ") && error.hint.contains("reno"), "{error}");
    }

    #[test]
    fn another_algorithm_than_asked_for_is_refused() {
        let fd = tcp("f7", &cc("reno")).unwrap();
        let got = congestion_control(&fd).unwrap();
        require_cc("f7", "sender", &cc("reno"), &got).unwrap();
        let error = require_cc("f7", "sender", &cc("cubic"), &got).unwrap_err().to_string();
        assert!(error.starts_with("flow f7: congestion control of its sender: asked for cubic, got reno"), "{error}");
    }
}
