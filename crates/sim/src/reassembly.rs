//! Hosts put datagrams together from fragments, as Linux does (RFC 791 section 3.2, RFC 8200 section 4.5).

use std::collections::VecDeque;

use link::Ecn;
use units::{Duration, Ip, Time};

use crate::memory;
use crate::segment::Segment;
use crate::tcp::Settings;
use crate::tcp::ticks;

/// The datagrams of one host and one version of IP of which fragments are missing.
///
/// A host gives a datagram up that is not whole in time, when a timer of the kernel's says so: of those that wait for so long,
/// all within about two seconds end at once. What never gets whole is kept until then, and when that fills the memory for
/// fragments the host takes none at all: loss lets all datagrams in fragments starve.
#[derive(Debug)]
pub(crate) struct Reassembly {
    /// In the order in which their first fragments arrived.
    waiting: VecDeque<Waiting>,
    memory: u64,
    timeout: Duration,
}

#[derive(Debug)]
struct Waiting {
    flow: u16,
    /// The datagram's number, for which packets have their identification.
    number: u64,
    /// The time at which it is given up.
    until: Time,
    /// A bit for each fragment that is here.
    here: u128,
    payload: u32,
    memory: u64,
    is_marked: bool,
    is_corrupt: bool,
}

/// A packet or a datagram at its host, and what became of it on its way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub segment: Segment,
    pub ecn: Ecn,
    /// Its checksum is wrong.
    pub is_corrupt: bool,
}

/// The memory beyond which no fragment is taken: `net.ipv4.ipfrag_high_thresh` and IPv6's `ip6frag_high_thresh`.
const ROOM: u64 = 4 << 20;
/// Memory of what is known of a datagram beside its fragments (`struct ipq`), about.
const STRUCTURE: u64 = 200;

impl Reassembly {
    /// With Linux's limits: `net.ipv4.ipfrag_time` and `net.ipv6.ip6frag_time`.
    pub(crate) fn new(ip: Ip) -> Reassembly {
        let timeout = match ip {
            Ip::V4 => Duration::from_secs(30),
            Ip::V6 => Duration::from_secs(60),
        };
        Reassembly { waiting: VecDeque::new(), memory: 0, timeout }
    }

    /// A packet of a flow arrives, in a frame of so many bytes: the datagram that is whole now, if one is.
    pub(crate) fn arrive(&mut self, flow: u16, packet: Received, frame_bytes: u32, now: Time) -> Option<Received> {
        let Received { segment, ecn, is_corrupt } = packet;
        let Some(fragment) = segment.fragment else { return Some(packet) };
        while self.waiting.front().is_some_and(|first| first.until <= now) {
            self.memory -= self.waiting.pop_front().map_or(0, |first| first.memory);
        }
        if self.memory > ROOM {
            return None;
        }
        let is_it = |one: &Waiting| (one.flow, one.number) == (flow, segment.seq);
        let at = self.waiting.iter().rposition(is_it).unwrap_or_else(|| {
            let until = ticks::fires(now, self.timeout, &Settings::default());
            self.waiting.push_back(Waiting::new(flow, segment.seq, until));
            self.memory += STRUCTURE;
            self.waiting.len() - 1
        });
        let datagram = &mut self.waiting[at];
        let bit = 1 << fragment.index;
        // A copy of what is here.
        if datagram.here & bit != 0 {
            return None;
        }
        datagram.here |= bit;
        datagram.payload += segment.len;
        datagram.is_marked |= ecn == Ecn::Ce;
        datagram.is_corrupt |= is_corrupt;
        let memory = u64::from(memory::of_frame(frame_bytes));
        (datagram.memory, self.memory) = (datagram.memory + memory, self.memory + memory);
        if datagram.here.count_ones() < u32::from(fragment.count.get()) {
            return None;
        }
        let Waiting { payload, is_marked, is_corrupt, memory, .. } = self.waiting.remove(at)?;
        self.memory -= memory;
        let segment = Segment { len: payload, fragment: None, ..segment };
        // One marked fragment marks the datagram (RFC 3168 section 5.3).
        Some(Received { segment, ecn: if is_marked { Ecn::Ce } else { segment.ecn }, is_corrupt })
    }
}

impl Waiting {
    fn new(flow: u16, number: u64, until: Time) -> Waiting {
        let (here, payload, memory) = (0, 0, STRUCTURE);
        Waiting { flow, number, until, here, payload, memory, is_marked: false, is_corrupt: false }
    }
}

#[cfg(test)]
mod tests {
    use datagrams::{Part, parts};
    use units::Mtu;

    use super::*;

    /// The six packets of a datagram of 8 KiB.
    fn packets(number: u64) -> Vec<Segment> {
        let packet = |part: Part| Segment {
            seq: number,
            len: part.payload,
            fragment: part.fragment,
            ecn: Ecn::Ect0,
            ..Segment::default()
        };
        parts(8192, Ip::V4, Mtu::default()).map(packet).collect()
    }

