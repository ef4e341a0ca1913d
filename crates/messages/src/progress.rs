use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time between two publications of the counts of flows and of links, by the processes that count them.
pub const PUBLICATION: Duration = Duration::from_millis(50);
/// Time between two events of progress, which the supervisor makes of what is published.
pub const PROGRESS: Duration = Duration::from_millis(100);

/// The progress of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowProgress {
    /// The id in the plan.
    pub id: String,
    /// Payload that the receiver's application has read so far.
    pub received_bytes: u64,
    /// The part of it that came since the event before, per second.
    pub goodput_bps: u64,
    /// Smoothed RTT of the sender; `None` if the flow has none.
    pub srtt_us: Option<u32>,
    /// Congestion window of the sender; `None` if the flow has none.
    pub cwnd_packets: Option<u32>,
    /// Segments that the sender has sent again so far; `None` if the flow repeats none.
    pub retransmitted_segments: Option<u32>,
    /// Bytes that the sender takes to be on their way; `None` if the flow has no window.
    pub bytes_in_flight: Option<u64>,
    /// BBR's model of the path; `None` if another algorithm works, or BBR does not tell.
    pub bbr: Option<BbrProgress>,
}

/// BBR's model of the path, as `struct tcp_bbr_info` has it. The gains tell its state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BbrProgress {
    /// The bottleneck's bandwidth, from a max filter.
    pub bw_bps: u64,
    /// The least RTT, from BBR's own min filter.
    pub min_rtt_us: u32,
    /// Factor on the bandwidth for pacing.
    pub pacing_gain: f32,
    /// Factor on the BDP for cwnd.
    pub cwnd_gain: f32,
}

/// The progress of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkProgress {
    /// The name in the plan.
    pub name: String,
    /// Frames and overhead that left its queue since the event before, per second.
    pub rate_bps: u64,
    /// Frames and overhead that wait.
    pub queue_bytes: u64,
    /// Packets that wait.
    pub queue_packets: u64,
    /// Packets that it has dropped so far, random loss excluded.
    pub dropped_packets: u64,
}

/// How late the network was so far, of an engine that works by the machine's clock. At its end a run is judged by these
/// figures and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Packets handed to hosts.
    pub sent_packets: u64,
    /// Packets that were more than 1 ms late.
    pub late_over_1ms: u64,
    /// 99 of 100 packets were at most so late.
    pub lateness_p99_ns: u64,
    /// The longest lateness of a packet.
    pub lateness_max_ns: u64,
    /// 99 of 100 packets were read at most so long after they came.
    pub read_lag_p99_ns: u64,
    /// Packets that found no room in the ring by which they come.
    pub ring_drops: u64,
}

impl Health {
    /// The number of words.
    pub const WORDS: usize = 6;

    /// The figures as words.
    pub fn words(&self) -> [u64; Health::WORDS] {
        let Health { sent_packets, late_over_1ms, lateness_p99_ns, lateness_max_ns, read_lag_p99_ns, ring_drops } =
            *self;
        [sent_packets, late_over_1ms, lateness_p99_ns, lateness_max_ns, read_lag_p99_ns, ring_drops]
    }
}

impl From<[u64; Health::WORDS]> for Health {
    fn from(words: [u64; Health::WORDS]) -> Health {
        let [sent_packets, late_over_1ms, lateness_p99_ns, lateness_max_ns, read_lag_p99_ns, ring_drops] = words;
        Health { sent_packets, late_over_1ms, lateness_p99_ns, lateness_max_ns, read_lag_p99_ns, ring_drops }
    }
}

/// The counts of a flow at a time. The counts as words fit a gauge that processes share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowCounts {
    /// Since the run's origin.
    pub time_ns: i64,
    /// See [`FlowProgress`].
    pub received_bytes: u64,
    /// See [`FlowProgress`].
    pub srtt_us: Option<u32>,
    /// See [`FlowProgress`].
    pub cwnd_packets: Option<u32>,
    /// See [`FlowProgress`].
    pub retransmitted_segments: Option<u32>,
    /// See [`FlowProgress`].
    pub bytes_in_flight: Option<u64>,
    /// See [`FlowProgress`].
    pub bbr: Option<BbrProgress>,
}

