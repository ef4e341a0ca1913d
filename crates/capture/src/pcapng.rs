//! The pcapng format (draft-ietf-opsawg-pcapng).

use std::ops::Range;

use crate::bytes::Order;
use crate::frame::{Clock, Interface};
use crate::pcap::{MOST, Next};
use crate::window::Window;

/// Type of a section header, the same in both byte orders.
pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const NAMES: u32 = 4;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
/// The largest block, with room for options.
const MOST_BLOCK: u32 = MOST + (1 << 16);
/// Interfaces of one file that are known.
const MOST_INTERFACES: usize = 1 << 16;
/// Bytes that are searched for the next block behind a damaged one.
const SEARCHED: usize = 4 << 20;

/// How the present section of a file is written.
pub(crate) struct Pcapng {
    order: Order,
    snaplen: Vec<u32>,
    /// Interfaces of the file: those of the present section begin at `first`.
    pub(crate) interfaces: Vec<Interface>,
    first: usize,
}

/// A packet's place in the window.
pub(crate) struct Packet {
    pub(crate) time_ns: Option<i64>,
    /// Index among the file's interfaces.
    pub(crate) interface: usize,
    pub(crate) length: u32,
    pub(crate) outgoing: Option<bool>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Place of its first comment in the block.
    pub(crate) comment: Range<usize>,
    /// Bytes of the block.
    pub(crate) size: usize,
}

impl Pcapng {
    pub(crate) fn new() -> Pcapng {
        Pcapng { order: Order::Little, snaplen: Vec::new(), interfaces: Vec::new(), first: 0 }
    }

    /// The next packet.
    pub(crate) fn next(&mut self, window: &mut Window, damages: &mut u64) -> Next<Packet> {
        loop {
            if !window.has(12) {
                return if window.bytes().is_empty() { Next::End } else { Next::CutOff };
            }
            let Some((kind, size)) = self.block(window.bytes()) else {
                *damages += 1;
                if !self.resynchronise(window) {
                    return Next::CutOff;
                }
                continue;
            };
            if !window.has(size) {
                return Next::CutOff;
            }
            let block = &window.bytes()[..size];
            if self.order.u32(block, size - 4) as usize != size {
                *damages += 1;
                if !self.resynchronise(window) {
                    return Next::CutOff;
                }
                continue;
            }
            let body = &block[8..size - 4];
            let packet = match kind {
                SECTION => {
                    self.first = self.interfaces.len();
                    self.snaplen.clear();
                    None
                }
                INTERFACE => {
                    self.interface(body);
                    None
                }
                PACKET => self.packet(body, size),
                OBSOLETE_PACKET => self.obsolete(body, size),
                SIMPLE_PACKET => self.simple(body, size),
                STATISTICS => {
                    self.statistics(body);
                    None
                }
                _ => None,
            };
            if let Some(packet) = packet {
                return Next::Item(packet);
            }
            window.skip(size);
        }
    }

