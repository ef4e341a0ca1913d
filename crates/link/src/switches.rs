use anyhow::Result;
use plan::{Plan, Routes, Wiring};
use units::{Duration, Time};

use crate::packet::Packet;

/// Time after which a switch forgets a station that is silent, as Linux's bridges do.
const AGEING: Duration = Duration::from_secs(300);

/// The joints of links: each ends at a station or at a switch, which has a table of stations (IEEE 802.1D).
///
/// In a lab network switches learn: frames of any protocol go to stations, groups and addresses that no plan knows, and flood
/// where the station is unknown. In a core network (a dumbbell, a path) stations are the plan's nodes, and tables are
/// complete from the start by the plan's routes: nothing is flooded, so no frame is copied.
#[derive(Debug)]
pub(crate) struct Switches {
    /// For each link the switch at its end; [`NONE`]: a station.
    switch: Vec<u32>,
    /// The station at the end of each link; [`Packet::UNKNOWN`]: an interface, which takes each frame.
    station: Vec<u16>,
    /// The link of the other direction, by link; none where nothing is learned.
    back: Vec<u32>,
    transparent: Vec<bool>,
    /// No later link can do anything to a packet, wherever it goes.
    last: Vec<bool>,
    switches: Vec<Switch>,
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
struct Switch {
    /// The links into which frames to unknown stations go; none where all stations are known.
    links: Vec<u32>,
    /// The link that leads to each station, and how long that holds.
    stations: Vec<Option<(u32, Time)>>,
}

/// The place where a packet goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// Frame at a station.
    There,
    /// Into a link.
    Into(u32),
    /// Into all links that leave a switch but the one back to where it came from.
    Flood { switch: u32, but: u32 },
    /// Nowhere: it came from where its station is.
    Nowhere,
}

impl Switch {
    /// False if all stations are known from the start.
    fn floods(&self) -> bool {
        !self.links.is_empty()
    }

    /// The link to a station that the switch knows at `at`.
    fn link_to(&self, station: u16, at: Time) -> Option<u32> {
        let known = self.stations.get(usize::from(station)).copied().flatten();
        known.filter(|&(_, until)| at <= until).map(|(link, _)| link)
    }
}

impl Switches {
    pub(crate) fn new(plan: &Plan) -> Result<Switches> {
        let nodes: Vec<usize> = (0..plan.nodes.len()).filter(|&node| plan.nodes[node].is_switch()).collect();
        let mut number = vec![NONE; plan.nodes.len()];
        for (switch, &node) in (0..).zip(&nodes) {
            number[node] = switch;
        }
        let mut joined = match plan.has_interfaces() {
            true => Switches::learning(plan, &number, &nodes)?,
            false => Switches::routed(plan, &number, &nodes)?,
        };
        joined.last = (0..plan.links.len() as u32).map(|link| joined.ends_at(link)).collect();
        Ok(joined)
    }

    fn learning(plan: &Plan, number: &[u32], nodes: &[usize]) -> Result<Switches> {
        let Wiring { from, to, back, .. } = Wiring::new(plan)?;
        let leaving = |node: usize| (0..).zip(&from).filter(move |(_, end)| end.node == node).map(|(link, _)| link);
        let switch = |&node: &usize| Switch { links: leaving(node).collect(), stations: Vec::new() };
        Ok(Switches {
            switch: to.iter().map(|end| number[end.node]).collect(),
            station: vec![Packet::UNKNOWN; to.len()],
            back,
            transparent: plan.transparent_links(),
            last: Vec::new(),
            switches: nodes.iter().map(switch).collect(),
        })
    }

    fn routed(plan: &Plan, number: &[u32], nodes: &[usize]) -> Result<Switches> {
        let routes = Routes::new(plan)?;
        let to: Vec<usize> = (0..plan.links.len() as u32).map(|link| routes.end_of(link)).collect();
        let table = |node: usize| {
            let link = |station| Some((routes.next_link(node, station)?, Time::NEVER));
            (0..plan.nodes.len()).map(link).collect()
        };
        Ok(Switches {
            switch: to.iter().map(|&node| number[node]).collect(),
            station: to.iter().map(|&node| node as u16).collect(),
            back: Vec::new(),
            transparent: plan.transparent_links(),
            last: Vec::new(),
            switches: nodes.iter().map(|&node| Switch { links: Vec::new(), stations: table(node) }).collect(),
        })
    }

    /// The switch at the end of a link.
    fn at_end_of(&self, link: u32) -> Option<&Switch> {
        self.switches.get(self.switch[link as usize] as usize)
    }

    /// Nothing can happen to a packet behind this link, whichever links it is flooded into. Switches that flood form no loop,
    /// so this ends.
    fn ends_at(&self, link: u32) -> bool {
        let mut ahead = vec![link];
        while let Some(link) = ahead.pop() {
            let Some(switch) = self.at_end_of(link) else { continue };
            let beyond = || switch.links.iter().copied().filter(|&next| next != self.back[link as usize]);
            if !switch.floods() || beyond().any(|next| !self.transparent[next as usize]) {
                return false;
            }
            ahead.extend(beyond());
        }
        true
    }

    /// True if a packet that enters `link` can get anywhere.
    pub(crate) fn leads_on(&self, packet: &Packet, link: u32) -> bool {
        match self.at_end_of(link) {
            Some(switch) => switch.floods() || switch.link_to(packet.receiver, Time::NEVER).is_some(),
            None => [Packet::UNKNOWN, packet.receiver].contains(&self.station[link as usize]),
        }
    }

    /// A packet is at the end of a link. A switch there learns where its sender is.
    pub(crate) fn onward(&mut self, packet: &Packet, link: u32, at: Time) -> Onward {
        let number = self.switch[link as usize];
        let Some(switch) = self.switches.get_mut(number as usize) else { return Onward::There };
        let back = self.back.get(link as usize).copied().unwrap_or(NONE);
        if switch.floods() && packet.sender != Packet::UNKNOWN {
            let sender = usize::from(packet.sender);
            if switch.stations.len() <= sender {
                switch.stations.resize(sender + 1, None);
            }
            switch.stations[sender] = Some((back, at + AGEING));
        }
        match switch.link_to(packet.receiver, at) {
            Some(out) if out == back => Onward::Nowhere,
            Some(out) => Onward::Into(out),
            None => Onward::Flood { switch: number, but: back },
        }
    }

    /// The link at this place among those into which a switch floods.
    pub(crate) fn link_of(&self, switch: u32, place: usize) -> Option<u32> {
        self.switches[switch as usize].links.get(place).copied()
    }

    /// True if no later link can do anything to a packet to `receiver` that is at the end of this one.
    pub(crate) fn is_last(&self, mut link: u32, receiver: u16) -> bool {
        while !self.last[link as usize] {
            // What was learned may be forgotten before the packet is there.
            let next = self.at_end_of(link).and_then(|switch| switch.link_to(receiver, Time::NEVER));
            match next {
                Some(next) if self.transparent[next as usize] => link = next,
                _ => return false,
            }
        }
        true
    }

    /// The switches know what those of `other` have learned, whose time was `ago` when this one's was 0.
    pub(crate) fn learn_from(&mut self, other: &Switches, ago: Duration) {
        for (own, known) in self.switches.iter_mut().zip(&other.switches).filter(|(own, _)| own.floods()) {
            own.stations = known.stations.iter().map(|known| known.map(|(link, until)| (link, until - ago))).collect();
        }
    }
}
