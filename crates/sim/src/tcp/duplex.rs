//! A connection that carries data both ways: a stream there and a stream back in the same segments.

use link::Ecn;
use units::Time;

use super::{AckReport, Receiver, Sender};
use crate::segment::{Flags, Segment};

/// Both ends of a connection. The client opens it.
#[derive(Debug)]
pub struct Duplex {
    /// The end that opens it.
    pub client: End,
    /// The end that listens.
    pub server: End,
}

/// An end: it sends a stream, and receives the other.
#[derive(Debug)]
pub struct End {
    sender: Sender,
    receiver: Receiver,
    is_server: bool,
    is_open: bool,
}

impl Duplex {
    /// A closed connection. Each host has a sender and a receiver; small segments don't wait (`TCP_NODELAY`).
    pub fn new(client: (Sender, Receiver), server: (Sender, Receiver)) -> Duplex {
        let end = |(sender, receiver): (Sender, Receiver), is_server| {
            let sender = sender.without_delay();
            End { sender, receiver, is_server, is_open: false }
        };
        Duplex { client: end(client, false), server: end(server, true) }
    }

    /// A segment comes to the client.
    pub fn at_client(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Option<AckReport> {
        let client = &mut self.client;
        if client.is_open && !segment.flags.syn {
            return client.take(segment, ecn, now, out);
        }
        let before = out.len();
        client.sender.on_segment(segment, now, out);
        if client.sender.is_established() && !client.is_open {
            client.is_open = true;
            let rtt_us = client.sender.socket().srtt_us >> 3;
            client.receiver.open(rtt_us, segment.flags.ece, segment.ts_val, now);
        }
        client.complete(before, now, out);
        None
    }

    /// A segment comes to the server.
    pub fn at_server(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) {
        let server = &mut self.server;
        if !server.is_open {
            server.receiver.on_segment(&Segment { len: 0, ..*segment }, ecn, now, out);
            let Some((rtt_us, has_ecn)) = server.receiver.handshake() else { return };
            server.is_open = true;
            let rtt_us = if rtt_us > 0 { rtt_us } else { 1 };
            server.sender.accept(segment.window, rtt_us, has_ecn, server.receiver.ts_recent(), now);
        }
        server.take(segment, ecn, now, out);
    }

    /// Ends the connection at both ends at once.
    pub fn abort(&mut self) {
        for end in [&mut self.client, &mut self.server] {
            end.sender.abort();
            end.receiver.abort();
        }
    }
}

impl End {
    /// Begins the handshake.
    pub fn connect(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.connect(now, out);
    }

    /// The application writes so many bytes more.
    pub fn write(&mut self, bytes: u64, now: Time, out: &mut Vec<Segment>) {
        let before = out.len();
        self.sender.write(bytes, now, out);
        self.complete(before, now, out);
    }

    /// The time at which [`on_timer`](End::on_timer) is to be called.
    pub fn next_timer(&self) -> Time {
        self.sender.next_timer().min(self.receiver.next_timer())
    }

    /// Does what is due.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let before = out.len();
        if self.sender.next_timer() <= now {
            self.sender.on_timer(now, out);
        }
        self.complete(before, now, out);
        let before = out.len();
        if self.receiver.next_timer() <= now {
            self.receiver.on_timer(now, out);
        }
        self.place(before, out);
    }

    /// A segment of an open connection comes.
    fn take(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Option<AckReport> {
        // Data that acknowledge nothing new are no duplicate ACK (RFC 5681 section 2).
        let is_ack = segment.len == 0 || segment.ack > self.sender.snd_una();
        let flags = Flags { ece: segment.flags.ece, ..Flags::default() };
        let before = out.len();
        let report = match is_ack {
            true => self.sender.on_segment(&Segment { seq: 1, len: 0, flags, ..*segment }, now, out),
            false => None,
        };
        self.complete(before, now, out);
        let before = out.len();
        self.receiver.on_segment(&Segment { flags: Flags { ece: false, ..segment.flags }, ..*segment }, ecn, now, out);
        self.place(before, out);
        report
    }

    /// Lets segments of the sender since `before` acknowledge the other stream.
    fn complete(&mut self, before: usize, now: Time, out: &mut [Segment]) {
        for segment in &mut out[before..] {
            segment.is_reply = self.is_server;
            if self.is_open && !segment.flags.syn {
                self.receiver.piggyback(now, segment);
            }
        }
    }

    /// Gives ACKs of the receiver since `before` their place in this end's stream.
    fn place(&mut self, before: usize, out: &mut [Segment]) {
        for segment in &mut out[before..] {
            segment.is_reply = self.is_server;
            if self.is_open && !segment.flags.syn {
                segment.seq = self.sender.snd_nxt();
            }
        }
    }

    /// The end's stream.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The other end's stream.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// The answer to its SYN was refused: it listens as before.
    pub fn forget_syn(&mut self) {
        self.receiver.forget_syn();
    }
}
