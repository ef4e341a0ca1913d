use std::sync::Arc;

use plan::Variation;
use units::{Duration, Time};

/// Walks through moments of a record that may begin again after a period.
#[derive(Clone, Debug)]
struct Cursor {
    /// Times of one period, not falling.
    times: Arc<[Time]>,
    period: Option<Duration>,
    index: usize,
    /// The time at which the current round began.
    round: Time,
}

impl Cursor {
    fn new(times: Arc<[Time]>, period: Option<Duration>) -> Cursor {
        Cursor { times, period, index: 0, round: Time::ZERO }
    }

    /// The time of the current moment; [`Time::NEVER`] after the last one.
    fn at(&self) -> Time {
        self.times.get(self.index).map_or(Time::NEVER, |&at| self.round + (at - Time::ZERO))
    }

    fn step(&mut self) {
        self.index += 1;
        if let Some(period) = self.period
            && self.index == self.times.len()
        {
            self.index = 0;
            self.round += period;
        }
    }

    /// Skip to the first moment after `now`; returns the number of whole rounds left behind.
    fn skip_until(&mut self, now: Time) -> u64 {
        let mut rounds = 0;
        if let Some(period) = self.period {
            rounds = ((now - self.round).as_nanos() / period.as_nanos()).max(0);
            self.round += Duration(rounds * period.as_nanos());
            if rounds > 0 {
                self.index = 0;
            }
        }
        let within = Time::ZERO + (now - self.round);
        self.index = self.index.max(self.times.partition_point(|&at| at <= within));
        if self.period.is_some() && self.index == self.times.len() {
            self.index -= 1;
            self.step();
        }
        rounds as u64
    }
}

/// A value that is constant between steps: a rate, or a delay.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    cursor: Cursor,
    values: Arc<[T]>,
}

impl<T: Copy> Steps<T> {
    pub(crate) fn new(steps: &[(Time, T)], period: Option<Duration>) -> Steps<T> {
        let times = steps.iter().map(|&(at, _)| at).collect();
        Steps { cursor: Cursor::new(times, period), values: steps.iter().map(|&(_, value)| value).collect() }
    }

    /// The time at which the value changes next.
    pub(crate) fn next(&self) -> Time {
        self.cursor.at()
    }

    /// The value from [`Steps::next`] on, which is over then.
    pub(crate) fn take(&mut self) -> T {
        let value = self.values[self.cursor.index];
        self.cursor.step();
        value
    }
}

/// Moments at which a number of bytes may leave.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    cursor: Cursor,
    /// Opportunities up to and including each moment of a period.
    until: Arc<[u64]>,
    bytes: u32,
    /// Opportunities of the rounds that are over.
    before: u64,
}

impl Opportunities {
    pub(crate) fn new(times: &[(Time, u32)], bytes: u32, period: Duration) -> Opportunities {
        let mut total = 0;
        let until = times
            .iter()
            .map(|&(_, count)| {
                total += u64::from(count);
                total
            })
            .collect();
        let cursor = Cursor::new(times.iter().map(|&(at, _)| at).collect(), Some(period));
        Opportunities { cursor, until, bytes, before: 0 }
    }

    /// The time of the next moment.
    pub(crate) fn next(&self) -> Time {
        self.cursor.at()
    }

    /// The bytes that may leave at [`Opportunities::next`], which is over then.
    pub(crate) fn take(&mut self) -> u64 {
        let index = self.cursor.index;
        let before = if index == 0 { 0 } else { self.until[index - 1] };
        let count = self.until[index] - before;
        self.cursor.step();
        if self.cursor.index == 0 {
            self.before += self.per_round();
        }
        count * u64::from(self.bytes)
    }

    /// Opportunities up to `now` went by unused.
    pub(crate) fn skip_until(&mut self, now: Time) {
        if self.next() <= now {
            let round = self.cursor.round;
            self.cursor.skip_until(now);
            let period = self.cursor.period.expect("opportunities begin again").as_nanos();
            self.before += (self.cursor.round - round).as_nanos() as u64 / period as u64 * self.per_round();
        }
    }

    /// Bytes of all opportunities that are over.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        let index = self.cursor.index;
        let this_round = if index == 0 { 0 } else { self.until[index - 1] };
        (self.before + this_round) * u64::from(self.bytes)
    }

    fn per_round(&self) -> u64 {
        *self.until.last().expect("a trace has at least one opportunity")
    }
}

/// A link's own way of changing its rate.
#[derive(Clone, Debug)]
pub(crate) enum Varying {
    Steps(Steps<u64>),
    Opportunities(Opportunities),
}

impl From<&Variation> for Varying {
    fn from(spec: &Variation) -> Varying {
        match spec {
            Variation::Steps { steps, period_ns } => Varying::Steps(Steps::new(steps, *period_ns)),
            Variation::AsBefore => unreachable!("a plan that was read names each rate"),
            Variation::Opportunities { times, bytes, period_ns } => {
                Varying::Opportunities(Opportunities::new(times, *bytes, *period_ns))
            }
        }
    }
}
