use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Duration, Time};

/// Bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
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

/// A wire that packets are put on one after another, without drift, at a rate that may change at any time.
///
/// A packet of 1514 bytes at 7 Mbit/s takes 1,730,285.714… ns. The remainder is kept exactly, in bits times nanoseconds
/// per second: the nth departure of a busy period is the exact one rounded down, whatever the rate did.
#[derive(Clone, Debug)]
pub struct Serializer {
    /// Bits per second; 0: nothing moves.
    rate: u64,
    /// Time up to which everything is accounted for.
    at: Time,
    /// Work that remains from then on: bits times 1e9.
    work: u128,
    /// The time at which that work is done, and the part of it that takes a fraction of a nanosecond longer.
    end: Time,
    remainder: u64,
    /// Work that the rate allowed until `at`, in the unit of `work`.
    capacity: u128,
}

/// One byte in the unit of work.
const BYTE: u128 = 8_000_000_000;

impl Serializer {
    /// An idle wire; `rate` in bits per second, 0 for one on which nothing moves.
    pub fn new(rate: u64) -> Self {
        Serializer { rate, at: Time::ZERO, work: 0, end: Time::ZERO, remainder: 0, capacity: 0 }
    }

    /// Bits per second.
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// The time at which the last packet's last bit leaves: [`Time::NEVER`] while the rate is 0 and something is left
    /// to send.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.end
    }

    /// Start sending `bytes` at `now`, or when the wire is free if that is later. Returns when the last bit leaves.
    #[inline]
    pub fn send(&mut self, bytes: u32, now: Time) -> Time {
        if self.end <= now {
            self.advance(now);
        }
        self.work += u128::from(bytes) * BYTE;
        self.settle();
        self.end
    }

    /// Sets the rate from `now` on, also for the packet being sent.
    pub fn set_rate(&mut self, rate: u64, now: Time) {
        self.advance(now);
        self.rate = rate;
        self.settle();
    }

    /// Forget the packet being sent at `now`.
    pub fn abort(&mut self, now: Time) {
        self.advance(now);
        self.work = 0;
        self.settle();
    }

    /// Bytes still to be sent at `now`; a partial byte counts as a whole one.
    pub fn left_bytes(&self, now: Time) -> u64 {
        self.work.saturating_sub(self.possible(now)).div_ceil(BYTE) as u64
    }

    /// Bytes that could have been sent from time 0 until `now`, rounded down.
    pub fn capacity_bytes(&self, now: Time) -> u64 {
        ((self.capacity + self.possible(now)) / BYTE) as u64
    }

    #[inline]
    fn possible(&self, now: Time) -> u128 {
        u128::from(self.rate) * (now - self.at).as_nanos().max(0) as u128
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        let sent = self.possible(now);
        self.work = match self.end.cmp(&now) {
            // An idle wire forgets the fraction of a nanosecond that it owed, a busy one carries it on.
            Ordering::Less => 0,
            Ordering::Equal => u128::from(self.remainder),
            Ordering::Greater => self.work - sent,
        };
        self.capacity += sent;
        self.at = self.at.max(now);
    }

    #[inline]
    fn settle(&mut self) {
        (self.end, self.remainder) = match (self.rate, u64::try_from(self.work)) {
            (0, _) if self.work > 0 => (Time::NEVER, 0),
            (0, _) => (self.at, 0),
            // Division in 64 bits takes a fraction of the time.
            (rate, Ok(work)) => (self.after(u128::from(work / rate)), work % rate),
            (rate, Err(_)) => (self.after(self.work / u128::from(rate)), (self.work % u128::from(rate)) as u64),
        };
    }

    #[inline]
    fn after(&self, nanos: u128) -> Time {
        let end = i64::try_from(nanos).ok().and_then(|nanos| self.at.0.checked_add(nanos));
        end.map_or(Time::NEVER, Time)
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
        assert_eq!(Serializer::new(100_000_000).send(1514, Time::ZERO), Time(121_120));
    }

    #[test]
    fn a_year_at_full_load_ends_at_its_exact_time() {
        // Packets as large as they can be counted, at a rate that divides nothing, changed to itself now and then.
        let (rate, bytes, n) = (7_000_003, u32::MAX, 6_500);
        let mut wire = Serializer::new(rate);
        let mut end = Time::ZERO;
        for i in 0..n {
            end = wire.send(bytes, end);
            wire.set_rate(rate, end - Duration(i));
        }
        assert!(end > Time::ZERO + Duration::from_secs(365 * 86_400));
        assert_eq!(end.as_nanos() as u128, u128::from(bytes) * n as u128 * BYTE / u128::from(rate));
    }

    #[test]
    fn a_rate_that_changes_in_the_middle_counts_for_the_rest() {
        // Half of the packet's 121,120 ns at 100 Mbit/s, the other half at 10 Mbit/s, after 1 ms at rest.
        let mut wire = Serializer::new(100_000_000);
        wire.send(1514, Time::ZERO);
        wire.set_rate(0, Time(60_560));
        assert_eq!(wire.busy_until(), Time::NEVER);
        wire.set_rate(10_000_000, Time(1_060_560));
        assert_eq!(wire.busy_until(), Time(1_060_560 + 605_600));
    }

    #[test]
    fn changes_to_the_same_rate_change_nothing() {
        let (mut wire, mut disturbed) = (Serializer::new(7_000_000), Serializer::new(7_000_000));
        for i in 0..10_000 {
            let end = wire.send(1514, Time::ZERO);
            assert_eq!(disturbed.send(1514, Time::ZERO), end);
            disturbed.set_rate(7_000_000, end - Duration(i % 1000));
        }
    }

    #[test]
    fn capacity_is_the_integral_of_the_rate() {
        let mut wire = Serializer::new(8_000_000);
        wire.set_rate(0, Time(1_000_000_000));
        wire.set_rate(16_000_000, Time(2_000_000_000));
        wire.send(1514, Time(2_500_000_000));
        assert_eq!(wire.capacity_bytes(Time(3_000_000_000)), 1_000_000 + 2_000_000);
    }

    #[test]
    fn packets_do_not_drift() {
        // 7 Mbit/s: 1,730,285 + 5/7 ns each. After 7 n packets exactly 12,112,000 n ns have passed.
        let mut wire = Serializer::new(7_000_000);
        let n: i64 = 100_000;
        let mut end = Time::ZERO;
        for _ in 0..7 * n {
            end = wire.send(1514, end);
        }
        assert_eq!(end, Time(12_112_000 * n));
    }

    #[test]
    fn an_idle_wire_starts_at_once_and_forgets_the_remainder() {
        let mut wire = Serializer::new(7_000_000);
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
