//! A link as Mininet makes it of its class `TCLink`: htb for the rate, and in it netem for all else, at one interface.

use units::Mtu;

use super::{LONGEST_WAIT, NO_LIMIT, Order, Part, Qdisc, TIMER, US, foreign, jitter, loss};
use crate::{Buffer, Link, Queue};

/// Bytes that htb lets pass at once.
const BURST: &str = "15k";

impl Link {
    /// The queueing disciplines that Mininet would give to this link, or the part of it that it cannot have there. Empty if
    /// nothing happens to a packet.
    ///
    /// A buffer in bytes has room for as many full frames. Without one netem has its own limit of 1000 packets, and so has
    /// htb.
    pub(super) fn tc_link(&self, mtu: Mtu) -> Result<Vec<Qdisc>, &'static str> {
        if let Some(what) = foreign(self) {
            return Err(what);
        }
        let others = [
            ("a queue that is managed", self.queue != Queue::default()),
            ("a limit of what propagates beside that of the buffer", self.delay_line_packets.is_some()),
            ("loss after the queue", !self.loss_after.is_empty()),
            ("packets that overtake", self.reorder.is_some()),
        ];
        if let Some((what, _)) = others.iter().find(|(_, is_there)| *is_there) {
            return Err(what);
        }
        let limit = match self.buffer {
            Buffer::Packets(packets) => Some(packets),
            Buffer::Unlimited => None,
            Buffer::Bytes(bytes) => Some(bytes / u64::from(mtu.frame_bytes())),
        };
        let (least, spread) = self.jitter.as_ref().map(jitter).transpose()?.unwrap_or_default();
        let delay = self.delay_ns + least;
        let lost = loss(&self.loss_before)?;
        let netem: String = [
            limit.map(|packets| format!(" limit {}", packets.clamp(1, NO_LIMIT))),
            (delay.as_nanos() > 0).then(|| format!(" delay {}us", delay.as_nanos() / US)),
            spread.as_ref().map(|(_, words)| format!(" {words}")),
            lost.map(|words| format!(" {words}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        let inside = (!netem.is_empty()).then(|| format!("netem{netem}"));
        // A packet waits behind others, too, once its delay is over.
        let order = match spread {
            Some((more, _)) => Order::Within(delay + more + TIMER + LONGEST_WAIT),
            None => Order::Arrival,
        };
        let qdisc = |root, class, child| Qdisc { part: Part::Whole, order, root, class, child };
        Ok(match (self.rate_bps, inside) {
            (Some(rate), inside) => {
                let class = format!("htb rate {}bit burst {BURST}", rate.as_bps());
                vec![qdisc("htb default 1".into(), Some(class), inside)]
            }
            (None, Some(inside)) => vec![qdisc(inside, None, None)],
            (None, None) => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use units::{Duration, Rate};

    use super::*;
    use crate::Loss;

    fn link() -> Link {
        Link { delay_ns: Duration::from_millis(5), ..Link::transparent("l", "a", "b") }
    }

    #[test]
    fn rate_delay_and_limit_are_one_tree() {
        let link = Link {
            rate_bps: Rate::from_bps(10_000_000),
            buffer: Buffer::Packets(100),
            loss_before: vec![Loss::Independent { probability: 0.01 }],
            ..link()
        };
        let [qdisc] = &link.tc_link(Mtu::default()).unwrap()[..] else { panic!("one tree") };
        assert_eq!(qdisc.root, "htb default 1");
        assert_eq!(qdisc.class.as_deref(), Some("htb rate 10000000bit burst 15k"));
        assert_eq!(qdisc.child.as_deref(), Some("netem limit 100 delay 5000us loss 1%"));
        assert_eq!((qdisc.part, qdisc.order), (Part::Whole, Order::Arrival));
    }

    #[test]
    fn what_a_link_lacks_has_no_word() {
        let [qdisc] = &link().tc_link(Mtu::default()).unwrap()[..] else { panic!("one tree") };
        assert_eq!((&qdisc.root[..], &qdisc.class, &qdisc.child), ("netem delay 5000us", &None, &None));
        assert_eq!(Link::transparent("l", "a", "b").tc_link(Mtu::default()), Ok(Vec::new()));
        let alone = Link { rate_bps: Rate::from_bps(1_000_000), delay_ns: Duration::ZERO, ..link() };
        assert_eq!(alone.tc_link(Mtu::default()).unwrap()[0].child, None);
    }

    #[test]
    fn what_mininet_cannot_say_is_refused() {
        let bytes = Link { buffer: Buffer::Bytes(15_140), ..link() }.tc_link(Mtu::default()).unwrap();
        assert_eq!(bytes[0].root, "netem limit 10 delay 5000us");
        let lost = vec![Loss::Independent { probability: 0.1 }];
        assert_eq!(Link { loss_after: lost, ..link() }.tc_link(Mtu::default()), Err("loss after the queue"));
        assert_eq!(Link { overhead_bytes: 4, ..link() }.tc_link(Mtu::default()), Err("overhead"));
    }
}
