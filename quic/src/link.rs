//! The socket: datagrams in batches, with their ECN codepoints.

use std::io::{ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result};
use bytes::BytesMut;
use quinn_udp::{BATCH_SIZE, EcnCodepoint, RecvMeta, UdpSocketState};

use crate::stack::{Ecn, Transmit};

/// The largest datagram of IP.
const LARGEST: usize = 1 << 16;
/// Socket buffers, if the kernel allows them: what arrives while the program waits for a CPU.
const BUFFER: usize = 4 << 20;
/// The most datagrams of one send, as in quinn.
pub const MOST: usize = 10;

/// A UDP socket.
pub struct Link {
    socket: UdpSocket,
    state: UdpSocketState,
    rooms: Vec<Vec<u8>>,
}

impl Link {
    /// Binds a socket to an address.
    ///
    /// # Errors
    /// The address is taken, or not this host's.
    pub fn bind(at: SocketAddr) -> Result<Link> {
        let socket = UdpSocket::bind(at).with_context(|| format!("binding a socket to {at}"))?;
        let state = UdpSocketState::new((&socket).into()).context("preparing the socket")?;
        // A kernel gives no more than net.core.[rw]mem_max, which is no error.
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        // Datagrams that the kernel joined come as one.
        let rooms = vec![vec![0; LARGEST]; BATCH_SIZE];
        Ok(Link { socket, state, rooms })
    }

    /// The socket, for counts and its port.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Its descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Gives a batch of datagrams that have arrived to `each`. Returns true if the kernel may hold more. A batch that is
    /// not full was all: to ask again would be a system call for nothing, which costs most where each is traced.
    ///
    /// # Errors
    /// The kernel fails otherwise than by an answer of the network.
    pub fn receive(&mut self, mut each: impl FnMut(SocketAddr, Ecn, BytesMut)) -> Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> = self.rooms.iter_mut().map(|room| IoSliceMut::new(room)).collect();
        let batch = match self.state.recv((&self.socket).into(), &mut slices, &mut metas) {
            Ok(batch) => batch,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            // An ICMP message: the peer is gone, or not there yet. The stack has timers for that.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(true),
            Err(error) => return Err(error).context("receiving"),
        };
        for (meta, room) in metas[..batch].iter().zip(&self.rooms) {
            for datagram in room[..meta.len].chunks(meta.stride.max(1)) {
                each(meta.addr, meta.ecn.map_or(0, |ecn| ecn as u8), BytesMut::from(datagram));
            }
        }
        Ok(batch == BATCH_SIZE)
    }

    /// The most datagrams that one call of `send` takes.
    pub fn most(&self) -> usize {
        self.state.max_gso_segments().min(MOST)
    }

    /// Sends datagrams. Returns false if the socket's buffer is full.
    ///
    /// # Errors
    /// The kernel fails otherwise than by an answer of the network.
    pub fn send(&self, transmit: &Transmit, contents: &[u8]) -> Result<bool> {
        let datagrams = quinn_udp::Transmit {
            destination: transmit.to,
            ecn: EcnCodepoint::from_bits(transmit.ecn),
            contents,
            segment_size: transmit.segment_bytes,
            src_ip: None,
        };
        match self.state.try_send((&self.socket).into(), &datagrams) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if is_loss(&error) => Ok(true),
            Err(error) => Err(error).context("sending"),
        }
    }
}

/// True if an error means that these datagrams are gone, and later ones may pass: a probe that is larger than the MTU, an
/// answer of the network, or a network that is down.
fn is_loss(error: &std::io::Error) -> bool {
    let losses =
        [libc::EMSGSIZE, libc::ECONNREFUSED, libc::ENETUNREACH, libc::EHOSTUNREACH, libc::ENETDOWN, libc::ENOBUFS];
    error.raw_os_error().is_some_and(|code| losses.contains(&code))
}
