//! Pairs of rows of the sender and the receiver, at the same point of the grid of samples.

use std::collections::VecDeque;

use quic_lines::{Received, Sent};

/// Rows of both ends that are not paired yet.
#[derive(Debug)]
pub struct Pairs {
    interval_ns: i64,
    sent: VecDeque<Sent>,
    received: VecDeque<Received>,
    received_bytes: u64,
}

impl Pairs {
    /// Begins without rows. Samples are taken at multiples of this interval.
    pub fn new(interval_ns: i64) -> Pairs {
        Pairs { interval_ns, sent: VecDeque::new(), received: VecDeque::new(), received_bytes: 0 }
    }

    /// Takes a row of the sender.
    pub fn sent(&mut self, row: Sent) {
        self.sent.push_back(row);
    }

    /// Takes a row of the receiver.
    pub fn received(&mut self, row: Received) {
        self.received.push_back(row);
    }

    /// Returns rows of the sender, each with the bytes that were received by its point of the grid. A row waits for the
    /// receiver's, unless `all` are taken.
    pub fn take(&mut self, all: bool) -> Vec<(Sent, u64)> {
        let mut pairs = Vec::new();
        while let Some(sent) = self.sent.front() {
            let point = self.point(sent.time_ns);
            let is_paired = self.received.back().is_some_and(|row| self.point(row.time_ns) >= point);
            if !is_paired && !all {
                break;
            }
            while let Some(row) = self.received.front().filter(|row| self.point(row.time_ns) <= point) {
                self.received_bytes = row.bytes;
                // The last row tells later calls how far the receiver is.
                if self.received.len() == 1 {
                    break;
                }
                self.received.pop_front();
            }
            pairs.extend(self.sent.pop_front().map(|sent| (sent, self.received_bytes)));
        }
        pairs
    }

    fn point(&self, time_ns: i64) -> i64 {
        time_ns.div_euclid(self.interval_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(pairs: &mut Pairs, all: bool) -> Vec<(i64, u64)> {
        pairs.take(all).into_iter().map(|(sent, bytes)| (sent.time_ns, bytes)).collect()
    }

    #[test]
    fn a_row_has_what_was_received_by_its_point_of_the_grid() {
        let mut pairs = Pairs::new(10);
        for time_ns in [10, 20, 30, 34] {
            pairs.sent(Sent { time_ns, ..Sent::default() });
        }
        assert_eq!(bytes(&mut pairs, false), [], "the receiver has said nothing");
        pairs.received(Received { time_ns: 11, bytes: 1, ..Received::default() });
        pairs.received(Received { time_ns: 22, bytes: 2, ..Received::default() });
        assert_eq!(bytes(&mut pairs, false), [(10, 1), (20, 2)]);
        assert_eq!(bytes(&mut pairs, true), [(30, 2), (34, 2)], "it says no more");
    }
}
