//! The accounts of flows and links at the end of a run: parts of `traffic.json`, `emulator.json` and `simulator.json`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use link::Fate;
use realtime::Quantiles;
use serde::{Deserialize, Serialize};

/// The account of a flow.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FlowReport {
    /// The plan's.
    pub id: String,
    /// The name in the plan; `None` if the flow is neither our TCP nor QUIC, of which it is `STACK/NAME`.
    pub cc_requested: Option<String>,
    /// The name in the kernel, read back after the handshake; of QUIC, as its program says.
    pub cc_actual: Option<String>,
    /// Payload that the receiver's application has read: TCP until the flow's stop, UDP until the run's end. For
    /// programs, payload that their sockets at the flow's port have received in order.
    pub received_bytes: u64,
    /// Payload sent at least once, repetitions not counted; of QUIC, what the stack has taken of it.
    pub sent_bytes: u64,
    /// The time at which it began to connect or to send, or its program to run.
    pub start_ns: Option<i64>,
    /// First payload byte at the receiver's application.
    pub first_byte_ns: Option<i64>,
    /// Last payload byte at the receiver's application; the completion time of a flow of so many bytes.
    pub end_ns: Option<i64>,
    /// True if all its bytes arrived or, without a number of bytes, it ran without error until its stop. For a program,
    /// true if it exited with 0, or ran until the stop.
    pub completed: bool,
    /// Segments sent again; of TCP alone, as the three below.
    pub retransmitted_segments: u32,
    /// Time with data outstanding.
    pub busy_us: u64,
    /// The part of it in which the receiver's window was the limit.
    pub rwnd_limited_us: u64,
    /// The part of it in which the send buffer was the limit.
    pub sndbuf_limited_us: u64,
    /// Why it ended before its time.
    pub error: Option<String>,
    /// Filled for UDP.
    pub udp: Option<UdpReport>,
    /// Filled for flows that ping.
    pub ping: Option<PingReport>,
    /// Filled for QUIC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<QuicReport>,
    /// Filled for programs.
    pub command: Option<CommandReport>,
}

impl FlowReport {
    /// The algorithm as it was read back, or, of a flow that never connected, as planned.
    pub fn cc(&self) -> Option<&str> {
        self.cc_actual.as_deref().or(self.cc_requested.as_deref())
    }

    /// The accounts of kinds of flow that stand in a summary as they are, by the names of the kinds.
    pub fn summarised(&self) -> [(&'static str, Option<impl Serialize>); 1] {
        [("udp", self.udp)]
    }
}

/// The account of datagrams. One that was sent in fragments has arrived when all of them have.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct UdpReport {
    /// Handed to the kernel.
    pub sent_packets: u64,
    /// Due, but refused by the kernel (a full send buffer, mostly). Their sequence numbers are used by later ones.
    pub refused_packets: u64,
    /// Different ones that arrived.
    pub received_packets: u64,
    /// Received packets that arrived marked Congestion Experienced (RFC 3168 section 5).
    pub ce_packets: u64,
    /// Gaps in the sequence numbers received. Packets still under way at the end are neither lost nor received.
    pub lost_packets: u64,
    /// Arrived after one with a higher sequence number (RFC 4737).
    pub reordered_packets: u64,
    /// Arrived again.
    pub duplicate_packets: u64,
    /// Dropped by the receiver's socket because its buffer was full: lost at the host, not in the network.
    pub socket_drops: u64,
    /// Sent minus due.
    pub schedule_error_us: Quantiles,
    /// Delay from just before the send to the receiver's application, on one clock.
    pub one_way_delay_us: Quantiles,
    /// Interarrival jitter at the last arrival (RFC 3550 section 6.4.1), duplicates left out; `None` with fewer than two.
    pub jitter_us: Option<f64>,
}

/// The account of echo requests. Round-trip times are in the `pings` table.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PingReport {
    /// Handed to the kernel.
    pub sent_packets: u64,
    /// Due, but refused by the kernel.
    pub refused_packets: u64,
    /// Requests with an answer.
    pub answered_packets: u64,
    /// Requests without one (RFC 6673). Requests still under way at the end are neither lost nor answered.
    pub lost_packets: u64,
    /// Further answers to a request that had one.
    pub duplicate_packets: u64,
    /// Sent minus due.
    pub schedule_error_us: Quantiles,
}

/// The account of a QUIC connection, by its programs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuicReport {
    /// Version of the stack.
    pub version: String,
    /// Time from the start of the handshake until it was complete at the sender; `None` if it never was.
    pub handshake_ns: Option<i64>,
    /// UDP datagrams that the sender handed to the kernel.
    pub sent_packets: u64,
    /// UDP payload in them.
    pub sent_bytes: u64,
    /// Packets that the sender declared lost (RFC 9002 section 6).
    pub lost_packets: u64,
    /// Dropped by the receiver's socket because its buffer was full: lost at the host, not in the network.
    pub socket_drops: u64,
    /// Times that something else took the sender's CPU while it wanted to run on.
    pub sender_preempted: u64,
    /// Same, of the receiver.
    pub receiver_preempted: u64,
}

/// The ends of programs: an exit code, or minus the signal that ended the program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CommandReport {
    /// The exit of `command`; `None` if it was never started.
    pub exit_code: Option<i32>,
    /// `command` still ran at the flow's stop, so that it was sent SIGTERM, and its exit code is its answer to that.
    pub ended_by_us: bool,
    /// The exit of `server_command`; `None` if there is none.
    pub server_exit_code: Option<i32>,
    /// Like `ended_by_us`, for `server_command`.
    pub server_ended_by_us: bool,
}

/// The account of a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinkReport {
    /// The name in the plan.
    pub name: String,
    /// Frames plus overhead, as in all of these.
    pub arrived_bytes: u64,
    /// Packets that came, lost ones included.
    pub arrived_packets: u64,
    /// Reached the other end.
    pub delivered_packets: u64,
    /// Reached the other end.
    pub delivered_bytes: u64,
    /// Packets that the link dropped, by reason: a queue, a policer, a full delay line, a link that was down.
    pub dropped: BTreeMap<Cow<'static, str>, u64>,
    /// Random or recorded loss before the queue.
    pub lost_before: u64,
    /// Random or recorded loss after serialisation.
    pub lost_after: u64,
    /// Copies that it made.
    pub duplicated: u64,
    /// Packets on which it set Congestion Experienced.
    pub marked: u64,
    /// Packets that overtook another.
    pub reordered: u64,
    /// Packets with a flipped bit.
    pub corrupted: u64,
    /// Still there at the end.
    pub inside: u64,
    /// The time that its serializer was busy with packets that have left it.
    pub busy_ns: i64,
}

impl From<(&plan::Link, &link::Link)> for LinkReport {
    fn from((spec, link): (&plan::Link, &link::Link)) -> LinkReport {
        let c = link.counters();
        LinkReport {
            name: spec.name.clone(),
            arrived_bytes: c.arrived_bytes,
            arrived_packets: c.arrived_packets,
            delivered_packets: c.delivered_packets(),
            delivered_bytes: c.delivered_bytes,
            dropped: Fate::DROPS.iter().map(|&fate| (fate.name().into(), c.of(fate))).collect(),
            lost_before: c.of(Fate::LostBefore),
            lost_after: c.of(Fate::LostAfter),
            duplicated: c.duplicated_packets,
            marked: c.marked_packets,
            reordered: c.reordered_packets,
            corrupted: c.corrupted_packets,
            inside: c.inside(),
            busy_ns: link.busy().as_nanos(),
        }
    }
}
