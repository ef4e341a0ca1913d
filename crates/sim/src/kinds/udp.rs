use anyhow::{Result, ensure};
use datagrams::{Arrival, MOST_PAYLOAD, Part, Schedule, Sequence, parts};
use link::Ecn;
use units::{Duration, Ip, Mtu, Rate, Time};

use super::{Arrived, Ends};
use crate::segment::Segment;
use crate::traffic::FlowReport;

/// A UDP flow of constant rate: both of its ends.
#[derive(Clone, Debug)]
pub(crate) struct Udp {
    schedule: Schedule,
    stop: Time,
    payload: u32,
    /// The version of IP and the MTU of its path.
    path: (Ip, Mtu),
    ecn: Ecn,
    /// The number of datagrams that carry its bytes.
    limit: u64,
    sent: u64,
    sequence: Sequence,
    arrived: Datagrams,
}

/// The outcome of a flow's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// Sent.
    pub sent: u64,
    /// Different ones that arrived.
    pub received: u64,
    /// Received datagrams that arrived marked Congestion Experienced.
    pub congestion_experienced: u64,
    /// Gaps in the sequence numbers received. Datagrams that are still under way are neither lost nor received.
    pub lost: u64,
    /// Arrived after one with a higher sequence number (RFC 4737).
    pub reordered: u64,
    /// Arrived again.
    pub duplicates: u64,
}

impl Udp {
    pub(crate) fn new(
        flow: &plan::Flow,
        mtu: Mtu,
        rate: Rate,
        payload: u32,
        bytes: Option<u64>,
        ecn: plan::Ecn,
        on_off: Option<plan::OnOff>,
    ) -> Result<Udp> {
        ensure!(
            (1..=MOST_PAYLOAD).contains(&payload),
            "datagrams of {payload} bytes: a payload has 1 to {MOST_PAYLOAD}"
        );
        let path = (flow.ip, mtu);
        Ok(Udp {
            schedule: Schedule::new(flow.start_ns, payload, path, rate, on_off),
            stop: flow.stop_ns,
            payload,
            path,
            ecn: match ecn {
                plan::Ecn::NotEct => Ecn::NotEct,
                plan::Ecn::Ect1 => Ecn::Ect1,
                plan::Ecn::Ect0 => Ecn::Ect0,
            },
            limit: bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(payload))),
            sent: 0,
            sequence: Sequence::default(),
            arrived: Datagrams::default(),
        })
    }

    /// Sends the packets of a datagram.
    fn send(&mut self, out: &mut Vec<Segment>) {
        let (ip, mtu) = self.path;
        for Part { payload, fragment } in parts(self.payload, ip, mtu) {
            out.push(Segment { seq: self.sent, len: payload, ecn: self.ecn, fragment, ..Segment::default() });
        }
        self.sent += 1;
    }

    /// A datagram arrives with the codepoint `ecn`. Returns how long it was under way, the first time that it arrives.
    fn receive(&mut self, segment: &Segment, ecn: Ecn, now: Time) -> Option<Duration> {
        match self.sequence.arrive(segment.seq) {
            Arrival::Duplicate => {
                self.arrived.duplicates += 1;
                return None;
            }
            Arrival::Reordered => self.arrived.reordered += 1,
            Arrival::InOrder => {}
        }
        self.arrived.congestion_experienced += u64::from(ecn == Ecn::Ce);
        Some(now - self.schedule.due(segment.seq))
    }

    fn datagrams(&self) -> Datagrams {
        Datagrams { sent: self.sent, received: self.sequence.arrived(), lost: self.gaps(), ..self.arrived }
    }
}

impl Ends for Udp {
    /// The time at which the next datagram is due; [`Time::NEVER`] after the last.
    fn next(&self) -> Time {
        let due = self.schedule.due(self.sent);
        if self.sent < self.limit && due < self.stop { due } else { Time::NEVER }
    }

    fn begin(&mut self, _: Time, out: &mut Vec<Segment>) {
        self.send(out);
    }

    fn on_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        if self.next() <= now {
            self.send(out);
        }
    }

    fn stop(&mut self) -> bool {
        self.limit == u64::MAX
    }

    fn at_receiver(&mut self, segment: &Segment, ecn: Ecn, now: Time, _: &mut Vec<Segment>) -> Arrived {
        let before = self.received_bytes();
        let delay = self.receive(segment, ecn, now);
        Arrived { delay, is_news: self.received_bytes() > before, is_complete: false }
    }

    fn received_bytes(&self) -> u64 {
        self.sequence.arrived() * u64::from(self.payload)
    }

    fn sent_bytes(&self) -> u64 {
        self.sent * u64::from(self.payload)
    }

    fn gaps(&self) -> u64 {
        self.sequence.gaps()
    }

    fn report(&self, _: Time, report: FlowReport) -> FlowReport {
        let completed = report.completed || self.sent >= self.limit;
        FlowReport { completed, datagrams: Some(self.datagrams()), ..report }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn udp() -> Udp {
        let flow: plan::Flow = serde_json::from_value(serde_json::json!({
            "id": "u", "from": "a", "to": "b", "start_ns": 5, "stop_ns": 3_000_000_000i64, "port": 1,
            "workload": {"kind": "udp", "rate_bps": 7_000_000, "payload_bytes": 1472, "bytes": null},
        }))
        .unwrap();
        let rate = Rate::from_bps(7_000_000).unwrap();
        Udp::new(&flow, Mtu::default(), rate, 1472, None, plan::Ecn::NotEct, None).unwrap()
    }

    #[test]
    fn datagrams_keep_their_rate_for_ever() {
        let (mut udp, mut out, mut last) = (udp(), Vec::new(), Time::ZERO);
        while udp.next() != Time::NEVER {
            last = udp.next();
            udp.send(&mut out);
        }
        // 1514 bytes at 7 Mbit/s: 1,730,285 + 5/7 ns each.
        assert_eq!(out.len(), 1734);
        assert_eq!(last, Time(5 + 1733 * 12_112_000 / 7));
    }

    #[test]
    fn what_arrives_is_told_apart() {
        let (mut udp, mut out) = (udp(), Vec::new());
        (0..6).for_each(|_| udp.send(&mut out));
        let arrivals = [(0, Ecn::Ect0), (2, Ecn::Ce), (1, Ecn::Ce), (2, Ecn::Ce), (4, Ecn::NotEct)];
        let delays = arrivals.map(|(n, ecn)| udp.receive(&out[n], ecn, Time(20_000_005)));
        let after = |ns: i64| Some(Duration(20_000_000 - ns));
        assert_eq!(delays, [after(0), after(3_460_571), after(1_730_285), None, after(6_921_142)]);
        let expected =
            Datagrams { sent: 6, received: 4, congestion_experienced: 2, lost: 1, reordered: 1, duplicates: 1 };
        assert_eq!(udp.datagrams(), expected);
        assert_eq!(udp.received_bytes(), 4 * 1472);
    }
}
