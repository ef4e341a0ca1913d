//! Counts the datagrams of flows that were found in a lab while it is recorded: sockets of UDP do not.

use link::Packet;
use plan::Plan;
use records::found::{DatagramGauges, Datagrams};
use units::Time;

/// The counts of all flows. Without a flow of datagrams it costs nothing.
#[derive(Default)]
pub(crate) struct Counted {
    /// The nodes at the ends of each link of the plan.
    ends: Vec<(u16, u16)>,
    /// In a core network packets enter at a host, and not at a link.
    is_lab: bool,
    /// By index of the flow: its host at either end, and the counts of both directions. `None` of a flow of TCP.
    flows: Vec<Option<Flow>>,
    /// Places of the counts that have changed since they were published.
    changed: Vec<usize>,
    /// Places of all counts that were ever published.
    published: usize,
}

struct Flow {
    from: u16,
    to: u16,
    counts: [Datagrams; 2],
    is_changed: [bool; 2],
}

impl Counted {
    /// Nothing is counted yet.
    pub(crate) fn new(plan: &Plan) -> Counted {
        let nodes = plan.node_indices();
        let node = |name: &str| nodes.get(name).map_or(u16::MAX, |&index| index as u16);
        let ends = plan.links.iter().map(|link| (node(&link.from), node(&link.to))).collect();
        Counted { ends, is_lab: plan.is_lab(), ..Counted::default() }
    }

    /// Records begin or end: there is no flow. [`Counted::clear`] says so to readers.
    pub(crate) fn begin(&mut self) {
        self.flows.clear();
        self.changed.clear();
    }

    /// A flow of datagrams between two of the plan's nodes was found.
    pub(crate) fn add(&mut self, flow: u16, from: u16, to: u16) {
        self.flows.resize_with(usize::from(flow) + 1, || None);
        self.flows[usize::from(flow)] = Some(Flow { from, to, counts: Default::default(), is_changed: [false; 2] });
    }

    /// A packet enters at a host of a core network, or into a link of a lab network.
    pub(crate) fn entered(&mut self, packet: &Packet, at: usize, payload_bytes: u32, now: Time) {
        if self.flows.is_empty() {
            return;
        }
        let node = if self.is_lab { self.ends.get(at).map_or(u16::MAX, |ends| ends.0) } else { at as u16 };
        // Routers on its way send it on.
        if node != packet.from {
            return;
        }
        self.count(packet, |counts| {
            if counts.sent_packets == 0 {
                counts.first_sent_ns = now.as_nanos().max(0).unsigned_abs();
            }
            counts.sent_packets += 1;
            counts.sent_bytes += u64::from(payload_bytes);
        });
    }

    /// A packet comes out of `link`.
    pub(crate) fn delivered(&mut self, packet: &Packet, link: u32, payload_bytes: u32, at: Time) {
        if self.flows.is_empty() || self.ends.get(link as usize).is_none_or(|ends| ends.1 != packet.to) {
            return;
        }
        self.count(packet, |counts| {
            let at_ns = at.as_nanos().max(0).unsigned_abs();
            if counts.received_packets == 0 {
                counts.first_received_ns = at_ns;
            }
            counts.received_packets += 1;
            counts.received_bytes += u64::from(payload_bytes);
            counts.last_received_ns = at_ns;
        });
    }

    /// A link has dropped a packet.
    pub(crate) fn lost(&mut self, packet: &Packet) {
        if !self.flows.is_empty() {
            self.count(packet, |counts| counts.lost_packets += 1);
        }
    }

    fn count(&mut self, packet: &Packet, change: impl FnOnce(&mut Datagrams)) {
        let Some(Some(flow)) = self.flows.get_mut(usize::from(packet.flow)) else { return };
        let back = match (packet.from, packet.to) {
            (from, to) if (from, to) == (flow.from, flow.to) => 0,
            (from, to) if (from, to) == (flow.to, flow.from) => 1,
            _ => return,
        };
        change(&mut flow.counts[back]);
        if !std::mem::replace(&mut flow.is_changed[back], true) {
            self.changed.push(2 * usize::from(packet.flow) + back);
        }
    }

