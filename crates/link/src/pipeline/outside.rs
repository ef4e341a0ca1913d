//! A link whose packets something else carries, such as queueing disciplines of a kernel: it keeps the account of them.

use std::collections::VecDeque;

use plan::{Buffer, Order, Part, Qdisc, Queue};
use units::Time;

use super::Link;
use crate::packet::{Fate, Mark, Packet, Passage};
use crate::queue::Backlog;

/// A packet as it comes out of a part of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// The packet's number.
    pub id: u64,
    /// True if the packet is marked Congestion Experienced now.
    pub is_marked: bool,
}

/// The word of a part about a packet that enters it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet is inside.
    Taken,
    /// The part dropped this packet, or another for it: `NET_XMIT_CN`.
    Congested,
    /// The part dropped this packet: `NET_XMIT_DROP`.
    Refused,
}

/// The parts that carry a link's packets, and the packets inside each in the order in which they came to it.
///
/// Each part lets packets out in its [`Order`]. So when one comes out, those that should have come before it were dropped
/// there.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    parts: Vec<Carrier>,
    /// The contents of the queue.
    backlog: Backlog,
}

#[derive(Clone, Debug)]
struct Carrier {
    part: Part,
    order: Order,
    /// Each with the time at which it came.
    inside: VecDeque<(Passage, Time)>,
}

impl Carrier {
    /// Take out the packet `id`, which comes out now, behind those that can no longer do so.
    /// `None`: no such packet is inside.
    fn take(&mut self, id: u64, now: Time) -> Option<(Vec<Passage>, Passage)> {
        let place = self.inside.iter().position(|(passage, _)| passage.packet.id == id)?;
        let (out, _) = self.inside.remove(place)?;
        let mut lost = Vec::new();
        match self.order {
            Order::Arrival => lost.extend(self.inside.drain(..place).map(|(passage, _)| passage)),
            Order::Flow => {
                let behind = self.inside.split_off(place);
                self.take_if(&mut lost, |passage, _| passage.packet.flow_hash == out.packet.flow_hash);
                self.inside.extend(behind);
            }
            Order::Within(time) => self.take_if(&mut lost, |_, came| now - came > time),
        }
        Some((lost, out))
    }

    fn take_if(&mut self, lost: &mut Vec<Passage>, is_lost: impl Fn(&Passage, Time) -> bool) {
        self.inside.retain(|(passage, came)| {
            let is_lost = is_lost(passage, *came);
            lost.extend(is_lost.then_some(*passage));
            !is_lost
        });
    }
}

impl Outside {
    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns the packets inside, those that have come furthest first.
    pub(super) fn inside(&self) -> impl Iterator<Item = Passage> {
        self.parts.iter().rev().flat_map(|one| one.inside.iter().map(|(passage, _)| *passage))
    }

    /// The packet enters the queue, or leaves it.
    fn change_backlog(&mut self, part: usize, packet: &Packet, change: i64) {
        if matches!(self.parts[part].part, Part::Shaper | Part::Whole) {
            self.backlog.bytes = self.backlog.bytes.saturating_add_signed(change * i64::from(packet.size));
            self.backlog.packets = self.backlog.packets.saturating_add_signed(change as i32);
        }
    }
}

impl Link {
    /// From now on these carry the packets. The link has none yet.
    pub(crate) fn hand_out(&mut self, qdiscs: &[Qdisc]) {
        let carrier = |qdisc: &Qdisc| Carrier { part: qdisc.part, order: qdisc.order, inside: VecDeque::new() };
        let parts = qdiscs.iter().map(carrier).collect();
        self.outside = Some(Outside { parts, backlog: Backlog::default() });
    }

    /// True if something else carries its packets.
    pub(crate) fn is_outside(&self) -> bool {
        self.outside.is_some()
    }

    #[cold]
    pub(super) fn push_outside(&mut self, packet: Packet, now: Time) {
        let arrival = self.arrival(packet, false, now);
        self.enter_part(0, arrival, now);
    }

    fn enter_part(&mut self, part: usize, mut passage: Passage, at: Time) {
        let outside = self.outside.as_mut().expect("only such a link has parts");
        outside.change_backlog(part, &passage.packet, 1);
        let is_line = outside.parts[part].part == Part::Line;
        self.queue_bytes_max = self.queue_bytes_max.max(outside.backlog.bytes);
        if is_line {
            self.depart_outside(&mut passage, at);
        }
        self.outside.as_mut().expect("it is there").parts[part].inside.push_back((passage, at));
    }

