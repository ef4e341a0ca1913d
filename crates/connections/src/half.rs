//! State of one direction, with or without data.

use std::collections::VecDeque;

use capture::{Flags, Layers, Segment};

use crate::sequence::Sequence;

/// Counters of a direction; `rows` says what each means.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Counters {
    pub packets: u64,
    pub data_packets: u64,
    pub payload_bytes: u64,
    pub ip_bytes: u64,
    pub frame_bytes: u64,
    pub ack_packets: u64,
    pub pure_acks: u64,
    pub syns: u64,
    pub fins: u64,
    pub resets: u64,
    pub pushed_packets: u64,
    pub urgent_packets: u64,
    pub ece_packets: u64,
    pub cwr_packets: u64,
    pub ce_packets: u64,
    pub sack_packets: u64,
    pub sack_blocks_max: u64,
    pub dsack_packets: u64,
    pub duplicate_acks: u64,
    pub zero_windows: u64,
    pub window_min_bytes: u64,
    pub window_max_bytes: u64,
    pub segment_min_bytes: u64,
    pub segment_max_bytes: u64,
    pub large_packets: u64,
    pub wire_packets: u64,
    pub capture_duplicates: u64,
    pub ttl: u64,
    pub mss_bytes: u64,
    pub keepalives: u64,
    pub probes: u64,
    pub reset_bytes: u64,
    pub cut_options: u64,
}

/// A packet that was seen lately, and is no copy.
#[derive(Clone, Copy, Debug)]
struct Recent {
    time_ns: i64,
    print: u64,
    place: u32,
    side: Side,
    has_copy: bool,
}

/// Properties that differ on both sides of a hop: a router counts the TTL down, a switch tags frames in another way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Side {
    layers: Layers,
    interface: u32,
    ttl: u8,
}

impl Side {
    fn of(segment: &Segment) -> Side {
        Side { layers: segment.layers, interface: segment.interface, ttl: segment.ttl }
    }
}

/// The same packet within this time was captured or carried twice.
pub(crate) const DOUBLED_NS: i64 = 1_000_000;
/// Copies that the network made come this soon, if packets have an identification: a slow link has sent one by then.
const COPIED_NS: i64 = 1_000_000_000;
/// Number of last packets of a direction that each packet is compared with: the least, and the most if they came within
/// `DOUBLED_NS`. Two interfaces of a fast router have many packets between one and its copy.
const RECENT: [usize; 2] = [4, 64];

/// How a packet compares with those just before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doubled {
    No,
    /// Captured at two places.
    ByCapture,
    /// At once, at the same place: only other packets tell whether capture or network had two of it.
    AtOnce,
    /// The network had two of it.
    ByNetwork,
}

/// A direction of a connection.
#[derive(Debug, Default)]
pub(crate) struct Half {
    pub(crate) counters: Counters,
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: i64,
    pub(crate) sequence: Sequence,
    /// Highest end of payload seen.
    pub(crate) nxt: i64,
    /// Highest byte acknowledged by the other side.
    pub(crate) una: i64,
    pub(crate) is_acked: bool,
    pub(crate) syn_seq: Option<u32>,
    pub(crate) fin_end: Option<i64>,
    pub(crate) fin_acked: bool,
    /// Window scale of this side's SYN, `Some(None)` without that option; `None` if the SYN is missing, or was cut.
    pub(crate) scale: Option<Option<u8>>,
    /// The least scale that what was sent towards this side allows, if that of its windows is not known.
    pub(crate) least_scale: u8,
    /// The window that this side offers, as sent; not yet known if it sent no more than a SYN.
    pub(crate) window: u16,
    pub(crate) has_window: bool,
    /// A side that timestamps packets: values that wait for their echo, with whether the packet had data.
    pub(crate) stamps: VecDeque<(u32, i64, bool)>,
    /// How long its answers take to come back to the capture, ns; 0 if the capture is near, or that is not known.
    pub(crate) away_ns: i64,
    /// True if the sender timestamps packets, which takes room for data.
    pub(crate) has_stamps: bool,
    /// The oldest first.
    recent: VecDeque<Recent>,
}

