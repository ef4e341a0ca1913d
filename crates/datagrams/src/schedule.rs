use units::{Duration, Rate, Time};

/// Ethernet, IPv4 and UDP headers, bytes: a flow's rate counts whole frames.
pub const HEADERS: u32 = 14 + 20 + 8;

/// When each datagram is due.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start: Time,
    frame_bits: u64,
    rate: Rate,
}

impl Schedule {
    /// Datagrams of `payload` bytes from `start` on.
    pub fn new(start: Time, payload: u32, rate: Rate) -> Schedule {
        Schedule { start, frame_bits: u64::from(payload + HEADERS) * 8, rate }
    }

    /// The nth is due at start + n x frame / rate, rounded down once: no error adds up.
    pub fn due(&self, n: u64) -> Time {
        let nanos = u128::from(n) * u128::from(self.frame_bits) * 1_000_000_000 / u128::from(self.rate.as_bps());
        self.start + Duration(nanos as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_is_exact_after_any_number_of_datagrams() {
        // 1514 bytes at 7 Mbit/s: 1,730,285 + 5/7 ns each.
        let schedule = Schedule::new(Time(5), 1472, Rate::from_bps(7_000_000).unwrap());
        assert_eq!(schedule.due(0), Time(5));
        assert_eq!(schedule.due(1), Time(1_730_290));
        assert_eq!(schedule.due(7_000_000), Time(12_112_000_000_005));
    }
}
