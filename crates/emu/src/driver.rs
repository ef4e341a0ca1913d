use std::collections::VecDeque;
use std::path::PathBuf;

use link::{Entry, Fate, Packet, Passage, Sink};
use plan::{EmulatePath, Plan};
use realtime::Spans;
use records::Writer;
use records::frames::Frames;
use records::packets::PacketRow;
use units::{Duration, Time};

use crate::Port;
use crate::arena::NONE;
use crate::datagrams::Counted;
use crate::handover::{Due, Handover, Together};
use crate::hops::Hops;
use crate::identities::Identities;
use crate::outgoing::{Outgoing, Transmit};
use crate::ports::Ports;
use crate::store::{Ends, Store};

/// Takes packets that have left the network to their hosts' interfaces and into the records.
pub(crate) struct Driver<T> {
    pub store: Store,
    pub packets: Option<Writer<PacketRow>>,
    pub frames: Option<Frames>,
    /// Captures of links of a lab, beside the records', each with its directory.
    pub captures: Vec<(PathBuf, Frames)>,
    pub lateness: Spans,
    pub send_errors: u64,
    pub send_error: Option<String>,
    /// Packets that came out at an interface without carrier.
    pub without_carrier: u64,
    pub dropped: u64,
    pub duplicated: u64,
    pub left: u64,
    pub bursts_out: u64,
    pub segments_out: u64,
    /// Frames that came before time 0.
    pub earlier_out: u64,
    /// Copies that switches made, and packets that they had no link for.
    pub flooded: u64,
    pub filtered: u64,
    /// Frames that found no room when a switch copied them.
    pub unflooded: u64,
    /// Datagrams of a recorded lab, as links count them.
    pub datagrams: Counted,
    /// The ports that lose their carrier at some time.
    unplugged: Vec<bool>,
    /// The port at the end of each of the plan's links, and the one at its start.
    port_at: Vec<Option<u16>>,
    port_from: Vec<Option<u16>>,
    /// The ends of frames to each of the plan's nodes, in a core network.
    ends: Vec<Option<Ends>>,
    identities: Identities,
    due: VecDeque<Due>,
    handover: Handover,
    outgoing: Outgoing,
    /// Hops through links that the kernel carries.
    pub hops: Hops,
    to_hops: Outgoing,
    transmitter: T,
}

impl<T> Driver<T> {
    pub(crate) fn new(plan: &Plan, ports: &[Port], store: Store, transmitter: T) -> Driver<T> {
        let places = Ports::new(ports);
        let port = |link| places.at_the_end_of(link).map(|i| i as u16);
        let start = |link| places.at_the_start_of(link).map(|i| i as u16);
        let ends = |name: &str| {
            let port = &ports[places.of_host(name)?];
            Some([port.mac, port.gateway_mac?].concat().try_into().expect("twice six bytes"))
        };
        let states = plan.links.iter().chain(plan.events.iter().map(|event| &event.link));
        let lost = states.filter(|link| link.carrier == plan::Carrier::Lost);
        let mut unplugged = vec![false; ports.len()];
        lost.filter_map(|link| places.at_the_end_of(link)).for_each(|port| unplugged[port] = true);
        Driver {
            unplugged,
            store,
            packets: None,
            frames: None,
            captures: Vec::new(),
            lateness: Spans::default(),
            send_errors: 0,
            send_error: None,
            without_carrier: 0,
            dropped: 0,
            duplicated: 0,
            left: 0,
            bursts_out: 0,
            segments_out: 0,
            earlier_out: 0,
            flooded: 0,
            filtered: 0,
            unflooded: 0,
            datagrams: Counted::new(plan),
            port_at: plan.links.iter().map(port).collect(),
            port_from: plan.links.iter().map(start).collect(),
            ends: plan.nodes.iter().map(|node| ends(node.name())).collect(),
            identities: Identities::new(plan),
            due: VecDeque::new(),
            handover: Handover::new(ports.len()),
            outgoing: Outgoing::new(plan.emulate.path == EmulatePath::Gso),
            hops: Hops::default(),
            to_hops: Outgoing::new(plan.emulate.path == EmulatePath::Gso),
            transmitter,
        }
    }

