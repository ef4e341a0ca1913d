use link::{Backlog, Counters, Passage};
use units::Time;

use crate::segment::Segment;
use crate::tcp::{AckReport, Sender};

/// Told of what happens, in the order of time.
///
/// What it doesn't ask for is compiled out: `()` asks for nothing.
pub trait Observer {
    /// Call [`ack`](Observer::ack).
    const ACKS: bool = false;
    /// Call [`packet`](Observer::packet).
    const PACKETS: bool = false;
    /// Call [`flow`](Observer::flow) and [`link`](Observer::link).
    const SAMPLES: bool = false;

    /// A sender has processed an ACK of data.
    fn ack(&mut self, _row: &AckRow<'_>) {}

    /// A link is done with a packet.
    fn packet(&mut self, _row: &PacketRow<'_>) {}

    /// What a flow has done so far: once per sample interval while it is active, and when it ends.
    fn flow(&mut self, _row: &FlowRow<'_>) {}

    /// What a link has done so far: once per sample interval.
    fn link(&mut self, _row: &LinkRow) {}
}

impl Observer for () {}

/// An ACK and what it did.
#[derive(Clone, Copy, Debug)]
pub struct AckRow<'a> {
    /// When it arrived.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// As it came.
    pub segment: &'a Segment,
    /// What it did.
    pub report: &'a AckReport,
    /// The sender after it, before it sends what the ACK lets out in the usual way.
    pub sender: &'a Sender,
}

/// One packet's passage over one link.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow<'a> {
    /// Index of the link in the plan.
    pub link: u16,
    /// TCP or UDP payload, bytes.
    pub payload_bytes: u32,
    /// TCP sequence number of the first payload byte.
    pub tcp_seq: Option<u32>,
    /// What the link did to it.
    pub passage: &'a Passage,
    /// No later link on its path can do anything to it.
    pub is_last: bool,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct FlowRow<'a> {
    /// When.
    pub time: Time,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Payload sent so far, retransmissions included.
    pub bytes_sent: u64,
    /// Payload that the receiver's application has read so far.
    pub received_bytes: u64,
    /// UDP: gaps in the sequence numbers received so far.
    pub gaps: u64,
    /// Of TCP.
    pub sender: Option<&'a Sender>,
}

/// A link at one time.
#[derive(Clone, Copy, Debug)]
pub struct LinkRow {
    /// When.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// Since the run's origin.
    pub counters: Counters,
    /// Waiting now.
    pub backlog: Backlog,
    /// The most bytes that waited since the row before.
    pub queue_bytes_max: u64,
    /// What it could have sent since the run's origin; `None` without a limit.
    pub capacity_bytes: Option<u64>,
}
