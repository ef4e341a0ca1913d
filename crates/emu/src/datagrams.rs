//! Counts what hosts send in flows that were found in a lab while it is recorded.
//!
//! Sockets of UDP do not count datagrams. Those of TCP count payload, but whoever asks them asks one after the other, now and
//! then: which direction carries more is known for sure only here.

use link::Packet;
use plan::Plan;
use records::found::{DatagramGauges, Datagrams};
use rustc_hash::FxHashMap;
use units::Time;

use crate::classify::{Class, KNOWN, SYN};
use crate::frame::{TCP, Tuple, UDP};

/// The counts of all flows. Without a flow it costs nothing.
#[derive(Default)]
pub(crate) struct Counted {
    /// The nodes at the ends of each link of the plan.
    ends: Vec<(u16, u16)>,
    flows: Vec<Flow>,
    /// Where in the sequence space each direction of a TCP connection stands: what lies before is sent again.
    reached: FxHashMap<Tuple, u32>,
    /// Places of the counts that have changed since they were published.
    changed: Vec<usize>,
    /// Places of all counts that were ever published.
    published: usize,
}

struct Flow {
    /// Its host at either end.
    from: u16,
    to: u16,
    protocol: u8,
    counts: [Datagrams; 2],
    is_changed: [bool; 2],
}

/// Part of a TCP connection that a frame carries.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub tuple: Tuple,
    pub seq: u32,
    pub flags: u8,
    /// Payload.
    pub bytes: u32,
}

impl Counted {
    /// Nothing is counted yet.
    pub(crate) fn new(plan: &Plan) -> Counted {
        let nodes = plan.node_indices();
        let node = |name: &str| nodes.get(name).map_or(u16::MAX, |&index| index as u16);
        let ends = plan.links.iter().map(|link| (node(&link.from), node(&link.to))).collect();
        Counted { ends, ..Counted::default() }
    }

    /// Records begin or end: there is no flow. [`Counted::clear`] says so to readers.
    pub(crate) fn begin(&mut self) {
        self.flows.clear();
        self.reached.clear();
        self.changed.clear();
    }

    /// The next flow, between two of the plan's nodes, was found.
    pub(crate) fn add(&mut self, (from, to): (u16, u16), protocol: u8) {
        self.flows.push(Flow { from, to, protocol, counts: Default::default(), is_changed: [false; 2] });
    }

    /// The node from which frames enter the link `at`.
    fn node(&self, at: usize) -> u16 {
        self.ends.get(at).map_or(u16::MAX, |ends| ends.0)
    }

    /// Part of a TCP connection enters: count the payload that was not sent before.
    pub(crate) fn entered_of_tcp(&mut self, class: Class, at: usize, part: Part) {
        let begins = part.flags & SYN != 0;
        // Routers on its way send it on.
        if usize::from(class.flow) >= self.flows.len() || (part.bytes == 0 && !begins) || self.node(at) != class.from {
            return;
        }
        let first = part.seq.wrapping_add(u32::from(begins));
        let end = first.wrapping_add(part.bytes);
        if self.reached.len() >= KNOWN {
            self.reached.clear();
        }
        let reached = self.reached.entry(part.tuple).or_insert(first);
        if begins {
            // A port may be used again.
            *reached = first;
        }
        // Half of the sequence space lies behind (RFC 9293 section 3.4). What was skipped did not come by: it is not counted.
        let ahead = (end.wrapping_sub(*reached) as i32).max(0).unsigned_abs();
        if ahead == 0 {
            return;
        }
        *reached = end;
        let new = u64::from(ahead.min(part.bytes));
        self.count((class.flow, class.from, class.to), TCP, |counts| counts.sent_bytes += new);
    }

