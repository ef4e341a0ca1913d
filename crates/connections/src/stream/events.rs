//! Events of a direction: they wait some seconds, so that a later packet can prove a repeat needless, before they become rows.

use capture::Segment;

use super::Stream;
use crate::rows::{Cause, Class, EventRow, Needless};
use crate::table::Sink;

/// Events wait this long for the proof that a repeat was needless.
const PROOF_NS: i64 = 3_000_000_000;
/// Events that wait at most.
const MOST_EVENTS: usize = 1 << 16;

impl Stream {
    /// Records an event without data of its own.
    pub(crate) fn bare(&mut self, class: Class, cause: Option<Cause>, seq: i64, now_ns: i64, sink: &mut impl Sink) {
        let row = EventRow { cause, ..EventRow::bare(self.connection, self.direction, class, seq, now_ns) };
        self.event(row, sink);
    }

    /// Records an event, and gives `sink` those that have waited long enough.
    pub(super) fn event(&mut self, row: EventRow, sink: &mut impl Sink) {
        while let Some(front) = self.events.front() {
            if self.events.len() < MOST_EVENTS && row.time_ns.saturating_sub(front.time_ns) < PROOF_NS {
                break;
            }
            sink.event(*front);
            self.events.pop_front();
        }
        self.events.push_back(row);
        self.event_count += 1;
    }

    /// Records the bytes before `una` that were never seen: the capture lost them.
    pub(super) fn skip_unseen(&mut self, una: i64, now: i64, sink: &mut impl Sink) {
        if una <= self.front {
            return;
        }
        let holes = self.seen.holes(self.front, una);
        self.front = self.seen.forget(una);
        for (start, end) in holes {
            let unseen = end - start;
            self.unseen += unseen as u64;
            let bare = EventRow::bare(self.connection, self.direction, Class::Unseen, start, now);
            let row = EventRow { bytes: u32::try_from(unseen).unwrap_or(u32::MAX), ..bare };
            self.event(row, sink);
        }
    }

    /// Marks repeats as needless whose first copy `segment` acknowledges: the timestamp that it echoes is older than the repeat's
    /// (Eifel, RFC 3522). `before`: the acknowledgement number before this segment; `una`: that of this segment.
    pub(super) fn eifel(&mut self, segment: &Segment, una: i64, before: i64) {
        let Some((_, echo)) = segment.timestamps else { return };
        for event in self.events.iter_mut().rev().take(64) {
            let is_answered = event.seq <= before && before < event.seq + i64::from(event.bytes) && una > before;
            let is_repeat = event.class == Class::Repeat && event.cause != Some(Cause::NetworkDuplicate);
            if let Some(tsval) = event.tsval
                && is_answered
                && is_repeat
                && event.needless.is_none()
                && (echo.wrapping_sub(tsval) as i32) < 0
            {
                event.needless = Some(Needless::Eifel);
                self.needless += 1;
                self.lost_behind = self.lost_behind.saturating_sub(1);
            }
        }
    }

    /// Marks the last repeat of the bytes from `start` to `end` as needless: the receiver reports that it had them twice (RFC 2883).
    pub(crate) fn duplicate_sacked(&mut self, start: i64, end: i64) {
        let is_sent = |(cause, _): &(usize, &u64)| {
            *cause != Cause::Reordered as usize && *cause != Cause::NetworkDuplicate as usize
        };
        let sent_again = self.causes.iter().enumerate().filter(is_sent).map(|(_, count)| count).sum();
        self.patience.duplicate(sent_again, self.board.is_reordered);
        let is_it = |event: &&mut EventRow| {
            let is_repeat = matches!(event.class, Class::Repeat | Class::Overlap | Class::Fill);
            let is_sent_again = !matches!(event.cause, Some(Cause::Reordered | Cause::NetworkDuplicate));
            is_repeat && is_sent_again && event.seq < end && start < event.seq + i64::from(event.bytes)
        };
        if let Some(event) = self.events.iter_mut().rev().take(1_024).find(is_it)
            && event.needless != Some(Needless::DuplicateSack)
        {
            let is_news = event.needless.is_none();
            event.needless = Some(Needless::DuplicateSack);
            self.needless += u64::from(is_news);
            if is_news && event.class != Class::Fill {
                self.lost_behind = self.lost_behind.saturating_sub(1);
            }
        }
    }
}
