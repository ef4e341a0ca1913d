//! Contents of a flow's datagrams that are under way: links carry numbers alone.

use std::collections::VecDeque;

/// Datagrams by their numbers, which count on from 0.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The number of the first one here.
    first: u64,
    held: VecDeque<Held>,
    /// Room of datagrams that are gone.
    unused: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Held {
    bytes: Vec<u8>,
    /// Packets under way that carry the datagram: links copy some.
    packets: u32,
}

impl Contents {
    /// Keeps a datagram, which one packet carries. Returns its number.
    pub fn put(&mut self, datagram: &[u8]) -> u64 {
        let mut bytes = self.unused.pop().unwrap_or_default();
        bytes.extend_from_slice(datagram);
        self.held.push_back(Held { bytes, packets: 1 });
        self.first + self.held.len() as u64 - 1
    }

    fn held(&mut self, number: u64) -> &mut Held {
        &mut self.held[(number - self.first) as usize]
    }

    /// The datagram with this number, which is under way.
    pub fn get(&self, number: u64) -> &[u8] {
        &self.held[(number - self.first) as usize].bytes
    }

    /// Another packet carries the datagram.
    pub fn copy(&mut self, number: u64) {
        self.held(number).packets += 1;
    }

    /// A packet with the datagram is gone.
    pub fn free(&mut self, number: u64) {
        let held = self.held(number);
        held.packets -= 1;
        if held.packets == 0 {
            let mut bytes = std::mem::take(&mut held.bytes);
            bytes.clear();
            self.unused.push(bytes);
        }
        while self.held.front().is_some_and(|held| held.packets == 0) {
            self.held.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_kept_until_its_last_packet_is_gone() {
        let mut contents = Contents::default();
        let numbers: Vec<u64> = [b"a", b"b", b"c"].iter().map(|one| contents.put(*one)).collect();
        assert_eq!(numbers, [0, 1, 2]);
        contents.copy(1);
        contents.free(1);
        contents.free(0);
        assert_eq!((contents.get(1), contents.get(2)), (&b"b"[..], &b"c"[..]));
        contents.free(1);
        contents.free(2);
        assert!(contents.held.is_empty());
        assert_eq!(contents.put(b"d"), 3);
        assert_eq!(contents.get(3), b"d", "used room holds nothing of before");
    }
}
