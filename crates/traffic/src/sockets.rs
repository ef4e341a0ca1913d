//! Socket calls that both ends of a flow use, with errors that name the flow.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use anyhow::{Context, Result};
use messages::Failure;
use nix::errno::Errno;
use nix::sys::socket::sockopt::{IpBindAddressNoPort, Linger, ReuseAddr, TcpCongestion};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrIn, SockaddrIn6, SockaddrStorage, bind, getsockname,
    getsockopt, setsockopt, socket,
};
use units::Ip;

/// A congestion control: as records call it, and as the kernel does.
#[derive(Clone, Debug)]
pub struct Algorithm {
    pub label: String,
    pub kernel: String,
}

/// Name that Linux gives its DCTCP where ECN was not negotiated, as after a lost SYN (`tcp_dctcp.c`): it is Reno then,
/// as RFC 8257 section 5 wants it, and was asked for all the same.
const DCTCP_WITHOUT_ECN: &str = "dctcp-reno";

impl Algorithm {
    /// A socket that runs this algorithm can say that it runs `got`.
    fn is(&self, got: &str) -> bool {
        self.kernel == got || (self.kernel == "dctcp" && got == DCTCP_WITHOUT_ECN)
    }
}

/// A non-blocking TCP socket that sends as `cc` says and whose close discards what is unsent: an orphaned sender would keep
/// its namespace alive for minutes.
pub fn tcp(flow: &str, ip: Ip, cc: &Algorithm) -> Result<OwnedFd> {
    let fd = open(flow, ip, SockType::Stream, SockProtocol::Tcp)?;
    setsockopt(&fd, Linger, &libc::linger { l_onoff: 1, l_linger: 0 })?;
    setsockopt(&fd, TcpCongestion, &cc.kernel.as_str().into()).map_err(|errno| refused(flow, cc, errno))?;
    Ok(fd)
}

/// Let a TCP socket take no more than about `bytes` that are yet to be sent.
pub fn hold_at_most(fd: &OwnedFd, bytes: u32) -> Result<()> {
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
pub fn udp(flow: &str, ip: Ip) -> Result<OwnedFd> {
    open(flow, ip, SockType::Datagram, SockProtocol::Udp)
}

fn open(flow: &str, ip: Ip, kind: SockType, protocol: SockProtocol) -> Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    socket(family(ip), kind, flags, protocol).map_err(|errno| {
        let hint = if errno == Errno::EMFILE { lab::files::HINT } else { "" };
        Failure::new(format!("flow {flow}: opening a socket"), errno).hint(hint).into()
    })
}

/// The version of IP of an address.
pub fn version(address: IpAddr) -> Ip {
    if address.is_ipv4() { Ip::V4 } else { Ip::V6 }
}

/// The family of sockets of a version of IP.
pub fn family(ip: Ip) -> AddressFamily {
    match ip {
        Ip::V4 => AddressFamily::Inet,
        Ip::V6 => AddressFamily::Inet6,
    }
}

/// Bind the receiving end.
pub fn bind_receiver(flow: &str, fd: &OwnedFd, to: SocketAddr) -> Result<()> {
    setsockopt(fd, ReuseAddr, &true)?;
    bind(fd.as_raw_fd(), &SockaddrStorage::from(to)).map_err(|errno| {
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
pub fn bind_sender(flow: &str, fd: &OwnedFd, from: IpAddr) -> Result<()> {
    setsockopt(fd, IpBindAddressNoPort, &true)?;
    bind_to(flow, fd, from)
}

/// Bind the sending end of a protocol without ports to its host's address.
pub fn bind_to(flow: &str, fd: &OwnedFd, from: IpAddr) -> Result<()> {
    bind(fd.as_raw_fd(), &SockaddrStorage::from(SocketAddr::new(from, 0)))
        .map_err(|errno| Failure::new(format!("flow {flow}: binding its sender to {from}"), errno).into())
}

/// The socket's port.
pub fn local_port(fd: impl AsFd) -> Result<u16> {
    let address = getsockname::<SockaddrStorage>(fd.as_fd().as_raw_fd())?;
    let v4 = address.as_sockaddr_in().map(SockaddrIn::port);
    v4.or_else(|| address.as_sockaddr_in6().map(SockaddrIn6::port)).context("a socket without a port")
}

/// The algorithm that the socket really uses.
pub fn congestion_control(fd: impl AsFd) -> Result<String> {
    Ok(getsockopt(&fd, TcpCongestion)?.to_string_lossy().trim_end_matches('\0').to_owned())
}

/// Fail unless the kernel uses the algorithm that was asked for.
pub fn require_cc(flow: &str, end: &str, asked: &Algorithm, got: &str) -> Result<()> {
    if asked.is(got) {
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
        let error = tcp("f7", Ip::V4, &cc("nosuch")).unwrap_err().downcast::<Failure>().unwrap();
        assert_eq!(error.what, "flow f7: setting its congestion control to nosuch");
        assert!(error.hint.starts_with("available: ") && error.hint.contains("reno"), "{error}");
    }

    #[test]
    fn dctcp_is_itself_without_ecn_too() {
        require_cc("f7", "sender", &cc("dctcp"), "dctcp-reno").unwrap();
        require_cc("f7", "sender", &cc("dctcp"), "reno").unwrap_err();
        require_cc("f7", "sender", &cc("reno"), "dctcp-reno").unwrap_err();
    }

    #[test]
    fn another_algorithm_than_asked_for_is_refused() {
        let fd = tcp("f7", Ip::V4, &cc("reno")).unwrap();
        let got = congestion_control(&fd).unwrap();
        require_cc("f7", "sender", &cc("reno"), &got).unwrap();
        let error = require_cc("f7", "sender", &cc("cubic"), &got).unwrap_err().to_string();
        assert!(error.starts_with("flow f7: congestion control of its sender: asked for cubic, got reno"), "{error}");
    }
}
