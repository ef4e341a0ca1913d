use rustc_hash::FxHashMap;

use crate::frame::{Fragment, Tuple};

/// Knows the ports of packets in fragments: only the first fragment has them, and hosts send it first (RFC 791 section 3.2
/// doesn't ask for it, Linux does it).
///
/// Of each pair of hosts the latest packet with an identification counts. At least the last 65,536 packets are remembered.
#[derive(Default)]
pub(crate) struct Fragments {
    ports: FxHashMap<Key, Ports>,
    /// Older ones.
    before: FxHashMap<Key, Ports>,
}

/// Key that all fragments of a packet share: a tuple without ports, and the identification.
type Key = (Tuple, u32);
type Ports = (u16, u16);

const ROOM: usize = 1 << 16;

impl Fragments {
    /// The tuple of the packet that was cut, if its first fragment has come; else the fragment's own, without ports.
    pub(crate) fn tuple_of(&mut self, tuple: Tuple, fragment: Fragment) -> Tuple {
        let key = (Tuple { sport: 0, dport: 0, ..tuple }, fragment.id);
        if fragment.is_first {
            if self.ports.len() >= ROOM {
                self.before = std::mem::take(&mut self.ports);
            }
            self.ports.insert(key, (tuple.sport, tuple.dport));
            return tuple;
        }
        let (sport, dport) = self.ports.get(&key).or_else(|| self.before.get(&key)).copied().unwrap_or_default();
        Tuple { sport, dport, ..tuple }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::UDP;
    use crate::frame::tests::{tuple, tuple6};

    fn later(known: &mut Fragments, tuple: Tuple, id: u32) -> Ports {
        let found = known.tuple_of(Tuple { sport: 0, dport: 0, ..tuple }, Fragment { id, is_first: false });
        (found.sport, found.dport)
    }

    fn first(known: &mut Fragments, tuple: Tuple, id: u32) {
        assert_eq!(known.tuple_of(tuple, Fragment { id, is_first: true }), tuple);
    }

    #[test]
    fn later_fragments_have_the_ports_of_the_first() {
        let mut known = Fragments::default();
        let (a, b) = (tuple(UDP), Tuple { sport: 1, dport: 2, ..tuple(UDP) });
        first(&mut known, a, 7);
        first(&mut known, b, 8);
        first(&mut known, b, 8);
        assert_eq!([7, 8, 9].map(|id| later(&mut known, a, id)), [(a.sport, a.dport), (1, 2), (0, 0)]);
        assert_eq!(later(&mut known, tuple6(UDP), 7), (0, 0), "other hosts");
        assert_eq!(later(&mut known, Tuple { protocol: 6, ..a }, 7), (0, 0), "another protocol");
        first(&mut known, b, 7);
        assert_eq!(later(&mut known, a, 7), (1, 2), "an identification that is used again");
    }

    #[test]
    fn the_last_65536_packets_are_remembered_and_not_many_more() {
        let mut known = Fragments::default();
        (0..3 * ROOM as u32).for_each(|id| first(&mut known, tuple(UDP), id));
        assert_eq!(known.ports.len() + known.before.len(), 2 * ROOM);
        let ports = (40_000, 5001);
        assert_eq!(later(&mut known, tuple(UDP), 2 * ROOM as u32), ports);
        assert_eq!(later(&mut known, tuple(UDP), ROOM as u32 - 1), (0, 0));
    }
}
