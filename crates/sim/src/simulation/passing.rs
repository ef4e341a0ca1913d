//! The way of packets from a host through the links of their path to the other.

use datagrams::Part;
use link::{Ecn, Fate, Packet, Passage, mix};

use super::{Addresses, Simulation};
use crate::observer::{AckRow, DatagramRow, EchoRow, Observer, PacketRow};
use crate::reassembly::{Reassembly, Received};
use crate::segment::Segment;

/// The packet has passed the last link of its path.
const ARRIVED: u32 = u32::MAX;

impl<O: Observer> Simulation<O> {
    /// Sends the segments that the flow's ends have released.
    pub(super) fn send(&mut self, flow: usize) {
        let Addresses { from, to, is_tcp, ip, flow_hashes } = self.addresses[flow];
        for segment in &self.out {
            let is_reply = segment.is_reply;
            let size = match is_tcp {
                true => segment.frame_bytes(ip),
                // The header of an ICMP echo is as long as UDP's.
                false => Part { payload: segment.len, fragment: segment.fragment }.frame_bytes(ip),
            };
            // Queues that hash flows know a fragment by its hosts: only the first one has ports.
            let flow_hash = match segment.fragment {
                None => flow_hashes[usize::from(is_reply)],
                Some(_) => (mix(1 << 63 | u64::from(from) << 16 | u64::from(to)) >> 32) as u32,
            };
            let packet = Packet {
                id: self.packets,
                size,
                handle: self.store.put(segment),
                flow_hash,
                flow: flow as u16,
                from: if is_reply { to } else { from },
                to: if is_reply { from } else { to },
                sender: Packet::UNKNOWN,
                receiver: Packet::UNKNOWN,
                ecn: segment.ecn,
            };
            self.packets += 1;
            self.network.count(flow as u16, is_reply, 0, size);
            let first = self.network.path(flow as u16, is_reply).first();
            self.entering.push_back((first.copied().unwrap_or(ARRIVED), packet));
        }
        self.out.clear();
    }

    /// Packets enter their next links, and what comes of that, until all is quiet.
    pub(super) fn enter(&mut self) {
        while let Some((link, packet)) = self.entering.pop_front() {
            if link == ARRIVED {
                self.arrive(packet);
                continue;
            }
            let twice = self.network.links[link as usize].push(packet, self.now);
            if twice {
                let handle = self.store.copy(packet.handle);
                self.network.links[link as usize].push_copy(Packet { handle, ..packet }, self.now);
            }
            // A train enters as a whole.
            if self.entering.front().is_none_or(|&(next, _)| next != link) {
                self.settle_if_due(link);
            }
        }
    }

    /// Hand on what a link is done with.
    pub(super) fn settle(&mut self, link: u32) {
        while self.pass_next(link) {}
        self.event_queue.set(self.network.places[link as usize], self.network.links[link as usize].next_passage());
    }

    /// The same, but a link that has nothing to say is not asked.
    pub(super) fn settle_if_due(&mut self, link: u32) {
        let next = loop {
            let next = self.network.links[link as usize].next_passage();
            if next > self.now {
                break next;
            }
            if !self.pass_next(link) {
                break self.network.links[link as usize].next_passage();
            }
        };
        self.event_queue.set(self.network.places[link as usize], next);
    }

    /// The next packet that a link is done with goes on; `false` if there is none.
    fn pass_next(&mut self, link: u32) -> bool {
        let Some(passage) = self.network.links[link as usize].poll_in_place(self.now) else { return false };
        let Passage { packet, fate, corruption, .. } = *passage;
        // Only rows need all of the record.
        let record = O::PACKETS.then_some(*passage);
        let slot = self.store.get_mut(packet.handle);
        slot.hop += 1;
        slot.is_corrupt |= corruption.is_some();
        let (hop, is_reply) = (slot.hop, slot.segment.is_reply);
        let path = self.network.path(packet.flow, is_reply);
        let next = path.get(hop as usize).copied();
        let is_taken = fate == Fate::Delivered && !self.unplugged[link as usize];
        if is_taken {
            self.network.count(packet.flow, is_reply, hop, packet.size);
        }
        if let Some(passage) = &record {
            let segment = self.store.get(packet.handle).segment;
            self.tell_packet(link, &segment, passage, is_taken && next.is_none());
        }
        match next {
            None if is_taken => self.arrive(packet),
            Some(next) if is_taken => self.entering.push_back((next, packet)),
            _ => {
                // A cable that is pulled loses what is on it.
                self.arrived += u64::from(fate == Fate::Delivered);
                self.store.take(packet.handle);
            }
        }
        true
    }

