use std::collections::HashMap;

use link::{Ecn, Entry, Out, Packet};
use serde::{Deserialize, Serialize};

use crate::frame::{SENDER, parse};
use crate::gso::Vnet;
use crate::handover::Together;
use crate::outgoing::{Outgoing, Transmit};
use crate::store::Store;

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

/// The hops of a run.
#[derive(Default)]
pub(crate) struct Hops {
    /// Link and part, by the interface that packets come out of.
    out_of: HashMap<i32, (u32, usize)>,
    /// The place of each part's first interface among those that frames are sent to, by link.
    into: Vec<Vec<u16>>,
    frame: Vec<u8>,
}

impl Hops {
    /// Returns the hops of `links` links. `into`: place of a hop's first interface among those that frames are sent to.
    pub(crate) fn new(links: usize, hops: &[Hop], into: impl Fn(usize) -> usize) -> Hops {
        let mut places = vec![Vec::new(); links];
        for (i, hop) in hops.iter().enumerate() {
            places[hop.link as usize].push(into(i) as u16);
        }
        let out_of = hops.iter().map(|hop| (hop.out_of, (hop.link, hop.part))).collect();
        Hops { out_of, into: places, frame: Vec::new() }
    }

    /// Send a packet into a part of a link. Its number is in place of the sender's MAC address, which no queueing discipline
    /// looks at.
    pub(crate) fn send(
        &mut self,
        (link, part): (u32, usize),
        packet: &Packet,
        store: &Store,
        by: &mut impl Transmit,
        outgoing: &mut Outgoing,
    ) -> Entry {
        let port = self.into[link as usize][part];
        let number: [u8; 6] = packet.id.to_be_bytes()[2..].try_into().expect("they are six");
        let burst = Together::of_packet(port, packet.handle, store);
        outgoing.clear();
        if burst.segments > 1 {
            burst.compose(store, Some(number), outgoing);
        } else {
            self.frame.clear();
            self.frame.extend_from_slice(store.frame(packet.handle));
            self.frame[SENDER].copy_from_slice(&number);
            outgoing.begin(port, Vnet::default(), &[]);
            outgoing.add(&self.frame);
        }
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
    pub(crate) fn returned(&self, ifindex: i32, frame: &[u8]) -> Option<(u32, usize, Out)> {
        let &(link, part) = self.out_of.get(&ifindex)?;
        let mut number = [0; 8];
        number[2..].copy_from_slice(frame.get(SENDER)?);
        let is_marked = parse(frame).is_some_and(|header| header.ecn == Ecn::Ce);
        Some((link, part, Out { id: u64::from_be_bytes(number), is_marked }))
    }
}