    /// Records begin: nothing is counted yet, and no packet is inside a router.
    pub(crate) fn begin(&mut self, plan: &Plan, packets: Option<Writer<PacketRow>>, frames: Option<Frames>) {
        self.frames = frames;
        self.datagrams.begin();
        (self.packets, self.identities, self.lateness) = (packets, Identities::new(plan), Spans::default());
        (self.send_errors, self.send_error, self.without_carrier) = (0, None, 0);
        (self.dropped, self.duplicated, self.flooded, self.filtered, self.unflooded) = (0, 0, 0, 0, 0);
        (self.left, self.bursts_out, self.segments_out, self.earlier_out) = (0, 0, 0, 0);
    }

    /// The time at which the first of the packets that are due has waited for `hold`.
    pub(crate) fn next_handover(&self, hold: Duration) -> Time {
        self.due.front().map_or(Time::NEVER, |due| due.at + hold)
    }

    /// A collected frame was sent.
    fn sent(&mut self, frame: usize, at: Time) {
        let mut slot = self.handover.all()[frame].first;
        let earlier = self.store.get(slot).earlier;
        *(if earlier { &mut self.earlier_out } else { &mut self.bursts_out }) += 1;
        while slot != NONE {
            let (next, packet, due) =
                (self.store.get(slot).next, self.store.get(slot).packet, self.store.get(slot).due);
            self.segments_out += u64::from(!earlier);
            if packet && !earlier {
                self.left += 1;
                self.lateness.add(at - due);
                self.record_pending(slot, Some(at));
            }
            self.store.release_one(slot);
            slot = next;
        }
    }

    /// A collected frame was refused.
    fn refused(&mut self, frame: usize, error: &std::io::Error) {
        let Together { port, first: mut slot, .. } = self.handover.all()[frame];
        let earlier = self.store.get(slot).earlier;
        while slot != NONE {
            let (next, packet) = (self.store.get(slot).next, self.store.get(slot).packet);
            if packet && !earlier {
                // Only where a cable is pulled does the kernel refuse frames without our fault.
                match self.unplugged[usize::from(port)] {
                    true => self.without_carrier += 1,
                    false => {
                        self.send_errors += 1;
                        self.send_error = Some(error.to_string());
                    }
                }
                self.record_pending(slot, None);
            }
            self.store.release_one(slot);
            slot = next;
        }
    }

    fn record_pending(&mut self, slot: u32, sent: Option<Time>) {
        if let Some((link, passage)) = self.store.get(slot).pending {
            self.record(link, passage, sent);
        }
    }

    pub(crate) fn record(&mut self, link: u32, passage: Passage, sent: Option<Time>) {
        if let Some(packets) = &mut self.packets {
            let inside = self.store.get(passage.packet.handle);
            let (payload_bytes, tcp_seq) = (inside.payload_bytes, inside.tcp_seq);
            packets.push(PacketRow { link: link as u16, payload_bytes, tcp_seq, passage, sent });
        }
    }

    /// Write a packet as it came to a link, and as it leaves it: before [`Driver::affect`].
    pub(crate) fn capture(&mut self, link: u32, passage: &Passage) {
        if let Some(frames) = &mut self.frames {
            frames.passed(link as u16, passage, self.store.frame(passage.packet.handle), "");
        }
        for (_, frames) in &mut self.captures {
            frames.passed(link as u16, passage, self.store.frame(passage.packet.handle), "");
        }
    }

    /// A link will be another.
    pub(crate) fn expect(&mut self, link: u32, spec: &plan::Link) {
        if spec.carrier == plan::Carrier::Lost {
            // A cable that is pulled takes the carrier at both ends, before the link back is another, too.
            for port in [self.port_at[link as usize], self.port_from[link as usize]].into_iter().flatten() {
                self.unplugged[usize::from(port)] = true;
            }
        }
    }

