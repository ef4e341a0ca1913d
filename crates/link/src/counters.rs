use crate::packet::Fate;

/// The counters of a link. Bytes are frames plus the link's overhead.
///
/// Conservation holds at any time: `arrived + duplicated = delivered + dropped + lost + inside`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that came to the link, lost ones included, copies that it made itself excluded.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Copies that it made.
    pub duplicated_packets: u64,
    /// Packets whose last bit left the serializer.
    pub departed_packets: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Bytes that reached the other end.
    pub delivered_bytes: u64,
    /// Packets on which it set Congestion Experienced and which left the serializer.
    pub marked_packets: u64,
    /// Packets that reached the other end before one that had left the serializer earlier.
    pub reordered_packets: u64,
    /// Packets that reached the other end with a bit flipped.
    pub corrupted_packets: u64,
    /// Packets by fate; those inside are not counted here.
    pub ended: [u64; Fate::NAMES.len()],
}

impl Counters {
    /// Packets that have met a fate.
    pub fn of(&self, fate: Fate) -> u64 {
        self.ended[fate as usize]
    }

    /// A packet has met its fate.
    pub(crate) fn end(&mut self, fate: Fate) {
        self.ended[fate as usize] += 1;
    }

    /// Packets that reached the other end.
    pub fn delivered_packets(&self) -> u64 {
        self.of(Fate::Delivered)
    }

    /// Packets that the link dropped, for whatever reason, random loss excluded.
    pub fn dropped_packets(&self) -> u64 {
        Fate::DROPS.iter().map(|&fate| self.of(fate)).sum()
    }

    /// Packets lost at random, or as a trace says, before or after the queue.
    pub fn lost_packets(&self) -> u64 {
        self.of(Fate::LostBefore) + self.of(Fate::LostAfter)
    }

    /// Packets that came and have not left in any way.
    pub fn inside(&self) -> u64 {
        self.arrived_packets + self.duplicated_packets - self.ended.iter().sum::<u64>()
    }
}