/// Timestamps that wait for their echo at most.
const MOST_STAMPS: usize = 16 * 1024;

impl Half {
    /// Whether `segment` is one of the last packets again.
    pub(crate) fn doubled(&mut self, segment: &Segment) -> Doubled {
        let print = print(segment);
        let is_same = |one: &Recent| {
            let most = if one.place == segment.place { COPIED_NS } else { DOUBLED_NS };
            one.print == print && segment.time_ns.saturating_sub(one.time_ns).abs() <= most
        };
        let found = self.recent.iter_mut().rev().find(|one| is_same(one)).map(|one| {
            one.has_copy = true;
            *one
        });
        match found {
            None => {
                self.remember(segment, print);
                Doubled::No
            }
            Some(one) if one.place != segment.place => Doubled::ByCapture,
            Some(one) if segment.time_ns.saturating_sub(one.time_ns).abs() <= DOUBLED_NS => Doubled::AtOnce,
            Some(_) => by_network(segment),
        }
    }

    fn remember(&mut self, segment: &Segment, print: u64) {
        let is_old = |one: &Recent| segment.time_ns.saturating_sub(one.time_ns).abs() > DOUBLED_NS;
        let recent = &mut self.recent;
        while recent.len() >= RECENT[1] || recent.len() >= RECENT[0] && recent.front().is_some_and(is_old) {
            recent.pop_front();
        }
        let (place, side) = (segment.place, Side::of(segment));
        recent.push_back(Recent { time_ns: segment.time_ns, print, place, side, has_copy: false });
    }

    /// Number of the last packets whose copies may still come.
    pub(crate) fn waiting(&self, now: i64) -> u64 {
        let waits = |one: &&Recent| !one.has_copy && now.saturating_sub(one.time_ns).abs() <= DOUBLED_NS;
        self.recent.iter().filter(waits).count() as u64
    }

    /// Whether one of the last packets, if it is `segment`, was on the other side of a hop; `None` if none is.
    pub(crate) fn is_across_a_hop(&self, segment: &Segment) -> Option<bool> {
        let (print, side) = (print(segment), Side::of(segment));
        let since = |one: &Recent| segment.time_ns.saturating_sub(one.time_ns).abs();
        let mut same = self.recent.iter().filter(|one| one.print == print && since(one) <= COPIED_NS).peekable();
        same.peek()?;
        Some(same.any(|one| one.side != side && since(one) <= DOUBLED_NS))
    }

    /// Count a packet.
    pub(crate) fn count(&mut self, segment: &Segment) {
        let counters = &mut self.counters;
        let flags = segment.flags;
        if self.start_ns.is_none() {
            self.start_ns = Some(segment.time_ns);
            counters.ttl = u64::from(segment.ttl);
            counters.window_min_bytes = u64::MAX;
            counters.segment_min_bytes = u64::MAX;
        }
        self.end_ns = self.end_ns.max(segment.time_ns);
        counters.packets += 1;
        counters.ip_bytes += u64::from(segment.ip_bytes);
        counters.frame_bytes += u64::from(segment.frame_bytes);
        counters.ttl = counters.ttl.min(segment.ttl.into());
        let has = |flag| u64::from(flags.has(flag));
        counters.ack_packets += has(Flags::ACK);
        counters.syns += has(Flags::SYN);
        counters.fins += has(Flags::FIN);
        counters.resets += has(Flags::RST);
        counters.pushed_packets += has(Flags::PSH);
        counters.urgent_packets += has(Flags::URG);
        counters.ece_packets += has(Flags::ECE);
        counters.cwr_packets += has(Flags::CWR);
        counters.ce_packets += u64::from(segment.ecn == 3);
        counters.cut_options += u64::from(!segment.options_complete);
        if flags.has(Flags::RST) {
            counters.reset_bytes += u64::from(segment.payload);
        }
        counters.sack_packets += u64::from(segment.sack_count > 0);
        counters.sack_blocks_max = counters.sack_blocks_max.max(segment.sack_count.into());
        let control = Flags::SYN.0 | Flags::FIN.0 | Flags::RST.0;
        let is_pure = flags.has(Flags::ACK) && segment.payload == 0 && flags.0 & control == 0;
        counters.pure_acks += u64::from(is_pure);
        if segment.payload > 0 {
            let payload = u64::from(segment.payload);
            counters.data_packets += 1;
            counters.payload_bytes += payload;
            counters.segment_min_bytes = counters.segment_min_bytes.min(payload);
            counters.segment_max_bytes = counters.segment_max_bytes.max(payload);
        }
    }

