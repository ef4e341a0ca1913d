//! Data below the highest byte: what it is on the wire, and why it came.

use capture::Segment;

use super::{MOST_RANGES, Scope, Stream};
use crate::cause::{Scene, cause};
use crate::rows::{Cause, Class, EventRow, Evidence, Needless};
use crate::scoreboard::Sent;
use crate::table::Sink;

impl Stream {
    /// Data below the highest byte. Returns how many bytes were not seen before.
    pub(super) fn below(
        &mut self,
        segment: &Segment,
        sent: Sent,
        nxt: i64,
        una: i64,
        scope: &Scope,
        sink: &mut impl Sink,
    ) -> i64 {
        let (start, end, now) = (sent.start, sent.end, sent.first_ns);
        let below = end.min(nxt);
        let seen = (self.front.min(below) - start).max(0) + self.seen.covered(start.max(self.front), below);
        let unseen = (below - start) - seen;
        let class = match (seen, unseen) {
            (_, 0) if end <= nxt => Class::Repeat,
            (0, _) => Class::Fill,
            _ => Class::Overlap,
        };
        let known = self.board.at(start).copied();
        let above = self.board.behind(end).copied();
        let is_double = class == Class::Repeat
            && (scope.is_doubled
                || known.is_some_and(|one| {
                    segment.ip_id != 0 && one.ip_id == segment.ip_id && one.tsval == sent.tsval && one.end >= end
                }));
        let copy = known.map(|one| (one.tsval, one.ip_id)).or_else(|| self.copy_of(start));
        let since_ns = match (class, known) {
            (Class::Fill, _) => Some(now - self.hole_ns),
            (_, Some(one)) => Some(now - one.last_ns),
            _ => None,
        };
        let scene = Scene {
            start,
            end,
            una,
            nxt,
            since_sent_ns: since_ns.unwrap_or(i64::MAX / 4),
            since_news_ns: now - self.news_ns,
            since_data_ns: now - self.data_ns,
            rto_ns: self.timer.rto_ns(),
            srtt_ns: self.timer.srtt_ns(),
            is_below_sack: start < self.board.sacked_to && self.board.sacked_to > una,
            is_overtaken: known.map(|one| self.board.is_overtaken(&one)),
            duplicate_acks: self.duplicate_acks,
            is_again: known.is_some_and(|one| one.copies > 1),
            timeout_to: self.timeout_to.filter(|&to| to > una),
            recovery_to: self.recovery_to.filter(|&to| to > una),
        };
        let late = copy.filter(|_| class == Class::Repeat).and_then(|copy| is_older(segment, copy));
        let (why, evidence, sure) = if is_double {
            (Cause::NetworkDuplicate, Evidence::Identification, true)
        } else if let Some((evidence, sure)) = late {
            // The copy seen before was the retransmission: this one is the original, which came late.
            (Cause::Reordered, evidence, sure)
        } else if class == Class::Fill {
            self.filled(segment, &sent, above.as_ref(), &scene)
        } else {
            cause(&scene)
        };
        self.causes[why as usize] += 1;
        let is_sent_again = !matches!(why, Cause::Reordered | Cause::NetworkDuplicate);
        if is_sent_again {
            match why {
                Cause::Timeout => {
                    self.timeout_to = Some(nxt);
                    self.board.time_out(now);
                }
                _ => self.recovery_to = self.recovery_to.filter(|&to| to > una).or(Some(nxt)),
            }
        }
        let is_acknowledged = scope.is_acked && end <= una;
        let needless = (is_sent_again && is_acknowledged).then_some(Needless::Acknowledged);
        self.needless += u64::from(needless.is_some());
        if class == Class::Fill {
            self.fills += 1;
            self.lost_before += u64::from(is_sent_again);
        } else {
            self.lost_behind += u64::from(is_sent_again && needless.is_none());
        }
        // The scoreboard: what is not acknowledged.
        if class == Class::Fill || unseen > 0 {
            self.fill(sent, nxt, una, is_sent_again);
        }
        if is_sent_again && class != Class::Fill {
            let reneged = self.board.repeat(start.max(una), below, now, sent.tsval, sent.ip_id);
            self.reneged += reneged as u64;
        }
        self.take_seen(start, end);
        let class = if is_double { Class::Duplicate } else { class };
        let row = EventRow {
            bytes: segment.payload,
            cause: Some(why),
            evidence: Some(evidence),
            sure,
            delay_ns: since_ns,
            needless,
            tsval: segment.timestamps.map(|(value, _)| value),
            ip_id: segment.ip_id,
            ..EventRow::bare(self.connection, self.direction, class, start, now)
        };
        self.event(row, sink);
        unseen + (end - nxt).max(0)
    }

