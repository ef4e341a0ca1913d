//! A synchronous rtnetlink socket that sends many requests at once.
//!
//! The kernel handles every message of one `send` before that call returns, and answers a failed one even if no
//! acknowledgement was asked for. A batch therefore asks for one acknowledgement, on its last message, and failures are
//! matched to their requests by sequence number.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use anyhow::{Context, Result, bail};
use netlink_packet_core::{
    DefaultNla, ErrorMessage, NLM_F_ACK, NLM_F_ACK_TLVS, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage,
    NetlinkPayload, Nla, NlasIterator, Parseable,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use messages::Failure;

/// The kernel answers a dump in datagrams of at most this size if the reader's buffer has it.
const RECEIVE_BYTES: usize = 32 * 1024;

/// Requests in one message: the kernel's socket buffer holds some thousand.
pub const AT_ONCE: usize = 1000;

/// Requests to be sent together, each with a description for its error.
#[derive(Default)]
pub struct Batch {
    requests: Vec<(String, RouteNetlinkMessage, u16)>,
}

impl Batch {
    /// Adds a request. `what` reads well after "failed: ", e.g. "adding the default route"; `flags` beyond
    /// `NLM_F_REQUEST`.
    pub fn push(&mut self, what: impl Into<String>, message: RouteNetlinkMessage, flags: u16) {
        self.requests.push((what.into(), message, flags));
    }

    /// The bytes to send; the first request has the sequence number `first`.
    pub fn encode(self, first: u32) -> Encoded {
        let count = self.requests.len();
        let mut encoded = Encoded { bytes: Vec::new(), descriptions: Vec::with_capacity(count), first };
        for (position, (what, message, flags)) in self.requests.into_iter().enumerate() {
            let ack = if position + 1 == count { NLM_F_ACK } else { 0 };
            append(&mut encoded.bytes, message, flags | ack, first.wrapping_add(position as u32));
            encoded.descriptions.push(what);
        }
        encoded
    }
}

/// A batch as bytes.
pub struct Encoded {
    bytes: Vec<u8>,
    descriptions: Vec<String>,
    first: u32,
}

/// An rtnetlink socket. It belongs to the network namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
    received: Vec<u8>,
}

