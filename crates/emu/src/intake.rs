use link::Packet;
use plan::{EmulatePath, Plan};

use crate::Port;
use crate::classify::{Class, Classifier, MetFlows, NOBODY};
use crate::datagrams::Part;
use crate::driver::Driver;
use crate::frame::{self, Header, TCP, Tuple, UDP};
use crate::gso::{Burst, Vnet, checksum_at};
use crate::ports::Ports;
use crate::stations::Stations;
use crate::store::Ends;

/// A frame that a host sends.
pub(crate) struct Captured<'a> {
    /// The frame, cut off where there was no room for more.
    pub frame: &'a [u8],
    /// Its length on the wire.
    pub len: u32,
    /// The interface that it came in on.
    pub ifindex: i32,
    /// The sender left the checksum to hardware.
    pub checksum_missing: bool,
    /// The frame's missing parts, on the GSO path.
    pub vnet: Vnet,
}

/// Frames that the kernel handed over, and what was wrong with them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub frames: u64,
    pub bursts: u64,
    pub segments: u64,
    pub unroutable: u64,
    pub oversize: u64,
    pub checksum_missing: u64,
    pub arena_overflows: u64,
}

/// The facts of a frame.
struct Known {
    header: Header,
    class: Class,
    /// Its MAC addresses from here on.
    ends: Ends,
    /// See [`Packet::sender`].
    sender: u16,
    receiver: u16,
}

/// Makes packets of the frames that hosts send.
pub(crate) struct Intake {
    pub counts: Counts,
    classifier: Classifier,
    /// The stations of a network whose nodes have interfaces.
    stations: Option<Stations>,
    /// For each interface index, the link that it sends into.
    ingress: Vec<Option<usize>>,
    path: EmulatePath,
    whole_bursts: bool,
    handles: Vec<u32>,
}

impl Intake {
    pub(crate) fn new(plan: &Plan, ports: &[Port]) -> Intake {
        Intake {
            counts: Counts::default(),
            classifier: Classifier::new(plan),
            stations: plan.has_interfaces().then(Stations::default),
            ingress: ingress(plan, ports),
            path: plan.emulate.path,
            whole_bursts: plan.emulate.whole_bursts,
            handles: Vec::new(),
        }
    }

    /// Records begin: nothing is counted yet, and connections and datagrams become flows.
    pub(crate) fn begin(&mut self, met: MetFlows) {
        self.counts = Counts::default();
        self.classifier.begin(met);
    }

    /// Records end: no more flows are found.
    pub(crate) fn end(&mut self) {
        self.classifier.end();
    }

    /// Takes a frame into the driver. Returns the link that it enters. Its packets are pushed, without ids.
    pub(crate) fn take<T>(
        &mut self,
        captured: &Captured<'_>,
        driver: &mut Driver<T>,
        packets: &mut Vec<Packet>,
    ) -> usize {
        self.counts.frames += 1;
        let from = self.ingress.get(captured.ifindex as usize).copied().flatten();
        let known = from.and_then(|from| self.know(captured.frame, from, driver));
        let (Some(from), Some(known)) = (from, known) else {
            self.counts.unroutable += 1;
            return 0;
        };
        let Known { header, class, ends, sender, receiver } = known;
        let partial = self.is_partial(captured, &header);
        self.counts.checksum_missing += u64::from(captured.checksum_missing && !partial);
        let whole = captured.len as usize == captured.frame.len();
        let store = &mut driver.store;
        self.handles.clear();
        let longest = store.longest_frame();
        let burst = || Burst::new(captured.frame, &header, &captured.vnet).filter(|burst| burst.fits(longest));
        if whole && captured.vnet.is_single() && captured.frame.len() <= longest {
            self.handles.extend(store.admit(captured.frame, &header, &ends, partial));
            self.counts.arena_overflows += u64::from(self.handles.is_empty());
        } else if let Some(burst) = burst().filter(|_| whole) {
            self.counts.arena_overflows += store.admit_burst(&burst, &header, &ends, &mut self.handles);
        } else {
            self.counts.oversize += 1;
            return from;
        }
        self.counts.bursts += u64::from(!self.handles.is_empty());
        self.counts.segments += self.handles.len() as u64;
        let Class { flow, to, flow_hash, .. } = class;
        let packet = |handle, size| {
            let from = class.from;
            Packet { id: 0, size, handle, flow_hash, flow, from, to, sender, receiver, ecn: header.ecn }
        };
        if self.whole_bursts && self.handles.len() > 1 {
            let (handle, size) = store.chain(&self.handles);
            packets.push(packet(handle, size));
        } else {
            packets.extend(self.handles.iter().map(|&slot| packet(slot, u32::from(store.get(slot).len))));
        }
        from
    }

    /// The facts of a frame that enters at `at`; `None` if a core network has no way for it.
    fn know<T>(&mut self, frame: &[u8], at: usize, driver: &mut Driver<T>) -> Option<Known> {
        let header = frame::parse(frame);
        let tuple = header.map(|header| self.classifier.tuple_of(&header));
        let flags = header.as_ref().and_then(|header| frame::tcp_flags(frame, header));
        if let Some(tuple) = tuple
            && let Some(ends) = self.classifier.meet(tuple, flags)
        {
            driver.datagrams.add(ends, tuple.protocol);
        }
        let of_ip = header.zip(tuple).and_then(|(header, tuple)| {
            let class = self.classifier.classify(tuple);
            if class.to == NOBODY && self.stations.is_none() {
                return None;
            }
            if let (Some(seq), Some(flags)) = (header.tcp_seq, flags) {
                driver.datagrams.entered_of_tcp(class, at, Part { tuple, seq, flags, bytes: header.payload_bytes });
            }
            // Queues that hash flows know a fragment by its hosts: only the first one has ports.
            let portless = || Tuple { sport: 0, dport: 0, ..tuple }.hash();
            let flow_hash = if header.fragment.is_some() { portless() } else { class.flow_hash };
            Some((header, Class { flow_hash, ..class }))
        });
        let Some(stations) = &mut self.stations else {
            let (header, class) = of_ip?;
            let ends = driver.ends(class.to)?;
            return Some(Known { header, class, ends, sender: Packet::UNKNOWN, receiver: class.to });
        };
        let ends: Ends = *frame.first_chunk()?;
        let (receiver, sender) = stations.of(&ends);
        let (header, class) = of_ip.unwrap_or_else(|| {
            let (header, flow_hash) = frame::opaque(frame);
            (header, self.classifier.other(flow_hash))
        });
        Some(Known { header, class, ends, sender, receiver })
    }

    /// The kernel says what its checksum lacks, in a way that can be passed on.
    fn is_partial(&self, captured: &Captured<'_>, header: &Header) -> bool {
        let vnet = captured.vnet;
        self.path == EmulatePath::Gso
            && vnet.needs_checksum()
            && vnet.csum_start == header.transport
            && matches!(header.tuple.protocol, TCP | UDP)
            && usize::from(vnet.csum_offset) == checksum_at(header.tuple.protocol)
    }
}

fn ingress(plan: &Plan, ports: &[Port]) -> Vec<Option<usize>> {
    let size = ports.iter().map(|p| p.ifindex as usize + 1).max().unwrap_or(0);
    let mut by_ifindex = vec![None; size];
    let places = Ports::new(ports);
    for (index, link) in plan.links.iter().enumerate() {
        if let Some(place) = places.at_the_start_of(link) {
            by_ifindex[ports[place].ifindex as usize] = Some(index);
        }
    }
    by_ifindex
}