    /// Count the packets on the wire that `segment` stands for: senders put at most `mss` bytes into one.
    pub(crate) fn count_wire(&mut self, segment: &Segment, mss: u64) {
        let payload = u64::from(segment.payload);
        let is_large = mss > 0 && payload > mss;
        self.counters.large_packets += u64::from(is_large);
        self.counters.wire_packets += if is_large { payload.div_ceil(mss) } else { 1 };
    }

    /// Count the window of a packet, `bytes` after scaling.
    pub(crate) fn count_window(&mut self, segment: &Segment, bytes: u64) {
        if segment.flags.0 & (Flags::SYN.0 | Flags::RST.0) != 0 || !segment.flags.has(Flags::ACK) {
            return;
        }
        (self.window, self.has_window) = (segment.window, true);
        self.counters.window_min_bytes = self.counters.window_min_bytes.min(bytes);
        self.counters.window_max_bytes = self.counters.window_max_bytes.max(bytes);
        self.counters.zero_windows += u64::from(segment.window == 0 && !segment.flags.has(Flags::FIN));
    }

    /// Remember a timestamp until its echo comes.
    pub(crate) fn stamp(&mut self, value: u32, time_ns: i64, has_data: bool) {
        let is_newer = self.stamps.back().is_none_or(|&(last, ..)| (value.wrapping_sub(last) as i32) > 0);
        if is_newer {
            if self.stamps.len() == MOST_STAMPS {
                self.stamps.pop_front();
            }
            self.stamps.push_back((value, time_ns, has_data));
        }
    }

    /// The packet that first had the timestamp `echo`: its time, and whether it had data. Older ones are forgotten.
    pub(crate) fn echoed(&mut self, echo: u32) -> Option<(i64, bool)> {
        while let Some(&(value, time_ns, has_data)) = self.stamps.front() {
            match echo.wrapping_sub(value) as i32 {
                0 => {
                    self.stamps.pop_front();
                    return Some((time_ns, has_data));
                }
                1.. => self.stamps.pop_front(),
                _ => return None,
            };
        }
        None
    }
}

/// The cause of a copy at the same place, if captures hold each packet once.
pub(crate) fn by_network(segment: &Segment) -> Doubled {
    // Without an identification, duplicate ACKs look the same.
    if segment.payload > 0 && segment.ip_id != 0 { Doubled::ByNetwork } else { Doubled::No }
}

/// A number that differs for packets that differ.
fn print(segment: &Segment) -> u64 {
    let mut print = u64::from(segment.seq) << 32 | u64::from(segment.ack);
    let identity = if segment.ip_id != 0 { segment.ip_id } else { segment.checksum };
    let tsval = segment.timestamps.map_or(0, |(value, _)| value);
    for word in [
        u64::from(segment.payload) << 16 | u64::from(segment.flags.0),
        u64::from(identity) << 32 | u64::from(tsval),
        u64::from(segment.window) << 32 | u64::from(segment.sack[0].1),
    ] {
        print = (print ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    print
}