    /// Type and size of a block, if they can be so. A section header sets the byte order.
    fn block(&mut self, bytes: &[u8]) -> Option<(u32, usize)> {
        let kind = self.order.u32(bytes, 0);
        if kind == SECTION {
            let magic = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]);
            self.order = match magic {
                BYTE_ORDER => Order::Little,
                _ if magic.swap_bytes() == BYTE_ORDER => Order::Big,
                _ => return None,
            };
        }
        let size = self.order.u32(bytes, 4);
        let least = if kind == SECTION { 28 } else { 12 };
        (size.is_multiple_of(4) && (least..=MOST_BLOCK).contains(&size)).then_some((kind, size as usize))
    }

    fn interface(&mut self, body: &[u8]) {
        if body.len() < 8 || self.interfaces.len() >= MOST_INTERFACES {
            return;
        }
        let mut found = Interface { link: self.order.u16(body, 0), ..Interface::default() };
        self.snaplen.push(self.order.u32(body, 4));
        let (mut clock, mut name, mut fcs) = (Clock::default(), None, 0);
        self.options(&body[8..], |order, code, value| match code {
            2 => name = Some(String::from_utf8_lossy(&value[..value.len().min(256)]).into_owned()),
            9 if !value.is_empty() => clock.resolution = value[0],
            13 if !value.is_empty() => fcs = value[0].min(8),
            14 if value.len() >= 8 => clock.offset_s = order.u64(value, 0) as i64,
            _ => {}
        });
        (found.clock, found.name, found.fcs_bytes) = (clock, name, fcs);
        self.interfaces.push(found);
    }

    fn packet(&mut self, body: &[u8], size: usize) -> Option<Packet> {
        if body.len() < 20 {
            return None;
        }
        let word = |index: usize| self.order.u32(body, 4 * index);
        let (captured, length) = (word(3) as usize, word(4));
        let at = self.first.checked_add(word(0) as usize)?;
        let end = 20_usize.checked_add(captured)?;
        let clock = self.interfaces.get(at)?.clock;
        if end > body.len() {
            return None;
        }
        let ticks = u64::from(word(1)) << 32 | u64::from(word(2));
        let (mut outgoing, mut dropped, mut comment) = (None, 0, 0..0);
        let options = body.get(end.next_multiple_of(4)..).unwrap_or_default();
        self.options(options, |order, code, value| match code {
            1 if comment.is_empty() => {
                let start = 8 + value.as_ptr().addr() - body.as_ptr().addr();
                comment = start..start + value.len();
            }
            2 if value.len() >= 4 => {
                outgoing = match order.u32(value, 0) & 3 {
                    1 => Some(false),
                    2 => Some(true),
                    _ => None,
                }
            }
            4 if value.len() >= 8 => dropped = order.u64(value, 0),
            _ => {}
        });
        let interface = &mut self.interfaces[at];
        interface.dropped_between = interface.dropped_between.saturating_add(dropped);
        let length = length.max(captured as u32);
        let time_ns = Some(clock.time_ns(ticks));
        Some(Packet { time_ns, interface: at, length, outgoing, start: 28, end: 8 + end, comment, size })
    }

    fn obsolete(&mut self, body: &[u8], size: usize) -> Option<Packet> {
        if body.len() < 20 {
            return None;
        }
        let word = |index: usize| self.order.u32(body, 4 * index);
        let at = self.first + usize::from(self.order.u16(body, 0));
        let drops = self.order.u16(body, 2);
        let (captured, length) = (word(3) as usize, word(4));
        let ticks = u64::from(word(1)) << 32 | u64::from(word(2));
        let end = 20_usize.checked_add(captured)?;
        let interface = self.interfaces.get_mut(at)?;
        if end > body.len() {
            return None;
        }
        // All bits set: the writer does not know.
        if drops != u16::MAX {
            interface.dropped_between = interface.dropped_between.saturating_add(drops.into());
        }
        let time_ns = Some(interface.clock.time_ns(ticks));
        let length = length.max(captured as u32);
        Some(Packet { time_ns, interface: at, length, outgoing: None, start: 28, end: 8 + end, comment: 0..0, size })
    }

    fn simple(&self, body: &[u8], size: usize) -> Option<Packet> {
        if body.len() < 4 {
            return None;
        }
        self.interfaces.get(self.first)?;
        let length = self.order.u32(body, 0);
        let limit = match self.snaplen.first() {
            None | Some(0) => u32::MAX,
            Some(&limit) => limit,
        };
        let captured = (length.min(limit) as usize).min(body.len() - 4);
        let (start, end) = (12, 12 + captured);
        Some(Packet { time_ns: None, interface: self.first, length, outgoing: None, start, end, comment: 0..0, size })
    }

    fn statistics(&mut self, body: &[u8]) {
        if body.len() < 12 {
            return;
        }
        let at = self.first.saturating_add(self.order.u32(body, 0) as usize);
        let (mut by_interface, mut by_system) = (None, None);
        self.options(&body[12..], |order, code, value| match code {
            5 if value.len() >= 8 => by_interface = Some(order.u64(value, 0)),
            7 if value.len() >= 8 => by_system = Some(order.u64(value, 0)),
            _ => {}
        });
        if let Some(interface) = self.interfaces.get_mut(at) {
            interface.dropped_by_interface = by_interface.unwrap_or(interface.dropped_by_interface);
            interface.dropped_by_system = by_system.unwrap_or(interface.dropped_by_system);
        }
    }

    /// Call `take` with code and value of each option.
    fn options(&self, bytes: &[u8], mut take: impl FnMut(Order, u16, &[u8])) {
        let mut at = 0;
        while at + 4 <= bytes.len() {
            let (code, size) = (self.order.u16(bytes, at), usize::from(self.order.u16(bytes, at + 2)));
            let Some(value) = bytes.get(at + 4..at + 4 + size) else { return };
            if code == 0 {
                return;
            }
            take(self.order, code, value);
            at += 4 + size.next_multiple_of(4);
        }
    }

    /// Slide to the next place at which a whole known block seems to be.
    fn resynchronise(&mut self, window: &mut Window) -> bool {
        let mut searched = 0;
        while searched < SEARCHED {
            window.skip(4);
            searched += 4;
            if !window.has(12) {
                // Fewer than 12 bytes are no block.
                return false;
            }
            let order = self.order;
            if let Some((kind, size)) = self.block(window.bytes()) {
                let is_known = matches!(kind, INTERFACE..=PACKET | SECTION) && kind != NAMES;
                let ends = |bytes: &[u8]| self.order.u32(bytes, size - 4) as usize == size;
                if is_known && window.has(size) && ends(window.bytes()) {
                    return true;
                }
            }
            self.order = order;
        }
        false
    }
}