    /// TSval and IP identification of the last copy of the byte `place` that was no new data.
    fn copy_of(&self, place: i64) -> Option<(u32, u16)> {
        let is_it = |event: &&EventRow| {
            event.class != Class::Unseen && event.seq <= place && place < event.seq + i64::from(event.bytes)
        };
        let event = self.events.iter().rev().take(256).find(is_it)?;
        Some((event.tsval?, event.ip_id))
    }

    /// Why a hole was filled.
    pub(super) fn filled(
        &self,
        segment: &Segment,
        sent: &Sent,
        above: Option<&Sent>,
        scene: &Scene,
    ) -> (Cause, Evidence, bool) {
        let retransmitted = |sure: bool| {
            let (why, evidence, is_sure) = cause(scene);
            (why, evidence, is_sure && sure)
        };
        if let Some(above) = above {
            let older = |a: u32, b: u32| (a.wrapping_sub(b) as i32).signum();
            if segment.timestamps.is_some() {
                match older(sent.tsval, above.tsval) {
                    -1 => return (Cause::Reordered, Evidence::Timestamp, true),
                    1 => return retransmitted(true),
                    _ => {}
                }
            }
            let apart = sent.ip_id.wrapping_sub(above.ip_id) as i16;
            if sent.ip_id != 0 && above.ip_id != 0 && apart.unsigned_abs() < 1_024 {
                if apart < 0 {
                    return (Cause::Reordered, Evidence::Identification, false);
                }
                return retransmitted(false);
            }
        }
        let least = self.rtt_back.least_ns.or(self.rtt.least_ns);
        if self.duplicate_acks < 3 && least.is_none_or(|least| scene.since_sent_ns < least) {
            return (Cause::Reordered, Evidence::LeastRtt, false);
        }
        retransmitted(false)
    }

    /// Put what is new of a segment below `nxt` on the scoreboard.
    pub(super) fn fill(&mut self, sent: Sent, nxt: i64, una: i64, is_sent_again: bool) {
        let mut at = sent.start.max(una);
        let copies = if is_sent_again { 2 } else { 1 };
        while at < sent.end {
            if let Some(there) = self.board.at(at) {
                at = there.end;
                continue;
            }
            let next = self.board.behind(at).map_or(i64::MAX, |one| one.start);
            let part = Sent { start: at, end: sent.end.min(next), copies, is_fill: true, ..sent };
            at = part.end;
            if part.start >= nxt { self.board.push(part) } else { self.board.insert(part) }
        }
    }

    /// The bytes were seen.
    pub(super) fn take_seen(&mut self, start: i64, end: i64) {
        if start <= self.front || self.seen.len() >= MOST_RANGES {
            self.front = self.front.max(end);
        } else {
            self.seen.add(start, end);
        }
        self.front = self.seen.forget(self.front);
        if self.seen.len() == 0 {
            self.hole_ns = i64::MAX / 4;
        }
    }
}

/// Whether a packet was sent before the copy with this TSval and IP identification, by what, and whether that is sure.
fn is_older(segment: &Segment, (tsval, ip_id): (u32, u16)) -> Option<(Evidence, bool)> {
    let (value, _) = segment.timestamps?;
    let apart = segment.ip_id.wrapping_sub(ip_id) as i16;
    match value.wrapping_sub(tsval) as i32 {
        ..0 => Some((Evidence::Timestamp, true)),
        0 if segment.ip_id != 0 && ip_id != 0 && (-1_024..0).contains(&apart) => {
            Some((Evidence::Identification, false))
        }
        _ => None,
    }
}
