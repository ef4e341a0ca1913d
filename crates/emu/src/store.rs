use link::Passage;
use units::Time;

use crate::arena::{Arena, NONE};
use crate::checksum;
use crate::frame::{self, Header};
use crate::gso::{Burst, checksum_at};

/// Metadata of a frame inside the network.
#[derive(Clone, Copy)]
pub(crate) struct Inside {
    pub len: u16,
    /// The offsets of the part below IP and of the payload, and the protocol below IP.
    pub transport: u16,
    pub payload: u16,
    pub protocol: u8,
    /// Its checksum is still to be completed.
    pub partial: bool,
    /// No other frame may be put under one header with it.
    pub alone: bool,
    /// The burst that it came in, its place there, and payload bytes of each of the burst's segments but the last.
    pub burst: u32,
    pub index: u16,
    pub gso_size: u16,
    /// The frame after it in a chain.
    pub next: u32,
    /// True if the frame represents a packet of the network, as the first of a chain does.
    pub packet: bool,
    /// True if the frame came before time 0: it is carried, but neither counted nor recorded.
    pub earlier: bool,
    /// The time at which it is due at its host.
    pub due: Time,
    /// TCP or UDP payload of the packet.
    pub payload_bytes: u32,
    pub tcp_seq: Option<u32>,
    /// The packet's row for the last link, written when it has really been sent.
    pub pending: Option<(u32, Passage)>,
}

const NOTHING: Inside = Inside {
    len: 0,
    transport: 0,
    payload: 0,
    protocol: 0,
    partial: false,
    alone: false,
    burst: 0,
    index: 0,
    gso_size: 0,
    next: NONE,
    packet: false,
    earlier: false,
    due: Time::ZERO,
    payload_bytes: 0,
    tcp_seq: None,
    pending: None,
};

/// The frames inside the network, each in a slot of an arena. A packet is a frame, or a chain of frames that the network
/// takes for one; the slot of its first frame is its handle.
pub(crate) struct Store {
    arena: Arena,
    /// The packets by slot.
    inside: Vec<Inside>,
    bursts: u32,
}

/// Destination and source MAC address.
pub(crate) type Ends = [u8; 12];

impl Store {
    pub(crate) fn new(arena: Arena) -> Store {
        Store { inside: vec![NOTHING; arena.slots()], arena, bursts: 0 }
    }

    /// Take a frame in, addressed to `ends`; its handle, or `None` if there is no room.
    ///
    /// `partial`: its checksum is still to be completed.
    pub(crate) fn admit(&mut self, frame: &[u8], header: &Header, ends: &Ends, partial: bool) -> Option<u32> {
        let slot = self.arena.take()?;
        self.arena.bytes_mut(slot)[..frame.len()].copy_from_slice(frame);
        self.put(slot, header, ends, Inside { len: frame.len() as u16, partial, alone: true, ..NOTHING });
        Some(slot)
    }

    /// Take a burst in, each segment as a frame, and push their handles. Returns the number of segments that found no
    /// room.
    pub(crate) fn admit_burst(&mut self, burst: &Burst<'_>, header: &Header, ends: &Ends, to: &mut Vec<u32>) -> u64 {
        self.bursts = self.bursts.wrapping_add(1);
        let segments = burst.segments();
        for index in 0..segments {
            let Some(slot) = self.arena.take() else { return (segments - index) as u64 };
            let len = burst.write(index, self.arena.bytes_mut(slot)) as u16;
            let payload = burst.range(index);
            let header = Header {
                payload_bytes: payload.len() as u32,
                tcp_seq: header.tcp_seq.map(|first| first.wrapping_add(payload.start as u32)),
                ..*header
            };
            let (number, gso_size) = (self.bursts, burst.gso_size() as u16);
            let place = Inside { burst: number, index: index as u16, gso_size, partial: true, ..NOTHING };
            self.put(slot, &header, ends, Inside { len, ..place });
            to.push(slot);
        }
        0
    }

