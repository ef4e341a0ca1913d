//! Datagrams in fragments: lengths and headers, no payload.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::Segment;
use crate::decode::Fragment;

/// Datagrams that are waited for at once.
const MOST: usize = 1_024;
/// Time after which a datagram is given up, as Linux does.
const PATIENCE_NS: i64 = 30_000_000_000;

/// Addresses, network and identification of a datagram.
type Key = ([u8; 16], [u8; 16], u64, u32);

/// Datagrams of which fragments are missing so far.
#[derive(Default)]
pub(crate) struct Fragments {
    open: HashMap<Key, Datagram, RandomState>,
    /// Datagrams that were given up.
    pub(crate) given_up: u64,
}

struct Datagram {
    since_ns: i64,
    received: u64,
    total: Option<u64>,
    segment: Option<Segment>,
}

impl Fragments {
    /// Take a fragment. The datagram's segment comes with the last one that was missing, at that one's time.
    pub(crate) fn take(&mut self, fragment: &Fragment, now_ns: i64, frame_bytes: u32) -> Option<Segment> {
        let key = (fragment.source, fragment.destination, fragment.network, fragment.piece.id);
        if self.open.len() >= MOST && !self.open.contains_key(&key) {
            self.give_up(now_ns);
        }
        let empty = || Datagram { since_ns: now_ns, received: 0, total: None, segment: None };
        let datagram = self.open.entry(key).or_insert_with(empty);
        datagram.received += u64::from(fragment.length);
        if !fragment.piece.more {
            datagram.total = Some(u64::from(fragment.piece.offset) + u64::from(fragment.length));
        }
        if let Some(segment) = fragment.segment {
            datagram.segment = Some(segment);
        } else if let Some(segment) = &mut datagram.segment {
            segment.frame_bytes = segment.frame_bytes.saturating_add(frame_bytes);
        }
        let total = datagram.total?;
        let mut segment = datagram.segment?;
        if datagram.received < total {
            return None;
        }
        self.open.remove(&key);
        let header = u32::from(segment.header_bytes);
        let whole = u32::try_from(total).ok()?;
        segment.ip_bytes = segment.ip_bytes - segment.payload - header + whole;
        segment.payload = whole.checked_sub(header)?;
        segment.time_ns = now_ns;
        Some(segment)
    }

    /// Datagrams that were given up, or are open still.
    pub(crate) fn missing(&self) -> u64 {
        self.given_up + self.open.len() as u64
    }

    fn give_up(&mut self, now_ns: i64) {
        let before = self.open.len();
        self.open.retain(|_, datagram| now_ns.saturating_sub(datagram.since_ns) < PATIENCE_NS);
        if self.open.len() >= MOST {
            self.open.clear();
        }
        self.given_up += (before - self.open.len()) as u64;
    }
}
