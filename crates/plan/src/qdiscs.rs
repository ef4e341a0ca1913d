//! A link in the words of tc(8): the queueing disciplines of the kernel that do what its keys say.

mod mininet;
mod queues;

use units::{Duration, Mtu, Rate};

use self::queues::{Room, Words};
use crate::{Buffer, Distribution, Jitter, Link, Links, Loss, Plan, Queue, Reorder};

/// Parts of a link that a queueing discipline can be, in the order in which packets meet them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Loses packets before the queue.
    LossBefore,
    /// Queues packets, and lets them leave at the link's rate.
    Shaper,
    /// Delays packets, and loses some of those that left the queue.
    Line,
    /// All that happens to a packet: what propagates and what waits are one queue.
    Whole,
}

/// The order in which packets come out of a part: what tells that one was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Order of arrival.
    Arrival,
    /// Order of arrival in each flow.
    Flow,
    /// Any, but each packet after this time at most.
    Within(Duration),
}

/// A queueing discipline at the root of an interface of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qdisc {
    /// Part of the link.
    pub part: Part,
    /// How packets follow each other out of it.
    pub order: Order,
    /// Words after `tc qdisc add dev INTERFACE root handle 1:`.
    pub root: String,
    /// Words after `tc class add dev INTERFACE parent 1: classid 1:1`, if the root has classes that must be made.
    pub class: Option<String>,
    /// Words after `tc qdisc add dev INTERFACE parent 1:1`: the queue inside, if the root's own will not do.
    pub child: Option<String>,
}

/// netem's own limit counts all packets that propagate: no link that we emulate has as many.
const NO_LIMIT: u64 = 1_000_000;
/// Nanoseconds.
const US: i64 = 1000;
/// Bytes by which the bucket of tokens is larger than a full frame.
const SPARE: u64 = 86;
/// The end of netem's table of the normal distribution, in standard deviations.
const SIGMAS: i64 = 4;
/// A packet is late by the kernel's work on others at most.
const TIMER: Duration = Duration::from_millis(10);
/// A packet whose delay is over waits behind others for less than this.
const LONGEST_WAIT: Duration = Duration::from_millis(2000);

impl Link {
    /// The queueing disciplines that carry this link's packets, or the part of it that tc(8) cannot say as we mean it.
    /// Empty if nothing happens to a packet.
    pub fn qdiscs(&self, mtu: Mtu) -> Result<Vec<Qdisc>, &'static str> {
        if let Some(what) = foreign(self) {
            return Err(what);
        }
        let mut all = Vec::new();
        let netem =
            |part, order, words| Qdisc { part, order, root: format!("netem {words}"), class: None, child: None };
        if let Some(loss) = loss(&self.loss_before)? {
            all.push(netem(Part::LossBefore, Order::Arrival, format!("limit {NO_LIMIT} {loss}")));
        }
        if let Some(rate) = self.rate_bps {
            all.push(self.shaper(rate, u64::from(mtu.frame_bytes()))?);
        }
        let lost = loss(&self.loss_after)?;
        let overtaking = self.reorder.as_ref().map(overtaking).transpose()?;
        let (least, jitter) = self.jitter.as_ref().map(jitter).transpose()?.unwrap_or_default();
        let delay = self.delay_ns + least;
        if overtaking.is_some() && delay == Duration::ZERO {
            return Err("packets that overtake where nothing is delayed");
        }
        if delay > Duration::ZERO || lost.is_some() || self.delay_line_packets.is_some() {
            let limit = self.delay_line_packets.unwrap_or(NO_LIMIT);
            let mut words = format!("limit {limit} delay {}us", delay.as_nanos() / US);
            words.extend(jitter.as_ref().map(|(_, jitter)| format!(" {jitter}")));
            words.extend(lost.map(|lost| format!(" {lost}")));
            words.extend(overtaking.as_ref().map(|overtaking| format!(" {overtaking}")));
            let order = match (jitter, overtaking) {
                (Some((more, _)), _) => Order::Within(delay + more + TIMER),
                (None, Some(_)) => Order::Within(delay + TIMER),
                (None, None) => Order::Arrival,
            };
            all.push(netem(Part::Line, order, words));
        }
        Ok(all)
    }

    /// A bucket of tokens with a queue in it, or a queue that shapes.
    fn shaper(&self, rate: Rate, frame: u64) -> Result<Qdisc, &'static str> {
        let tbf = |limit| format!("tbf rate {}bit burst {} limit {limit}", rate.as_bps(), frame + SPARE);
        let qdisc = |order, root, child| Qdisc { part: Part::Shaper, order, root, class: None, child };
        // The frame that waits for tokens is in the kernel's queue; the one in service is not in ours.
        let room = match self.buffer {
            Buffer::Bytes(bytes) if self.queue == Queue::default() => {
                return Ok(qdisc(Order::Arrival, tbf(bytes + frame), None));
            }
            Buffer::Bytes(bytes) => Room::Bytes(bytes + frame),
            Buffer::Packets(packets) => Room::Packets(packets + 1),
            Buffer::Unlimited => Room::Unlimited,
        };
        let Words { queue, order, shapes } = queues::words(&self.queue, room, rate)?;
        Ok(if shapes { qdisc(order, queue, None) } else { qdisc(order, tbf(frame), Some(queue)) })
    }
}

