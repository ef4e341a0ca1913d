//! What a QUIC stack is to a program: a state machine that takes and gives datagrams, and a stream.

use std::net::SocketAddr;
use std::time::Instant;

use anyhow::Result;
use bytes::BytesMut;
use quic_lines::Sent;

/// An ECN codepoint: the two low bits of the type of service.
pub type Ecn = u8;

/// Datagrams to one address.
#[derive(Clone, Copy, Debug)]
pub struct Transmit {
    /// Address of the receiver.
    pub to: SocketAddr,
    /// Length of each datagram but the last; `None`: there is only one.
    pub segment_bytes: Option<usize>,
    /// Codepoint of all of them.
    pub ecn: Ecn,
}

/// State of the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Before the handshake is complete at this end.
    Handshaking,
    /// Application data may be sent and received.
    Open,
    /// The peer closed it without an error.
    Closed,
    /// It ended for this reason.
    Failed(String),
}

/// One connection of a stack, and its one stream.
pub trait Endpoint: Send {
    /// Connects to an address. Of the sender only.
    ///
    /// # Errors
    /// The stack refuses the address.
    fn connect(&mut self, now: Instant, to: SocketAddr) -> Result<()>;

    /// Takes a datagram off the socket.
    fn receive(&mut self, now: Instant, from: SocketAddr, ecn: Ecn, datagram: BytesMut);

    /// Appends at most `most` datagrams to an empty buffer. `None`: nothing is to be sent now.
    fn transmit(&mut self, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit>;

    /// The time at which the stack wants [`Self::on_timeout`] to be called.
    fn next_timeout(&mut self) -> Option<Instant>;

    /// The time that the stack waited for has come.
    fn on_timeout(&mut self, now: Instant);

    /// State of the connection.
    fn state(&self) -> &State;

    /// Offers data to the stream, of which the stack is to hold at most `most_unsent` bytes beyond what is in flight.
    /// Returns the number of bytes that the stack took.
    ///
    /// # Errors
    /// The stream takes no data any more.
    fn write(&mut self, data: &'static [u8], most_unsent: Option<u64>) -> Result<usize>;

    /// Ends the stream behind the data that was written.
    ///
    /// # Errors
    /// The stream has ended already.
    fn finish(&mut self) -> Result<()>;

    /// True if the peer has acknowledged the stream with its end.
    fn is_acknowledged(&self) -> bool;

    /// Reads and discards what the stream has. Returns the number of bytes.
    fn read(&mut self) -> u64;

    /// True if the stream has ended and was read to its end.
    fn has_everything(&self) -> bool;

    /// Closes the connection without an error.
    fn close(&mut self, now: Instant);

    /// The stack's account of its path and of what it has sent.
    fn account(&mut self) -> Sent;
}
