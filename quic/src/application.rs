//! The application of a sender: the data that it may write to its stream by now.

use quic_lines::Write;

/// Time between two writes of an application with a rate, if as many bytes as below are due by then.
const PIECE_NS: u128 = 1_000_000;
/// The least data of such a write, which fits into a datagram.
const PIECE_BYTES: u128 = 1200;
/// Nanoseconds that a byte takes at 1 bit/s.
const BYTE_NS: u128 = 8_000_000_000;

/// An application that writes as it was ordered.
#[derive(Debug, Default)]
pub struct Application {
    written: u64,
    burst: Option<Burst>,
}

#[derive(Debug)]
struct Burst {
    order: Write,
    /// Bytes written before it.
    before: u64,
    /// The time at which it could begin.
    since_ns: Option<i64>,
}

impl Application {
    /// Takes an order to write.
    pub fn write(&mut self, order: Write) {
        self.burst = Some(Burst { order, before: self.written, since_ns: None });
    }

    /// Stops writing.
    pub fn pause(&mut self) {
        self.burst = None;
    }

    /// Application data written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Notes that the stack has taken data.
    pub fn wrote(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// The most data that the stack is to hold beyond what is in flight, if that is limited.
    pub fn most_unsent(&self) -> Option<u64> {
        self.burst.as_ref()?.order.most_unsent_bytes
    }

    /// The number of bytes to write now, over an open connection.
    pub fn due(&mut self, now_ns: i64) -> u64 {
        let Some(burst) = &mut self.burst else { return 0 };
        let since_ns = *burst.since_ns.get_or_insert(now_ns);
        let done = self.written - burst.before;
        let by_now = burst.order.rate_bps.map_or(u64::MAX, |rate| Pieces(rate).by(now_ns - since_ns));
        burst.order.bytes.unwrap_or(u64::MAX).min(by_now).saturating_sub(done)
    }

    /// True if the stream ends behind what was written.
    pub fn is_over(&self) -> bool {
        let Some(Burst { order, before, .. }) = &self.burst else { return false };
        order.is_last && order.bytes == Some(self.written - before)
    }

    /// The time of the next write, if the application waits for that: neither for an order nor for the stack.
    pub fn next_ns(&self, now_ns: i64) -> Option<i64> {
        let burst = self.burst.as_ref()?;
        let (since_ns, pieces) = (burst.since_ns?, Pieces(burst.order.rate_bps?));
        let done = self.written - burst.before;
        let waits = pieces.by(now_ns - since_ns) <= done && burst.order.bytes.is_none_or(|bytes| done < bytes);
        waits.then(|| since_ns + pieces.next_ns(now_ns - since_ns))
    }
}

/// The writes of an application with a rate, in bits per second: equal but for rounding, the first at time 0.
struct Pieces(u64);

impl Pieces {
    fn interval_ns(&self) -> u128 {
        (PIECE_BYTES * BYTE_NS).div_ceil(u128::from(self.0).max(1)).max(PIECE_NS)
    }

    /// Number of writes up to a time.
    fn count(&self, time_ns: i64) -> u128 {
        time_ns.max(0) as u128 / self.interval_ns() + 1
    }

    /// Bytes of all writes up to a time. Their sum is rounded down once: no error adds up.
    fn by(&self, time_ns: i64) -> u64 {
        (self.count(time_ns) * self.interval_ns() * u128::from(self.0) / BYTE_NS) as u64
    }

    /// The time of the first write after a time.
    fn next_ns(&self, time_ns: i64) -> i64 {
        (self.count(time_ns) * self.interval_ns()) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn with(order: Write) -> Application {
        let mut application = Application::default();
        application.write(order);
        application
    }

    #[test]
    fn a_rate_is_kept_over_any_time() {
        // 1,250 bytes each ms.
        let mut application = with(Write { rate_bps: Some(10_000_000), ..Write::default() });
        assert_eq!(application.due(7 * MS), 1250, "time counts from here");
        application.wrote(1250);
        assert_eq!((application.due(7 * MS), application.next_ns(7 * MS)), (0, Some(8 * MS)));
        assert_eq!(application.due(7 * MS + 10_000 * MS), 12_500_000);
        assert_eq!(application.next_ns(8 * MS), None, "the stack takes no more");
    }

    #[test]
    fn a_low_rate_fills_datagrams() {
        let mut application = with(Write { rate_bps: Some(96_000), ..Write::default() });
        let seen = [0, 99, 100, 199, 200].map(|ms| application.due(ms * MS));
        assert_eq!(seen, [1200, 1200, 2400, 2400, 3600]);
    }

    #[test]
    fn bursts_have_their_bytes_and_only_the_last_ends_the_stream() {
        let mut application = with(Write { bytes: Some(100), ..Write::default() });
        assert_eq!((application.due(0), application.is_over()), (100, false));
        application.wrote(100);
        assert_eq!((application.due(MS), application.is_over(), application.next_ns(MS)), (0, false, None));
        application.write(Write { bytes: Some(50), is_last: true, ..Write::default() });
        assert_eq!(application.due(2 * MS), 50);
        application.wrote(50);
        assert!(application.is_over());
    }

    #[test]
    fn a_pause_ends_a_burst() {
        let mut application = with(Write { most_unsent_bytes: Some(9), ..Write::default() });
        assert_eq!((application.due(0), application.most_unsent()), (u64::MAX, Some(9)));
        application.pause();
        assert_eq!((application.due(MS), application.next_ns(MS)), (0, None));
    }
}