    fn clean(segment: Segment) -> Received {
        Received { segment, ecn: segment.ecn, is_corrupt: false }
    }

    /// The payload of what is whole after each of these packets.
    fn arrivals(hosts: &mut Reassembly, packets: &[Segment], now: Time) -> Vec<Option<u32>> {
        packets.iter().map(|&one| hosts.arrive(0, clean(one), 1514, now).map(|whole| whole.segment.len)).collect()
    }

    fn s(seconds: i64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn a_datagram_is_whole_when_its_last_missing_fragment_is_here() {
        let mut host = Reassembly::new(Ip::V4);
        let [a, b] = [packets(7), packets(8)];
        assert_eq!(arrivals(&mut host, &[a[5], a[0], b[0], a[1], a[1], a[2], a[3]], s(0)), [None; 7]);
        assert_eq!(arrivals(&mut host, &[b[1], a[4]], s(0)), [None, Some(8192)]);
        assert_eq!(arrivals(&mut host, &b[2..], s(0)), [None, None, None, Some(8192)]);
        assert_eq!((host.waiting.len(), host.memory), (0, 0));
        let whole = Segment { len: 100, ..Segment::default() };
        assert_eq!(arrivals(&mut host, &[whole], s(0)), [Some(100)], "never in fragments");
    }

    #[test]
    fn copies_of_all_fragments_are_the_datagram_again() {
        let mut host = Reassembly::new(Ip::V4);
        let a = packets(7);
        let twice: Vec<Segment> = a.iter().flat_map(|&one| [one, one]).collect();
        let found = arrivals(&mut host, &twice, s(0));
        assert_eq!((found[10], found.iter().flatten().count()), (Some(8192), 1), "the second one lacks five fragments");
        assert_eq!(arrivals(&mut host, &a, s(1)), [None, None, None, None, Some(8192), None]);
    }

    #[test]
    fn other_flows_have_numbers_of_their_own() {
        let mut host = Reassembly::new(Ip::V4);
        let a = packets(7);
        for flow in [0, 1] {
            a[..5].iter().for_each(|&one| assert!(host.arrive(flow, clean(one), 1514, s(0)).is_none()));
        }
        assert!(host.arrive(1, clean(a[5]), 834, s(0)).is_some());
    }

    #[test]
    fn one_fragment_marks_or_spoils_the_datagram() {
        let mut host = Reassembly::new(Ip::V4);
        let mut last = |spoilt: usize| {
            let fate = |(i, segment): (usize, Segment)| match i == spoilt {
                true => Received { segment, ecn: Ecn::Ce, is_corrupt: true },
                false => clean(segment),
            };
            let found = packets(spoilt as u64).into_iter().enumerate().map(fate).collect::<Vec<_>>();
            let whole = found.into_iter().filter_map(|one| host.arrive(0, one, 1514, s(0))).last();
            whole.map(|whole| (whole.ecn, whole.is_corrupt))
        };
        assert_eq!([0, 3, 5].map(&mut last), [Some((Ecn::Ce, true)); 3]);
        assert_eq!(last(6), Some((Ecn::Ect0, false)));
    }

    #[test]
    fn what_never_gets_whole_is_given_up_after_30_s() {
        let mut host = Reassembly::new(Ip::V4);
        let a = packets(7);
        arrivals(&mut host, &a[..5], s(0));
        assert_eq!(arrivals(&mut host, &a[5..], s(29)), [Some(8192)]);
        arrivals(&mut host, &a[..5], s(100));
        // The timer's bucket has 512 ticks of 4 ms, and ends at 131.072 s.
        assert_eq!(arrivals(&mut host, &a[5..], s(132)), [None], "it begins a new one");
        assert_eq!(host.waiting.len(), 1);
        let mut slower = Reassembly::new(Ip::V6);
        arrivals(&mut slower, &a[..5], s(0));
        assert_eq!(arrivals(&mut slower, &a[5..], s(59)), [Some(8192)]);
    }

    #[test]
    fn datagrams_that_lack_a_fragment_fill_the_memory_and_others_starve() {
        let mut host = Reassembly::new(Ip::V4);
        // 11,720 bytes each: 358 of them are the first above 4 MiB.
        (0..358).for_each(|number| assert_eq!(arrivals(&mut host, &packets(number)[1..], s(0)), [None; 5]));
        assert_eq!(host.memory, 358 * (5 * 2304 + 200));
        assert_eq!(arrivals(&mut host, &packets(999), s(29)), [None; 6]);
        assert_eq!(arrivals(&mut host, &packets(0)[..1], s(29)), [None], "not even the one that it lacks");
        assert_eq!(arrivals(&mut host, &packets(1000), s(30)), [None; 6]);
        assert_eq!(
            arrivals(&mut host, &packets(1001), s(31)).last(),
            Some(&Some(8192)),
            "30.72 s are 15 times 512 ticks"
        );
    }
}
