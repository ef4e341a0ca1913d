use std::collections::HashMap;

use anyhow::Result;
use units::{Duration, Mtu, Time};

use crate::{Link, Node, Plan, Routes, Spread};

/// Facts that follow from a plan's network: which way packets go, what that takes at least, and what its links can do.
#[derive(Clone, Debug)]
pub struct Network {
    /// Paths of the flows, each once, in the order of the flows. Flows between the same ends and of the same TTL have the same path, unless each
    /// chooses its own ([`Spread::Flows`](crate::Spread)).
    pub paths: Vec<Path>,
    /// The place in `paths` of each flow's path, in the order of the plan's flows.
    pub path_of: Vec<usize>,
    /// The facts of each link, in the order of the plan's links.
    pub links: Vec<LinkFacts>,
}

/// The ways between two hosts, there and back.
#[derive(Clone, Debug)]
pub struct Path {
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// Indices of the links that data take.
    pub there: Vec<usize>,
    /// Indices of the links that acknowledgements take.
    pub back: Vec<usize>,
    /// Propagation there and back, without serialisation and queues: from when, and how long. The first is at 0; events
    /// that change it add others.
    pub base_rtts: Vec<(Time, Duration)>,
    /// The least RTT at any time over any path that a flow may take, without serialisation and queues. Packets that overtake
    /// may be faster than the base RTT.
    pub least_rtt: Duration,
    /// The most bytes of an IP packet that all links there carry.
    pub mtu: Mtu,
    /// The router that drops packets there because their TTL has run out; `None`: it lasts.
    pub ttl_ends_there: Option<String>,
    /// The same for the way back.
    pub ttl_ends_back: Option<String>,
}

/// The course of a link over time, as events change it.
#[derive(Clone, Debug)]
pub struct LinkFacts {
    /// The link.
    pub name: String,
    /// Nothing can happen to a packet on it at any time: it is counted, not logged.
    pub is_transparent: bool,
    /// True if the link has a rate at all times.
    pub is_limited: bool,
    /// True if the link has the same rate at all times.
    pub is_steady: bool,
    /// Packets wait at it at some time: it has a rate or slots.
    pub can_queue: bool,
    /// Packets leave it one by one in the order of their arrival at all times: then what waits before a packet tells how
    /// long it will wait.
    pub is_first_in_first_out: bool,
    /// The largest rate in bit/s that it has by itself: at first, then after each of its events. See [`Link::peak_bps`].
    pub peaks_bps: Vec<Option<u64>>,
}

impl Plan {
    /// The facts that follow from the plan's network.
    pub fn network(&self) -> Result<Network> {
        self.network_seen(&|_| None)
    }

    /// The same, where the ways of some flows are known from what packets did: `seen` has a flow's links there and back by
    /// its index among the plan's.
    ///
    /// # Errors
    /// A flow has no path.
    pub fn network_seen(&self, seen: &dyn Fn(usize) -> Option<(Vec<usize>, Vec<usize>)>) -> Result<Network> {
        // A lab has no flow whose path would be found.
        if self.flows.is_empty() {
            return Ok(Network { paths: Vec::new(), path_of: Vec::new(), links: self.link_facts() });
        }
        let routes = Routes::new(self)?;
        let nodes = self.node_indices();
        let states = self.all_states();
        let delays: Vec<Duration> = states.iter().map(|states| least(states)).collect();
        let (mut paths, mut path_of) = (Vec::new(), Vec::with_capacity(self.flows.len()));
        let mut known = HashMap::new();
        for (index, flow) in self.flows.iter().enumerate() {
            let (from, to) = (nodes[flow.from.as_str()], nodes[flow.to.as_str()]);
            let chosen = || (routes.path(index, from, to), routes.path(index, to, from));
            let ttls = [from, to].map(|host| self.ttl_of(host, flow.ip));
            // The ends alone tell the path of most networks, and then each is followed once.
            let choice = seen(index).or_else(|| (self.spread == Spread::Flows).then(chosen));
            let place = *known.entry((from, to, ttls, choice.clone())).or_insert(paths.len());
            path_of.push(place);
            if place < paths.len() {
                continue;
            }
            let (there, back) = choice.unwrap_or_else(chosen);
            let crossed: Vec<&[(Time, &Link)]> = there.iter().chain(&back).map(|&link| &*states[link]).collect();
            let ttl_ends = |host, links: &[usize]| {
                let crossed = self.links_until_ttl_runs_out(host, flow.ip, links, &nodes)?;
                Some(self.links[links[crossed - 1]].to.clone())
            };
            paths.push(Path {
                from: flow.from.clone(),
                to: flow.to.clone(),
                base_rtts: base_rtts(&crossed),
                least_rtt: routes.least(from, to, &delays) + routes.least(to, from, &delays),
                mtu: self.mtu_of(&there, &nodes),
                ttl_ends_there: ttl_ends(from, &there),
                ttl_ends_back: ttl_ends(to, &back),
                there,
                back,
            });
        }
        Ok(Network { paths, path_of, links: self.facts_of(&states) })
    }

