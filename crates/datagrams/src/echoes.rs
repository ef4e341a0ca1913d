use std::collections::VecDeque;

use units::{Duration, Time};

/// A request without an answer counts as lost only after this time, or after the longest round trip seen if that is longer:
/// the waiting time of RFC 6673 section 4.1.
const WAITING_TIME: Duration = Duration::from_secs(1);

/// Echo requests of one flow, and the requests that were answered: round-trip delay (RFC 2681) and round-trip loss (RFC
/// 6673).
#[derive(Clone, Debug, Default)]
pub struct Echoes {
    /// Requests without an answer yet, oldest first.
    waiting: VecDeque<(u64, Time)>,
    sent: u64,
    answered: u64,
    duplicates: u64,
    /// The highest number that was answered.
    latest: Option<u64>,
    longest: Duration,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Requests are numbered from 0.
    pub number: u64,
    /// The time at which it was sent.
    pub sent: Time,
    /// Time from sending to the answer's arrival; `None` without an answer.
    pub rtt: Option<Duration>,
    /// The request has no answer, and none is to be expected. A request that is still under way is neither answered nor
    /// lost.
    pub is_lost: bool,
}

/// The number of requests with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoCounts {
    /// Requests sent.
    pub sent: u64,
    /// Requests with an answer.
    pub answered: u64,
    /// Requests without one; see [`Echo::is_lost`].
    pub lost: u64,
    /// Further answers to a request that had one.
    pub duplicates: u64,
}

impl Echoes {
    /// The number of the request that is sent next.
    pub fn next(&self) -> u64 {
        self.sent
    }

    /// A request leaves.
    pub fn send(&mut self, now: Time) {
        self.waiting.push_back((self.sent, now));
        self.sent += 1;
    }

    /// An answer to request `number` arrives. `None` if the request was answered before, or never sent.
    pub fn answer(&mut self, number: u64, now: Time) -> Option<Echo> {
        let Ok(at) = self.waiting.binary_search_by_key(&number, |request| request.0) else {
            self.duplicates += u64::from(number < self.sent);
            return None;
        };
        let (_, sent) = self.waiting.remove(at)?;
        let rtt = now - sent;
        self.answered += 1;
        self.latest = self.latest.max(Some(number));
        self.longest = self.longest.max(rtt);
        Some(Echo { number, sent, rtt: Some(rtt), is_lost: false })
    }

    /// The requests without an answer when the run ends.
    pub fn unanswered(&self, end: Time) -> impl Iterator<Item = Echo> {
        let lost = self.lost(end);
        let echo =
            move |(at, &(number, sent)): (usize, &(u64, Time))| Echo { number, sent, rtt: None, is_lost: at < lost };
        self.waiting.iter().enumerate().map(echo)
    }

    /// The counts of all requests if the run ends at `end`.
    pub fn counts(&self, end: Time) -> EchoCounts {
        let &Echoes { sent, answered, duplicates, .. } = self;
        EchoCounts { sent, answered, lost: self.lost(end) as u64, duplicates }
    }

    /// The number of lost requests: those older than one that was answered, and those that have waited too long. They are
    /// the oldest ones without an answer, so a search by halves finds the last.
    fn lost(&self, end: Time) -> usize {
        let waiting_time = WAITING_TIME.max(self.longest);
        self.waiting.partition_point(|&(number, sent)| {
            self.latest.is_some_and(|latest| latest > number) || end - sent > waiting_time
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: i64) -> Time {
        Time(n * 1_000_000)
    }

    #[test]
    fn a_request_is_answered_once() {
        let mut echoes = Echoes::default();
        (0..3).for_each(|n| echoes.send(ms(10 * n)));
        let echo = echoes.answer(1, ms(35)).unwrap();
        assert_eq!((echo.sent, echo.rtt), (ms(10), Some(Duration::from_millis(25))));
        assert_eq!((echoes.answer(1, ms(36)), echoes.answer(7, ms(36))), (None, None));
        // Request 0 is older than one that was answered; request 2 may still come back.
        let expected = EchoCounts { sent: 3, answered: 1, lost: 1, duplicates: 1 };
        assert_eq!(echoes.counts(ms(40)), expected);
        assert_eq!(echoes.counts(ms(1021)), EchoCounts { lost: 2, ..expected });
    }

    #[test]
    fn a_long_queue_is_waited_for() {
        let mut echoes = Echoes::default();
        echoes.send(ms(0));
        echoes.send(ms(100));
        echoes.answer(0, ms(3000)).unwrap();
        assert_eq!(echoes.counts(ms(3050)).lost, 0, "round trips take 3 s here");
        assert_eq!(echoes.counts(ms(3101)).lost, 1);
    }

    #[test]
    fn an_answer_that_was_overtaken_still_counts() {
        let mut echoes = Echoes::default();
        (0..4).for_each(|n| echoes.send(ms(n)));
        for number in [3, 0, 2] {
            assert!(echoes.answer(number, ms(50)).is_some());
        }
        assert_eq!(echoes.counts(ms(60)), EchoCounts { sent: 4, answered: 3, lost: 1, duplicates: 0 });
    }
}