    /// Do to a packet's frames what a link has done to it.
    pub(crate) fn affect(&mut self, passage: &Passage) {
        if passage.mark.is_some() {
            self.store.mark(passage.packet.handle);
        }
        if let Some(which) = passage.corruption {
            self.store.corrupt(passage.packet.handle, which);
        }
    }

    /// A packet is due at the interface where `link` ends.
    pub(crate) fn hand_to_the_end_of(&mut self, link: u32, handle: u32, at: Time) {
        let port = self.port_at[link as usize].expect("a link that packets come out of ends at a port");
        self.due.push_back(Due { handle, port, at });
    }

    /// The addresses of frames to the host `node` of a core network; `None` if it is no host's index.
    pub(crate) fn ends(&self, node: u16) -> Option<Ends> {
        self.ends.get(usize::from(node)).copied().flatten()
    }

    /// The id of a packet that enters `link` of a lab network, if a router forwards it there.
    pub(crate) fn forwarded(&mut self, handle: u32, link: usize) -> Option<u64> {
        self.identities.recall(link, self.store.frame(handle))
    }
}

impl<T: Transmit> Driver<T> {
    /// Hand everything that is due to its host, if the first of it has waited for `hold`.
    pub(crate) fn flush(&mut self, now: impl Fn() -> Time, hold: Duration) {
        while !self.due.is_empty() && (hold == Duration::ZERO || self.next_handover(hold) <= now()) {
            self.hand_over(&now);
        }
    }

    /// Hand the first few of what is due to their hosts.
    pub(crate) fn hand_over(&mut self, now: impl Fn() -> Time) {
        let frames = self.handover.collect(&mut self.due, &mut self.store).len();
        self.handover.compose(&self.store, &mut self.outgoing);
        let mut done = 0;
        while done < frames {
            let before = now();
            let (sent, refused) = self.transmitter.send(&self.outgoing, done);
            let after = now();
            // One call sends frame after frame, each through its receiver's whole stack: they left one by one. A
            // frame's time is that at which its turn began; its interface has it about a microsecond later.
            let each = (after - before).as_nanos() / sent.max(1) as i64;
            for i in 0..sent {
                self.sent(done + i, before + Duration(each * i as i64));
            }
            done += sent;
            if let Some(error) = refused {
                self.refused(done, &error);
                done += 1;
            }
        }
    }
}

impl<T: Transmit> Sink for Driver<T> {
    fn passed(&mut self, link: u32, passage: &Passage, last: bool) {
        let handle = passage.packet.handle;
        self.capture(link, passage);
        self.affect(passage);
        if passage.fate != Fate::Delivered {
            self.record(link, *passage, None);
            self.dropped += 1;
            self.datagrams.lost(&passage.packet);
            self.store.release(handle);
        } else if last {
            self.store.get_mut(handle).pending = Some((link, *passage));
        } else {
            self.record(link, *passage, None);
        }
    }

    fn delivered(&mut self, packet: Packet, link: u32, at: Time) {
        if self.identities.is_watched(link) {
            self.identities.remember(link, self.store.frame(packet.handle), packet.id);
        }
        self.datagrams.delivered(&packet, link, self.store.get(packet.handle).payload_bytes, at);
        self.hand_to_the_end_of(link, packet.handle, at);
    }

    fn copied(&mut self, packet: Packet) -> Option<Packet> {
        let handle = self.store.copy(packet.handle)?;
        self.duplicated += 1;
        Some(Packet { handle, ..packet })
    }

    fn flooded(&mut self, packet: Packet) -> Option<Packet> {
        let Some(handle) = self.store.copy(packet.handle) else {
            self.unflooded += 1;
            return None;
        };
        // The row of the link before goes with the packet itself.
        self.store.get_mut(handle).pending = None;
        self.flooded += 1;
        Some(Packet { handle, ..packet })
    }

    fn filtered(&mut self, packet: Packet) {
        self.record_pending(packet.handle, None);
        self.filtered += 1;
        self.store.release(packet.handle);
    }

    fn outside(&mut self, link: u32, part: usize, packet: &Packet) -> Entry {
        self.hops.send((link, part), packet, &self.store, &mut self.transmitter, &mut self.to_hops)
    }
}