    fn put(&mut self, slot: u32, header: &Header, ends: &Ends, inside: Inside) {
        self.arena.bytes_mut(slot)[..ends.len()].copy_from_slice(ends);
        let &Header { tuple, transport, payload, payload_bytes, tcp_seq, .. } = header;
        let protocol = tuple.protocol;
        self.inside[slot as usize] =
            Inside { transport, payload, protocol, payload_bytes, tcp_seq, packet: true, ..inside };
    }

    /// Make one packet of the segments of a burst; its handle and its size: headers once, and all payload.
    pub(crate) fn chain(&mut self, slots: &[u32]) -> (u32, u32) {
        let payload_bytes = slots.iter().map(|&slot| self.inside[slot as usize].payload_bytes).sum();
        for pair in slots.windows(2) {
            self.inside[pair[0] as usize].next = pair[1];
            self.inside[pair[1] as usize].packet = false;
        }
        let first = &mut self.inside[slots[0] as usize];
        first.payload_bytes = payload_bytes;
        (slots[0], u32::from(first.payload) + payload_bytes)
    }

    /// A frame's bytes.
    pub(crate) fn frame(&self, slot: u32) -> &[u8] {
        &self.arena.bytes(slot)[..usize::from(self.get(slot).len)]
    }

    /// The metadata of a frame.
    pub(crate) fn get(&self, slot: u32) -> &Inside {
        &self.inside[slot as usize]
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut Inside {
        &mut self.inside[slot as usize]
    }

    /// The frames of a chain, first to last.
    pub(crate) fn frames(&self, first: u32) -> impl Iterator<Item = u32> {
        let more = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(more(first), move |&slot| more(self.get(slot).next))
    }

    /// Forget a chain.
    pub(crate) fn release(&mut self, first: u32) {
        let mut slot = first;
        while slot != NONE {
            self.arena.release(slot);
            slot = self.get(slot).next;
        }
    }

    /// Forget a frame.
    pub(crate) fn release_one(&mut self, slot: u32) {
        self.arena.release(slot);
    }

    /// A copy of a packet, or `None` if there is no room.
    pub(crate) fn copy(&mut self, handle: u32) -> Option<u32> {
        let (mut from, mut first, mut last) = (handle, NONE, NONE);
        while from != NONE {
            let Some(slot) = self.arena.copy(from) else {
                self.release(first);
                return None;
            };
            self.inside[slot as usize] = Inside { next: NONE, ..*self.get(from) };
            match last {
                NONE => first = slot,
                last => self.get_mut(last).next = slot,
            }
            last = slot;
            from = self.get(from).next;
        }
        Some(first)
    }

    /// Set Congestion Experienced in all frames of a packet.
    pub(crate) fn mark(&mut self, handle: u32) {
        let mut slot = handle;
        while slot != NONE {
            frame::mark(self.arena.bytes_mut(slot));
            slot = self.get(slot).next;
        }
    }

    /// Flip the bit of a packet that `which` of 2^32 says. A checksum that is missing is completed before, so that it
    /// tells.
    pub(crate) fn corrupt(&mut self, handle: u32, which: u32) {
        let scaled = u64::from(which) * self.frames(handle).count() as u64;
        let slot = self.frames(handle).nth((scaled >> 32) as usize).expect("a frame of the chain");
        let inside = &mut self.inside[slot as usize];
        let frame = &mut self.arena.bytes_mut(slot)[..usize::from(inside.len)];
        if inside.partial {
            checksum::complete(&mut frame[usize::from(inside.transport)..], checksum_at(inside.protocol));
        }
        (inside.partial, inside.alone) = (false, true);
        frame::corrupt(frame, scaled as u32);
    }

    /// The longest frame that can be taken in.
    pub(crate) fn longest_frame(&self) -> usize {
        self.arena.slot_bytes()
    }

    /// The most bytes ever in use.
    pub(crate) fn peak_bytes(&self) -> u64 {
        self.arena.peak_bytes()
    }
}
