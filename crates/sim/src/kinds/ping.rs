use datagrams::{Echo, Echoes};
use link::Ecn;
use rows::kinds::{KindRow, PingRow};
use units::{Duration, Time};

use super::{Arrived, Ends, Outbox};
use crate::segment::Segment;
use crate::tcp::AckReport;
use crate::traffic::FlowReport;

/// A flow of echo requests: both of its ends.
#[derive(Clone, Debug)]
pub(crate) struct Ping {
    index: u16,
    start: Time,
    stop: Time,
    interval: Duration,
    payload: u32,
    echoes: Echoes,
    answered_bytes: u64,
}

impl Ping {
    pub(crate) fn new(index: u16, flow: &plan::Flow, interval: Duration, payload: u32) -> Ping {
        let (start, stop) = (flow.start_ns, flow.stop_ns);
        Ping { index, start, stop, interval, payload, echoes: Echoes::default(), answered_bytes: 0 }
    }

    fn row(&self, echo: &Echo) -> KindRow {
        let &Echo { number, sent, rtt, is_lost } = echo;
        PingRow { flow: self.index, number, sent, rtt, is_lost }.into()
    }

    fn send(&mut self, now: Time, out: &mut Vec<Segment>) {
        out.push(Segment { seq: self.echoes.next(), len: self.payload, ..Segment::default() });
        self.echoes.send(now);
    }
}

impl Ends for Ping {
    /// The time at which the next request is due; [`Time::NEVER`] after the last.
    fn next(&self) -> Time {
        let due = self.start + Duration(self.interval.as_nanos() * self.echoes.next() as i64);
        if due < self.stop { due } else { Time::NEVER }
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.send(now, out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.next() <= now {
            self.send(now, out);
        }
    }

    fn stop(&mut self) -> bool {
        true
    }

    fn at_sender(&mut self, answer: &Segment, _: Ecn, now: Time, outbox: &mut Outbox) -> Option<AckReport> {
        let echo = self.echoes.answer(answer.seq, now)?;
        self.answered_bytes += u64::from(answer.len);
        outbox.rows.push(self.row(&echo));
        None
    }

    fn finish(&self, end: Time, rows: &mut Vec<KindRow>) {
        rows.extend(self.echoes.unanswered(end).map(|echo| self.row(&echo)));
    }

    fn at_receiver(&mut self, request: &Segment, _: Ecn, _: Time, out: &mut Vec<Segment>) -> Arrived {
        out.push(Segment { is_reply: true, ..*request });
        Arrived::default()
    }

    /// Payload that came back.
    fn received_bytes(&self) -> u64 {
        self.answered_bytes
    }

    fn sent_bytes(&self) -> u64 {
        self.echoes.next() * u64::from(self.payload)
    }

    fn report(&self, now: Time, report: FlowReport) -> FlowReport {
        FlowReport { echoes: Some(self.echoes.counts(now)), ..report }
    }
}
