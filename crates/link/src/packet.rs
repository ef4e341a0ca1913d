use units::Time;

/// What a link needs to know of a packet. The bytes stay with the driver, which finds them by `handle`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// Unique in a run; the same on every link.
    pub id: u64,
    /// The whole frame in bytes: 1514 for a full 1500-byte IP packet over Ethernet.
    pub size: u32,
    /// The driver's own.
    pub handle: u32,
    /// Index of the flow in the plan.
    pub flow: u16,
    /// Index of the destination host among the plan's nodes.
    pub to: u16,
}

/// What became of a packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Fate {
    /// It reached the other end.
    Delivered,
    /// The queue had no room for it.
    DroppedTail,
    /// Random loss before the queue.
    LostBefore,
    /// Random loss after serialisation.
    LostAfter,
    /// The run ended first.
    Inside,
}

impl Fate {
    /// As records spell them, in the order of the discriminants.
    pub const NAMES: [&str; 5] = ["delivered", "dropped-tail", "lost-before", "lost-after", "inside"];
}

/// A packet's way over one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Which.
    pub packet: Packet,
    /// When it came to the link.
    pub arrival: Time,
    /// Bytes that waited then, overhead included; neither this packet nor the one in service.
    pub queue_bytes: u64,
    /// Packets that waited then, likewise.
    pub queue_packets: u32,
    /// When its last bit left the serializer.
    pub departure: Option<Time>,
    /// When it reached the other end.
    pub delivery: Option<Time>,
    /// How it ended.
    pub fate: Fate,
}
