use anyhow::{Result, ensure};
use link::Ecn;
use units::{Duration, Rate, Time};

use crate::segment::{Segment, UDP_HEADERS};

/// A UDP flow of constant rate: both of its ends.
#[derive(Clone, Debug)]
pub(crate) struct Udp {
    start: Time,
    stop: Time,
    rate: Rate,
    payload: u32,
    ecn: Ecn,
    /// How many datagrams carry its bytes.
    limit: u64,
    sent: u64,
    received: u64,
    /// The greatest number received, plus one.
    expected: u64,
}

impl Udp {
    pub(crate) fn new(flow: &plan::Flow, rate: Rate, payload: u32, bytes: Option<u64>, ecn: plan::Ecn) -> Result<Udp> {
        ensure!((1..=65_507).contains(&payload), "datagrams of {payload} bytes: a payload has 1 to 65507");
        Ok(Udp {
            start: flow.start_ns,
            stop: flow.stop_ns,
            rate,
            payload,
            ecn: match ecn {
                plan::Ecn::NotEct => Ecn::NotEct,
                plan::Ecn::Ect1 => Ecn::Ect1,
                plan::Ecn::Ect0 => Ecn::Ect0,
            },
            limit: bytes.map_or(u64::MAX, |bytes| bytes.div_ceil(u64::from(payload))),
            sent: 0,
            received: 0,
            expected: 0,
        })
    }

    /// The nth is due at start + n x frame / rate, rounded down once: no error adds up. [`Time::NEVER`] after the last.
    pub(crate) fn next(&self) -> Time {
        let bits = u128::from(self.payload + UDP_HEADERS) * 8;
        let nanos = u128::from(self.sent) * bits * 1_000_000_000 / u128::from(self.rate.as_bps());
        let due = self.start + Duration(nanos as i64);
        if self.sent < self.limit && due < self.stop { due } else { Time::NEVER }
    }

    pub(crate) fn send(&mut self, out: &mut Vec<Segment>) {
        out.push(Segment { seq: self.sent, len: self.payload, ecn: self.ecn, ..Segment::default() });
        self.sent += 1;
    }

    pub(crate) fn receive(&mut self, segment: &Segment) {
        self.received += 1;
        self.expected = self.expected.max(segment.seq + 1);
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent * u64::from(self.payload)
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.received * u64::from(self.payload)
    }

    /// Numbers that are missing below the greatest one.
    pub(crate) fn gaps(&self) -> u64 {
        self.expected.saturating_sub(self.received)
    }

    /// It ends by itself.
    pub(crate) fn has_size(&self) -> bool {
        self.limit < u64::MAX
    }

    /// All has arrived.
    pub(crate) fn is_complete(&self) -> bool {
        self.received >= self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_keep_their_rate_for_ever() {
        let flow: plan::Flow = serde_json::from_value(serde_json::json!({
            "id": "u", "from": "a", "to": "b", "start_ns": 5, "stop_ns": 3_000_000_000i64, "port": 1,
            "workload": {"kind": "udp", "rate_bps": 7_000_000, "payload_bytes": 1472, "bytes": null},
        }))
        .unwrap();
        let mut udp = Udp::new(&flow, Rate::from_bps(7_000_000).unwrap(), 1472, None, plan::Ecn::NotEct).unwrap();
        let (mut out, mut last) = (Vec::new(), Time::ZERO);
        while udp.next() != Time::NEVER {
            last = udp.next();
            udp.send(&mut out);
        }
        // 1514 bytes at 7 Mbit/s: 1,730,285 + 5/7 ns each.
        assert_eq!(out.len(), 1734);
        assert_eq!(last, Time(5 + 1733 * 12_112_000 / 7));
    }
}