    /// Tell whoever samples flows what has changed.
    pub(crate) fn publish(&mut self, gauges: &DatagramGauges) {
        for place in self.changed.drain(..) {
            let Some(Some(flow)) = self.flows.get_mut(place / 2) else { continue };
            flow.is_changed[place % 2] = false;
            if let Some(gauge) = gauges.get(place) {
                gauge.publish(flow.counts[place % 2].words());
                self.published = self.published.max(place + 1);
            }
        }
    }

    /// What was published of earlier records counts no more.
    pub(crate) fn clear(&mut self, gauges: &DatagramGauges) {
        for gauge in gauges.iter().take(std::mem::take(&mut self.published)) {
            gauge.publish(Datagrams::default().words());
        }
    }
}

#[cfg(test)]
mod tests {
    use realtime::Gauges;
    use serde_json::json;

    use super::*;

    fn plan() -> Plan {
        let node = |kind: &str, name: &str, last: u8| {
            json!({"kind": kind, "name": name, "address": format!("10.0.0.{last}"), "sysctl": {},
                "interfaces": [{"name": "eth0", "mac": format!("02:db:00:00:00:0{last}"),
                    "addresses": [format!("10.0.0.{last}/24")]}]})
        };
        let wire = |name: &str, from: &str, to: &str| plan::Link {
            from_interface: Some("eth0".into()),
            to_interface: Some("eth0".into()),
            ..plan::Link::transparent(name, from, to)
        };
        Plan::of(json!({"name": "t", "duration_ns": 1, "seed": 1, "flows": [],
            "nodes": [node("host", "h1", 1), node("router", "r", 2), node("host", "h2", 3)],
            "links": [wire("h1-r", "h1", "r"), wire("r-h2", "r", "h2"), wire("h2-r", "h2", "r"), wire("r-h1", "r", "h1")],
            "record": {"sample_interval_ns": 1, "packets": true},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}}))
        .unwrap()
    }

    #[test]
    fn a_datagram_is_sent_once_and_received_once_and_an_answer_is_another_direction() {
        let gauges = Gauges::<{ Datagrams::WORDS }>::new(8).unwrap();
        let mut counted = Counted::new(&plan());
        let there = Packet { flow: 1, from: 0, to: 2, ..Packet::default() };
        let back = Packet { flow: 1, from: 2, to: 0, ..Packet::default() };
        counted.entered(&there, 0, 100, Time(5));
        counted.publish(&gauges);
        assert_eq!(gauges[2].read(), None, "nobody has found a flow");
        counted.add(1, 0, 2);
        counted.entered(&there, 0, 100, Time(7));
        counted.delivered(&there, 0, 100, Time(8));
        // The router sends it on.
        counted.entered(&there, 1, 100, Time(8));
        counted.delivered(&there, 1, 100, Time(9));
        counted.entered(&there, 0, 100, Time(10));
        counted.lost(&there);
        counted.entered(&back, 2, 30, Time(11));
        counted.entered(&Packet { flow: 0, ..there }, 0, 1, Time(11));
        counted.publish(&gauges);
        let told = |place: usize| Datagrams::from(gauges[place].read().unwrap());
        let expected = Datagrams {
            sent_packets: 2,
            sent_bytes: 200,
            received_packets: 1,
            received_bytes: 100,
            lost_packets: 1,
            first_sent_ns: 7,
            first_received_ns: 9,
            last_received_ns: 9,
        };
        assert_eq!(told(2), expected);
        assert_eq!(told(3), Datagrams { sent_packets: 1, sent_bytes: 30, first_sent_ns: 11, ..Datagrams::default() });
        counted.begin();
        counted.clear(&gauges);
        assert_eq!(told(2), Datagrams::default());
    }
}
