//! Tells of the routes of one router's kernel.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use anyhow::{Context, Result};
use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use netlink_packet_route::route::RouteMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::Seat;
use crate::table::{Hop, Table};

/// The kernel answers a dump in datagrams of at most this size if the reader's buffer has it.
const RECEIVE_BYTES: usize = 32 * 1024;
/// Multicast groups of rtnetlink: interfaces, routes of IPv4 and of IPv6.
const GROUPS: [u32; 3] = [1, 7, 11];
/// Messages that the kernel keeps for us while we are busy, in bytes, as far as it lets us.
const BUFFER_BYTES: usize = 4 << 20;

/// A socket in a router's network that hears of each change of its routes.
pub(crate) struct Monitor {
    socket: Socket,
    table: Table,
    interfaces: BTreeMap<u32, String>,
}

impl Monitor {
    /// Opens the socket, and reads which routes there are already.
    pub(crate) fn open(seat: &Seat<'_>) -> Result<Monitor> {
        seat.in_network(|| {
            let open = || -> io::Result<Socket> {
                let mut socket = Socket::new(NETLINK_ROUTE)?;
                socket.bind(&SocketAddr::new(0, 0))?;
                socket.set_rx_buf_sz(BUFFER_BYTES)?;
                Ok(socket)
            };
            let socket = open().context("opening a netlink socket")?;
            let links = dump(&socket, RouteNetlinkMessage::GetLink(LinkMessage::default()))?;
            // From here on changes are heard. What the dump tells again does no harm.
            GROUPS.iter().try_for_each(|&group| socket.add_membership(group)).context("joining the route messages")?;
            let routes = dump(&socket, RouteNetlinkMessage::GetRoute(RouteMessage::default()))?;
            socket.set_non_blocking(true).context("reading without waiting")?;
            let mut monitor = Monitor { socket, table: Table::default(), interfaces: BTreeMap::new() };
            for message in links.iter().chain(&routes) {
                monitor.take(message);
            }
            Ok(monitor)
        })
    }

    /// The changes since the last look.
    ///
    /// # Errors
    /// The kernel had more to tell than it could keep, or the socket cannot be read.
    pub(crate) fn read(&mut self) -> Result<Vec<Hop>> {
        let mut hops = Vec::new();
        loop {
            match receive(&self.socket) {
                Ok(messages) => {
                    for payload in messages {
                        if let NetlinkPayload::InnerMessage(message) = payload {
                            hops.extend(self.take(&message));
                        }
                    }
                }
                Err(error) => match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                    Some(io::ErrorKind::WouldBlock) => return Ok(hops),
                    Some(io::ErrorKind::Interrupted) => {}
                    _ => return Err(error.context("reading a router's route messages")),
                },
            }
        }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    fn take(&mut self, message: &RouteNetlinkMessage) -> Vec<Hop> {
        match message {
            RouteNetlinkMessage::NewRoute(route) => self.table.take(route, false),
            RouteNetlinkMessage::DelRoute(route) => self.table.take(route, true),
            RouteNetlinkMessage::NewLink(link) => {
                let name = link.attributes.iter().find_map(|attribute| match attribute {
                    LinkAttribute::IfName(name) => Some(name.clone()),
                    _ => None,
                });
                self.interfaces.extend(name.map(|name| (link.header.index, name)));
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The name of an interface, also of one that is gone.
    pub(crate) fn interface(&self, index: u32) -> Option<&str> {
        self.interfaces.get(&index).map(String::as_str)
    }
}

impl AsFd for Monitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor lives as long as the socket, which `self` owns.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// All objects of a kind. Changes that are heard meanwhile are among them.
fn dump(socket: &Socket, question: RouteNetlinkMessage) -> Result<Vec<RouteNetlinkMessage>> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(question));
    request.finalize();
    let mut bytes = vec![0; request.buffer_len()];
    request.serialize(&mut bytes);
    socket.send_to(&bytes, &SocketAddr::new(0, 0), 0).context("asking the kernel")?;
    let mut found = Vec::new();
    loop {
        for payload in receive(socket)? {
            match payload {
                NetlinkPayload::InnerMessage(message) => found.push(message),
                NetlinkPayload::Done(_) => return Ok(found),
                NetlinkPayload::Error(answer) => return Err(answer.to_io()).context("asking the kernel"),
                _ => {}
            }
        }
    }
}

/// The messages of the next datagram.
fn receive(socket: &Socket) -> Result<Vec<NetlinkPayload<RouteNetlinkMessage>>> {
    let mut received = Vec::with_capacity(RECEIVE_BYTES);
    let length = socket.recv(&mut received, 0)?;
    let mut rest = &received[..length];
    let mut messages = Vec::new();
    while !rest.is_empty() {
        let message = NetlinkMessage::deserialize(rest).context("decoding a netlink message")?;
        let consumed = (message.header.length as usize).next_multiple_of(4);
        messages.push(message.payload);
        rest = rest.get(consumed..).unwrap_or_default();
    }
    Ok(messages)
}
