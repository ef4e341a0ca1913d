use std::collections::VecDeque;

use link::{Fate, Packet, Passage, Sink};
use plan::Plan;
use realtime::Spans;
use records::Writer;
use records::packets::PacketRow;
use units::{Duration, Time};

use crate::Port;
use crate::arena::Arena;
use crate::clock::StampClock;
use crate::frame::{self, Header};
use crate::transmit::{BATCH, Frame, Transmitter};

/// What the driver remembers of a packet inside the network, by its arena slot.
#[derive(Clone, Copy, Default)]
struct Inside {
    len: u32,
    payload_bytes: u32,
    tcp_seq: Option<u32>,
    /// Its row for the last link, written when it has really been sent.
    pending: Option<(u32, Passage)>,
}

/// A packet that has reached its host in virtual time.
#[derive(Clone, Copy)]
struct Due {
    slot: u32,
    port: u16,
    at: Time,
}

/// Where packets go that the network is done with: to their hosts' interfaces and into the records.
pub(crate) struct Driver {
    pub arena: Arena,
    pub packets: Option<Writer<PacketRow>>,
    pub lateness: Spans,
    pub send_errors: u64,
    pub send_error: Option<String>,
    pub dropped: u64,
    pub duplicated: u64,
    pub left: u64,
    /// Index of the port of each of the plan's nodes.
    port_of: Vec<Option<u16>>,
    /// Destination and source MAC address of frames to each port.
    ends: Vec<[u8; 12]>,
    /// By arena slot.
    inside: Vec<Inside>,
    due: VecDeque<Due>,
    transmitter: Transmitter,
}

impl Driver {
    pub(crate) fn new(
        plan: &Plan,
        ports: &[Port],
        arena: Arena,
        transmitter: Transmitter,
        packets: Option<Writer<PacketRow>>,
    ) -> Driver {
        let port = |name: &str| ports.iter().position(|p| p.host == name).map(|i| i as u16);
        Driver {
            inside: vec![Inside::default(); arena.slots()],
            arena,
            packets,
            lateness: Spans::default(),
            send_errors: 0,
            send_error: None,
            dropped: 0,
            duplicated: 0,
            left: 0,
            ends: ports.iter().map(|p| [p.mac, p.gateway_mac].concat().try_into().expect("twice six bytes")).collect(),
            port_of: plan.nodes.iter().map(|node| port(node.name())).collect(),
            due: VecDeque::new(),
            transmitter,
        }
    }

    /// Hand everything that is due to its host.
    pub(crate) fn flush(&mut self, clock: &StampClock) {
        while !self.due.is_empty() {
            let mut frames = [Frame { at: std::ptr::null_mut(), len: 0, port: 0 }; BATCH];
            let n = self.due.len().min(BATCH);
            for (frame, due) in frames.iter_mut().zip(&self.due) {
                let len = self.inside[due.slot as usize].len as usize;
                *frame = Frame { at: self.arena.at(due.slot), len, port: usize::from(due.port) };
            }
            let before = clock.now();
            let (sent, refused) = self.transmitter.send(&frames[..n]);
            let after = clock.now();
            // One call sends frame after frame, each through its receiver's whole stack: they left one by one. A frame's
            // time is that at which its turn began; its interface has it about a microsecond later.
            let each = (after - before).as_nanos() / sent.max(1) as i64;
            for i in 0..sent {
                self.sent(before + Duration(each * i as i64));
            }
            if let Some(error) = refused {
                let due = self.due.pop_front().expect("a refused frame was due");
                self.send_errors += 1;
                self.send_error = Some(error.to_string());
                self.record_pending(due.slot, None);
                self.arena.release(due.slot);
            }
        }
    }

    fn sent(&mut self, at: Time) {
        let due = self.due.pop_front().expect("a sent frame was due");
        self.left += 1;
        self.lateness.add(at - due.at);
        self.record_pending(due.slot, Some(at));
        self.arena.release(due.slot);
    }

    fn record_pending(&mut self, slot: u32, sent: Option<Time>) {
        if let Some((link, passage)) = self.inside[slot as usize].pending {
            self.record(link, passage, sent);
        }
    }

    pub(crate) fn record(&mut self, link: u32, passage: Passage, sent: Option<Time>) {
        if let Some(packets) = &mut self.packets {
            let Inside { payload_bytes, tcp_seq, .. } = self.inside[passage.packet.handle as usize];
            packets.push(PacketRow { link: link as u16, payload_bytes, tcp_seq, passage, sent });
        }
    }

    /// Take a frame in for the host `to`, addressed to it; its handle, or `None` if there is no room.
    pub(crate) fn admit(&mut self, frame: &[u8], header: &Header, to: u16) -> Option<u32> {
        let slot = self.arena.store(frame)?;
        let ends = &self.ends[self.port(to)];
        // SAFETY: the slot is ours and larger than an Ethernet header.
        unsafe { std::ptr::copy_nonoverlapping(ends.as_ptr(), self.arena.at(slot), ends.len()) };
        let &Header { payload_bytes, tcp_seq, .. } = header;
        self.inside[slot as usize] = Inside { len: frame.len() as u32, payload_bytes, tcp_seq, pending: None };
        Some(slot)
    }

    fn frame(&mut self, slot: u32) -> &mut [u8] {
        // SAFETY: the slot is in use and holds `len` bytes, and nobody else looks at it.
        unsafe { std::slice::from_raw_parts_mut(self.arena.at(slot), self.inside[slot as usize].len as usize) }
    }

    fn port(&self, node: u16) -> usize {
        usize::from(self.port_of[usize::from(node)].expect("packets go to hosts, each host has a port"))
    }
}

impl Sink for Driver {
    fn passed(&mut self, link: u32, passage: &Passage, last: bool) {
        let slot = passage.packet.handle;
        if passage.mark.is_some() {
            frame::mark(self.frame(slot));
        }
        if let Some(which) = passage.corruption {
            frame::corrupt(self.frame(slot), which);
        }
        if passage.fate != Fate::Delivered {
            self.record(link, *passage, None);
            self.dropped += 1;
            self.arena.release(slot);
        } else if last {
            self.inside[slot as usize].pending = Some((link, *passage));
        } else {
            self.record(link, *passage, None);
        }
    }

    fn delivered(&mut self, packet: Packet, at: Time) {
        let port = self.port(packet.to) as u16;
        self.due.push_back(Due { slot: packet.handle, port, at });
    }

    fn copied(&mut self, packet: Packet) -> Option<Packet> {
        let inside = self.inside[packet.handle as usize];
        // SAFETY: the slot is in use and holds `len` bytes; the copy goes to another one.
        let frame = unsafe { std::slice::from_raw_parts(self.arena.at(packet.handle), inside.len as usize) };
        let handle = self.arena.store(frame)?;
        self.inside[handle as usize] = inside;
        self.duplicated += 1;
        Some(Packet { handle, ..packet })
    }
}