/// The counts of a link at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkCounts {
    /// Since the run's origin.
    pub time_ns: i64,
    /// Frames and overhead that left its queue so far.
    pub departed_bytes: u64,
    /// See [`LinkProgress`].
    pub queue_bytes: u64,
    /// See [`LinkProgress`].
    pub queue_packets: u64,
    /// See [`LinkProgress`].
    pub dropped_packets: u64,
}

const NONE: u64 = u64::MAX;

fn word(value: Option<u32>) -> u64 {
    value.map_or(NONE, u64::from)
}

fn value(word: u64) -> Option<u32> {
    u32::try_from(word).ok()
}

impl BbrProgress {
    /// Both gains share a word. No number has all bits set, as [`NONE`] has, in both.
    fn words(of: Option<BbrProgress>) -> [u64; 3] {
        of.map_or([NONE; 3], |BbrProgress { bw_bps, min_rtt_us, pacing_gain, cwnd_gain }| {
            let gains = u64::from(pacing_gain.to_bits()) << 32 | u64::from(cwnd_gain.to_bits());
            [bw_bps, u64::from(min_rtt_us), gains]
        })
    }

    fn of([bw_bps, min_rtt, gains]: [u64; 3]) -> Option<BbrProgress> {
        (gains != NONE).then(|| BbrProgress {
            bw_bps,
            min_rtt_us: min_rtt as u32,
            pacing_gain: f32::from_bits((gains >> 32) as u32),
            cwnd_gain: f32::from_bits(gains as u32),
        })
    }
}

impl FlowCounts {
    /// The number of words.
    pub const WORDS: usize = 9;

    /// The counts as words.
    pub fn words(&self) -> [u64; FlowCounts::WORDS] {
        let FlowCounts { time_ns, received_bytes, srtt_us, cwnd_packets, retransmitted_segments, bytes_in_flight, bbr } =
            *self;
        let [bw, min_rtt, gains] = BbrProgress::words(bbr);
        let (srtt, cwnd, again) = (word(srtt_us), word(cwnd_packets), word(retransmitted_segments));
        [time_ns as u64, received_bytes, srtt, cwnd, again, bytes_in_flight.unwrap_or(NONE), bw, min_rtt, gains]
    }
}

impl From<[u64; FlowCounts::WORDS]> for FlowCounts {
    fn from(
        [time, received_bytes, srtt, cwnd, again, in_flight, bw, min_rtt, gains]: [u64; FlowCounts::WORDS],
    ) -> Self {
        FlowCounts {
            time_ns: time as i64,
            received_bytes,
            srtt_us: value(srtt),
            cwnd_packets: value(cwnd),
            retransmitted_segments: value(again),
            bytes_in_flight: (in_flight != NONE).then_some(in_flight),
            bbr: BbrProgress::of([bw, min_rtt, gains]),
        }
    }
}

impl LinkCounts {
    /// The number of words.
    pub const WORDS: usize = 5;

    /// The counts as words.
    pub fn words(&self) -> [u64; LinkCounts::WORDS] {
        let LinkCounts { time_ns, departed_bytes, queue_bytes, queue_packets, dropped_packets } = *self;
        [time_ns as u64, departed_bytes, queue_bytes, queue_packets, dropped_packets]
    }
}

impl From<[u64; LinkCounts::WORDS]> for LinkCounts {
    fn from([time, departed_bytes, queue_bytes, queue_packets, dropped_packets]: [u64; LinkCounts::WORDS]) -> Self {
        LinkCounts { time_ns: time as i64, departed_bytes, queue_bytes, queue_packets, dropped_packets }
    }
}

/// Makes figures of counts: what came between two looks is a rate.
#[derive(Debug)]
pub struct Meter {
    flows: Vec<(String, Rate)>,
    links: Vec<(String, Rate)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    time_ns: i64,
    bytes: u64,
    bps: u64,
}