    /// The packet has left the queue, where there is one.
    fn depart_outside(&mut self, passage: &mut Passage, at: Time) {
        if passage.departure.is_none() {
            passage.departure = Some(at);
            passage.sojourn = Some(at - passage.arrival);
            self.counters.departed_packets += 1;
            self.counters.departed_bytes += u64::from(passage.packet.size);
        }
    }

    /// The packet has met its fate.
    fn end_outside(&mut self, passage: Passage) {
        let kept = self.keep(passage);
        self.dropped.0.push_back(kept);
    }

    /// The word of a part about the packet that came last.
    pub(crate) fn entered(&mut self, part: usize, entry: Entry) {
        let outside = self.outside.as_mut().expect("only such a link has parts");
        let carrier = &mut outside.parts[part];
        // Waiting when it came.
        let waiting = carrier.inside.len() as u64 - 1;
        let fate = match (carrier.part, &self.spec.queue, entry) {
            (_, _, Entry::Taken) => return,
            (Part::Shaper, Queue::Red { .. }, Entry::Congested) => Fate::DroppedEarly,
            // A queue of flows made room, or it is counted as lost when a later one comes out.
            (_, _, Entry::Congested) => return,
            (Part::Line, _, Entry::Refused) => Fate::DroppedDelayLine,
            // PIE says the same of a full queue and of bad luck.
            (_, Queue::Pie { .. }, Entry::Refused) => match self.spec.buffer {
                Buffer::Packets(packets) if waiting > packets => Fate::DroppedTail,
                _ => Fate::DroppedEarly,
            },
            (_, _, Entry::Refused) => Fate::DroppedTail,
        };
        let (passage, _) = carrier.inside.pop_back().expect("the packet that came last is inside");
        outside.change_backlog(part, &passage.packet, -1);
        self.end_outside(Passage { fate, ..passage });
    }

    /// A packet came out of a part at `at`: the packet and the part that it goes to, if there is one more.
    /// `None`: no such packet is in that part.
    pub(crate) fn left(&mut self, part: usize, out: Out, at: Time) -> Option<(Packet, Option<usize>)> {
        let Out { id, is_marked } = out;
        let outside = self.outside.as_mut()?;
        let carrier = outside.parts.get_mut(part)?;
        let (lost, mut passage) = carrier.take(id, at)?;
        let fate = match carrier.part {
            Part::LossBefore | Part::Whole => Fate::LostBefore,
            Part::Shaper => Fate::DroppedEarly,
            Part::Line => Fate::LostAfter,
        };
        if is_marked {
            let by_wait =
                matches!(self.spec.queue, Queue::Codel { ecn: false, .. } | Queue::FqCodel { ecn: false, .. });
            passage.set_ce(if by_wait { Mark::Threshold } else { Mark::Early });
        }
        for passage in lost.iter().chain([&passage]) {
            outside.change_backlog(part, &passage.packet, -1);
        }
        let next = (part + 1 < outside.parts.len()).then_some(part + 1);
        lost.into_iter().for_each(|passage| self.end_outside(Passage { fate, ..passage }));
        match next {
            Some(next) => self.enter_part(next, passage, at),
            None => {
                self.depart_outside(&mut passage, at);
                self.end_outside(Passage { delivery: Some(at), fate: Fate::Delivered, ..passage });
            }
        }
        Some((passage.packet, next))
    }
}

#[cfg(test)]
mod tests {
    use plan::Buffer;
    use units::{Duration, Mtu, Rate};

    use super::*;
    use crate::packet::Ecn;

    const MS: i64 = 1_000_000;

