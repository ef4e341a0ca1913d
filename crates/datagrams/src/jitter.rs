use units::Duration;

/// Interarrival jitter (RFC 3550 section 6.4.1): by how much the time under way of a datagram differs from that of the one
/// that arrived before it, smoothed. iperf reports the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jitter {
    last: Option<Duration>,
    /// `None` before a second datagram.
    smoothed_ns: Option<f64>,
}

impl Jitter {
    /// The share of a new difference.
    const GAIN: f64 = 1.0 / 16.0;

    /// A datagram arrives that was under way for so long. Call it in the order of arrival.
    pub fn arrive(&mut self, under_way: Duration) {
        if let Some(last) = self.last.replace(under_way) {
            let smoothed = self.smoothed_ns.unwrap_or(0.0);
            let difference = under_way.as_nanos().abs_diff(last.as_nanos()) as f64;
            self.smoothed_ns = Some(smoothed + (difference - smoothed) * Jitter::GAIN);
        }
    }

    /// The jitter now, microseconds; `None` if fewer than two datagrams have arrived.
    pub fn us(&self) -> Option<f64> {
        self.smoothed_ns.map(|ns| ns / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(under_way_ms: &[i64]) -> Option<f64> {
        let mut jitter = Jitter::default();
        under_way_ms.iter().for_each(|&ms| jitter.arrive(Duration::from_millis(ms)));
        jitter.us()
    }

    #[test]
    fn it_takes_two_datagrams() {
        assert_eq!((after(&[]), after(&[20])), (None, None));
        assert_eq!(after(&[20, 20]), Some(0.0));
    }

    #[test]
    fn a_sixteenth_of_each_difference_counts() {
        // By hand: |D| is 16, 16, 0 and 32 ms; J is 1, 1 + 15/16, 1.9375 x 15/16 and 1.81640625 + (32 - 1.81640625) / 16 ms.
        assert_eq!(after(&[10, 26]), Some(1000.0));
        assert_eq!(after(&[10, 26, 10]), Some(1937.5));
        assert_eq!(after(&[10, 26, 10, 10]), Some(1816.40625));
        assert_eq!(after(&[10, 26, 10, 10, 42]), Some(3702.880859375));
    }
}