    /// A packet enters at a host of a core network, or into a link of a lab network.
    pub(crate) fn entered(&mut self, packet: &Packet, at: usize, payload_bytes: u32, now: Time) {
        // Routers on its way send it on.
        if self.flows.is_empty() || self.node(at) != packet.from {
            return;
        }
        self.count_datagram(packet, |counts| {
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
        self.count_datagram(packet, |counts| {
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
            self.count_datagram(packet, |counts| counts.lost_packets += 1);
        }
    }

    fn count_datagram(&mut self, packet: &Packet, change: impl FnOnce(&mut Datagrams)) {
        self.count((packet.flow, packet.from, packet.to), UDP, change);
    }

    fn count(&mut self, (index, from, to): (u16, u16, u16), protocol: u8, change: impl FnOnce(&mut Datagrams)) {
        let flow = self.flows.get_mut(usize::from(index)).filter(|flow| flow.protocol == protocol);
        let Some(flow) = flow else { return };
        let back = match (from, to) {
            ends if ends == (flow.from, flow.to) => 0,
            ends if ends == (flow.to, flow.from) => 1,
            _ => return,
        };
        change(&mut flow.counts[back]);
        if !std::mem::replace(&mut flow.is_changed[back], true) {
            self.changed.push(2 * usize::from(index) + back);
        }
    }

    /// Tell whoever samples flows what has changed.
    pub(crate) fn publish(&mut self, gauges: &DatagramGauges) {
        for place in self.changed.drain(..) {
            let Some(flow) = self.flows.get_mut(place / 2) else { continue };
            flow.is_changed[place % 2] = false;
            if let Some(gauge) = gauges.get(place) {
                gauge.publish(flow.counts[place % 2].words());
                self.published = self.published.max(place + 1);
            }
        }
    }

    /// Resets published counts of earlier records.
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
    use crate::frame::tests::tuple;

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
        counted.add((0, 2), TCP);
        counted.add((0, 2), UDP);
        counted.entered(&there, 0, 100, Time(7));
        counted.delivered(&there, 0, 100, Time(8));
        // The router sends it on.
        counted.entered(&there, 1, 100, Time(8));
        counted.delivered(&there, 1, 100, Time(9));
        counted.entered(&there, 0, 100, Time(10));
        counted.lost(&there);
        counted.entered(&back, 2, 30, Time(11));
        counted.entered(&Packet { flow: 0, ..there }, 0, 1, Time(11));
        counted.delivered(&Packet { flow: 0, ..there }, 1, 1, Time(11));
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
        assert_eq!(gauges[0].read(), None, "packets of TCP are no datagrams");
        assert_eq!(told(3), Datagrams { sent_packets: 1, sent_bytes: 30, first_sent_ns: 11, ..Datagrams::default() });
        counted.begin();
        counted.clear(&gauges);
        assert_eq!(told(2), Datagrams::default());
    }

    #[test]
    fn payload_of_tcp_counts_once_whoever_sends_it_again_and_wherever_records_begin() {
        let gauges = Gauges::<{ Datagrams::WORDS }>::new(2).unwrap();
        let mut counted = Counted::new(&plan());
        counted.add((0, 2), TCP);
        let there = Class { flow: 0, from: 0, to: 2, flow_hash: 0 };
        let back = Class { from: 2, to: 0, ..there };
        let mut told = |class: Class, at, (seq, flags, bytes): (u32, u8, u32)| {
            let Tuple { src, dst, sport, dport, protocol } = tuple(TCP);
            let answers = Tuple { src: dst, dst: src, sport: dport, dport: sport, protocol };
            let tuple = if class == there { tuple(TCP) } else { answers };
            counted.entered_of_tcp(class, at, Part { tuple, seq, flags, bytes });
            counted.publish(&gauges);
            [0, 1].map(|way| gauges[way].read().map_or(0, |words| Datagrams::from(words).sent_bytes))
        };
        const ACK: u8 = 16;
        assert_eq!(told(there, 0, (u32::MAX - 50, SYN, 0)), [0, 0]);
        // Sequence numbers wrap.
        assert_eq!(told(there, 0, (u32::MAX - 49, ACK, 100)), [100, 0]);
        assert_eq!(told(there, 1, (50, ACK, 100)), [100, 0], "a router's");
        assert_eq!(told(there, 0, (50, ACK, 0)), [100, 0], "an acknowledgement");
        assert_eq!(told(there, 0, (u32::MAX - 49, ACK, 100)), [100, 0], "once more");
        assert_eq!(told(there, 0, (0, ACK, 100)), [150, 0], "half of it once more");
        // Its SYN came before the records.
        assert_eq!(told(back, 2, (7_000, ACK, 30)), [150, 30]);
        assert_eq!(told(back, 2, (7_000, ACK, 30)), [150, 30]);
        assert_eq!(told(back, 2, (9_000, ACK, 30)), [150, 60], "no more than it carries");
        // Another connection between the same ports, which begins behind the first.
        assert_eq!(told(there, 0, (3_000_000_000, SYN, 0)), [150, 60]);
        assert_eq!(told(there, 0, (3_000_000_001, ACK, 10)), [160, 60]);
    }
}
