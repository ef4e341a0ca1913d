use std::hash::Hasher;

use plan::{Plan, Wiring};
use rustc_hash::{FxHashMap, FxHasher};

use crate::frame;

/// Packets that are remembered while they are inside routers.
const ROOM: usize = 1 << 16;

/// Recognises packets that come out of routers, and of bridges: a packet keeps its id on all links that it crosses.
///
/// Two packets are the same if one went into a router, the other comes out of it, and they agree in all that routers leave
/// alone ([`frame::unchanging`]). Of packets that agree in all of that, the first in is taken for the first out. A packet
/// whose addresses, ports or length a router changes is a new one: address translation, fragments, tunnels. So are the
/// second and later copies of a packet to a group, and a packet that stays inside while 65,536 others go into routers.
pub(crate) struct Identities {
    /// The router or bridge at the end of each link, and at its start.
    router_at: Vec<Option<u32>>,
    router_from: Vec<Option<u32>>,
    /// The youngest packets, in turns.
    packets: Vec<Inside>,
    next: usize,
    /// The first and the last of equal packets, by their key.
    chains: FxHashMap<u64, (u32, u32)>,
}

#[derive(Clone, Copy)]
struct Inside {
    key: u64,
    id: u64,
    /// The next of equal packets.
    behind: u32,
    is_inside: bool,
}

const NONE: u32 = u32::MAX;

impl Identities {
    pub(crate) fn new(plan: &Plan) -> Identities {
        let forwards = |node: usize| plan.nodes[node].is_router() || plan.nodes[node].is_bridge();
        let router = |node: usize| forwards(node).then_some(node as u32);
        // A core network has no wiring, and no router.
        let wiring = Wiring::new(plan).ok();
        let of = |ends: &Vec<plan::End>| ends.iter().map(|end| router(end.node)).collect();
        let (router_at, router_from) = wiring.map_or_else(Default::default, |found| (of(&found.to), of(&found.from)));
        Identities { router_at, router_from, packets: Vec::new(), next: 0, chains: FxHashMap::default() }
    }

    /// True if a router is at the end of the link.
    pub(crate) fn is_watched(&self, link: u32) -> bool {
        self.router_at.get(link as usize).is_some_and(Option::is_some)
    }

    /// A frame goes into the router at the end of `link`.
    pub(crate) fn remember(&mut self, link: u32, frame: &[u8], id: u64) {
        let router = self.router_at.get(link as usize).copied().flatten();
        let Some(key) = router.and_then(|router| key(router, frame)) else { return };
        let place = self.next;
        self.next = (self.next + 1) % ROOM;
        let inside = Inside { key, id, behind: NONE, is_inside: true };
        match self.packets.get(place).copied() {
            None => self.packets.push(inside),
            Some(oldest) => {
                // Packets leave a chain in the order in which they came: the oldest is the first of its chain.
                if oldest.is_inside {
                    self.take(oldest.key);
                }
                self.packets[place] = inside;
            }
        }
        let place = place as u32;
        let (_, last) = self.chains.entry(key).or_insert((place, place));
        let before = std::mem::replace(last, place);
        if before != place {
            self.packets[before as usize].behind = place;
        }
    }

    /// The id of a frame that comes out of the router at the start of `link`, if it went in before.
    pub(crate) fn recall(&mut self, link: usize, frame: &[u8]) -> Option<u64> {
        let router = self.router_from.get(link).copied().flatten()?;
        self.take(key(router, frame)?)
    }

    fn take(&mut self, key: u64) -> Option<u64> {
        let (first, last) = *self.chains.get(&key)?;
        let packet = &mut self.packets[first as usize];
        packet.is_inside = false;
        if first == last {
            self.chains.remove(&key);
        } else {
            self.chains.insert(key, (packet.behind, last));
        }
        Some(packet.id)
    }
}

fn key(router: u32, frame: &[u8]) -> Option<u64> {
    let mut hasher = FxHasher::default();
    hasher.write_u32(router);
    hasher.write(&frame::unchanging(frame)?);
    Some(link::mix(hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::{frame, tuple};
    use crate::frame::{ETHERNET, TCP, UDP};

    fn identities() -> Identities {
        let router = vec![Some(7)];
        Identities {
            router_at: router.clone(),
            router_from: router,
            packets: Vec::new(),
            next: 0,
            chains: FxHashMap::default(),
        }
    }

    /// A frame as a router sends it on: other MAC addresses, a smaller TTL, another checksum, perhaps another traffic class.
    fn forwarded(mut frame: Vec<u8>) -> Vec<u8> {
        frame[..12].fill(9);
        frame[ETHERNET + 1] = 3;
        frame[ETHERNET + 8] = 63;
        frame[ETHERNET + 10..ETHERNET + 12].fill(8);
        frame
    }

    #[test]
    fn a_packet_is_known_again_behind_a_router_and_once() {
        let mut known = identities();
        let (a, b) = (frame(tuple(TCP), 1000, 1448), frame(tuple(TCP), 2448, 1448));
        known.remember(0, &a, 5);
        known.remember(0, &b, 6);
        assert_eq!(known.recall(0, &forwarded(b.clone())), Some(6));
        assert_eq!(known.recall(0, &forwarded(a)), Some(5));
        assert_eq!(known.recall(0, &forwarded(b)), None);
        assert_eq!(known.recall(0, &forwarded(frame(tuple(UDP), 0, 10))), None, "the router's own");
        assert!(known.chains.is_empty());
    }

    #[test]
    fn equal_packets_are_taken_in_the_order_in_which_they_came() {
        let mut known = identities();
        let same = frame(tuple(UDP), 0, 100);
        (1..4).for_each(|id| known.remember(0, &same, id));
        let taken: Vec<_> = (0..4).map(|_| known.recall(0, &forwarded(same.clone()))).collect();
        assert_eq!(taken, [Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_is_forgotten() {
        let mut known = identities();
        let numbered = |n: u32| frame(tuple(TCP), n, 0);
        let count = ROOM as u32 + 10;
        (0..count).for_each(|n| known.remember(0, &numbered(n), u64::from(n)));
        assert_eq!((known.packets.len(), known.chains.len()), (ROOM, ROOM));
        assert_eq!(known.recall(0, &numbered(9)), None);
        assert_eq!(known.recall(0, &numbered(10)), Some(10));
        assert_eq!(known.recall(0, &numbered(count - 1)), Some(u64::from(count - 1)));
        // A chain that is longer than the room loses its first.
        let same = frame(tuple(UDP), 0, 100);
        (0..count).for_each(|n| known.remember(0, &same, u64::from(n)));
        assert_eq!(known.recall(0, &same), Some(10));
    }

    #[test]
    fn what_is_not_ip_has_no_identity() {
        let mut known = identities();
        let mut arp = frame(tuple(UDP), 0, 10);
        arp[12..14].copy_from_slice(&0x0806u16.to_be_bytes());
        known.remember(0, &arp, 1);
        assert!(known.packets.is_empty() && known.recall(0, &arp).is_none());
    }
}
