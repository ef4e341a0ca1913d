//! The border to QUIC stacks: programs of others, which a caller brings.

use std::fmt::Debug;

use anyhow::Result;
use link::Ecn;
use quic_lines::{Order, Received, Sent};
use units::Time;

/// Stacks of QUIC flows.
pub trait QuicStacks: Debug + Sync {
    /// Makes sender and receiver of a QUIC flow. `seed` is the one source of chance of both.
    ///
    /// # Errors
    /// There is no such stack or algorithm, or it cannot be simulated.
    fn create(&self, flow: &plan::Flow, seed: u64) -> Result<QuicEnds>;
}

/// Both ends of a QUIC flow.
#[derive(Debug)]
pub struct QuicEnds {
    /// Connects, and sends the stream.
    pub sender: Box<dyn QuicEnd>,
    /// Reads the stream.
    pub receiver: Box<dyn QuicEnd>,
    /// Version of the stack.
    pub version: String,
}

/// One end of a QUIC flow: a stack and its application. It does what a program of QUIC flows does between two waits.
pub trait QuicEnd: Debug + Send {
    /// The flow begins: the sender connects.
    ///
    /// # Errors
    /// The stack refuses to connect.
    fn begin(&mut self, now: Time) -> Result<()>;

    /// Takes an order to write or pause.
    ///
    /// # Errors
    /// The order is for the other end.
    fn order(&mut self, order: Order) -> Result<()>;

    /// Takes a datagram that has arrived. [`turn`](QuicEnd::turn) follows.
    fn receive(&mut self, now: Time, ecn: Ecn, datagram: &[u8]);

    /// Lets stack and application do all that they can by now. `send` takes each datagram that they send.
    ///
    /// # Errors
    /// The connection has failed.
    fn turn(&mut self, now: Time, send: &mut dyn FnMut(Ecn, &[u8])) -> Result<Turn>;

    /// The sender's account of its connection.
    fn sent(&mut self) -> Sent;

    /// The receiver's account of its connection.
    fn received(&self) -> Received;
}

/// The state of an end after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The time at which the end wants its next turn, unless a datagram arrives before.
    pub next: Time,
    /// True if the handshake is complete at this end.
    pub is_connected: bool,
    /// True if the connection is closed without an error.
    pub is_closed: bool,
}

/// The outcome of a QUIC flow so far.
#[derive(Clone, Debug, Default)]
pub struct QuicAccount {
    /// Version of the stack.
    pub version: String,
    /// Stack and congestion control: `noq/cubic`.
    pub algorithm: String,
    /// The time at which the handshake was complete at the sender.
    pub connected: Option<Time>,
    /// Why the connection ended before its time.
    pub failure: Option<String>,
    /// The sender's account.
    pub sent: Sent,
    /// The receiver's account.
    pub received: Received,
}
