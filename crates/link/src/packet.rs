use units::{Duration, Time};

/// ECN codepoint of an IP header (RFC 3168 section 5), with its value on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport doesn't know ECN: never marked, dropped instead.
    #[default]
    NotEct,
    /// ECN-capable; low latency, low loss (RFC 9331).
    Ect1,
    /// ECN-capable.
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// Names in records, in the order of the discriminants.
    pub const NAMES: [&str; 4] = ["not-ect", "ect1", "ect0", "ce"];

    /// The codepoint in the two low bits of IPv4's type of service.
    pub fn from_tos(tos: u8) -> Ecn {
        [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(tos & 3)]
    }

    /// May it be marked?
    pub fn is_capable(self) -> bool {
        self != Ecn::NotEct
    }
}

/// The properties of a packet that a link needs. The bytes stay with the driver, which finds them by `handle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Unique in a run but for copies; the same on every link.
    pub id: u64,
    /// The whole frame in bytes: 1514 for a full 1500-byte IP packet over Ethernet.
    pub size: u32,
    /// The driver's own.
    pub handle: u32,
    /// A hash of addresses, ports and protocol in the packet's direction: what fair queueing tells flows apart by.
    pub flow_hash: u32,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Index of the host that sends it among the plan's nodes; another value for one that is not in the plan.
    pub from: u16,
    /// Index of the destination host among the plan's nodes.
    pub to: u16,
    /// The station that it comes from, from which switches learn; [`Packet::UNKNOWN`] in a core network. Stations of a lab
    /// network are numbered by the driver as it meets their MAC addresses.
    pub sender: u16,
    /// The station that it goes to in its broadcast domain; [`Packet::UNKNOWN`] for a group of stations. In a core network
    /// stations are nodes: the same as `to`.
    pub receiver: u16,
    /// The current codepoint: a link that marks the packet changes it.
    pub ecn: Ecn,
}

impl Packet {
    /// No single station.
    pub const UNKNOWN: u16 = u16::MAX;
}

/// The fate of a packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Fate {
    /// Reached the other end.
    Delivered,
    /// The queue had no room for it.
    DroppedTail,
    /// Waited, and was dropped to make room for another.
    DroppedHead,
    /// An active queue management decided so, though there was room.
    DroppedEarly,
    /// Exceeded the policer's rate.
    DroppedPoliced,
    /// The delay line was full.
    DroppedDelayLine,
    /// The link was down.
    DroppedDown,
    /// Lost before the queue.
    LostBefore,
    /// Lost after serialisation.
    LostAfter,
    /// The run ended first.
    Inside,
}

impl Fate {
    /// Names in records, in the order of the discriminants.
    pub const NAMES: [&str; 10] = [
        "delivered",
        "dropped-tail",
        "dropped-head",
        "dropped-early",
        "dropped-policed",
        "dropped-delay-line",
        "dropped-down",
        "lost-before",
        "lost-after",
        "inside",
    ];

    /// The fates of packets that the link itself dropped: a queue, a policer, a full delay line, a link that is down.
    pub const DROPS: [Fate; 6] = [
        Fate::DroppedTail,
        Fate::DroppedHead,
        Fate::DroppedEarly,
        Fate::DroppedPoliced,
        Fate::DroppedDelayLine,
        Fate::DroppedDown,
    ];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        Fate::NAMES[self as usize]
    }
}

/// Why a packet was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mark {
    /// Mark of a packet that would have been dropped early if it were not ECN-capable.
    Early,
    /// The queue was longer, or its wait was, than a threshold.
    Threshold,
    /// The classic queue beside its own was congested (RFC 9332).
    Coupled,
    /// A random mark, whatever the queue.
    Random,
}

impl Mark {
    /// Their spelling in records, in the order of the discriminants.
    pub const NAMES: [&str; 4] = ["early", "threshold", "coupled", "random"];

    /// The column of records that has them.
    pub const MEANING: &str = "why this link set Congestion Experienced: `early` (where it would have been dropped early \
        were it not ECN-capable), `threshold` (the queue, or its wait, was longer than a threshold), `coupled` (the \
        classic queue beside its own was congested, RFC 9332), `random` (by chance, whatever the queue); null: it didn't";
}

/// Why a packet overtook another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reordered {
    /// Its delay was smaller: jitter, or a delay that an event changed.
    ShorterDelay,
    /// Chosen to skip the delay.
    SkippedDelay,
}

impl Reordered {
    /// Names in records, in the order of the discriminants.
    pub const NAMES: [&str; 2] = ["shorter-delay", "skipped-delay"];
}

/// A packet's way over one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The packet as it came; but `ecn` is as it left.
    pub packet: Packet,
    /// The time at which it came to the link.
    pub arrival: Time,
    /// Bytes that waited then, overhead included, without this packet and the one in service.
    pub queue_bytes: u64,
    /// Packets that waited then, without these two.
    pub queue_packets: u32,
    /// Time in the queue until its service began or it was dropped from there; `None`: it was never in the queue.
    pub sojourn: Option<Duration>,
    /// The time at which its last bit left the serializer.
    pub departure: Option<Time>,
    /// The time at which it reached the other end.
    pub delivery: Option<Time>,
    /// Its fate.
    pub fate: Fate,
    /// The link set Congestion Experienced.
    pub mark: Option<Mark>,
    /// True if the packet is the copy that the link made of the packet before.
    pub duplicate: bool,
    /// Set if the packet reached the other end before a packet that had left the serializer earlier.
    pub reordered: Option<Reordered>,
    /// A bit of it was flipped: a uniform random number that says which.
    pub corruption: Option<u32>,
}

impl Passage {
    /// The record of a packet that arrives at `arrival` and finds an empty queue.
    pub(crate) fn new(packet: Packet, arrival: Time) -> Passage {
        Passage {
            packet,
            arrival,
            queue_bytes: 0,
            queue_packets: 0,
            sojourn: None,
            departure: None,
            delivery: None,
            fate: Fate::Inside,
            mark: None,
            duplicate: false,
            reordered: None,
            corruption: None,
        }
    }

    /// Set Congestion Experienced; `false` if the packet isn't ECN-capable. One that is marked already keeps its reason.
    pub(crate) fn set_ce(&mut self, why: Mark) -> bool {
        if !self.packet.ecn.is_capable() {
            return false;
        }
        if self.packet.ecn != Ecn::Ce {
            self.packet.ecn = Ecn::Ce;
            self.mark = Some(why);
        }
        true
    }
}

// Every queue and delay line holds packets: their size is speed.
const _: () = assert!(size_of::<Packet>() == 32);
