//! A link in the words of tc(8): the queueing disciplines of the kernel that do what its keys say.

use units::{Duration, Mtu};

use crate::{Buffer, Link, Links, Loss, Plan, Queue};

/// What a queueing discipline does for its link, in the order in which packets meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Loses packets before the queue.
    LossBefore,
    /// Queues packets, and lets them leave at the link's rate.
    Shaper,
    /// Delays packets, and loses some of those that left the queue.
    Line,
}

/// A queueing discipline at the root of an interface of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// What it does for its link.
    pub part: Part,
    /// What follows `tc qdisc add dev INTERFACE root handle 1:`.
    pub root: String,
    /// What follows `tc qdisc add dev INTERFACE parent 1:1`: the queue inside, if the root's own will not do.
    pub child: Option<String>,
}

/// netem's own limit counts all packets that propagate: no link that we emulate has as many.
const NO_LIMIT: u64 = 1_000_000;
/// Nanoseconds.
const US: i64 = 1000;
/// Bytes by which the bucket of tokens is larger than a full frame.
const SPARE: u64 = 86;

impl Link {
    /// The queueing disciplines that carry this link's packets, or the part of it that tc(8) cannot say as we mean it.
    /// Empty if nothing happens to a packet.
    pub fn qdiscs(&self, mtu: Mtu) -> Result<Vec<Qdisc>, &'static str> {
        let foreign = [
            ("a link that is down", !self.up),
            ("a rate that changes", self.variation.is_some()),
            ("slots", self.slots.is_some()),
            ("a policer", self.policer.is_some()),
            // tc's unit of time.
            ("a delay of a fraction of a microsecond", self.delay_ns.as_nanos() % US != 0),
            ("overhead", self.overhead_bytes > 0),
            ("jitter", self.jitter.is_some()),
            ("reordering", self.reordering || self.reorder.is_some()),
            ("duplication", self.duplication.is_some()),
            ("corruption", self.corruption.is_some()),
            ("random marks", self.marking.is_some()),
        ];
        if let Some((what, _)) = foreign.iter().find(|(_, is_there)| *is_there) {
            return Err(what);
        }
        let mut all = Vec::new();
        let root = |part, root| Qdisc { part, root, child: None };
        if let Some(loss) = loss(&self.loss_before)? {
            all.push(root(Part::LossBefore, format!("netem limit {NO_LIMIT} {loss}")));
        }
        if let Some(rate) = self.rate_bps {
            let frame = u64::from(mtu.frame_bytes());
            let (limit, child) = self.waiting(frame)?;
            let root = format!("tbf rate {}bit burst {} limit {limit}", rate.as_bps(), frame + SPARE);
            all.push(Qdisc { part: Part::Shaper, root, child });
        }
        let lost = loss(&self.loss_after)?;
        if self.delay_ns > Duration::ZERO || lost.is_some() || self.delay_line_packets.is_some() {
            let limit = self.delay_line_packets.unwrap_or(NO_LIMIT);
            let mut words = format!("netem limit {limit} delay {}us", self.delay_ns.as_nanos() / US);
            words.extend(lost.map(|lost| format!(" {lost}")));
            all.push(root(Part::Line, words));
        }
        Ok(all)
    }

    /// The limit of tbf's own queue in bytes, and the queue in its place.
    fn waiting(&self, frame: u64) -> Result<(u64, Option<String>), &'static str> {
        // The frame that waits for tokens is in the kernel's queue; the one in service is not in ours.
        let packets = match self.buffer {
            Buffer::Bytes(bytes) if self.queue == Queue::default() => return Ok((bytes + frame, None)),
            Buffer::Bytes(_) => return Err("a queue that is managed and has room in bytes"),
            Buffer::Packets(packets) => packets + 1,
            Buffer::Unlimited => NO_LIMIT,
        };
        let words = match self.queue {
            Queue::DropTail { ce_threshold: None } => format!("pfifo limit {packets}"),
            Queue::Codel { target_ns, interval_ns, ecn, ce_threshold_ns } => {
                let times = [Some(target_ns), Some(interval_ns), ce_threshold_ns];
                if times.iter().flatten().any(|time| time.as_nanos() % US != 0) {
                    return Err("times of CoDel with a fraction of a microsecond");
                }
                if ecn && ce_threshold_ns.is_some() {
                    return Err("CoDel that marks for two reasons");
                }
                let us = |time: Duration| time.as_nanos() / US;
                let mut words =
                    format!("codel limit {packets} target {}us interval {}us", us(target_ns), us(interval_ns));
                words.extend(ce_threshold_ns.map(|time| format!(" ce_threshold {}us", us(time))));
                words + if ecn { " ecn" } else { " noecn" }
            }
            _ => return Err("this queue"),
        };
        Ok((frame, Some(words)))
    }
}

