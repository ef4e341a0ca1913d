use anyhow::Result;
use link::{Ecn, Stream};
use plan::{Bursts, On, OnOff};
use units::Time;

use super::{Arrived, Ends, Outbox};
use crate::algorithm::Algorithms;
use crate::segment::Segment;
use crate::tcp::{AckReport, Receiver, Sender, Settings};
use crate::traffic::FlowReport;

/// A flow without a size has this much to say: an exabyte.
const ENDLESS: u64 = 1 << 60;

/// A TCP connection whose application always has more to send, or pauses now and then.
#[derive(Debug)]
pub(crate) struct Tcp {
    sender: Sender,
    receiver: Receiver,
    bytes: Option<u64>,
    bursts: Option<Box<Bursts>>,
}

impl Tcp {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        flow: &plan::Flow,
        (from, to): (Settings, Settings),
        algorithms: &Algorithms<'_>,
        seed: u64,
        cc: &str,
        bytes: Option<u64>,
        ecn: bool,
        on_off: Option<OnOff>,
    ) -> Result<Tcp> {
        let create = || algorithms.create(cc, &flow.id);
        let algorithm = create()?;
        let seed = Stream::new(seed, &format!("flow/{}/cc", flow.id)).at(0);
        let observer = if algorithm.needs_ecn() { Some(create()?) } else { None };
        let receiver = Receiver::new(to, observer);
        let bursts = on_off.map(|pattern| Box::new(Bursts::new(pattern, flow.start_ns)));
        let mut sender = Sender::new(from, algorithm, seed, ecn);
        match on_off.map(|pattern| pattern.on) {
            None => sender.write_ahead(plan::BULK_WRITE_BYTES, u32::MAX),
            Some(On::Bytes(_)) => sender.write_ahead(OnOff::WRITE_BYTES, u32::MAX),
            Some(On::Ns(_)) => sender.write_ahead(OnOff::WRITE_BYTES, OnOff::AHEAD_BYTES),
        }
        Ok(Tcp { sender, receiver, bytes, bursts })
    }

    /// The application writes all that it has to say now.
    fn write(&mut self, now: Time, out: &mut Vec<Segment>) {
        let said = self.sender.said_bytes();
        let burst = self.bursts.as_ref().and_then(|bursts| bursts.may_write(said));
        self.sender.write(self.bytes.or(burst).unwrap_or(ENDLESS), now, out);
    }
}

impl Ends for Tcp {
    #[inline]
    fn next(&self) -> Time {
        let turn = self.bursts.as_ref().map_or(Time::NEVER, |bursts| bursts.next());
        self.sender.next_timer().min(turn)
    }

    fn begin(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.connect(now, out);
        self.write(now, out);
        if self.bytes.is_some() {
            self.sender.close(now, out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.sender.on_timer(now, out);
        let Some(bursts) = self.bursts.as_mut().filter(|bursts| bursts.next() <= now) else { return };
        bursts.turn();
        if bursts.is_on() {
            self.write(now, out);
        } else {
            self.sender.pause();
        }
    }

    fn stop(&mut self) -> bool {
        let is_complete = self.bytes.is_none() && self.sender.is_established();
        self.sender.abort();
        self.receiver.abort();
        is_complete
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.sender.is_finished()
    }

    #[inline]
    fn outlives_its_stop(&self) -> bool {
        false
    }

    #[inline]
    fn at_sender(&mut self, segment: &Segment, _: Ecn, now: Time, outbox: &mut Outbox) -> Option<AckReport> {
        self.sender.on_segment(segment, now, &mut outbox.segments)
    }

    #[inline]
    fn at_receiver(&mut self, segment: &Segment, ecn: Ecn, now: Time, out: &mut Vec<Segment>) -> Arrived {
        let before = self.receiver.received_bytes();
        self.receiver.on_segment(segment, ecn, now, out);
        let received = self.receiver.received_bytes();
        if let Some(bursts) = &mut self.bursts {
            bursts.arrived(received, now);
        }
        Arrived { delay: None, is_news: received > before, is_complete: self.bytes == Some(received) }
    }

    #[inline]
    fn next_of_receiver(&self) -> Time {
        self.receiver.next_timer()
    }

    fn on_receiver_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        self.receiver.on_timer(now, out);
    }

    fn has_read(&self, now: Time) -> bool {
        self.receiver.awaited_read() <= now
    }

    fn forget_syn(&mut self) {
        self.receiver.forget_syn();
    }

    #[inline]
    fn is_driven_by_receiver(&self) -> bool {
        self.bursts.as_ref().is_some_and(|bursts| bursts.are_of_bytes())
    }

    #[inline]
    fn sender(&self) -> Option<&Sender> {
        Some(&self.sender)
    }

    fn received_bytes(&self) -> u64 {
        self.receiver.received_bytes()
    }

    fn sent_bytes(&self) -> u64 {
        self.sender.counters().bytes_sent
    }

    fn report(&self, _: Time, report: FlowReport) -> FlowReport {
        let counters = self.sender.counters();
        FlowReport {
            is_connected: self.sender.has_connected(),
            sent_bytes: counters.bytes_sent - counters.bytes_retransmitted,
            retransmitted_segments: counters.segments_retransmitted,
            busy_us: counters.busy_us,
            rwnd_limited_us: counters.rwnd_limited_us,
            sndbuf_limited_us: counters.sndbuf_limited_us,
            ..report
        }
    }
}
