//! The callbacks that an object fills in: its `struct tcp_congestion_ops`.

use std::collections::HashMap;

use crate::btf::{Types, kind};
use crate::object::{Object, word};
use crate::relocations::plain;

/// The first instruction of each callback that is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Callbacks {
    pub init: Option<usize>,
    pub ssthresh: Option<usize>,
    pub cong_avoid: Option<usize>,
    pub cong_control: Option<usize>,
    pub set_state: Option<usize>,
    pub cwnd_event: Option<usize>,
    pub in_ack_event: Option<usize>,
    pub pkts_acked: Option<usize>,
    pub undo_cwnd: Option<usize>,
    pub min_tso_segs: Option<usize>,
    pub sndbuf_expand: Option<usize>,
    /// `cong_control` gets the ACK's number and flags, too: since Linux 6.10.
    pub has_flag: bool,
    /// True if it wants ECN (`TCP_CONG_NEEDS_ECN`).
    pub needs_ecn: bool,
}

/// The beginning of a callback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Its first instruction.
    pub at: usize,
    /// The argument that is the address of the sample.
    pub sample: Option<u64>,
}

const NEEDS_ECN: u32 = 2;

/// The flavour of several in one object: that of Linux 6.10 to 7.0.
const FLAVOUR: &str = "___v610";

impl Callbacks {
    /// Finds them; `begins` gives the first instruction of each section of code. `None`: there are none.
    pub(crate) fn find(object: &Object, types: &Types, begins: &[Option<usize>]) -> Option<Callbacks> {
        let sections = [".struct_ops.link", ".struct_ops"];
        let maps: Vec<_> = sections.iter().flat_map(|section| types.variables(section)).collect();
        let of = |name: &str| {
            let found = maps.iter().filter_map(|map| Some((*map, types.bare(map.of)?)));
            let mut congestion = found.filter(|(_, of)| plain(&of.name) == "tcp_congestion_ops");
            congestion.find(|(_, of)| of.name.ends_with(name))
        };
        let (map, ops) = of(FLAVOUR).or_else(|| of(""))?;
        let symbol = object.symbol(&map.name)?;
        let section = object.sections.get(symbol.section?)?;
        let mut found = Callbacks::default();
        // The first of those at one place, as in the section. A hostile object has many members and many relocations.
        let links: HashMap<usize, _> = section.relocations.iter().rev().map(|link| (link.offset, link)).collect();
        for member in &ops.members {
            let at = symbol.offset.checked_add(member.offset as usize / 8)?;
            if member.name == "flags" {
                found.needs_ecn = word(&section.data, at)? & NEEDS_ECN != 0;
            }
            let Some(link) = links.get(&at) else { continue };
            let begin = begins.get(link.symbol.section?).copied().flatten()?;
            let Some(place) = found.place(&member.name) else { continue };
            *place = Some(begin + link.symbol.offset / 8);
            if member.name == "cong_control" {
                let pointer = types.bare(member.of).filter(|of| of.kind == kind::PTR)?;
                found.has_flag = types.bare(pointer.of)?.parameters > 2;
            }
        }
        Some(found)
    }

    /// Where the callback of this name is kept; `None`: it is not for us, such as `release`.
    fn place(&mut self, name: &str) -> Option<&mut Option<usize>> {
        Some(match name {
            "init" => &mut self.init,
            "ssthresh" => &mut self.ssthresh,
            "cong_avoid" => &mut self.cong_avoid,
            "cong_control" => &mut self.cong_control,
            "set_state" => &mut self.set_state,
            "cwnd_event" => &mut self.cwnd_event,
            "in_ack_event" => &mut self.in_ack_event,
            "pkts_acked" => &mut self.pkts_acked,
            "undo_cwnd" => &mut self.undo_cwnd,
            "min_tso_segs" => &mut self.min_tso_segs,
            "sndbuf_expand" => &mut self.sndbuf_expand,
            _ => return None,
        })
    }

    /// The beginnings of all that are there.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let Callbacks {
            init, ssthresh, cong_avoid, cong_control, set_state, cwnd_event, in_ack_event, pkts_acked, ..
        } = self;
        let rate = if self.has_flag { 3 } else { 1 };
        let rest = [&self.undo_cwnd, &self.min_tso_segs, &self.sndbuf_expand];
        let plain = [init, ssthresh, cong_avoid, set_state, cwnd_event, in_ack_event];
        let all = plain.into_iter().chain(rest).map(|at| (at, None));
        let all = all.chain([(cong_control, Some(rate)), (pkts_acked, Some(1))]);
        all.filter_map(|(at, sample)| Some(Entry { at: (*at)?, sample })).collect()
    }

    /// The callback that the kernel demands and this object lacks.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        match self {
            Callbacks { ssthresh: None, .. } => Some("ssthresh"),
            Callbacks { undo_cwnd: None, .. } => Some("undo_cwnd"),
            Callbacks { cong_avoid: None, cong_control: None, .. } => Some("cong_avoid or cong_control"),
            _ => None,
        }
    }
}
