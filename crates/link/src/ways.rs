use anyhow::Result;
use plan::{Plan, Routes};
use units::{Duration, Time};

use crate::packet::Packet;
use crate::wires::{Onward, Wires};

/// The ways of packets from link to link. Nothing but this type knows that there are two.
///
/// A core network (a dumbbell, a path) has a table instead of switches: nothing is flooded, no frame is copied, and a link is
/// the last of a packet by the packet's own way. Learning switches would flood the first frame of each station, which
/// changes the records of all runs so far. They remain for lab networks, where frames of any protocol go to stations, groups
/// and addresses that no plan knows.
#[derive(Debug)]
pub(crate) enum Ways {
    /// In a core network: to their destination host.
    Routes(Routes),
    /// In a lab network: to whatever is at the end of the wire.
    Wires(Wires),
}

impl Ways {
    pub(crate) fn new(plan: &Plan) -> Result<Ways> {
        Ok(match plan.has_interfaces() {
            true => Ways::Wires(Wires::new(plan)?),
            false => Ways::Routes(Routes::new(plan)?),
        })
    }

    /// True if a packet that enters `link` can get anywhere.
    pub(crate) fn leads_on(&self, packet: &Packet, link: u32) -> bool {
        match self {
            Ways::Routes(routes) => {
                let (end, to) = (routes.end_of(link), usize::from(packet.to));
                end == to || routes.next_link(end, to).is_some()
            }
            Ways::Wires(_) => true,
        }
    }

    /// A packet is at the end of a link. A switch there learns where its sender is.
    pub(crate) fn onward(&mut self, packet: &Packet, link: u32, at: Time) -> Onward {
        match self {
            Ways::Routes(routes) => {
                let (end, to) = (routes.end_of(link), usize::from(packet.to));
                if end == to {
                    return Onward::There;
                }
                Onward::Into(routes.next_link(end, to).expect("a route leads from its first link to its host"))
            }
            Ways::Wires(wires) => wires.onward(packet, link, at),
        }
    }

    /// The link at this place among those that leave a switch of a lab network.
    pub(crate) fn link_of(&self, switch: u32, place: usize) -> Option<u32> {
        match self {
            Ways::Routes(_) => None,
            Ways::Wires(wires) => wires.link_of(switch, place),
        }
    }

    /// True if no later link can do anything to a packet to the node `to` that is at the end of this one. `transparent`: by
    /// link, true if nothing can happen on it.
    pub(crate) fn is_last(&self, link: u32, to: u16, transparent: &[bool]) -> bool {
        let routes = match self {
            Ways::Routes(routes) => routes,
            Ways::Wires(wires) => return wires.ends_at(link),
        };
        let mut node = routes.end_of(link);
        while node != usize::from(to) {
            match routes.next_link(node, usize::from(to)) {
                Some(next) if transparent[next as usize] => node = routes.end_of(next),
                _ => return false,
            }
        }
        true
    }

    /// The switches know what those of `other` have learned, whose time was `ago` when this one's was 0.
    pub(crate) fn learn_from(&mut self, other: &Ways, ago: Duration) {
        if let (Ways::Wires(own), Ways::Wires(known)) = (self, other) {
            own.learn_from(known, ago);
        }
    }
}