    /// The most bytes of an IP packet that all of these links carry: interfaces limit it.
    fn mtu_of(&self, links: &[usize], nodes: &HashMap<&str, usize>) -> Mtu {
        let own = |node: &str, interface: &Option<String>| {
            let interface = interface.as_ref()?;
            let known = self.nodes[nodes[node]].interfaces().iter().find(|one| one.name == *interface);
            Some(known?.mtu.unwrap_or(self.mtu))
        };
        let of = |&link: &usize| {
            let link = &self.links[link];
            [own(&link.from, &link.from_interface), own(&link.to, &link.to_interface)]
        };
        links.iter().flat_map(of).flatten().min_by_key(|mtu| mtu.bytes()).unwrap_or(self.mtu)
    }

    /// True if no interface has an MTU of its own.
    pub fn has_one_mtu(&self) -> bool {
        self.nodes.iter().flat_map(Node::interfaces).all(|interface| interface.mtu.is_none())
    }

    /// The most bytes of an IP packet on each flow's path, in the order of the flows.
    ///
    /// # Errors
    /// A flow has no path.
    pub fn flow_mtus(&self) -> Result<Vec<Mtu>> {
        // Most networks have one MTU, and their paths need not be found for this.
        if self.has_one_mtu() {
            return Ok(vec![self.mtu; self.flows.len()]);
        }
        let network = self.network()?;
        Ok((0..self.flows.len()).map(|flow| network.path(flow).mtu).collect())
    }

    /// The course of each link over time, in the order of `links`.
    pub fn link_facts(&self) -> Vec<LinkFacts> {
        self.facts_of(&self.all_states())
    }

    fn facts_of(&self, states: &[Vec<(Time, &Link)>]) -> Vec<LinkFacts> {
        states.iter().zip(self.transparent_links()).map(|(states, is)| LinkFacts::of(states, is)).collect()
    }

    fn all_states(&self) -> Vec<Vec<(Time, &Link)>> {
        self.links.iter().map(|link| self.states(link)).collect()
    }

    /// The states of `link`, each with its start: the first, and one after each of its events.
    fn states<'a>(&'a self, link: &'a Link) -> Vec<(Time, &'a Link)> {
        let changed = self.events.iter().filter(|event| event.link.name == link.name);
        std::iter::once((Time::ZERO, link)).chain(changed.map(|event| (event.at_ns, &event.link))).collect()
    }

    /// The least delay of a link at any time.
    pub(crate) fn least_of(&self, link: &Link) -> Duration {
        least(&self.states(link))
    }
}

impl Network {
    /// The path of the flow at a place of the plan.
    pub fn path(&self, flow: usize) -> &Path {
        &self.paths[self.path_of[flow]]
    }
}

impl LinkFacts {
    fn of(states: &[(Time, &Link)], is_transparent: bool) -> LinkFacts {
        let all = |is: fn(&Link) -> bool| states.iter().all(|(_, link)| is(link));
        let first = states[0].1;
        LinkFacts {
            name: first.name.clone(),
            is_transparent,
            is_limited: all(|link| link.rate_bps.is_some()),
            is_steady: first.rate_bps.is_some()
                && all(|link| link.variation.is_none())
                && states.iter().all(|(_, link)| link.rate_bps == first.rate_bps),
            can_queue: states.iter().any(|(_, link)| link.rate_bps.is_some() || link.slots.is_some()),
            is_first_in_first_out: all(|link| link.slots.is_none() && link.queue.is_first_in_first_out()),
            peaks_bps: states.iter().map(|(_, link)| link.peak_bps()).collect(),
        }
    }
}

/// Jitter only adds to the delay; a packet that overtakes has a delay of its own.
fn least(states: &[(Time, &Link)]) -> Duration {
    let of = |link: &Link| link.reorder.map_or(link.delay_ns, |overtaking| overtaking.delay_ns.min(link.delay_ns));
    states.iter().map(|(_, link)| of(link)).min().expect("a link has a first state")
}