    /// A queue and a delay line.
    fn link() -> Link {
        let spec = plan::Link {
            rate_bps: Rate::from_bps(10_000_000),
            delay_ns: Duration::from_millis(20),
            buffer: Buffer::Bytes(3_000),
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        link.hand_out(&spec.qdiscs(Mtu::default()).unwrap());
        link
    }

    fn push(link: &mut Link, id: u64, at: i64) {
        assert!(!link.push(Packet { id, size: 1000, ..Packet::default() }, Time(at)));
    }

    fn out(id: u64) -> Out {
        Out { id, is_marked: false }
    }

    fn passages(link: &mut Link, now: i64) -> Vec<Passage> {
        std::iter::from_fn(|| link.poll(Time(now))).collect()
    }

    #[test]
    fn a_packet_leaves_when_its_carrier_says() {
        let mut link = link();
        push(&mut link, 7, 0);
        assert_eq!(link.backlog(), Backlog { bytes: 1000, packets: 1 });
        assert_eq!(link.next_event(), Time::NEVER);
        assert_eq!(link.left(0, out(7), Time(MS)).map(|(packet, next)| (packet.id, next)), Some((7, Some(1))));
        assert_eq!(link.backlog(), Backlog::default());
        assert!(passages(&mut link, MS).is_empty());
        assert_eq!(link.left(1, out(7), Time(21 * MS)).map(|(_, next)| next), Some(None));
        let [passage] = passages(&mut link, 21 * MS)[..] else { panic!("one packet") };
        assert_eq!(
            (passage.fate, passage.departure, passage.delivery),
            (Fate::Delivered, Some(Time(MS)), Some(Time(21 * MS)))
        );
        assert_eq!(passage.sojourn, Some(Duration(MS)));
        let counters = link.counters();
        assert_eq!((counters.departed_bytes, counters.delivered_bytes, counters.inside()), (1000, 1000, 0));
    }

    #[test]
    fn what_propagates_in_mininets_link_is_in_its_queue() {
        let spec = plan::Link {
            rate_bps: Rate::from_bps(10_000_000),
            delay_ns: Duration::from_millis(20),
            buffer: Buffer::Packets(2),
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        let tree = Qdisc { part: Part::Whole, order: Order::Arrival, root: String::new(), class: None, child: None };
        link.hand_out(&[tree]);
        (1..=4).for_each(|id| push(&mut link, id, 0));
        link.entered(0, Entry::Refused);
        assert_eq!(link.backlog(), Backlog { bytes: 3000, packets: 3 });
        link.left(0, out(2), Time(21 * MS)).expect("it is there");
        let found: Vec<_> =
            passages(&mut link, 21 * MS).iter().map(|one| (one.packet.id, one.fate, one.departure)).collect();
        let left = Some(Time(21 * MS));
        let expected = [(4, Fate::DroppedTail, None), (1, Fate::LostBefore, None), (2, Fate::Delivered, left)];
        assert_eq!(found, expected);
        assert_eq!(link.backlog().packets, 1);
    }

    #[test]
    fn what_the_carrier_refuses_is_a_tail_drop() {
        let mut link = link();
        push(&mut link, 1, 0);
        push(&mut link, 2, 0);
        link.entered(0, Entry::Refused);
        let [dropped] = passages(&mut link, 0)[..] else { panic!("one packet") };
        assert_eq!((dropped.packet.id, dropped.fate, dropped.queue_bytes), (2, Fate::DroppedTail, 1000));
        assert_eq!(link.backlog().packets, 1);
    }

    #[test]
    fn what_does_not_come_out_in_its_turn_is_lost() {
        let mut link = link();
        for id in 1..=3 {
            push(&mut link, id, 0);
            link.left(0, out(id), Time(MS)).expect("it is there");
        }
        link.left(1, out(3), Time(21 * MS)).expect("it is there");
        let fates: Vec<_> = passages(&mut link, 21 * MS).iter().map(|one| (one.packet.id, one.fate)).collect();
        assert_eq!(fates, [(1, Fate::LostAfter), (2, Fate::LostAfter), (3, Fate::Delivered)]);
        assert!(link.left(1, out(1), Time(22 * MS)).is_none(), "it was counted already");
        assert_eq!(link.counters().inside(), 0);
    }

    #[test]
    fn a_queue_of_flows_keeps_the_order_of_each() {
        let spec = plan::Link {
            rate_bps: Rate::from_bps(10_000_000),
            buffer: Buffer::Packets(10),
            queue: Queue::FqCodel {
                target_ns: Duration::from_millis(5),
                interval_ns: Duration::from_millis(100),
                quantum_bytes: 1514.try_into().unwrap(),
                flows: 1024.try_into().unwrap(),
                ecn: false,
                ce_threshold_ns: None,
            },
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        link.hand_out(&spec.qdiscs(Mtu::default()).unwrap());
        for (id, flow_hash) in [(1, 7), (2, 7), (3, 9), (4, 7)] {
            assert!(!link.push(Packet { id, size: 1000, flow_hash, ..Packet::default() }, Time(0)));
            // Room was made for it.
            link.entered(0, Entry::Congested);
        }
        link.left(0, out(3), Time(MS)).expect("it is there");
        link.left(0, out(2), Time(2 * MS)).expect("it is there");
        let fates: Vec<_> = passages(&mut link, 2 * MS).iter().map(|one| (one.packet.id, one.fate)).collect();
        assert_eq!(fates, [(3, Fate::Delivered), (1, Fate::DroppedEarly), (2, Fate::Delivered)]);
        assert_eq!(link.inside().map(|one| one.packet.id).collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn what_may_be_overtaken_is_lost_when_its_time_is_over() {
        let uniform = plan::Distribution::Uniform { min_ns: Duration::ZERO, max_ns: Duration::from_millis(4) };
        let spec = plan::Link {
            delay_ns: Duration::from_millis(20),
            jitter: Some(plan::Jitter { distribution: uniform, correlation: 0.0 }),
            reordering: true,
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        link.hand_out(&spec.qdiscs(Mtu::default()).unwrap());
        (1..=3).for_each(|id| push(&mut link, id, 0));
        link.left(0, out(2), Time(20 * MS)).expect("it is there");
        push(&mut link, 4, 30 * MS);
        link.left(0, out(1), Time(24 * MS)).expect("it is there");
        link.left(0, out(4), Time(50 * MS)).expect("it is there");
        let fates: Vec<_> = passages(&mut link, 50 * MS).iter().map(|one| (one.packet.id, one.fate)).collect();
        assert_eq!(fates, [2, 1, 3, 4].map(|id| (id, if id == 3 { Fate::LostAfter } else { Fate::Delivered })));
    }

    #[test]
    fn red_says_at_once_what_it_drops() {
        let spec = plan::Link {
            rate_bps: Rate::from_bps(10_000_000),
            buffer: Buffer::Bytes(100_000),
            queue: Queue::Red {
                min_th_bytes: 15_140,
                max_th_bytes: 45_420,
                max_p: 0.1,
                weight: 0.0078125,
                average_packet_bytes: 1514,
                gentle: false,
                ecn: false,
                adaptive: false,
            },
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        link.hand_out(&spec.qdiscs(Mtu::default()).unwrap());
        for (id, entry) in [(1, Entry::Taken), (2, Entry::Congested), (3, Entry::Refused)] {
            push(&mut link, id, 0);
            link.entered(0, entry);
        }
        let fates: Vec<_> = passages(&mut link, 0).iter().map(|one| (one.packet.id, one.fate)).collect();
        assert_eq!(fates, [(2, Fate::DroppedEarly), (3, Fate::DroppedTail)]);
    }

    #[test]
    fn what_pie_refuses_is_a_tail_drop_if_its_queue_is_full() {
        use Entry::{Refused, Taken};

        let spec = plan::Link {
            rate_bps: Rate::from_bps(10_000_000),
            buffer: Buffer::Packets(2),
            queue: Queue::Pie {
                target_ns: Duration::from_millis(15),
                t_update_ns: Duration::from_millis(15),
                alpha: 0.125,
                beta: 1.25,
                max_burst_ns: Duration::from_millis(150),
                ecn: false,
                mark_ecnth: 0.1,
            },
            ..plan::Link::transparent("l", "a", "b")
        };
        let mut link = Link::new(&spec, 1);
        link.hand_out(&spec.qdiscs(Mtu::default()).unwrap());
        // The shaper holds one packet besides those that wait in the queue.
        for (id, entry) in [(1, Taken), (2, Taken), (3, Refused), (4, Taken), (5, Refused)] {
            push(&mut link, id, 0);
            link.entered(0, entry);
        }
        let fates: Vec<_> = passages(&mut link, 0).iter().map(|one| (one.packet.id, one.fate)).collect();
        assert_eq!(fates, [(3, Fate::DroppedEarly), (5, Fate::DroppedTail)]);
    }

    #[test]
    fn a_mark_is_seen_when_the_packet_comes_out_and_is_counted_once() {
        let mut link = link();
        let packet = |id, ecn| Packet { id, size: 1000, ecn, ..Packet::default() };
        assert!(!link.push(packet(1, Ecn::Ect0), Time(0)));
        assert!(!link.push(packet(2, Ecn::Ce), Time(0)));
        for id in [1, 2] {
            link.left(0, Out { id, is_marked: true }, Time(MS)).expect("it is there");
            link.left(1, out(id), Time(21 * MS)).expect("it is there");
        }
        let found: Vec<_> = passages(&mut link, 21 * MS).iter().map(|one| (one.packet.ecn, one.mark)).collect();
        assert_eq!(found, [(Ecn::Ce, Some(Mark::Early)), (Ecn::Ce, None)]);
    }

    #[test]
    fn packets_inside_are_told() {
        let mut link = link();
        push(&mut link, 1, 0);
        push(&mut link, 2, 0);
        link.left(0, out(1), Time(MS)).expect("it is there");
        assert!(passages(&mut link, MS).is_empty());
        let inside: Vec<_> = link.inside().map(|one| (one.packet.id, one.departure, one.fate)).collect();
        assert_eq!(inside, [(1, Some(Time(MS)), Fate::Inside), (2, None, Fate::Inside)]);
    }
}