/// netem's words for a link's losses.
fn loss(all: &[Loss]) -> Result<Option<String>, &'static str> {
    let percent = |share: &f64| format!("{}%", share * 100.0);
    let words = match all {
        [] => return Ok(None),
        [Loss::Independent { probability }] => format!("loss {}", percent(probability)),
        [Loss::GilbertElliott { p, r, loss_bad, loss_good }] => {
            format!("loss gemodel {} {} {} {}", percent(p), percent(r), percent(loss_bad), percent(loss_good))
        }
        [Loss::FourState { p13, p32, p23, p14, p31 }] => {
            let [p13, p31, p32, p23, p14] = [p13, p31, p32, p23, p14].map(percent);
            format!("loss state {p13} {p31} {p32} {p23} {p14}")
        }
        [_] => return Err("losses of this model"),
        _ => return Err("several processes of loss at one place"),
    };
    Ok(Some(words))
}

impl Plan {
    /// The queueing disciplines of each of the plan's links, where the kernel carries their packets; empty where ours does.
    pub fn qdiscs(&self) -> Result<Vec<Vec<Qdisc>>, &'static str> {
        match self.emulate.links {
            None => Ok(vec![Vec::new(); self.links.len()]),
            Some(Links::Kernel) => self.links.iter().map(|link| link.qdiscs(self.mtu)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;

    fn link() -> Link {
        Link { delay_ns: Duration::from_millis(20), ..Link::transparent("l", "a", "b") }
    }

    fn words(link: &Link) -> Vec<(Part, String, Option<String>)> {
        let all = link.qdiscs(Mtu::default()).expect("tc can say it");
        all.into_iter().map(|Qdisc { part, root, child }| (part, root, child)).collect()
    }

    #[test]
    fn a_rate_is_a_bucket_and_a_delay_is_netem() {
        let link = Link { rate_bps: Rate::from_bps(50_000_000), buffer: Buffer::Bytes(250_000), ..link() };
        let shaper = (Part::Shaper, "tbf rate 50000000bit burst 1600 limit 251514".to_owned(), None);
        let line = (Part::Line, "netem limit 1000000 delay 20000us".to_owned(), None);
        assert_eq!(words(&link), [shaper, line]);
        assert_eq!(words(&Link::transparent("l", "a", "b")), []);
    }

    #[test]
    fn a_buffer_in_packets_is_a_queue_of_its_own() {
        let rate_bps = Rate::from_bps(1_000_000);
        let link = Link { rate_bps, buffer: Buffer::Packets(10), delay_ns: Duration::ZERO, ..link() };
        assert_eq!(words(&link)[0].2.as_deref(), Some("pfifo limit 11"));
    }

    #[test]
    fn codel_is_a_queue_inside_the_bucket() {
        let (target_ns, interval_ns) = (Duration::from_millis(5), Duration::from_millis(100));
        let queue =
            Queue::Codel { target_ns, interval_ns, ecn: false, ce_threshold_ns: Some(Duration::from_millis(1)) };
        let link = Link { rate_bps: Rate::from_bps(1_000_000), buffer: Buffer::Packets(10), queue, ..link() };
        let said = "codel limit 11 target 5000us interval 100000us ce_threshold 1000us noecn";
        assert_eq!(words(&link)[0].2.as_deref(), Some(said));
        let bytes = Link { buffer: Buffer::Bytes(30_000), ..link };
        assert_eq!(bytes.qdiscs(Mtu::default()), Err("a queue that is managed and has room in bytes"));
    }

    #[test]
    fn losses_stand_before_the_queue_or_behind_it() {
        let lost = |probability| vec![Loss::Independent { probability }];
        let link = Link { loss_before: lost(0.01), loss_after: lost(0.5), ..link() };
        let before = (Part::LossBefore, "netem limit 1000000 loss 1%".to_owned(), None);
        let after = (Part::Line, "netem limit 1000000 delay 20000us loss 50%".to_owned(), None);
        assert_eq!(words(&link), [before, after]);
        let both = Link { loss_after: [lost(0.1), lost(0.2)].concat(), ..link.clone() };
        assert!(both.qdiscs(Mtu::default()).unwrap_err().starts_with("several"));
        let gilbert = Loss::GilbertElliott { p: 0.01, r: 0.25, loss_bad: 1.0, loss_good: 0.0 };
        let link = Link { loss_before: vec![gilbert], ..link };
        assert_eq!(words(&link)[0].1, "netem limit 1000000 loss gemodel 1% 25% 100% 0%");
    }

    #[test]
    fn what_tc_cannot_say_is_refused() {
        assert_eq!(Link { overhead_bytes: 4, ..link() }.qdiscs(Mtu::default()), Err("overhead"));
        assert_eq!(Link { reordering: true, ..link() }.qdiscs(Mtu::default()), Err("reordering"));
    }
}
