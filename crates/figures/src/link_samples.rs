//! What the samples of a link come to: 8 bytes per sampling interval, where packets wait in line.

use plan::{Link, Plan};
use units::Time;

use crate::arithmetic::{Percentiles, share};

/// What figures need of a row of `links`.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkSample {
    /// When.
    pub time: Time,
    /// Index of the link in the plan.
    pub link: u16,
    /// That have left the serializer so far.
    pub departed_bytes: u64,
    /// That have left the serializer so far.
    pub departed_packets: u64,
    /// That it has marked so far.
    pub marked_packets: u64,
    /// What it could have sent so far; `None` without a limit.
    pub capacity_bytes: Option<u64>,
    /// Waiting now.
    pub queue_bytes: u64,
    /// The most that waited since the row before.
    pub queue_bytes_max: u64,
}

/// What was sampled of a link.
#[derive(Clone, Debug)]
pub struct LinkSamples {
    /// Its utilisation is of this time.
    span: (Time, Time),
    /// Queue length in ms per byte, if that is how long packets wait and nothing else tells it.
    ms_per_byte: Option<f64>,
    queue_bytes: Vec<u64>,
    queue_bytes_max: u64,
    /// Departed bytes and capacity: the last by the start of the span, and by its end.
    before: Option<(u64, Option<u64>)>,
    by_end: Option<(u64, Option<u64>)>,
    /// It had no limit at some time in the span.
    was_unlimited: bool,
    /// Marked and departed packets.
    marked: (u64, u64),
}

impl LinkSamples {
    pub(crate) fn new(span: (Time, Time), ms_per_byte: Option<f64>) -> LinkSamples {
        LinkSamples {
            span,
            ms_per_byte,
            queue_bytes: Vec::new(),
            queue_bytes_max: 0,
            before: None,
            by_end: None,
            was_unlimited: false,
            marked: (0, 0),
        }
    }

    pub(crate) fn add(&mut self, sample: &LinkSample) {
        if self.ms_per_byte.is_some() {
            self.queue_bytes.push(sample.queue_bytes);
            self.queue_bytes_max = self.queue_bytes_max.max(sample.queue_bytes_max);
        }
        self.marked = (sample.marked_packets, sample.departed_packets);
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

/// Whether packets can ever wait at a link.
pub(crate) fn can_queue(plan: &Plan, link: &Link) -> bool {
    states(plan, link).any(|link| link.rate_bps.is_some() || link.slots.is_some())
}

/// What a byte that waits means to those behind it, ms: only if the rate is constant and packets leave in the order of their
/// arrival.
pub(crate) fn wait_per_byte(plan: &Plan, link: &Link) -> Option<f64> {
    let rate = link.rate_bps?;
    let is_steady = states(plan, link).all(|link| link.rate_bps == Some(rate) && link.variation.is_none());
    let is_in_order = states(plan, link).all(|link| link.slots.is_none() && link.queue.is_first_in_first_out());
    (is_steady && is_in_order).then(|| 8e3 / rate.as_bps() as f64)
}

/// A link as it is at first, and as events make it.
fn states<'a>(plan: &'a Plan, link: &'a Link) -> impl Iterator<Item = &'a Link> {
    let changed = plan.events.iter().map(|event| &event.link).filter(|changed| changed.name == link.name);
    std::iter::once(link).chain(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A link of 10 Mbit/s and 10 ms that changes each second.
    fn over_time(changes: &[Value]) -> Plan {
        let link = |change: &Value| {
            let mut link = json!({"name": "bottleneck", "from": "a", "to": "b", "rate_bps": 10_000_000,
                "delay_ns": 10_000_000, "buffer": {"bytes": 25_000}, "overhead_bytes": 0});
            link.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            link
        };
        let events = changes.iter().zip(0..).skip(1);
        let events = events.map(|(change, s)| json!({"at_ns": s * 1_000_000_000_i64, "link": link(change)}));
        let host = |name| json!({"kind": "host", "name": name, "address": "10.0.0.1", "sysctl": {}});
        serde_json::from_value(json!({"name": "n", "duration_ns": 1, "seed": 1, "nodes": [host("a"), host("b")],
            "links": [link(&changes[0])], "events": events.collect::<Vec<_>>(), "flows": [],
            "record": {"sample_interval_ns": 1, "packets": false},
            "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1}}))
        .unwrap()
    }

    fn slots() -> Value {
        json!({"slots": {"min_interval_ns": 1, "max_interval_ns": 1, "packets": null, "bytes": null}})
    }

    #[test]
    fn packets_wait_where_there_is_a_rate_or_slots_at_some_time() {
        let (same, none) = (json!({}), json!({"rate_bps": null}));
        let mut only_slots = slots();
        only_slots["rate_bps"] = Value::Null;
        for (changes, queues) in [
            (vec![same.clone()], true),
            (vec![same.clone(), json!({"rate_bps": 1})], true),
            (vec![none.clone()], false),
            (vec![none.clone(), same.clone()], true),
            (vec![same, none], true),
            (vec![only_slots], true),
        ] {
            let plan = over_time(&changes);
            assert_eq!(can_queue(&plan, &plan.links[0]), queues, "{changes:?}");
        }
    }

    #[test]
    fn the_backlog_tells_the_wait_of_a_single_queue_at_a_constant_rate() {
        let steps = json!({"variation": {"kind": "steps", "steps": [[0, 1000], [5, 2000]], "period_ns": null}});
        let codel = json!({"queue": {"kind": "codel", "target_ns": 1, "interval_ns": 1, "ecn": false,
            "ce_threshold_ns": null}});
        for (change, tells) in [
            (json!({"delay_ns": 5, "up": false}), true),
            (codel, true),
            (json!({"rate_bps": 1}), false),
            (json!({"rate_bps": null}), false),
            (steps, false),
            (slots(), false),
        ] {
            let plan = over_time(&[json!({}), change.clone()]);
            assert_eq!(wait_per_byte(&plan, &plan.links[0]), tells.then_some(8e3 / 1e7), "{change}");
        }
    }
}
