use std::collections::VecDeque;

use units::Time;

use crate::arena::NONE;
use crate::frame::SENDER;
use crate::gso::{HEADER_ROOM, Run, Vnet, checksum_at, write_header};
use crate::outgoing::Outgoing;
use crate::store::{Inside, Store};

/// Frames per system call: enough to spread its cost, few enough to keep the first one from waiting for the last.
const FRAMES: usize = 32;
/// Segments per system call, for the same reason.
const SEGMENTS: usize = 256;
/// Segments per frame: as many as make the largest burst of full segments, and some more.
const RUN: u16 = 64;

/// A packet that has reached its host in virtual time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub handle: u32,
    pub port: u16,
    pub at: Time,
}

/// Frames that leave under one header, chained in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Together {
    pub port: u16,
    pub first: u32,
    pub last: u32,
    pub segments: u16,
}

impl Together {
    /// A packet that is a whole burst, or one frame.
    pub(crate) fn of_packet(port: u16, handle: u32, store: &Store) -> Together {
        let slots = store.frames(handle);
        let (last, segments) = slots.fold((handle, 0), |(_, segments), slot| (slot, segments + 1));
        Together { port, first: handle, last, segments }
    }

    /// Make a frame of them behind the others. `sender` takes the place of the sender's MAC address in a burst.
    pub(crate) fn compose(&self, store: &Store, sender: Option<[u8; 6]>, frames: &mut Outgoing) {
        let &Together { port, first, last, segments } = self;
        let inside = store.get(first);
        if segments == 1 {
            let partial = || Vnet::partial(inside.transport, checksum_at(inside.protocol) as u16);
            frames.begin(port, if inside.partial { partial() } else { Vnet::default() }, &[]);
            frames.add(store.frame(first));
            return;
        }
        let payload = usize::from(inside.payload);
        let gso_size = usize::from(inside.gso_size);
        let run = Run {
            header: &store.frame(first)[..payload],
            transport: usize::from(inside.transport),
            protocol: inside.protocol,
            last: store.frame(last),
            gso_size,
            payload_bytes: gso_size * usize::from(segments - 1) + store.frame(last).len() - payload,
        };
        let mut header = [0; HEADER_ROOM];
        let vnet = write_header(&run, &mut header);
        if let Some(sender) = sender {
            header[SENDER].copy_from_slice(&sender);
        }
        frames.begin(port, vnet, &header[..payload]);
        store.frames(first).for_each(|slot| frames.add(&store.frame(slot)[payload..]));
    }
}

/// Puts together what leaves together.
pub(crate) struct Handover {
    all: Vec<Together>,
    /// For each port, the place in `all` of the frame that its next frame might join.
    open: Vec<usize>,
}

impl Inside {
    /// May `next` leave under one header with this one, right behind it?
    fn goes_on_with(&self, next: &Inside) -> bool {
        !self.alone && !next.alone && self.burst == next.burst && self.index + 1 == next.index
    }
}

impl Handover {
    pub(crate) fn new(ports: usize) -> Handover {
        Handover { all: Vec::new(), open: vec![usize::MAX; ports] }
    }

    /// Take as much of `due` as one call sends: segments of a burst that follow each other on their way to a host
    /// leave together.
    pub(crate) fn collect(&mut self, due: &mut VecDeque<Due>, store: &mut Store) -> &[Together] {
        for together in self.all.drain(..) {
            self.open[usize::from(together.port)] = usize::MAX;
        }
        let mut segments = 0;
        while self.all.len() < FRAMES && segments < SEGMENTS {
            let Some(Due { handle, port, at }) = due.pop_front() else { break };
            let mut slot = handle;
            while slot != NONE {
                let frame = store.get_mut(slot);
                frame.due = at;
                let next = std::mem::replace(&mut frame.next, NONE);
                self.place(slot, port, store);
                segments += 1;
                slot = next;
            }
        }
        &self.all
    }

    fn place(&mut self, slot: u32, port: u16, store: &mut Store) {
        let open = &mut self.open[usize::from(port)];
        if let Some(before) = self.all.get_mut(*open)
            && before.segments < RUN
            && store.get(before.last).goes_on_with(store.get(slot))
            && type_of_service(store, before.last) == type_of_service(store, slot)
        {
            store.get_mut(before.last).next = slot;
            before.last = slot;
            before.segments += 1;
            return;
        }
        *open = self.all.len();
        self.all.push(Together { port, first: slot, last: slot, segments: 1 });
    }

    /// Make the frames, ready to be sent.
    pub(crate) fn compose(&self, store: &Store, frames: &mut Outgoing) {
        frames.clear();
        self.all.iter().for_each(|together| together.compose(store, None, frames));
        frames.close();
    }

    /// The frames collected last.
    pub(crate) fn all(&self) -> &[Together] {
        &self.all
    }
}

/// Congestion may have marked one frame and not the other. In IPv6 the byte has the marks of the traffic class and four bits of
/// the flow label, which a burst has in common.
fn type_of_service(store: &Store, slot: u32) -> u8 {
    store.frame(slot)[15]
}

#[cfg(test)]
mod tests {
    use units::{Ip, Mtu};

    use super::*;
    use crate::arena::Arena;
    use crate::checksum;
    use crate::frame::tests::{frame, tuple};
    use crate::frame::{self, TCP, slot_bytes};
    use crate::gso::Burst;

