//! Sockets that are not ours, seen through `NETLINK_SOCK_DIAG` (`sock_diag(7)`, `linux/inet_diag.h`).
//!
//! Messages are parsed here: a sample is taken from the bytes in place, and `tcp_info` has one definition in this crate.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, BorrowedFd};

use anyhow::{Context, Result};
use netlink_sys::{Socket, protocols::NETLINK_SOCK_DIAG};
use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::ReceiveTimeout;
use nix::sys::time::{TimeVal, TimeValLike};

use crate::tcp_info::{BbrInfo, TcpInfo};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const INET_DIAG_INFO: u16 = 2;
const INET_DIAG_VEGASINFO: u16 = 3;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_BBRINFO: u16 = 16;
/// Vegas' bit requests every algorithm's information: BBR's is beyond the 8 bits of `idiag_ext`.
const EXTENSIONS: u8 = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1) | 1 << (INET_DIAG_CONG - 1);

const HEADER: usize = 16;
const MESSAGE: usize = 72;
/// `struct inet_diag_sockid` within `struct inet_diag_msg`, and its size.
const ID: usize = 4;
const ID_LENGTH: usize = 48;

const LISTEN: u32 = 1 << 10;
/// ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING: what carries or carried data.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;

/// `struct inet_diag_sockid` with its family: names one socket, for as long as it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketId {
    family: u8,
    raw: [u8; ID_LENGTH],
}

impl SocketId {
    /// The name of no socket.
    #[cfg(test)]
    pub(crate) fn nobody() -> SocketId {
        SocketId { family: 0, raw: [0; ID_LENGTH] }
    }

    pub fn local(&self) -> SocketAddr {
        self.address(0, 4)
    }

    pub fn remote(&self) -> SocketAddr {
        self.address(2, 20)
    }

    /// IPv4 within IPv6, as dual-stack programs use it, is IPv4.
    fn address(&self, port: usize, address: usize) -> SocketAddr {
        let bytes: [u8; 16] = self.raw[address..address + 16].try_into().expect("16 bytes");
        let ip = if i32::from(self.family) == libc::AF_INET {
            Ipv4Addr::from([bytes[0], bytes[1], bytes[2], bytes[3]]).into()
        } else {
            IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical()
        };
        SocketAddr::new(ip, self.port_at(port))
    }

    fn port_at(&self, offset: usize) -> u16 {
        u16::from_be_bytes([self.raw[offset], self.raw[offset + 1]])
    }
}

/// The kernel's answer about a TCP socket.
#[derive(Clone, Debug)]
pub struct Diagnosis<'a> {
    pub id: SocketId,
    pub cc: Option<&'a str>,
    pub info: Option<TcpInfo>,
    pub bbr: Option<BbrInfo>,
}

/// A protocol with ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// Asks about the sockets of the namespace in which it was opened.
pub struct SockDiag {
    socket: Socket,
    buffer: Vec<u8>,
}

impl SockDiag {
    /// Call in the namespace to ask about.
    pub fn open() -> Result<SockDiag> {
        let socket = Socket::new(NETLINK_SOCK_DIAG).context("opening a sock_diag socket (CONFIG_INET_DIAG)")?;
        // SAFETY: the descriptor lives as long as `socket`.
        let fd = unsafe { BorrowedFd::borrow_raw(socket.as_raw_fd()) };
        // The kernel answers within the call that asks; this only bounds the surprise if it ever doesn't.
        setsockopt(&fd, ReceiveTimeout, &TimeVal::seconds(1))?;
        Ok(SockDiag { socket, buffer: vec![0; 64 * 1024] })
    }

    /// True if a program listens on a TCP port, or has bound a UDP port.
    pub fn has_server(&mut self, port: u16) -> io::Result<bool> {
        Ok(self.listens(Protocol::Tcp, port)? || self.listens(Protocol::Udp, port)?)
    }

    /// True if a program listens on a port of a protocol; by UDP, if it has bound it.
    pub fn listens(&mut self, protocol: Protocol, port: u16) -> io::Result<bool> {
        let mut found = false;
        let (number, states) = match protocol {
            Protocol::Tcp => (libc::IPPROTO_TCP, LISTEN),
            Protocol::Udp => (libc::IPPROTO_UDP, u32::MAX),
        };
        for family in [libc::AF_INET, libc::AF_INET6] {
            let request = request(family as u8, number, states, 0, &[0; ID_LENGTH]);
            match self.ask(&request, NLM_F_DUMP, |d| found |= d.id.port_at(0) == port) {
                // The kernel has no inet_diag module for this protocol: such a server can't be seen.
                Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
                asked => asked?,
            }
        }
        Ok(found)
    }

