use plan::{On, OnOff};
use units::{Duration, Ip, Mtu, Rate, Time};

use crate::parts::{Part, parts};

/// The times at which datagrams are due.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start: Time,
    /// Bits of all frames that carry a datagram: a flow's rate counts whole frames.
    frame_bits: u64,
    rate: Rate,
    bursts: Option<Bursts>,
}

/// Datagrams come in bursts.
#[derive(Clone, Copy, Debug)]
struct Bursts {
    /// Datagrams in each burst.
    datagrams: u64,
    /// Time from the beginning of one burst to that of the next.
    period: Duration,
}

impl Schedule {
    /// Datagrams of `payload` bytes from `start` on, all the time or in bursts, over a path with this MTU.
    ///
    /// A burst given as a time has the datagrams that are due within it. A burst given in bytes has as many datagrams
    /// as carry them, and lasts until the next datagram would be due.
    pub fn new(start: Time, payload: u32, (ip, mtu): (Ip, Mtu), rate: Rate, on_off: Option<OnOff>) -> Schedule {
        let frame_bytes = |part: Part| u64::from(part.frame_bytes(ip));
        let frame_bits = parts(payload, ip, mtu).map(frame_bytes).sum::<u64>() * 8;
        let steady = Schedule { start, frame_bits, rate, bursts: None };
        let bursts = on_off.map(|OnOff { on, off_ns }| match on {
            On::Ns(on) => Bursts { datagrams: steady.within(on).max(1), period: on + off_ns },
            On::Bytes(bytes) => {
                let datagrams = bytes.div_ceil(u64::from(payload)).max(1);
                Bursts { datagrams, period: steady.after(datagrams) + off_ns }
            }
        });
        Schedule { bursts, ..steady }
    }

    /// The nth is due at start + n x frame / rate, rounded down once: no error adds up. Each burst begins anew.
    pub fn due(&self, n: u64) -> Time {
        match self.bursts {
            None => self.start + self.after(n),
            Some(Bursts { datagrams, period }) => {
                let periods = Duration(period.as_nanos() * (n / datagrams) as i64);
                self.start + periods + self.after(n % datagrams)
            }
        }
    }

    fn after(&self, n: u64) -> Duration {
        let nanos = u128::from(n) * u128::from(self.frame_bits) * 1_000_000_000 / u128::from(self.rate.as_bps());
        Duration(nanos as i64)
    }

    /// Number of datagrams due within a time, the first at its beginning.
    fn within(&self, time: Duration) -> u64 {
        let bits = u128::from(self.rate.as_bps()) * time.as_nanos() as u128;
        bits.div_ceil(u128::from(self.frame_bits) * 1_000_000_000) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(ip: Ip) -> (Ip, Mtu) {
        (ip, Mtu::default())
    }

    #[test]
    fn the_schedule_is_exact_after_any_number_of_datagrams() {
        // 1514 bytes at 7 Mbit/s: 1,730,285 + 5/7 ns each.
        let schedule = Schedule::new(Time(5), 1472, over(Ip::V4), Rate::from_bps(7_000_000).unwrap(), None);
        assert_eq!(schedule.due(0), Time(5));
        assert_eq!(schedule.due(1), Time(1_730_290));
        assert_eq!(schedule.due(7_000_000), Time(12_112_000_000_005));
        let longer = Schedule::new(Time(5), 1472, over(Ip::V6), Rate::from_bps(7_000_000).unwrap(), None);
        assert_eq!(longer.due(7), Time(12_832_005), "two fragments each, in frames of 1510 and 94 bytes");
    }

    #[test]
    fn bursts_of_a_time_have_what_is_due_within_it() {
        // A datagram each ms, 10 ms on and 90 ms off.
        let on_off = OnOff { on: On::Ns(Duration::from_millis(10)), off_ns: Duration::from_millis(90) };
        let schedule = Schedule::new(Time(7), 958, over(Ip::V4), Rate::from_bps(8_000_000).unwrap(), Some(on_off));
        let due: Vec<i64> = [0, 1, 9, 10, 11, 20].map(|n| schedule.due(n).as_nanos() - 7).to_vec();
        assert_eq!(due, [0, 1_000_000, 9_000_000, 100_000_000, 101_000_000, 200_000_000]);
    }

    #[test]
    fn bursts_of_bytes_last_as_long_as_they_take() {
        // 2000 bytes are 3 datagrams, which take 3 ms.
        let on_off = OnOff { on: On::Bytes(2000), off_ns: Duration::from_millis(7) };
        let schedule = Schedule::new(Time(0), 958, over(Ip::V4), Rate::from_bps(8_000_000).unwrap(), Some(on_off));
        let due: Vec<i64> = (0..5).map(|n| schedule.due(n).as_nanos() / 1_000_000).collect();
        assert_eq!(due, [0, 1, 2, 10, 11]);
    }

    #[test]
    fn a_burst_shorter_than_a_datagram_has_one() {
        let on_off = OnOff { on: On::Ns(Duration(1)), off_ns: Duration::from_millis(7) };
        let schedule = Schedule::new(Time(0), 958, over(Ip::V4), Rate::from_bps(8_000_000).unwrap(), Some(on_off));
        assert_eq!((schedule.due(0), schedule.due(1)), (Time(0), Time(7_000_001)));
    }
}
