//! The way of packets from a host through the links of their path to the other.

use datagrams::Part;
use link::{Fate, Packet, Passage, mix};
use units::Time;

use super::{Addresses, Simulation};
use crate::network::{ARRIVED, EXPIRED};
use crate::observer::{AckRow, DatagramRow, Observer, PacketRow};
use crate::reassembly::{Reassembly, Received};
use crate::segment::Segment;

impl<O: Observer> Simulation<O> {
    /// Sends the segments that the flow's ends have released.
    #[inline]
    pub(super) fn send(&mut self, flow: usize) {
        if !self.out.segments.is_empty() {
            self.send_all(flow);
        }
    }

    fn send_all(&mut self, flow: usize) {
        let mut out = std::mem::take(&mut self.out.segments);
        for segment in &out {
            let handle = self.store.put(segment);
            self.launch(flow, handle);
        }
        out.clear();
        self.out.segments = out;
    }

    /// A segment in the store is sent.
    #[inline(always)]
    pub(super) fn launch(&mut self, flow: usize, handle: u32) {
        let Addresses { is_tcp, ip, ref ways } = self.addresses[flow];
        let slot = self.store.get_mut(handle);
        let way = ways[usize::from(slot.segment.is_reply)];
        slot.step = way.step;
        let segment = &slot.segment;
        let size = match is_tcp {
            true => segment.frame_bytes(ip),
            // The header of an ICMP echo is as long as UDP's.
            false => Part { payload: segment.len, fragment: segment.fragment }.frame_bytes(ip),
        };
        // Queues that hash flows know a fragment by its hosts: only the first one has ports.
        let flow_hash = match segment.fragment {
            None => way.flow_hash,
            Some(_) => (mix(1 << 63 | u64::from(ways[0].from) << 16 | u64::from(ways[0].to)) >> 32) as u32,
        };
        let packet = Packet {
            id: self.packets,
            size,
            handle,
            flow_hash,
            flow: flow as u16,
            from: way.from,
            to: way.to,
            sender: Packet::UNKNOWN,
            receiver: Packet::UNKNOWN,
            ecn: segment.ecn,
        };
        self.packets += 1;
        self.entering.push((self.network.take_step(way.step, size), packet));
    }

    /// Packets enter their next links, and what comes of that, until all is quiet.
    #[inline]
    pub(super) fn enter(&mut self) {
        let mut next = 0;
        while let Some(&(link, packet)) = self.entering.get(next) {
            next += 1;
            if link >= EXPIRED {
                self.end_path(link, packet);
                continue;
            }
            let entered = &mut self.network.links[link as usize];
            if entered.push(packet, self.now) {
                let handle = self.store.copy(packet.handle);
                if self.has_contents {
                    self.traffic[usize::from(packet.flow)].is_copied(&self.store.get(handle).segment);
                }
                entered.push_copy(Packet { handle, ..packet }, self.now);
            }
            // A train enters as a whole.
            if self.entering.get(next).is_none_or(|&(another, _)| another != link) {
                self.settle_if_due(link);
            }
        }
        self.entering.clear();
    }

    /// Hand on what a link is done with. Its counters are those of now.
    pub(super) fn settle(&mut self, link: u32) {
        self.network.links[link as usize].catch_up(self.now);
        self.settle_if_due(link);
    }

    /// The same, but a link that has nothing to say is not asked.
    #[inline(always)]
    pub(super) fn settle_if_due(&mut self, link: u32) {
        let mut next = self.network.links[link as usize].next_passage();
        if next <= self.now {
            next = self.pass_all(link);
        }
        self.event_queue.set(self.network.places[link as usize], next);
    }

    /// All that a link is done with goes on. Returns when it is done with the next packet. Out of line: most links that are asked are not
    /// done with any.
    #[inline(never)]
    fn pass_all(&mut self, link: u32) -> Time {
        loop {
            let is_all = !self.pass_next(link);
            let next = self.network.links[link as usize].next_passage();
            if is_all || next > self.now {
                return next;
            }
        }
    }

