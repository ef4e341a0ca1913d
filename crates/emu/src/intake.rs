use link::Packet;
use plan::{EmulatePath, Plan};

use crate::Port;
use crate::classify::{Class, Classifier};
use crate::driver::Driver;
use crate::frame::{self, Header, TCP, UDP};
use crate::gso::{Burst, Vnet, checksum_at};

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
#[derive(Default)]
pub(crate) struct Counts {
    pub frames: u64,
    pub bursts: u64,
    pub segments: u64,
    pub unroutable: u64,
    pub oversize: u64,
    pub checksum_missing: u64,
    pub arena_overflows: u64,
}

/// Makes packets of the frames that hosts send.
pub(crate) struct Intake {
    pub counts: Counts,
    classifier: Classifier,
    /// For each interface index, the index among the plan's nodes of the host that sends into it.
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
            ingress: ingress(plan, ports),
            path: plan.emulate.path,
            whole_bursts: plan.emulate.whole_bursts,
            handles: Vec::new(),
        }
    }

    /// Take a frame into the driver; the host that sent it, among the plan's nodes. Its packets are pushed, without ids.
    pub(crate) fn take<T>(
        &mut self,
        captured: &Captured<'_>,
        driver: &mut Driver<T>,
        packets: &mut Vec<Packet>,
    ) -> usize {
        self.counts.frames += 1;
        let node = self.ingress.get(captured.ifindex as usize).copied().flatten();
        let header = frame::parse(captured.frame);
        let class = header.and_then(|h| self.classifier.classify(h.tuple));
        let (Some(node), Some(header), Some(class)) = (node, header, class) else {
            self.counts.unroutable += 1;
            return 0;
        };
        let partial = self.is_partial(captured, &header);
        self.counts.checksum_missing += u64::from(captured.checksum_missing && !partial);
        let whole = captured.len as usize == captured.frame.len();
        let ends = driver.ends(class.to);
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
            return node;
        }
        self.counts.bursts += u64::from(!self.handles.is_empty());
        self.counts.segments += self.handles.len() as u64;
        let Class { flow, from, to, flow_hash } = class;
        let packet = |handle, size| Packet { id: 0, size, handle, flow_hash, flow, from, to, ecn: header.ecn };
        if self.whole_bursts && self.handles.len() > 1 {
            let (handle, size) = store.chain(&self.handles);
            packets.push(packet(handle, size));
        } else {
            packets.extend(self.handles.iter().map(|&slot| packet(slot, u32::from(store.get(slot).len))));
        }
        node
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
    for port in ports {
        by_ifindex[port.ifindex as usize] = plan.nodes.iter().position(|n| n.name() == port.host);
    }
    by_ifindex
}