impl Netlink {
    /// Opens a socket in the calling thread's network namespace.
    pub fn open() -> Result<Netlink> {
        let open = || -> io::Result<Socket> {
            let socket = Socket::new(NETLINK_ROUTE)?;
            socket.connect(&SocketAddr::new(0, 0))?;
            // Errors name their reason in words, and don't repeat the whole request.
            socket.set_ext_ack(true)?;
            socket.set_cap_ack(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|why| Failure::new("opening a netlink socket", &why).hint(hint(&why)))?;
        Ok(Netlink { socket, sequence: 0, received: Vec::with_capacity(RECEIVE_BYTES) })
    }

    /// Sends the batch; the error of the first request that failed, with the description it was given.
    pub fn execute(&mut self, mut batch: Batch) -> Result<()> {
        while !batch.requests.is_empty() {
            let rest = batch.requests.split_off(batch.requests.len().min(AT_ONCE));
            let encoded = batch.encode(self.sequence.wrapping_add(1));
            self.sequence = self.sequence.wrapping_add(encoded.descriptions.len() as u32);
            self.send(&encoded)?;
            batch = Batch { requests: rest };
        }
        Ok(())
    }

    /// The same of a batch that was encoded before, perhaps for several sockets.
    pub fn send(&mut self, batch: &Encoded) -> Result<()> {
        let Some(last) = batch.descriptions.len().checked_sub(1) else { return Ok(()) };
        self.socket.send(&batch.bytes, 0).with_context(|| batch.descriptions.join(", "))?;
        let mut failure = None;
        loop {
            for message in self.receive()? {
                let position = message.header.sequence_number.wrapping_sub(batch.first) as usize;
                let NetlinkPayload::Error(answer) = message.payload else { continue };
                if let (Some(what), true, None) = (batch.descriptions.get(position), answer.code.is_some(), &failure) {
                    failure = Some(explain(what, &answer, message.header.flags));
                }
                if position == last {
                    return failure.map_or(Ok(()), |error| Err(error.into()));
                }
            }
        }
    }

    /// Asks for one object, or with `NLM_F_DUMP` for all of a kind.
    pub fn query(&mut self, what: &str, message: RouteNetlinkMessage, dump: bool) -> Result<Vec<RouteNetlinkMessage>> {
        let mut bytes = Vec::new();
        self.sequence = self.sequence.wrapping_add(1);
        append(&mut bytes, message, if dump { NLM_F_DUMP } else { NLM_F_ACK }, self.sequence);
        self.socket.send(&bytes, 0).with_context(|| what.to_owned())?;
        let mut found = Vec::new();
        loop {
            for message in self.receive()? {
                match message.payload {
                    NetlinkPayload::InnerMessage(inner) => found.push(inner),
                    NetlinkPayload::Done(_) => return Ok(found),
                    NetlinkPayload::Error(answer) if answer.code.is_none() => return Ok(found),
                    NetlinkPayload::Error(answer) => return Err(explain(what, &answer, message.header.flags).into()),
                    other => bail!("{what}: unexpected netlink message {other:?}"),
                }
            }
        }
    }

    /// The messages of the next datagram.
    fn receive(&mut self) -> Result<Vec<NetlinkMessage<RouteNetlinkMessage>>> {
        self.received.clear();
        let length = self.socket.recv(&mut self.received, 0).context("reading the kernel's netlink answer")?;
        let mut rest = &self.received[..length];
        let mut messages = Vec::new();
        while !rest.is_empty() {
            let message = NetlinkMessage::deserialize(rest).context("decoding the kernel's netlink answer")?;
            let consumed = (message.header.length as usize).next_multiple_of(4);
            messages.push(message);
            rest = rest.get(consumed..).unwrap_or_default();
        }
        Ok(messages)
    }
}

fn append(bytes: &mut Vec<u8>, message: RouteNetlinkMessage, flags: u16, sequence: u32) {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    header.sequence_number = sequence;
    let mut request = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    request.finalize();
    let start = bytes.len();
    // Messages start at multiples of four bytes.
    bytes.resize(start + request.buffer_len().next_multiple_of(4), 0);
    request.serialize(&mut bytes[start..]);
}

impl AsFd for Netlink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor lives as long as the socket, which `self` owns.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

fn explain(what: &str, answer: &ErrorMessage, flags: u16) -> Failure {
    let why = answer.to_io();
    let text = match extended(answer, flags) {
        Some(words) => format!("{why}: {words}"),
        None => why.to_string(),
    };
    Failure::new(what, text).hint(hint(&why))
}

/// The kernel's own words about a failure (NLMSGERR_ATTR_MSG), if it has any.
fn extended(answer: &ErrorMessage, flags: u16) -> Option<String> {
    const MESSAGE: u16 = 1;
    const NETLINK_HEADER: usize = 16;
    if flags & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let attributes = answer.header.get(NETLINK_HEADER..)?;
    NlasIterator::new(attributes).flatten().find_map(|attribute| {
        let attribute = DefaultNla::parse(&attribute).ok().filter(|found| found.kind() == MESSAGE)?;
        let mut text = vec![0; attribute.value_len()];
        attribute.emit_value(&mut text);
        Some(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
    })
}

fn hint(why: &io::Error) -> &'static str {
    match why.raw_os_error() {
        Some(libc::EPERM) => "a lab is built inside a sandbox; `dumbbell doctor` tells what is missing",
        Some(libc::EOPNOTSUPP) => {
            "the kernel lacks this kind of interface; as root: `modprobe veth`, for bridges `modprobe bridge`; their VLANs take \
             CONFIG_BRIDGE_VLAN_FILTERING"
        }
        Some(libc::EEXIST) => "two hosts ask for the same thing, or the sandbox already holds a lab",
        Some(libc::EMFILE) => crate::files::HINT,
        Some(libc::ENOMEM | libc::ENOBUFS) => "the machine is short of memory: use fewer hosts",
        _ => "",
    }
}
