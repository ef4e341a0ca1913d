use datagrams::{Echo, EchoCounts, Echoes};
use units::{Duration, Time};

use crate::segment::Segment;

/// A flow of echo requests: both of its ends.
#[derive(Clone, Debug)]
pub(crate) struct Ping {
    start: Time,
    stop: Time,
    interval: Duration,
    payload: u32,
    echoes: Echoes,
    answered_bytes: u64,
}

impl Ping {
    pub(crate) fn new(flow: &plan::Flow, interval: Duration, payload: u32) -> Ping {
        let (start, stop) = (flow.start_ns, flow.stop_ns);
        Ping { start, stop, interval, payload, echoes: Echoes::default(), answered_bytes: 0 }
    }

    /// The time at which the next request is due; [`Time::NEVER`] after the last.
    pub(crate) fn next(&self) -> Time {
        let due = self.start + Duration(self.interval.as_nanos() * self.echoes.next() as i64);
        if due < self.stop { due } else { Time::NEVER }
    }

    pub(crate) fn send(&mut self, now: Time, out: &mut Vec<Segment>) {
        out.push(Segment { seq: self.echoes.next(), len: self.payload, ..Segment::default() });
        self.echoes.send(now);
    }

    /// The other end's answer to a request.
    pub(crate) fn reply(request: &Segment, out: &mut Vec<Segment>) {
        out.push(Segment { is_reply: true, ..*request });
    }

    /// An answer arrives. `None` if its request was answered before.
    pub(crate) fn answer(&mut self, answer: &Segment, now: Time) -> Option<Echo> {
        let echo = self.echoes.answer(answer.seq, now)?;
        self.answered_bytes += u64::from(answer.len);
        Some(echo)
    }

    pub(crate) fn unanswered(&self, end: Time) -> impl Iterator<Item = Echo> {
        self.echoes.unanswered(end)
    }

    pub(crate) fn counts(&self, end: Time) -> EchoCounts {
        self.echoes.counts(end)
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.echoes.next() * u64::from(self.payload)
    }

    /// Payload that came back.
    pub(crate) fn answered_bytes(&self) -> u64 {
        self.answered_bytes
    }
}
