use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rate, Time};

use crate::carrier::Carrier;
use crate::impairments::{Chance, Jitter, Loss, Reorder};
use crate::queue::{Buffer, Queue};

/// A unidirectional link: loss before -> duplication -> policer -> queue -> slots -> serializer -> propagation (delay,
/// jitter, reordering, corruption) -> loss after.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Unique among links.
    pub name: String,
    /// The node that sends into it.
    pub from: String,
    /// The node that it delivers to.
    pub to: String,
    /// `false`: what comes is dropped, what waits is dropped; what propagates arrives.
    #[serde(default = "up")]
    pub up: bool,
    /// While it is down: the carrier of the interfaces at its ends.
    #[serde(default, skip_serializing_if = "Carrier::is_default")]
    #[schemars(extend("default" = Carrier::default()))]
    pub carrier: Carrier,
    /// The rate of whole frames plus `overhead_bytes`; the mean of `variation` where there is one. `None`: no limit,
    /// packets never wait.
    pub rate_bps: Option<Rate>,
    /// The changes of the rate by itself; `None`: it doesn't.
    #[serde(default)]
    pub variation: Option<Variation>,
    /// The times at which the link may send; `None`: at any time.
    #[serde(default)]
    pub slots: Option<Slots>,
    /// Drops what exceeds a rate, before the queue.
    #[serde(default)]
    pub policer: Option<Policer>,
    /// Added to each frame's size on this link, in its rate and its buffer.
    pub overhead_bytes: u32,
    /// Room for waiting packets, the one in service not counted.
    pub buffer: Buffer,
    /// The discipline that decides which packets wait, leave, are marked and dropped.
    #[serde(default)]
    pub queue: Queue,
    /// Propagation, after serialisation: no packet is faster. The least of `delays` where there are some.
    pub delay_ns: Duration,
    /// The changes of the propagation by itself; `None`: it doesn't change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<Delays>,
    /// Comes on top of `delay_ns`.
    #[serde(default)]
    pub jitter: Option<Jitter>,
    /// Packets whose delay is smaller overtake others; if not, they arrive together with the one before.
    #[serde(default)]
    pub reordering: bool,
    /// Some packets skip the delay.
    #[serde(default)]
    pub reorder: Option<Reorder>,
    /// At most this many packets propagate at a time, others are dropped, as in netem's `limit`. `None`: any number.
    #[serde(default)]
    pub delay_line_packets: Option<u64>,
    /// Processes that lose packets before the queue, each on its own.
    #[serde(default)]
    pub loss_before: Vec<Loss>,
    /// Processes that lose packets after serialisation.
    #[serde(default)]
    pub loss_after: Vec<Loss>,
    /// Some packets come twice: the copy enters the queue right behind its original.
    #[serde(default)]
    pub duplication: Option<Chance>,
    /// One bit of some packets is flipped while they propagate.
    #[serde(default)]
    pub corruption: Option<Chance>,
    /// Some packets of ECN-capable flows are marked Congestion Experienced as they leave the serializer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<Chance>,
    /// The interface of `from` that it leaves; `None` at a switch, and in a core network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_interface: Option<String>,
    /// The interface of `to` at which it ends; `None` at a switch, and in a core network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_interface: Option<String>,
    /// The paths of a lab network are those of the least sum; 1 at least.
    #[serde(default = "unit_cost", skip_serializing_if = "is_one")]
    #[schemars(extend("default" = unit_cost()))]
    pub cost: NonZeroU32,
}

fn up() -> bool {
    true
}

fn unit_cost() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn is_one(cost: &NonZeroU32) -> bool {
    *cost == unit_cost()
}

impl Link {
    /// A link without a limit, on which nothing happens to a packet.
    pub fn transparent(name: &str, from: &str, to: &str) -> Link {
        Link {
            name: name.into(),
            from: from.into(),
            to: to.into(),
            up: true,
            carrier: Carrier::Kept,
            rate_bps: None,
            variation: None,
            slots: None,
            policer: None,
            overhead_bytes: 0,
            buffer: Buffer::Unlimited,
            queue: Queue::default(),
            delay_ns: Duration::ZERO,
            delays: None,
            jitter: None,
            reordering: false,
            reorder: None,
            delay_line_packets: None,
            loss_before: Vec::new(),
            loss_after: Vec::new(),
            duplication: None,
            corruption: None,
            marking: None,
            from_interface: None,
            to_interface: None,
            cost: unit_cost(),
        }
    }