impl Rate {
    /// The rate since the look before; the same as then if there is nothing new.
    fn at(&mut self, time_ns: i64, bytes: u64) -> u64 {
        if time_ns > self.time_ns {
            let bits = u128::from(bytes.saturating_sub(self.bytes)) * 8_000_000_000;
            *self = Rate { time_ns, bytes, bps: (bits / (time_ns - self.time_ns) as u128) as u64 };
        }
        self.bps
    }
}

impl Meter {
    /// A meter for flows and links of these names.
    pub fn new(flows: impl IntoIterator<Item = String>, links: impl IntoIterator<Item = String>) -> Meter {
        let named = |name| (name, Rate::default());
        Meter { flows: flows.into_iter().map(named).collect(), links: links.into_iter().map(named).collect() }
    }

    /// Figures of all flows, in order.
    pub fn flows(&mut self, counts: impl Iterator<Item = FlowCounts>) -> Vec<FlowProgress> {
        let one = |((id, rate), counts): (&mut (String, Rate), FlowCounts)| FlowProgress {
            id: id.clone(),
            received_bytes: counts.received_bytes,
            goodput_bps: rate.at(counts.time_ns, counts.received_bytes),
            srtt_us: counts.srtt_us,
            cwnd_packets: counts.cwnd_packets,
            retransmitted_segments: counts.retransmitted_segments,
            bytes_in_flight: counts.bytes_in_flight,
            bbr: counts.bbr,
        };
        self.flows.iter_mut().zip(counts).map(one).collect()
    }

    /// Figures of all links, in order.
    pub fn links(&mut self, counts: impl Iterator<Item = LinkCounts>) -> Vec<LinkProgress> {
        let one = |((name, rate), counts): (&mut (String, Rate), LinkCounts)| LinkProgress {
            name: name.clone(),
            rate_bps: rate.at(counts.time_ns, counts.departed_bytes),
            queue_bytes: counts.queue_bytes,
            queue_packets: counts.queue_packets,
            dropped_packets: counts.dropped_packets,
        };
        self.links.iter_mut().zip(counts).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(time_ns: i64, departed_bytes: u64) -> LinkCounts {
        LinkCounts { time_ns, departed_bytes, queue_bytes: 3028, queue_packets: 2, dropped_packets: 1 }
    }

    #[test]
    fn counts_survive_a_gauge() {
        let counts = FlowCounts {
            time_ns: -5,
            received_bytes: 7,
            srtt_us: Some(30_000),
            cwnd_packets: None,
            retransmitted_segments: Some(0),
            bytes_in_flight: Some(14_480),
            bbr: Some(BbrProgress { bw_bps: 9, min_rtt_us: 30_000, pacing_gain: 2.885, cwnd_gain: 0.0 }),
        };
        assert_eq!(FlowCounts::from(counts.words()), counts);
        let other = FlowCounts { bytes_in_flight: None, bbr: None, ..counts };
        assert_eq!(FlowCounts::from(other.words()), other);
        assert_eq!(LinkCounts::from(link(9, 8).words()), link(9, 8));
        let health = Health::from([1, 2, 3, 4, 5, 6]);
        assert_eq!((health.words(), health.lateness_max_ns), ([1, 2, 3, 4, 5, 6], 4));
    }

    #[test]
    fn a_rate_is_over_the_time_between_the_counts_not_between_the_looks() {
        let mut meter = Meter::new([], ["bottleneck".to_owned()]);
        let mut rate = |counts| meter.links(std::iter::once(counts))[0].rate_bps;
        assert_eq!(rate(link(100_000_000, 1_250_000)), 100_000_000);
        assert_eq!(rate(link(180_000_000, 2_250_000)), 100_000_000);
        // Nothing new was counted: the last rate stays.
        assert_eq!(rate(link(180_000_000, 2_250_000)), 100_000_000);
        assert_eq!(rate(link(280_000_000, 2_250_000)), 0);
    }
}
