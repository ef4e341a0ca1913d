//! The figures from the packets of a run: their waiting times, at each link and on each flow's way, and the marks.

use plan::Network;
use rustc_hash::FxHashMap;
use units::Duration;

use crate::arithmetic::Percentiles;

/// The values of a row of `packets` that figures need.
#[derive(Clone, Copy, Debug)]
pub struct PacketSample {
    /// Index of the link in the plan.
    pub link: u16,
    /// Index of the flow in the plan; `None` of a packet that belongs to none.
    pub flow: Option<u16>,
    /// Number of the packet, the same on each link.
    pub packet: u64,
    /// True if the packet left the serializer.
    pub has_departed: bool,
    /// The time in the queue, if it was in.
    pub sojourn: Option<Duration>,
    /// True if the packet reached the link's end.
    pub is_delivered: bool,
    /// True if the packet left ECN-capable.
    pub is_capable: bool,
    /// True if the packet left with Congestion Experienced.
    pub is_marked: bool,
    /// True if the packet is a copy that the link made.
    pub is_copy: bool,
}

/// Packets of a run.
#[derive(Clone, Debug)]
pub struct PacketSamples {
    /// For each link the times in its queue of the packets that left it, ns; `None` where they never wait.
    links: Vec<Option<Vec<i64>>>,
    flows: Vec<FlowPackets>,
}

/// Packets of a flow, from its sender to its receiver.
#[derive(Clone, Debug, Default)]
struct FlowPackets {
    /// The links of its way that are recorded, in order.
    way: Vec<u16>,
    /// Time in queues of those that arrived, ns.
    waits: Vec<i64>,
    /// The packets whose way has several recorded links, until all of these have told of them.
    under_way: FxHashMap<u64, UnderWay>,
    capable: u64,
    marked: u64,
}

/// A packet between the recorded links of its way.
#[derive(Clone, Copy, Debug, Default)]
struct UnderWay {
    waited: i64,
    links: usize,
    has_arrived: bool,
}

impl PacketSamples {
    /// `network`: the plan's, with the paths of its flows.
    pub(crate) fn new(network: &Network) -> PacketSamples {
        let flow = |flow: usize| {
            let recorded = network.path(flow).there.iter().filter(|&&link| !network.links[link].is_transparent);
            FlowPackets { way: recorded.map(|&link| link as u16).collect(), ..FlowPackets::default() }
        };
        PacketSamples {
            links: network.links.iter().map(|facts| facts.can_queue.then(Vec::new)).collect(),
            flows: (0..network.path_of.len()).map(flow).collect(),
        }
    }

    pub(crate) fn add(&mut self, packet: &PacketSample) {
        if let (Some(waits), Some(sojourn), true) =
            (&mut self.links[usize::from(packet.link)], packet.sojourn, packet.has_departed)
        {
            waits.push(sojourn.as_nanos());
        }
        if let Some(flow) = packet.flow {
            self.flows[usize::from(flow)].add(packet);
        }
    }

    /// The waiting times at a link, over packets that left it, ms.
    pub(crate) fn link_waits(&mut self, link: usize) -> Option<Percentiles> {
        milliseconds(self.links[link].as_mut()?)
    }

    /// The waiting times of a flow, over packets that reached the receiver, copies excluded: the sum of their times in
    /// queues, ms.
    pub(crate) fn flow_waits(&mut self, flow: usize) -> Option<Percentiles> {
        milliseconds(&mut self.flows[flow].waits)
    }

    /// The marked packets of a flow that arrived, and all ECN-capable ones that arrived; `None` if none did.
    pub(crate) fn marked(&self, flow: usize) -> Option<(u64, u64)> {
        let FlowPackets { marked, capable, .. } = self.flows[flow];
        (capable > 0).then_some((marked, capable))
    }
}

impl FlowPackets {
    fn add(&mut self, packet: &PacketSample) {
        let Some(at) = self.way.iter().position(|&link| link == packet.link) else { return };
        let has_arrived = at + 1 == self.way.len() && packet.is_delivered;
        if has_arrived && packet.is_capable {
            self.capable += 1;
            self.marked += u64::from(packet.is_marked);
        }
        let Some(sojourn) = packet.sojourn.filter(|_| !packet.is_copy) else { return };
        if self.way.len() > 1 {
            let known = self.under_way.entry(packet.packet).or_default();
            known.waited += sojourn.as_nanos();
            known.links += 1;
            known.has_arrived |= has_arrived;
            if known.has_arrived && known.links == self.way.len() {
                self.waits.push(known.waited);
                self.under_way.remove(&packet.packet);
            }
        } else if has_arrived {
            self.waits.push(sojourn.as_nanos());
        }
    }
}

fn milliseconds(nanoseconds: &mut [i64]) -> Option<Percentiles> {
    Percentiles::of(nanoseconds, |ns| ns as f64 * 1e-6)
}
