use link::{Ecn, Entry, Out, Packet};
use serde::{Deserialize, Serialize};

use crate::frame::parse;
use crate::gso::Vnet;
use crate::outgoing::{Outgoing, Transmit};

/// A pair of interfaces with a queueing discipline of the kernel between them: a part of a link of the plan.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Hop {
    /// The link's index among the plan's.
    pub link: u32,
    /// The part's index among the link's.
    pub part: usize,
    /// Index of the interface that packets are sent into; the discipline is at its root.
    pub into: i32,
    /// Index of the interface that they come out of.
    pub out_of: i32,
}

/// The hops of a run, whose interfaces are numbered behind the hosts' ports: into the first, out of it, and so on.
#[derive(Default)]
pub(crate) struct Hops {
    hosts: usize,
    /// Link and part of each.
    all: Vec<(u32, usize)>,
    /// The number of each part's first interface, by link.
    of_link: Vec<Vec<u16>>,
    frame: Vec<u8>,
}

/// Where a frame's number is: in place of the sender's MAC address, which no queueing discipline looks at.
const NUMBER: std::ops::Range<usize> = 6..12;

impl Hops {
    pub(crate) fn new(links: usize, hosts: usize, hops: &[Hop]) -> Hops {
        let mut of_link = vec![Vec::new(); links];
        for (i, hop) in hops.iter().enumerate() {
            of_link[hop.link as usize].push((hosts + 2 * i) as u16);
        }
        Hops { hosts, all: hops.iter().map(|hop| (hop.link, hop.part)).collect(), of_link, frame: Vec::new() }
    }

    /// Send a frame into a part of a link.
    pub(crate) fn send(
        &mut self,
        link: u32,
        part: usize,
        packet: &Packet,
        frame: &[u8],
        by: &mut impl Transmit,
        outgoing: &mut Outgoing,
    ) -> Entry {
        self.frame.clear();
        self.frame.extend_from_slice(frame);
        self.frame[NUMBER].copy_from_slice(&packet.id.to_be_bytes()[2..]);
        outgoing.clear();
        outgoing.begin(self.of_link[link as usize][part], Vnet::default(), &[]);
        outgoing.add(&self.frame);
        outgoing.close();
        match by.send(outgoing, 0).1.map(|error| error.raw_os_error()) {
            None => Entry::Taken,
            // `links_send()` of the kernel's side.
            Some(Some(libc::EBUSY)) => Entry::Congested,
            Some(_) => Entry::Refused,
        }
    }

    /// Link, part and the packet of a frame that comes in at an interface; `None` for a host's port, and for a frame without
    /// a number.
    pub(crate) fn returned(&self, port: u32, frame: &[u8]) -> Option<(u32, usize, Out)> {
        let &(link, part) = self.all.get((port as usize).checked_sub(self.hosts)? / 2)?;
        let mut number = [0; 8];
        number[2..].copy_from_slice(frame.get(NUMBER)?);
        let is_marked = parse(frame).is_some_and(|header| header.ecn == Ecn::Ce);
        Some((link, part, Out { id: u64::from_be_bytes(number), is_marked }))
    }
}
