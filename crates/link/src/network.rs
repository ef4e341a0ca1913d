use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use anyhow::{Context, Result};
use plan::{Plan, Qdisc};
use units::{Duration, Time};

use crate::packet::{Fate, Packet, Passage};
use crate::pipeline::{Entry, Link, Out};
use crate::switches::{Onward, Switches};

/// Receives the events in a [`Network`], in the order of time.
pub trait Sink {
    /// A link is done with a packet. `last`: no later link on its path can do anything to it.
    ///
    /// Transparent links don't call it.
    fn passed(&mut self, link: u32, passage: &Passage, last: bool);
    /// A packet came out of the end of `link`: at its destination host, or at an interface of a lab network.
    fn delivered(&mut self, packet: Packet, link: u32, at: Time);
    /// A link duplicates `packet`: returns the copy, with a separate handle. `None` if there is no room for it.
    fn copied(&mut self, packet: Packet) -> Option<Packet>;
    /// A switch of a lab network sends `packet` into another link, too: returns the copy, with a separate handle. `None` if
    /// there is no room for it.
    fn flooded(&mut self, packet: Packet) -> Option<Packet>;
    /// A switch of a lab network has no link to send `packet` into: its receiver is where it came from, or there is no
    /// other link.
    fn filtered(&mut self, packet: Packet);
    /// A packet enters a part of a link that something else carries ([`Network::hand_out`]).
    fn outside(&mut self, _link: u32, _part: usize, _packet: &Packet) -> Entry {
        unreachable!("only a driver that hands links out carries their packets")
    }
}

/// Links joined by switches, in virtual time.
///
/// Hosts and routers are outside: packets [`enter`](Network::enter) at one and come out of the [`Sink`].
#[derive(Debug)]
pub struct Network {
    links: Vec<Link>,
    transparent: Vec<bool>,
    /// Changes of links that are still to come: when, which link, what it will be.
    changes: VecDeque<(Time, u32, plan::Link)>,
    switches: Switches,
    /// Pending events, earliest first, ties by the links' order in the plan. Stale ones are skipped when they come up.
    events: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest pending event of each link.
    scheduled: Vec<Time>,
    now: Time,
}

impl Network {
    /// The plan's links, empty.
    pub fn new(plan: &Plan) -> Result<Network> {
        let index = |name: &str| plan.links.iter().position(|l| l.name == name).context("an event of an unknown link");
        let changes = plan.events.iter().map(|e| Ok((e.at_ns, index(&e.link.name)? as u32, e.link.clone())));
        Ok(Network {
            changes: changes.collect::<Result<_>>()?,
            links: plan.links.iter().map(|spec| Link::new(spec, plan.seed)).collect(),
            transparent: plan.transparent_links(),
            switches: Switches::new(plan)?,
            events: BinaryHeap::new(),
            scheduled: vec![Time::NEVER; plan.links.len()],
            now: Time(i64::MIN),
        })
    }

    /// Let the plan's queueing disciplines carry the packets of their links: they go to [`Sink::outside`], and come back by
    /// [`left`](Network::left). No packet has entered yet.
    pub fn hand_out(&mut self, qdiscs: &[Vec<Qdisc>]) {
        for (link, qdiscs) in self.links.iter_mut().zip(qdiscs).filter(|(_, qdiscs)| !qdiscs.is_empty()) {
            link.hand_out(qdiscs);
        }
    }

    /// A packet came out of a part of a link that something else carries. `false` if none is in that part.
    pub fn left(&mut self, link: u32, part: usize, out: Out, now: Time, sink: &mut impl Sink) -> bool {
        self.advance(now, sink);
        let Some((packet, next)) = self.links[link as usize].left(part, out, self.now) else { return false };
        if let Some(next) = next {
            self.go_outside(link, next, &packet, sink);
        }
        self.settle(link, self.now, sink);
        true
    }

    fn go_outside(&mut self, link: u32, part: usize, packet: &Packet, sink: &mut impl Sink) {
        let entry = sink.outside(link, part, packet);
        self.links[link as usize].entered(part, entry);
    }

    /// The links, in the plan's order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The links, to reset their maxima.
    pub fn links_mut(&mut self) -> &mut [Link] {
        &mut self.links
    }

    /// The time at which a packet is next at a link's end, or a link changes, if nothing enters; or an earlier one.
    pub fn next_event(&mut self) -> Time {
        self.next_of_links().min(self.next_change())
    }

    /// A packet enters `link`, which leaves its sender's interface. `false` if there is no path. Everything due by `now`
    /// happens first. A `now` before an earlier call's counts as that call's: the network's time never goes back.
    pub fn enter(&mut self, packet: Packet, link: u32, now: Time, sink: &mut impl Sink) -> bool {
        self.advance(now, sink);
        let leads_on = self.switches.leads_on(&packet, link);
        if leads_on {
            self.forward(packet, link, self.now, sink);
        }
        leads_on
    }

