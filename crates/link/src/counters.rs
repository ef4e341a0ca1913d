/// What a link has done. Bytes are frames plus the link's overhead.
///
/// Conservation holds at any time: `arrived = delivered + dropped + lost + inside`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came to the link, lost ones included.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets whose last bit left the serializer.
    pub departed_packets: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Packets that reached the other end.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets for which the queue had no room.
    pub dropped_tail: u64,
    /// Packets lost at random before the queue.
    pub lost_before: u64,
    /// Packets lost at random after serialisation.
    pub lost_after: u64,
}

impl Counters {
    /// Packets that came and have not left in any way.
    pub fn inside(&self) -> u64 {
        self.arrived_packets - self.delivered_packets - self.dropped_tail - self.lost_before - self.lost_after
    }
}