    /// True if both links leave and reach the same places, at the same cost: an event changes none of that.
    pub(crate) fn is_between_the_ends_of(&self, other: &Link) -> bool {
        fn ends(link: &Link) -> impl PartialEq + '_ {
            (&link.from, &link.from_interface, &link.to, &link.to_interface, link.cost)
        }
        ends(self) == ends(other)
    }

    /// The largest rate that it has by itself, in bit/s; `None` without a limit. That of a trace is what passes in its best
    /// 100 ms, or in its period, if that is shorter.
    pub fn peak_bps(&self) -> Option<u64> {
        match &self.variation {
            None => self.rate_bps.map(Rate::as_bps),
            Some(Variation::Steps { steps, .. }) => steps.iter().map(|&(_, bps)| bps).max(),
            Some(Variation::AsBefore) => None,
            Some(Variation::Opportunities { times, bytes, period_ns }) => {
                let window = period_ns.as_nanos().min(100_000_000);
                let (mut best, mut inside, mut first) = (0, 0, 0);
                for &(at, count) in times {
                    inside += u128::from(count);
                    while times[first].0.as_nanos() <= at.as_nanos() - window {
                        inside -= u128::from(times[first].1);
                        first += 1;
                    }
                    best = best.max(inside);
                }
                let bits = best * u128::from(*bytes) * 8_000_000_000;
                // No window lies across the end of the period, and so all of them may have less than the mean.
                let mean = self.rate_bps.map_or(1, Rate::as_bps);
                Some(((bits / window as u128) as u64).max(mean))
            }
        }
    }

    /// True if nothing can happen to a packet here: it is counted, not logged.
    pub fn is_transparent(&self) -> bool {
        *self
            == Link {
                overhead_bytes: self.overhead_bytes,
                buffer: self.buffer,
                queue: self.queue.clone(),
                reordering: self.reordering,
                from_interface: self.from_interface.clone(),
                to_interface: self.to_interface.clone(),
                cost: self.cost,
                ..Link::transparent(&self.name, &self.from, &self.to)
            }
    }
}

/// A rate that changes by itself, counted from the run's origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Variation {
    /// Constant between steps.
    Steps {
        /// From when, bits per second (0: nothing leaves). The first is at 0, in the order of time.
        steps: Vec<(Time, u64)>,
        /// Begins again after this; `None`: the last step lasts.
        period_ns: Option<Duration>,
    },
    /// Moments at which up to `bytes` may leave, as in a Mahimahi trace; what is not used is gone.
    Opportunities {
        /// The times, and the number at each, in the order of time.
        times: Vec<(Time, u32)>,
        /// Frames plus overhead that one opportunity carries.
        bytes: u32,
        /// Begins again after this.
        period_ns: Duration,
    },
    /// In an event: the link's rate changes as it did before the event. A plan that was read has no such rate.
    AsBefore,
}

/// A propagation delay that changes by itself, counted from the run's origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delays {
    /// Constant between steps.
    Steps {
        /// From when, and the delay of packets that leave the serializer from then on. The first is at 0, in the order of time.
        steps: Vec<(Time, Duration)>,
        /// Begins again after this; `None`: the last step lasts.
        period_ns: Option<Duration>,
    },
    /// In an event: as before the event. A plan that was read has no such delays.
    AsBefore,
}

/// A link that may only send now and then, as many packets as then wait: a channel that is shared and aggregates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// The least time from one slot to the next.
    pub min_interval_ns: Duration,
    /// The most; uniform between them.
    pub max_interval_ns: Duration,
    /// Packets a slot, at most.
    pub packets: Option<u32>,
    /// Frames plus overhead a slot: none begins once this many are taken.
    pub bytes: Option<u64>,
}

/// A token bucket that drops what finds too few tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policer {
    /// The rate of tokens, in bits per second.
    pub rate_bps: Rate,
    /// The bucket: frames plus overhead. It begins full.
    pub burst_bytes: u64,
}