    /// Let everything happen that is due by `now`.
    pub fn advance(&mut self, now: Time, sink: &mut impl Sink) {
        loop {
            let (of_links, change) = (self.next_of_links(), self.next_change());
            let at = of_links.min(change);
            if at > now {
                break;
            }
            self.now = self.now.max(at);
            if of_links <= change {
                let Some(Reverse((_, link))) = self.events.pop() else { break };
                self.scheduled[link as usize] = Time::NEVER;
                self.settle(link, at, sink);
            } else if let Some((_, link, spec)) = self.changes.pop_front() {
                self.links[link as usize].configure(&spec, at);
                self.settle(link, at, sink);
            }
        }
        self.now = self.now.max(now);
    }

    /// The link is another from `at` on, which the plan did not say. Packets that are due or enter by then are handled
    /// first; a time that is over counts as now.
    pub fn change_link(&mut self, link: u32, spec: plan::Link, at: Time) {
        let at = at.max(self.now);
        let behind = self.changes.partition_point(|(other, ..)| *other <= at);
        self.changes.insert(behind, (at, link, spec));
    }

    /// The switches of a lab network know what those of `other` have learned, whose time was `ago` when this one's was 0.
    pub fn learn_from(&mut self, other: &Network, ago: Duration) {
        self.switches.learn_from(&other.switches, ago);
    }

    /// Let the links' counters and backlogs be those of now: [`advance`](Network::advance) leaves to later what no packet
    /// comes out by.
    pub fn catch_up(&mut self, sink: &mut impl Sink) {
        for link in 0..self.links.len() as u32 {
            self.settle(link, self.now, sink);
        }
    }

    /// Packets inside, by link. Call [`catch_up`](Network::catch_up) before.
    pub fn inside(&self) -> impl Iterator<Item = (u32, Passage)> {
        self.links.iter().enumerate().flat_map(|(i, link)| link.inside().map(move |passage| (i as u32, passage)))
    }

    fn move_on(&mut self, packet: Packet, done: u32, at: Time, sink: &mut impl Sink) {
        match self.switches.onward(&packet, done, at) {
            Onward::There => sink.delivered(packet, done, at),
            Onward::Into(next) => self.forward(packet, next, at, sink),
            Onward::Nowhere => sink.filtered(packet),
            Onward::Flood { switch, but } => self.flood(packet, switch, but, at, sink),
        }
    }

    /// Send a packet into all links that leave a switch but one, in their order.
    fn flood(&mut self, packet: Packet, switch: u32, but: u32, at: Time, sink: &mut impl Sink) {
        let (mut place, mut next) = (0, None);
        while let Some(link) = self.switches.link_of(switch, place) {
            place += 1;
            if link == but {
                continue;
            }
            // The last link gets the packet itself.
            if let Some(before) = next.replace(link)
                && let Some(copy) = sink.flooded(packet)
            {
                self.forward(copy, before, at, sink);
            }
        }
        match next {
            Some(last) => self.forward(packet, last, at, sink),
            None => sink.filtered(packet),
        }
    }

    fn forward(&mut self, packet: Packet, link: u32, at: Time, sink: &mut impl Sink) {
        let twice = self.links[link as usize].push(packet, at);
        if let Some(copy) = if twice { sink.copied(packet) } else { None } {
            self.links[link as usize].push_copy(copy, at);
        }
        if self.links[link as usize].is_outside() {
            self.go_outside(link, 0, &packet, sink);
        }
        self.settle(link, at, sink);
    }

    /// Hand on what the link is done with at `at`.
    fn settle(&mut self, link: u32, at: Time, sink: &mut impl Sink) {
        while let Some(passage) = self.links[link as usize].poll(at) {
            if !self.transparent[link as usize] {
                let last = self.switches.is_last(link, passage.packet.receiver);
                sink.passed(link, &passage, last);
            }
            if passage.fate == Fate::Delivered {
                self.move_on(passage.packet, link, at, sink);
            }
        }
        self.schedule(link);
    }

    fn next_of_links(&mut self) -> Time {
        while let Some(&Reverse((at, link))) = self.events.peek() {
            if at == self.scheduled[link as usize] {
                return at;
            }
            self.events.pop();
        }
        Time::NEVER
    }

    fn next_change(&self) -> Time {
        self.changes.front().map_or(Time::NEVER, |&(at, ..)| at)
    }

    fn schedule(&mut self, link: u32) {
        let at = self.links[link as usize].next_passage();
        // Later than before, too: a lower rate, or nothing waits any more.
        if at != self.scheduled[link as usize] {
            self.scheduled[link as usize] = at;
            if at != Time::NEVER {
                self.events.push(Reverse((at, link)));
            }
        }
    }
}