/// The sum of the links' delays whenever it changes.
fn base_rtts(crossed: &[&[(Time, &Link)]]) -> Vec<(Time, Duration)> {
    let mut changes: Vec<Time> = crossed.iter().flat_map(|states| states.iter().map(|&(at, _)| at)).collect();
    changes.sort();
    changes.dedup();
    let delay = |states: &[(Time, &Link)], at| states[states.partition_point(|&(since, _)| since <= at) - 1].1.delay_ns;
    let sum = |at| crossed.iter().fold(Duration::ZERO, |sum, states| sum + delay(states, at));
    let mut found: Vec<(Time, Duration)> = changes.into_iter().map(|at| (at, sum(at))).collect();
    found.dedup_by_key(|&mut (_, rtt)| rtt);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Queue, Reorder, Slots, Variation};

    fn link(delay_ns: i64) -> Link {
        Link { delay_ns: Duration(delay_ns), rate_bps: units::Rate::from_bps(1000), ..Link::transparent("l", "a", "b") }
    }

    #[test]
    fn a_base_rtt_is_the_sum_of_delays_whenever_it_changes() {
        let (two, three, five) = (link(2), link(3), link(5));
        let there = [(Time(0), &two), (Time(10), &three), (Time(30), &two)];
        let back = [(Time(0), &three), (Time(10), &two), (Time(20), &five)];
        // At 10 one delay grows as the other shrinks.
        let wanted = [(Time(0), Duration(5)), (Time(20), Duration(8)), (Time(30), Duration(7))];
        assert_eq!(base_rtts(&[&there, &back]), wanted);
        assert_eq!((least(&there), least(&back)), (Duration(2), Duration(2)));
    }

    #[test]
    fn a_packet_that_overtakes_is_the_fastest() {
        let reorder = Reorder { probability: 0.1, correlation: 0.0, gap: 1, delay_ns: Duration(1) };
        let overtaken = Link { reorder: Some(reorder), ..link(4) };
        assert_eq!(least(&[(Time(0), &link(3)), (Time(1), &overtaken)]), Duration(1));
    }

    #[test]
    fn packets_wait_where_there_is_a_rate_or_slots_at_some_time() {
        let (plain, bare) = (link(0), Link::transparent("l", "a", "b"));
        let slots = Slots { min_interval_ns: Duration(1), max_interval_ns: Duration(1), packets: None, bytes: None };
        let slotted = Link { slots: Some(slots), ..bare.clone() };
        let can_queue = |states: &[&Link]| {
            let states: Vec<(Time, &Link)> = (0..).map(Time).zip(states.iter().copied()).collect();
            LinkFacts::of(&states, false).can_queue
        };
        assert!(can_queue(&[&plain]) && can_queue(&[&bare, &plain]) && can_queue(&[&plain, &bare]));
        assert!(can_queue(&[&slotted]) && !can_queue(&[&bare]));
    }

    #[test]
    fn slots_and_queues_of_flows_break_the_order_of_waiting() {
        let plain = link(0);
        let slots = Slots { min_interval_ns: Duration(1), max_interval_ns: Duration(1), packets: None, bytes: None };
        let slotted = Link { slots: Some(slots), ..plain.clone() };
        let (quantum_bytes, flows) = (std::num::NonZeroU32::MIN, std::num::NonZeroU32::MIN);
        let fair = Link { queue: Queue::Fq { quantum_bytes, flows }, ..plain.clone() };
        let codel =
            Queue::Codel { target_ns: Duration(1), interval_ns: Duration(1), ecn: false, ce_threshold_ns: None };
        let codel = Link { queue: codel, up: false, ..plain.clone() };
        for (then, is) in [(&slotted, false), (&fair, false), (&codel, true)] {
            let facts = LinkFacts::of(&[(Time(0), &plain), (Time(1), then)], false);
            assert_eq!(facts.is_first_in_first_out, is, "{then:?}");
        }
    }

    #[test]
    fn a_link_is_what_it_is_at_all_times() {
        let (plain, bare) = (link(0), Link::transparent("l", "a", "b"));
        let steps = Variation::Steps { steps: vec![(Time(0), 500), (Time(1), 1500)], period_ns: Some(Duration(2)) };
        let varied = Link { variation: Some(steps), ..plain.clone() };
        let of = |states: &[(Time, &Link)]| {
            let found = LinkFacts::of(states, false);
            (found.is_steady, found.is_limited)
        };
        assert_eq!(of(&[(Time(0), &plain), (Time(1), &plain)]), (true, true));
        assert_eq!(of(&[(Time(0), &plain), (Time(1), &varied)]), (false, true));
        assert_eq!(of(&[(Time(0), &bare), (Time(1), &plain)]), (false, false));
        assert_eq!(of(&[(Time(0), &bare)]), (false, false));
        assert_eq!(LinkFacts::of(&[(Time(0), &bare), (Time(1), &varied)], false).peaks_bps, [None, Some(1500)]);
    }
}