    pub(super) fn tell_packet(&mut self, link: u32, segment: &Segment, passage: &Passage, is_last: bool) {
        let is_tcp = self.addresses[usize::from(passage.packet.flow)].is_tcp;
        self.observer.packet(&PacketRow {
            link: link as u16,
            segment,
            payload_bytes: segment.len,
            tcp_seq: is_tcp.then_some(segment.seq as u32),
            passage,
            is_last,
        });
    }

    /// A packet is due at its host.
    fn arrive(&mut self, packet: Packet) {
        if let Some(packet) = self.arrivals.hold(packet, self.now) {
            self.taken(packet);
        }
    }

    /// A host takes a packet.
    pub(super) fn taken(&mut self, packet: Packet) {
        self.arrived += 1;
        let slot = self.store.take(packet.handle);
        let mut whole = Received { segment: slot.segment, ecn: packet.ecn, is_corrupt: slot.is_corrupt };
        if slot.segment.fragment.is_some() {
            match self.reassemble(whole, &packet) {
                Some(datagram) => whole = datagram,
                None => return,
            }
        }
        // The checksum is wrong.
        if whole.is_corrupt {
            return;
        }
        let flow = usize::from(packet.flow);
        if whole.segment.is_reply {
            self.at_sender(flow, &whole.segment);
        } else {
            self.at_receiver(flow, &whole.segment, whole.ecn);
        }
    }

    /// The datagram of a fragment, if no other of it is missing.
    fn reassemble(&mut self, fragment: Received, packet: &Packet) -> Option<Received> {
        let Addresses { ip, .. } = self.addresses[usize::from(packet.flow)];
        let host = self.reassemblies.entry((packet.to, ip)).or_insert_with(|| Reassembly::new(ip));
        host.arrive(packet.flow, fragment, packet.size, self.now)
    }

    fn at_sender(&mut self, flow: usize, segment: &Segment) {
        if !self.addresses[flow].is_tcp {
            if let Some(echo) = self.traffic[flow].answer(segment, self.now) {
                self.observer.echo(&EchoRow { flow: flow as u16, echo });
            }
            return;
        }
        let was_active = self.traffic[flow].is_active();
        let report = self.traffic[flow].at_sender(segment, self.now, &mut self.out);
        if O::ACKS
            && let (Some(report), Some(sender)) = (&report, self.traffic[flow].sender())
        {
            self.observer.ack(&AckRow { time: self.now, flow: flow as u16, segment, report, sender });
        }
        self.send(flow);
        self.schedule_sender(flow);
        self.note_end(flow, was_active);
    }

    fn at_receiver(&mut self, flow: usize, segment: &Segment, ecn: Ecn) {
        let delay = self.traffic[flow].at_receiver(segment, ecn, self.now, &mut self.out);
        if O::DATAGRAMS
            && let Some(delay) = delay
        {
            self.observer.datagram(&DatagramRow { time: self.now, flow: flow as u16, delay });
        }
        self.reply(flow);
        self.schedule_receiver(flow);
        if self.traffic[flow].is_driven_by_receiver() {
            self.schedule_sender(flow);
        }
    }

    /// Counts requests without an answer at the end.
    pub(super) fn tell_unanswered(&mut self) {
        for (flow, traffic) in self.traffic.iter().enumerate() {
            for echo in traffic.unanswered(self.now) {
                self.observer.echo(&EchoRow { flow: flow as u16, echo });
            }
        }
    }
}
