use serde::{Deserialize, Serialize};

use crate::{Duration, Time};

/// Bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct Rate(u64);

impl Rate {
    /// `None` for a rate of zero: nothing would ever leave such a link.
    pub const fn from_bps(bps: u64) -> Option<Rate> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The bytes that this rate moves in `d`, rounded down.
    pub fn bytes_in(self, d: Duration) -> u64 {
        (u128::from(self.0) * d.as_nanos().max(0) as u128 / 8_000_000_000) as u64
    }
}

impl TryFrom<u64> for Rate {
    type Error = &'static str;
    fn try_from(bps: u64) -> Result<Self, Self::Error> {
        Rate::from_bps(bps).ok_or("a rate must be above 0 bit/s; leave it out for no limit")
    }
}

impl From<Rate> for u64 {
    fn from(rate: Rate) -> u64 {
        rate.0
    }
}

/// Puts packets on a wire one after another, without drift.
///
/// A packet of 1514 bytes at 7 Mbit/s takes 1,730,285.714… ns. The fraction is carried to the next packet as an exact
/// remainder as long as the wire stays busy, so the nth departure of a busy period is the exact one rounded down.
#[derive(Clone, Debug)]
pub struct Serializer {
    rate: Rate,
    busy_until: Time,
    /// Numerator of the fraction of a nanosecond past `busy_until`, over `rate`.
    remainder: u128,
}

impl Serializer {
    /// An idle wire.
    pub fn new(rate: Rate) -> Self {
        Serializer { rate, busy_until: Time(i64::MIN), remainder: 0 }
    }

    /// The wire's rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// When the last packet's last bit leaves.
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Start sending `bytes` at `now`, or when the wire is free if that is later. Returns when the last bit leaves.
    pub fn send(&mut self, bytes: u32, now: Time) -> Time {
        let start = if now > self.busy_until {
            self.remainder = 0;
            now
        } else {
            self.busy_until
        };
        let rate = u128::from(self.rate.0);
        let work = u128::from(bytes) * 8_000_000_000 + self.remainder;
        self.remainder = work % rate;
        self.busy_until = start + Duration((work / rate) as i64);
        self.busy_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbit(rate: u64) -> Rate {
        Rate::from_bps(rate * 1_000_000).unwrap()
    }

    #[test]
    fn a_full_segment_at_100_mbit_takes_121_120_ns() {
        assert_eq!(Serializer::new(mbit(100)).send(1514, Time::ZERO), Time(121_120));
    }

    #[test]
    fn a_year_of_packets_does_not_drift() {
        // 7 Mbit/s: 1,730,285 + 5/7 ns each. After 7 n packets exactly 12,112,000 n ns have passed.
        let mut wire = Serializer::new(mbit(7));
        let n: i64 = 100_000;
        let mut end = Time::ZERO;
        for _ in 0..7 * n {
            end = wire.send(1514, Time::ZERO);
        }
        assert_eq!(end, Time(12_112_000 * n));
    }

    #[test]
    fn an_idle_wire_starts_at_once_and_forgets_the_remainder() {
        let mut wire = Serializer::new(mbit(7));
        wire.send(1514, Time::ZERO);
        let idle = Time(10_000_000);
        assert_eq!(wire.send(1514, idle), idle + Duration(1_730_285));
    }

    #[test]
    fn zero_is_not_a_rate() {
        assert!(serde_json::from_str::<Rate>("0").is_err());
        assert_eq!(serde_json::from_str::<Rate>("5").unwrap().as_bps(), 5);
    }

    #[test]
    fn bytes_in_a_span() {
        assert_eq!(mbit(100).bytes_in(Duration::from_millis(30)), 375_000);
    }
}