    const ENDS: [u8; 12] = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8];

    fn store() -> Store {
        Store::new(Arena::new(1 << 20, slot_bytes(Mtu::default()), 0).unwrap())
    }

    /// A burst of `segments` full ones, taken in; the handles.
    fn admit(store: &mut Store, segments: usize) -> Vec<u32> {
        let whole = frame(tuple(TCP), 1000, segments * 1448);
        let header = frame::parse(&whole).unwrap();
        let vnet = Vnet::partial(34, 16).tcp_burst(Ip::V4, 66, 1448, false);
        let mut handles = Vec::new();
        assert_eq!(store.admit_burst(&Burst::new(&whole, &header, &vnet).unwrap(), &header, &ENDS, &mut handles), 0);
        handles
    }

    /// The departures in order: the port, and the handles of the frames that leave together.
    fn leaving(store: &mut Store, due: &[(u32, u16)]) -> Vec<(u16, Vec<u32>)> {
        let mut due = due.iter().map(|&(handle, port)| Due { handle, port, at: Time::ZERO }).collect();
        let mut handover = Handover::new(2);
        let all = handover.collect(&mut due, store).to_vec();
        all.iter().map(|together| (together.port, store.frames(together.first).collect())).collect()
    }

    #[test]
    fn a_burst_leaves_as_it_came() {
        let mut store = store();
        let h = admit(&mut store, 3);
        assert_eq!(leaving(&mut store, &[(h[0], 0), (h[1], 0), (h[2], 0)]), [(0, h)]);
    }

    #[test]
    fn a_drop_in_the_middle_leaves_two() {
        let mut store = store();
        let h = admit(&mut store, 5);
        let due = [0, 1, 3, 4].map(|i| (h[i], 0));
        assert_eq!(leaving(&mut store, &due), [(0, h[..2].to_vec()), (0, h[3..].to_vec())]);
    }

    #[test]
    fn a_mark_in_the_middle_leaves_three() {
        let mut store = store();
        let h = admit(&mut store, 5);
        store.mark(h[2]);
        let due: Vec<_> = h.iter().map(|&handle| (handle, 0)).collect();
        assert_eq!(leaving(&mut store, &due), [(0, h[..2].to_vec()), (0, vec![h[2]]), (0, h[3..].to_vec())]);
    }

    #[test]
    fn a_corrupted_segment_leaves_alone_and_its_checksum_tells() {
        let mut store = store();
        let h = admit(&mut store, 3);
        store.corrupt(h[1], u32::MAX / 2);
        let inside = *store.get(h[1]);
        assert!(!inside.partial && store.get(h[0]).partial);
        let frame = store.frame(h[1]);
        let covered = checksum::sum(&frame[34..], u32::from(checksum::pseudo(&frame[14..], TCP, frame.len() - 34)));
        assert_ne!(covered, 0xffff);
        let due: Vec<_> = h.iter().map(|&handle| (handle, 0)).collect();
        assert_eq!(leaving(&mut store, &due), [(0, vec![h[0]]), (0, vec![h[1]]), (0, vec![h[2]])]);
    }

    #[test]
    fn hosts_don_t_disturb_each_other_and_bursts_don_t_mix() {
        let mut store = store();
        let (a, b, c) = (admit(&mut store, 2), admit(&mut store, 2), admit(&mut store, 2));
        let due = [(a[0], 0), (b[0], 1), (a[1], 0), (b[1], 1), (c[0], 0), (c[1], 0)];
        assert_eq!(leaving(&mut store, &due), [(0, a), (1, b), (0, c)]);
    }

    #[test]
    fn what_came_between_keeps_its_place() {
        let mut store = store();
        let (a, b) = (admit(&mut store, 2), admit(&mut store, 1));
        assert_eq!(leaving(&mut store, &[(a[0], 0), (b[0], 0), (a[1], 0)]), [(0, vec![a[0]]), (0, b), (0, vec![a[1]])]);
    }

    #[test]
    fn a_copy_has_bytes_of_its_own() {
        let mut store = store();
        let h = admit(&mut store, 2);
        let (whole, size) = store.chain(&h);
        assert_eq!(size, 66 + 2 * 1448);
        let copy = store.copy(whole).unwrap();
        store.mark(copy);
        assert_eq!(store.frames(copy).count(), 2);
        assert!(store.frames(copy).all(|slot| type_of_service(&store, slot) == 3));
        assert!(store.frames(whole).all(|slot| type_of_service(&store, slot) == 0));
        assert_eq!(leaving(&mut store, &[(whole, 0)]), [(0, h)]);
    }

    #[test]
    fn a_call_is_bounded() {
        let mut store = Store::new(Arena::new(8 << 20, slot_bytes(Mtu::default()), 0).unwrap());
        let mut due = VecDeque::new();
        for _ in 0..80 {
            let burst = admit(&mut store, 40);
            due.extend(burst.into_iter().map(|handle| Due { handle, port: 0, at: Time::ZERO }));
        }
        let before = due.len();
        let frames = Handover::new(1).collect(&mut due, &mut store).len();
        assert_eq!((frames, before - due.len()), (SEGMENTS.div_ceil(40), SEGMENTS));
    }
}