/// The part of a link that no queueing discipline does as we mean it.
fn foreign(link: &Link) -> Option<&'static str> {
    let foreign = [
        ("a link that is down", !link.up),
        ("a rate that changes", link.variation.is_some()),
        ("slots", link.slots.is_some()),
        ("a policer", link.policer.is_some()),
        // tc's unit of time.
        ("a delay of a fraction of a microsecond", link.delay_ns.as_nanos() % US != 0),
        ("overhead", link.overhead_bytes > 0),
        ("jitter that keeps the order", link.jitter.is_some() && !link.reordering),
        ("duplication", link.duplication.is_some()),
        ("corruption", link.corruption.is_some()),
        ("random marks", link.marking.is_some()),
    ];
    foreign.iter().find(|(_, is_there)| *is_there).map(|(what, _)| *what)
}

/// The most that jitter adds beyond its mean, and netem's words for it.
type Spread = (Duration, String);

/// Returns the mean that jitter adds to the delay, and its spread around that mean.
fn jitter(jitter: &Jitter) -> Result<(Duration, Option<Spread>), &'static str> {
    if jitter.correlation != 0.0 {
        return Err("jitter that hangs on the packet before");
    }
    let (mean, spread, most, kind) = match jitter.distribution {
        Distribution::Uniform { min_ns, max_ns } => {
            let spread = (max_ns.as_nanos() - min_ns.as_nanos()) / 2;
            (min_ns.as_nanos() + spread, spread, spread, "uniform")
        }
        Distribution::Normal { mean_ns, sd_ns } => {
            // netem's table of the normal distribution ends at four standard deviations, and ours at a delay of zero.
            if mean_ns.as_nanos() < SIGMAS * sd_ns.as_nanos() {
                return Err("normal jitter that may be below zero");
            }
            (mean_ns.as_nanos(), sd_ns.as_nanos(), SIGMAS * sd_ns.as_nanos(), "normal")
        }
        _ => return Err("jitter of this distribution"),
    };
    if mean % US != 0 || spread % US != 0 {
        return Err("jitter with a fraction of a microsecond");
    }
    // Without a name netem takes the uniform distribution.
    let kind = if kind == "uniform" { String::new() } else { format!(" distribution {kind}") };
    Ok((Duration(mean), Some((Duration(most), format!("{}us{kind}", spread / US)))))
}

/// netem's words for packets that skip the delay. From its `gap` on each packet is a candidate until one skips.
fn overtaking(reorder: &Reorder) -> Result<String, &'static str> {
    if reorder.gap != 1 || reorder.correlation != 0.0 || reorder.delay_ns != Duration::ZERO {
        return Err("packets that overtake in another way than each by its own lot and at once");
    }
    Ok(format!("reorder {}%", reorder.probability * 100.0))
}

/// netem's words for a link's losses.
fn loss(all: &[Loss]) -> Result<Option<String>, &'static str> {
    let percent = |share: &f64| format!("{}%", share * 100.0);
    let words = match all {
        [] => return Ok(None),
        [Loss::Independent { probability }] => format!("loss {}", percent(probability)),
        [Loss::Netem { probability, correlation }] => {
            format!("loss {} {}", percent(probability), percent(correlation))
        }
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
            Some(Links::Mininet) => self.links.iter().map(|link| link.tc_link(self.mtu)).collect(),
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
        all.into_iter().map(|Qdisc { part, root, child, .. }| (part, root, child)).collect()
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
        let netem = Loss::Netem { probability: 0.02, correlation: 0.25 };
        assert_eq!(words(&Link { loss_before: vec![netem], ..link })[0].1, "netem limit 1000000 loss 2% 25%");
    }

    #[test]
    fn packets_skip_the_delay_by_lot() {
        let reorder = |gap| Some(Reorder { probability: 0.25, correlation: 0.0, gap, delay_ns: Duration::ZERO });
        let skipping = Link { reorder: reorder(1), ..link() };
        let said = skipping.qdiscs(Mtu::default()).unwrap()[0].clone();
        assert_eq!(said.root, "netem limit 1000000 delay 20000us reorder 25%");
        assert_eq!(said.order, Order::Within(Duration::from_millis(30)));
        assert!(Link { reorder: reorder(5), ..link() }.qdiscs(Mtu::default()).is_err());
        assert!(Link { delay_ns: Duration::ZERO, ..skipping }.qdiscs(Mtu::default()).is_err());
    }

    #[test]
    fn what_tc_cannot_say_is_refused() {
        assert_eq!(Link { overhead_bytes: 4, ..link() }.qdiscs(Mtu::default()), Err("overhead"));
        let jitter = |distribution, correlation| Some(Jitter { distribution, correlation });
        let uniform = || Distribution::Uniform { min_ns: Duration::ZERO, max_ns: Duration::from_millis(4) };
        let link = |jitter, reordering| Link { jitter, reordering, ..link() }.qdiscs(Mtu::default());
        assert_eq!(link(jitter(uniform(), 0.0), false), Err("jitter that keeps the order"));
        assert_eq!(link(jitter(uniform(), 0.5), true), Err("jitter that hangs on the packet before"));
        let (mean_ns, sd_ns) = (Duration::from_millis(4), Duration::from_millis(1));
        let normal = Distribution::Normal { mean_ns, sd_ns };
        let words = |distribution| link(jitter(distribution, 0.0), true).unwrap()[0].clone();
        let (uniform, normal) = (words(uniform()), words(normal));
        assert_eq!(uniform.root, "netem limit 1000000 delay 22000us 2000us");
        assert_eq!(uniform.order, Order::Within(Duration::from_millis(34)), "24 ms, and the kernel's work");
        assert_eq!(normal.root, "netem limit 1000000 delay 24000us 1000us distribution normal");
        assert_eq!(normal.order, Order::Within(Duration::from_millis(38)));
    }
}
