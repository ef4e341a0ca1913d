//! The pcap format (draft-ietf-opsawg-pcap).

use crate::bytes::Order;
use crate::frame::{Clock, Interface};
use crate::window::Window;

/// Bytes of the file's header.
pub(crate) const HEADER: usize = 24;
/// The most bytes of a frame that are taken: a longer one is damage.
pub(crate) const MOST: u32 = 16 << 20;
/// Bytes that are searched for the next record behind a damaged one.
const SEARCHED: usize = 1 << 20;
/// A record that is searched for is captured within this time of the one before.
const NEAR_S: i64 = 86_400;
/// The longest frame that is believed when a record is searched for.
const LIKELY: u32 = 1 << 18;

/// How a pcap file is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pcap {
    order: Order,
    clock: Clock,
    per_second: u32,
    record: usize,
    last_s: Option<i64>,
}

/// A record's place in the window, and what its header says.
pub(crate) struct Record {
    pub(crate) time_ns: i64,
    pub(crate) length: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Next item of a file.
pub(crate) enum Next<T> {
    Item(T),
    /// Nothing more.
    End,
    /// The last record is cut off.
    CutOff,
}

impl Pcap {
    /// Reads the file's header: `None` if it is none, an error with the version of a format that is not read.
    pub(crate) fn of(header: &[u8; HEADER]) -> Option<Result<(Pcap, Interface), (u16, u16)>> {
        let magic = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let (order, magic) = match magic {
            0xa1b2_c3d4 | 0xa1b2_3c4d | 0xa1b2_cd34 => (Order::Little, magic),
            _ => (Order::Big, magic.swap_bytes()),
        };
        let (resolution, per_second, record) = match magic {
            0xa1b2_c3d4 => (6, 1_000_000, 16),
            0xa1b2_3c4d => (9, 1_000_000_000, 16),
            // Kuznetzov's modification: 8 bytes more of each record.
            0xa1b2_cd34 => (6, 1_000_000, 24),
            _ => return None,
        };
        let version = (order.u16(header, 4), order.u16(header, 6));
        if version.0 != 2 {
            return Some(Err(version));
        }
        let link = order.u32(header, 20);
        let has_fcs = link & 0x0400_0000 != 0;
        let fcs_bytes = if has_fcs { 2 * (link >> 28) as u8 } else { 0 };
        let clock = Clock { resolution, offset_s: 0 };
        let interface = Interface { link: link as u16, fcs_bytes, clock, ..Interface::default() };
        Some(Ok((Pcap { order, clock, per_second, record, last_s: None }, interface)))
    }

    /// The next record. `damages` counts places behind which a record was searched for.
    pub(crate) fn next(&mut self, window: &mut Window, damages: &mut u64) -> Next<Record> {
        loop {
            if !window.has(self.record) {
                return if window.bytes().is_empty() { Next::End } else { Next::CutOff };
            }
            let (seconds, fraction, captured, length) = self.header(window.bytes(), 0);
            let is_sound = captured <= MOST && (fraction < self.per_second || self.last_s.is_none());
            if !is_sound {
                *damages += 1;
                if !self.resynchronise(window) {
                    return Next::CutOff;
                }
                continue;
            }
            let end = self.record + captured as usize;
            if !window.has(end) {
                return Next::CutOff;
            }
            self.last_s = Some(seconds.into());
            let ticks = u64::from(seconds) * u64::from(self.per_second) + u64::from(fraction);
            let time_ns = self.clock.time_ns(ticks);
            return Next::Item(Record { time_ns, length: length.max(captured), start: self.record, end });
        }
    }

    fn header(&self, bytes: &[u8], at: usize) -> (u32, u32, u32, u32) {
        let word = |index: usize| self.order.u32(bytes, at + 4 * index);
        (word(0), word(1), word(2), word(3))
    }

    /// Slide to the next place at which two records seem to follow each other, or one at the file's end.
    fn resynchronise(&self, window: &mut Window) -> bool {
        let mut searched = 0;
        while searched < SEARCHED {
            window.skip(1);
            searched += 1;
            if !window.has(self.record) {
                return false;
            }
            if let Some(captured) = self.is_plausible(window.bytes(), 0) {
                let next = self.record + captured;
                if window.has(next + self.record) {
                    if self.is_plausible(window.bytes(), next).is_some() {
                        return true;
                    }
                } else if window.bytes().len() == next {
                    return true;
                }
            }
        }
        false
    }

    fn is_plausible(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let (seconds, fraction, captured, length) = self.header(bytes, at);
        let is_near = self.last_s.is_none_or(|last| (i64::from(seconds) - last).abs() <= NEAR_S);
        let is_sound = is_near && fraction < self.per_second && (14..=LIKELY).contains(&captured) && length >= captured;
        (is_sound && length <= 2 * LIKELY).then_some(captured as usize)
    }
}
