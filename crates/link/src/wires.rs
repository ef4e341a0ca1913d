use anyhow::Result;
use plan::{Plan, Wiring};
use units::{Duration, Time};

use crate::packet::Packet;

/// Time after which a switch forgets a station that is silent, as Linux's bridges do.
const AGEING: Duration = Duration::from_secs(300);

/// The wires of a lab network: links between interfaces, joined by switches that learn where stations are (IEEE 802.1D).
#[derive(Debug)]
pub(crate) struct Wires {
    /// For each link the switch at its end; [`NONE`]: an interface.
    switch: Vec<u32>,
    /// The link of the other direction.
    back: Vec<u32>,
    /// No later link can do anything to a packet, wherever it goes.
    last: Vec<bool>,
    /// The links that leave each switch, and what it has learned.
    switches: Vec<Switch>,
}

const NONE: u32 = u32::MAX;

#[derive(Debug, Default)]
struct Switch {
    links: Vec<u32>,
    /// By station: the link that leads there, and when it was last heard of.
    stations: Vec<Option<(u32, Time)>>,
}

/// The place where a packet goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Onward {
    /// Frame at an interface.
    There,
    /// Into a link.
    Into(u32),
    /// Into all links that leave a switch but the one back to where it came from.
    Flood { switch: u32, but: u32 },
    /// Nowhere: it came from where its station is.
    Nowhere,
}

impl Wires {
    pub(crate) fn new(plan: &Plan) -> Result<Wires> {
        let wiring = Wiring::new(plan)?;
        let mut number = vec![NONE; plan.nodes.len()];
        let mut switches = Vec::new();
        for (node, _) in plan.nodes.iter().enumerate().filter(|(_, node)| node.is_switch()) {
            number[node] = switches.len() as u32;
            let links = (0..).zip(&wiring.from).filter(|(_, end)| end.node == node).map(|(link, _)| link);
            switches.push(Switch { links: links.collect(), stations: Vec::new() });
        }
        let switch = wiring.to.iter().map(|end| number[end.node]).collect();
        let mut wires = Wires { switch, back: wiring.back, last: Vec::new(), switches };
        let transparent = plan.transparent_links();
        wires.last = (0..plan.links.len() as u32).map(|link| wires.is_last(link, &transparent)).collect();
        Ok(wires)
    }

    /// Switches form no loop, so this ends.
    fn is_last(&self, link: u32, transparent: &[bool]) -> bool {
        let mut ahead = vec![link];
        while let Some(link) = ahead.pop() {
            let beyond = ahead.len();
            if self.switch[link as usize] != NONE {
                ahead.extend(self.beyond(self.switch[link as usize], self.back[link as usize]));
            }
            if ahead[beyond..].iter().any(|&next| !transparent[next as usize]) {
                return false;
            }
        }
        true
    }

    /// No later link can do anything to a packet that is at the end of this one.
    pub(crate) fn ends_at(&self, link: u32) -> bool {
        self.last[link as usize]
    }

    /// The links that leave a switch, but one.
    pub(crate) fn beyond(&self, switch: u32, but: u32) -> impl Iterator<Item = u32> {
        self.switches[switch as usize].links.iter().copied().filter(move |&link| link != but)
    }

    /// The link at this place among those that leave a switch.
    pub(crate) fn link_of(&self, switch: u32, place: usize) -> Option<u32> {
        self.switches[switch as usize].links.get(place).copied()
    }

    /// Take over what the switches of `other` have learned, whose time was `ago` when this one's was 0.
    pub(crate) fn learn_from(&mut self, other: &Wires, ago: Duration) {
        for (own, known) in self.switches.iter_mut().zip(&other.switches) {
            own.stations = known.stations.iter().map(|known| known.map(|(link, heard)| (link, heard - ago))).collect();
        }
    }

    /// A packet is at the end of a link. A switch there learns where its sender is.
    pub(crate) fn onward(&mut self, packet: &Packet, link: u32, at: Time) -> Onward {
        let (switch, back) = (self.switch[link as usize], self.back[link as usize]);
        if switch == NONE {
            return Onward::There;
        }
        let stations = &mut self.switches[switch as usize].stations;
        if packet.sender != Packet::UNKNOWN {
            let sender = usize::from(packet.sender);
            if stations.len() <= sender {
                stations.resize(sender + 1, None);
            }
            stations[sender] = Some((back, at));
        }
        let known = stations.get(usize::from(packet.receiver)).copied().flatten();
        match known.filter(|(_, heard)| at - *heard <= AGEING) {
            Some((out, _)) if out == back => Onward::Nowhere,
            Some((out, _)) => Onward::Into(out),
            None => Onward::Flood { switch, but: back },
        }
    }
}
