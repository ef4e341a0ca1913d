use link::{Backlog, Counters, Passage};
use rows::kinds::KindRow;
use units::{Duration, Time};

use crate::quic::QuicAccount;
use crate::segment::Segment;
use crate::tcp::{AckReport, Sender};

/// Receives the events of a simulation, in the order of time.
/// Events that it doesn't ask for are compiled out: `()` asks for none.
pub trait Observer {
    /// Call [`ack`](Observer::ack).
    const ACKS: bool = false;
    /// Call [`packet`](Observer::packet).
    const PACKETS: bool = false;
    /// Call [`datagram`](Observer::datagram).
    const DATAGRAMS: bool = false;
    /// Call [`flow`](Observer::flow) and [`link`](Observer::link).
    const SAMPLES: bool = false;

    /// A sender has processed an ACK of data.
    fn ack(&mut self, _row: &AckRow<'_>) {}

    /// A link is done with a packet, or has it inside when all is over.
    fn packet(&mut self, _row: &PacketRow<'_>) {}

    /// A datagram of a UDP flow has arrived for the first time.
    fn datagram(&mut self, _row: &DatagramRow) {}

    /// A row of a table that only flows of one kind have: an echo request was answered, for example.
    fn kind(&mut self, _row: &KindRow) {}

    /// The state of a flow: once per sample interval while it is active, and when it ends.
    fn flow(&mut self, _row: &FlowRow<'_>) {}

    /// The state of a link: once per sample interval.
    fn link(&mut self, _row: &LinkRow) {}
}

impl Observer for () {}

/// Both observers get the events, each those that it asks for.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ACKS: bool = A::ACKS || B::ACKS;
    const PACKETS: bool = A::PACKETS || B::PACKETS;
    const DATAGRAMS: bool = A::DATAGRAMS || B::DATAGRAMS;
    const SAMPLES: bool = A::SAMPLES || B::SAMPLES;

    fn ack(&mut self, row: &AckRow<'_>) {
        if A::ACKS {
            self.0.ack(row);
        }
        if B::ACKS {
            self.1.ack(row);
        }
    }

    fn packet(&mut self, row: &PacketRow<'_>) {
        if A::PACKETS {
            self.0.packet(row);
        }
        if B::PACKETS {
            self.1.packet(row);
        }
    }

    fn datagram(&mut self, row: &DatagramRow) {
        if A::DATAGRAMS {
            self.0.datagram(row);
        }
        if B::DATAGRAMS {
            self.1.datagram(row);
        }
    }

    fn kind(&mut self, row: &KindRow) {
        self.0.kind(row);
        self.1.kind(row);
    }

    fn flow(&mut self, row: &FlowRow<'_>) {
        if A::SAMPLES {
            self.0.flow(row);
        }
        if B::SAMPLES {
            self.1.flow(row);
        }
    }

    fn link(&mut self, row: &LinkRow) {
        if A::SAMPLES {
            self.0.link(row);
        }
        if B::SAMPLES {
            self.1.link(row);
        }
    }
}

/// An ACK and what it did.
#[derive(Clone, Copy, Debug)]
pub struct AckRow<'a> {
    /// The time at which it arrived.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// The ACK as it arrived.
    pub segment: &'a Segment,
    /// Its effect.
    pub report: &'a AckReport,
    /// The sender after it, when it has sent what the ACK lets out; `report` has what that changes.
    pub sender: &'a Sender,
}

/// One packet's passage over one link.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow<'a> {
    /// Index of the link in the plan.
    pub link: u16,
    /// The segment or datagram.
    pub segment: &'a Segment,
    /// TCP or UDP payload, bytes.
    pub payload_bytes: u32,
    /// TCP sequence number of the first payload byte.
    pub tcp_seq: Option<u32>,
    /// The packet's passage through the link.
    pub passage: &'a Passage,
    /// No later link on its path can do anything to it.
    pub is_last: bool,
}

/// A datagram at its receiver.
#[derive(Clone, Copy, Debug)]
pub struct DatagramRow {
    /// The time at which it arrived.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// The time that it was under way.
    pub delay: Duration,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct FlowRow<'a> {
    /// The time of the sample.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Payload sent so far, retransmissions included.
    pub bytes_sent: u64,
    /// Payload that the receiver's application has read so far.
    pub received_bytes: u64,
    /// UDP: gaps in the sequence numbers received so far.
    pub gaps: u64,
    /// The sender of a TCP flow.
    pub sender: Option<&'a Sender>,
    /// The account of a QUIC flow.
    pub quic: Option<&'a QuicAccount>,
}

/// A link at one time.
#[derive(Clone, Copy, Debug)]
pub struct LinkRow {
    /// The time of the sample.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// Since the run's origin.
    pub counters: Counters,
    /// Waiting now.
    pub backlog: Backlog,
    /// The most bytes that waited since the row before.
    pub queue_bytes_max: u64,
    /// Bytes that it could have sent since the run's origin; `None` without a limit.
    pub capacity_bytes: Option<u64>,
}