    /// Every connected TCP socket. Walks the machine's whole table of connections: a tenth of a millisecond and more.
    pub fn connected(&mut self, mut each: impl FnMut(&Diagnosis)) -> io::Result<()> {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let request = request(family as u8, libc::IPPROTO_TCP, CONNECTED, EXTENSIONS, &[0; ID_LENGTH]);
            self.ask(&request, NLM_F_DUMP, &mut each)?;
        }
        Ok(())
    }

    /// One socket, by a look-up; `each` is not called if it is gone.
    pub fn look_up(&mut self, id: &SocketId, each: impl FnMut(&Diagnosis)) -> io::Result<()> {
        let request = request(id.family, libc::IPPROTO_TCP, u32::MAX, EXTENSIONS, &id.raw);
        match self.ask(&request, 0, each) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESTALE)) => Ok(()),
            asked => asked,
        }
    }

    fn ask(&mut self, request: &[u8], flags: u16, mut each: impl FnMut(&Diagnosis)) -> io::Result<()> {
        let mut message = [0; HEADER + 56];
        message[..4].copy_from_slice(&((HEADER + request.len()) as u32).to_ne_bytes());
        message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        message[6..8].copy_from_slice(&(NLM_F_REQUEST | flags).to_ne_bytes());
        message[HEADER..].copy_from_slice(request);
        self.socket.send(&message, 0)?;
        loop {
            let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
            let mut rest = &self.buffer[..length];
            while rest.len() >= HEADER {
                let size = (u32_at(rest, 0) as usize).clamp(HEADER, rest.len());
                let body = &rest[HEADER..size];
                match u16_at(rest, 4) {
                    NLMSG_DONE => return Ok(()),
                    NLMSG_ERROR => {
                        let code = i32::from_ne_bytes(body[..4].try_into().expect("an error has a code"));
                        return if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(-code)) };
                    }
                    SOCK_DIAG_BY_FAMILY if body.len() >= MESSAGE => each(&parse(body)),
                    _ => {}
                }
                rest = &rest[align(size).min(rest.len())..];
            }
            if flags & NLM_F_DUMP == 0 {
                return Ok(());
            }
        }
    }
}

/// `struct inet_diag_req_v2`.
fn request(family: u8, protocol: i32, states: u32, extensions: u8, id: &[u8; ID_LENGTH]) -> [u8; 56] {
    let mut request = [0; 56];
    (request[0], request[1], request[2]) = (family, protocol as u8, extensions);
    request[4..8].copy_from_slice(&states.to_ne_bytes());
    request[8..].copy_from_slice(id);
    request
}

/// `struct inet_diag_msg` and its attributes.
fn parse(body: &[u8]) -> Diagnosis<'_> {
    let id = SocketId { family: body[0], raw: body[ID..ID + ID_LENGTH].try_into().expect("the size was checked") };
    let mut diagnosis = Diagnosis { id, cc: None, info: None, bbr: None };
    let mut rest = &body[MESSAGE..];
    while rest.len() >= 4 {
        let size = usize::from(u16_at(rest, 0)).clamp(4, rest.len());
        let value = &rest[4..size];
        match u16_at(rest, 2) {
            INET_DIAG_INFO => diagnosis.info = TcpInfo::parse(value).ok(),
            INET_DIAG_BBRINFO => diagnosis.bbr = BbrInfo::parse(value),
            INET_DIAG_CONG => diagnosis.cc = std::str::from_utf8(value).ok().map(|cc| cc.trim_end_matches('\0')),
            _ => {}
        }
        rest = &rest[align(size).min(rest.len())..];
    }
    diagnosis
}

fn align(size: usize) -> usize {
    size.next_multiple_of(4)
}

fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_ne_bytes([bytes[offset], bytes[offset + 1]])
}

fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_ne_bytes(bytes[offset..offset + 4].try_into().expect("4 bytes"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    use nix::sys::socket::sockopt::TcpCongestion;

    use super::*;

    fn find(diag: &mut SockDiag, local: SocketAddr) -> Option<(SocketId, String, TcpInfo)> {
        let mut found = None;
        diag.connected(|d| {
            if d.id.local() == local {
                found = Some((d.id, d.cc.unwrap().to_owned(), d.info.unwrap()));
            }
        })
        .unwrap();
        found
    }

    #[test]
    fn a_connection_is_found_then_looked_up_then_gone() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            found_then_looked_up_then_gone(TcpListener::bind(address).unwrap());
        }
    }

    fn found_then_looked_up_then_gone(listener: TcpListener) {
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        setsockopt(&client, TcpCongestion, &"reno".into()).unwrap();
        client.write_all(&[0; 3000]).unwrap();

        let mut diag = SockDiag::open().unwrap();
        let (id, cc, info) = find(&mut diag, client.local_addr().unwrap()).unwrap();
        assert_eq!(id.remote(), listener.local_addr().unwrap());
        assert_eq!((cc.as_str(), info.bytes_sent), ("reno", 3000));

        let mut seen = None;
        diag.look_up(&id, |d| seen = Some((d.id, d.info.unwrap().bytes_sent))).unwrap();
        assert_eq!(seen, Some((id, 3000)));

        drop((client, server));
        diag.look_up(&id, |d| assert_ne!(d.info.unwrap().state, 1, "still established")).unwrap();
    }

    #[test]
    fn bbr_tells_of_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
        let cc = if known.contains("bbr") { "bbr" } else { "reno" };
        setsockopt(&client, TcpCongestion, &cc.into()).unwrap();
        let mut bbr = None;
        SockDiag::open()
            .unwrap()
            .connected(|d| {
                if d.id.local() == client.local_addr().unwrap() {
                    bbr = Some(d.bbr.is_some());
                }
            })
            .unwrap();
        assert_eq!(bbr, Some(cc == "bbr"));
    }

    #[test]
    fn servers_of_both_protocols_are_seen() {
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let mut diag = SockDiag::open().unwrap();
        assert!(diag.has_server(tcp_port).unwrap());
        assert!(diag.has_server(udp_port).unwrap());
        assert!(diag.listens(Protocol::Tcp, tcp_port).unwrap() && diag.listens(Protocol::Udp, udp_port).unwrap());
        drop((tcp, udp));
        assert!(!diag.has_server(tcp_port).unwrap());
    }
}
