/// The sequence numbers that have arrived.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    seen: Vec<u64>,
    /// The highest number plus one.
    end: u64,
    /// Number of different sequence numbers.
    arrived: u64,
}

/// The order in which a datagram arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Datagram with the highest number so far.
    InOrder,
    /// A higher number arrived before it (RFC 4737).
    Reordered,
    /// Datagram that has arrived before.
    Duplicate,
}

impl Sequence {
    /// Number `sequence` arrives.
    pub fn arrive(&mut self, sequence: u64) -> Arrival {
        let (word, bit) = ((sequence / 64) as usize, 1 << (sequence % 64));
        if self.seen.len() <= word {
            self.seen.resize(word + 1, 0);
        }
        if self.seen[word] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.seen[word] |= bit;
        self.arrived += 1;
        if sequence < self.end {
            return Arrival::Reordered;
        }
        self.end = sequence + 1;
        Arrival::InOrder
    }

    /// Number of different datagrams that have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Number of datagrams missing below the highest.
    pub fn gaps(&self) -> u64 {
        self.end - self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_arrival() {
        let mut sequence = Sequence::default();
        let arrivals: Vec<Arrival> = [0, 2, 1, 2, 100].into_iter().map(|n| sequence.arrive(n)).collect();
        use Arrival::*;
        assert_eq!(arrivals, [InOrder, InOrder, Reordered, Duplicate, InOrder]);
        assert_eq!((sequence.arrived(), sequence.gaps()), (4, 97), "3 to 99 are missing");
    }
}