    /// The next packet that a link is done with goes on; `false` if there is none.
    #[inline(always)]
    fn pass_next(&mut self, link: u32) -> bool {
        let Some(passage) = self.network.links[link as usize].poll_in_place(self.now) else { return false };
        let Passage { packet, fate, corruption, .. } = *passage;
        // Only rows need all of the record.
        let record = O::PACKETS.then_some(*passage);
        let slot = self.store.get_mut(packet.handle);
        slot.step += 1;
        slot.is_corrupt |= corruption.is_some();
        let is_taken = fate == Fate::Delivered && !self.unplugged[link as usize];
        let next = if is_taken { Some(self.network.take_step(slot.step, packet.size)) } else { None };
        if let Some(passage) = &record {
            let segment = self.store.get(packet.handle).segment;
            self.tell_packet(link, &segment, passage, next >= Some(EXPIRED));
        }
        match next {
            Some(end @ EXPIRED..) => self.end_path(end, packet),
            Some(next) => self.entering.push((next, packet)),
            None => {
                // A cable that is pulled loses what is on it.
                self.arrived += u64::from(fate == Fate::Delivered);
                self.free(&packet);
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

    /// A packet has passed the last link that it comes to.
    #[inline]
    fn end_path(&mut self, end: u32, packet: Packet) {
        if end == ARRIVED { self.arrive(packet) } else { self.expire(packet) }
    }

    /// A router drops a packet, as its TTL has run out, and its sender hears of it.
    #[cold]
    fn expire(&mut self, packet: Packet) {
        self.arrived += 1;
        let (flow, segment) = (usize::from(packet.flow), self.store.get(packet.handle).segment);
        self.free(&packet);
        if self.addresses[flow].is_tcp && segment.flags.syn {
            match segment.is_reply {
                true => self.traffic[flow].forget_syn(),
                false => self.traffic[flow].refuse(self.now + self.network.icmp_delays[flow]),
            }
            self.schedule_sender(flow);
        }
    }

    /// A packet is due at its host.
    #[inline]
    fn arrive(&mut self, packet: Packet) {
        if !self.arrivals.holds(&packet, self.now) {
            self.taken(packet);
        }
    }

    /// A host takes a packet.
    pub(super) fn taken(&mut self, mut packet: Packet) {
        self.arrived += 1;
        if self.store.get(packet.handle).segment.fragment.is_none() || self.reassemble(&mut packet) {
            let slot = self.store.get(packet.handle);
            match slot.segment.is_reply {
                // The checksum is wrong.
                _ if slot.is_corrupt => {}
                true => self.at_sender(&packet),
                false => self.at_receiver(&packet),
            }
        }
        self.free(&packet);
    }

    /// A packet is gone.
    #[inline]
    fn free(&mut self, packet: &Packet) {
        if self.has_contents {
            self.traffic[usize::from(packet.flow)].is_gone(&self.store.get(packet.handle).segment);
        }
        self.store.free(packet.handle);
    }

    /// A fragment joins those that wait. `true`: no other is missing, and the packet is the whole datagram now.
    #[cold]
    fn reassemble(&mut self, packet: &mut Packet) -> bool {
        let Addresses { ip, .. } = self.addresses[usize::from(packet.flow)];
        let slot = self.store.get_mut(packet.handle);
        let fragment = Received { segment: slot.segment, ecn: packet.ecn, is_corrupt: slot.is_corrupt };
        let host = self.reassemblies.entry((packet.to, ip)).or_insert_with(|| Reassembly::new(ip));
        let Some(whole) = host.arrive(packet.flow, fragment, packet.size, self.now) else { return false };
        (slot.segment, slot.is_corrupt, packet.ecn) = (whole.segment, whole.is_corrupt, whole.ecn);
        true
    }

    fn at_sender(&mut self, packet: &Packet) {
        let (flow, segment) = (usize::from(packet.flow), &self.store.get(packet.handle).segment);
        let traffic = &mut self.traffic[flow];
        let (was_active, written) = (traffic.is_active(), traffic.written_bytes());
        let report = traffic.at_sender(segment, packet.ecn, self.now, &mut self.out);
        if traffic.written_bytes() > written {
            self.arrivals.write();
        }
        if O::ACKS
            && let (Some(report), Some(sender)) = (&report, traffic.sender())
        {
            self.observer.ack(&AckRow { time: self.now, flow: packet.flow, segment, report, sender });
        }
        self.tell_rows();
        self.send(flow);
        self.schedule_sender(flow);
        self.note_end(flow, was_active);
    }

    fn at_receiver(&mut self, packet: &Packet) {
        let (flow, segment) = (usize::from(packet.flow), &self.store.get(packet.handle).segment);
        let delay = self.traffic[flow].at_receiver(segment, packet.ecn, self.now, &mut self.out.segments);
        if O::DATAGRAMS
            && let Some(delay) = delay
        {
            self.observer.datagram(&DatagramRow { time: self.now, flow: packet.flow, delay });
        }
        self.reply(flow);
        self.schedule_receiver(flow);
        if self.traffic[flow].is_driven_by_receiver() {
            self.schedule_sender(flow);
        }
    }

    /// Tells of what flows leave open at the end.
    pub(super) fn tell_open(&mut self) {
        for traffic in &self.traffic {
            traffic.finish(self.now, &mut self.out.rows);
        }
        self.tell_rows();
    }

    #[inline]
    fn tell_rows(&mut self) {
        for row in self.out.rows.drain(..) {
            self.observer.kind(&row);
        }
    }
}
