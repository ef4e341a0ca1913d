//! The figures from the samples of a link. They take 8 bytes per sampling interval, where packets wait in line, and 32
//! where a flow has a size.

use plan::{Link, LinkFacts};
use units::Time;

use crate::arithmetic::{Percentiles, share};

/// The values of a row of `links` that figures need.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkSample {
    /// The time of the row.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// Bytes that have left the serializer so far.
    pub departed_bytes: u64,
    /// Packets that have left the serializer so far.
    pub departed_packets: u64,
    /// Packets that it has marked so far.
    pub marked_packets: u64,
    /// Bytes that it could have sent so far; `None` without a limit.
    pub capacity_bytes: Option<u64>,
    /// Bytes that wait now.
    pub queue_bytes: u64,
    /// The most bytes that waited since the row before.
    pub queue_bytes_max: u64,
}

/// The samples of a link.
#[derive(Clone, Debug)]
pub struct LinkSamples {
    /// The time over which its utilisation is taken.
    span: (Time, Time),
    /// Queue length in ms per byte, if that is how long packets wait and nothing else tells it.
    ms_per_byte: Option<f64>,
    queue_bytes: Vec<u64>,
    queue_bytes_max: u64,
    /// Departed bytes and capacity: the last by the start of the span, and by its end.
    before: Option<(u64, Option<u64>)>,
    by_end: Option<(u64, Option<u64>)>,
    /// True if the link had no limit at some time in the span.
    was_unlimited: bool,
    /// Departed bytes and capacity over time, if a flow has a size: when the last one is complete is known at the end.
    course: Option<Vec<(Time, u64, Option<u64>)>>,
    /// Marked and departed packets.
    marked: (u64, u64),
}

impl LinkSamples {
    pub(crate) fn new(span: (Time, Time), link: &Link, facts: &LinkFacts) -> LinkSamples {
        LinkSamples {
            span,
            ms_per_byte: wait_per_byte(link, facts),
            queue_bytes: Vec::new(),
            queue_bytes_max: 0,
            before: None,
            by_end: None,
            was_unlimited: false,
            course: None,
            marked: (0, 0),
        }
    }

    /// Flows of the run have a size: its utilisation until the last one is complete is asked for.
    pub(crate) fn beside_transfers(self) -> LinkSamples {
        LinkSamples { course: Some(Vec::new()), ..self }
    }

    pub(crate) fn add(&mut self, sample: &LinkSample) {
        if self.ms_per_byte.is_some() {
            self.queue_bytes.push(sample.queue_bytes);
            self.queue_bytes_max = self.queue_bytes_max.max(sample.queue_bytes_max);
        }
        self.marked = (sample.marked_packets, sample.departed_packets);
        if let Some(course) = &mut self.course {
            course.push((sample.time, sample.departed_bytes, sample.capacity_bytes));
        }
        let used = Some((sample.departed_bytes, sample.capacity_bytes));
        let (start, end) = self.span;
        if sample.time <= start {
            self.before = used;
        } else if sample.time <= end {
            self.by_end = used;
            self.was_unlimited |= sample.capacity_bytes.is_none();
        }
    }

    /// The share of its capacity that was used within the span; `None` if it had no rate at a time, or could send nothing.
    pub(crate) fn utilisation(&self) -> Option<f64> {
        let (sent_before, could_before) = self.before.unwrap_or((0, Some(0)));
        let (sent, could) = self.by_end.filter(|_| !self.was_unlimited)?;
        share(sent - sent_before, could? - could_before?)
    }

    /// The share of its capacity that was used from the run's start to the last sample by `end`; `None` if it had no rate
    /// at a time, or there is no such sample.
    pub(crate) fn utilisation_until(&self, end: Time) -> Option<f64> {
        let course = self.course.as_deref()?;
        let until = &course[..course.partition_point(|&(time, ..)| time <= end)];
        let &(_, sent, could) = until.last().filter(|_| until.iter().all(|(.., could)| could.is_some()))?;
        share(sent, could?)
    }

    /// The share of the packets that left it on which it set Congestion Experienced; `None` if none did.
    pub(crate) fn marked_share(&self) -> Option<f64> {
        share(self.marked.0, self.marked.1)
    }

    /// The time in the queue as the waiting bytes tell it, ms, if they do.
    pub(crate) fn waits(&mut self) -> Option<Percentiles> {
        let ms_per_byte = self.ms_per_byte?;
        let ms = |bytes: u64| bytes as f64 * ms_per_byte;
        let sampled = Percentiles::of(&mut self.queue_bytes, ms)?;
        Some(Percentiles { max: sampled.max.max(ms(self.queue_bytes_max)), ..sampled })
    }
}

/// The delay that a waiting byte causes to those behind it, ms: known only if the rate is constant and packets leave in
/// the order of their arrival.
fn wait_per_byte(link: &Link, facts: &LinkFacts) -> Option<f64> {
    let rate = link.rate_bps.filter(|_| facts.is_steady && facts.is_first_in_first_out)?;
    Some(8e3 / rate.as_bps() as f64)
}
