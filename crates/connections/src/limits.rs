//! Limits of a sender, over time.

/// The states, in the order of [`Limited::spent_ns`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Nothing is known: before the first data.
    #[default]
    Nothing,
    Window,
    Application,
    Recovery,
    Network,
    /// All that passed the capture is acknowledged. What limits is known when the next data come.
    Silence,
}

/// Whether a sender was silent for longer than its answer takes, which may be late by half.
pub(crate) fn is_silent(ns: i64, away_ns: i64) -> bool {
    ns > away_ns + away_ns / 2
}

/// Time spent under each limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limited {
    spent_ns: [i64; 6],
    since_ns: i64,
    now: Limit,
    /// Limit before the present silence; nothing counts as the network.
    before: Limit,
}

impl Limited {
    /// Until `now_ns` the old limit held, or `instead` of it; from then on `next` holds.
    #[inline]
    pub(crate) fn change(&mut self, now_ns: i64, instead: Option<Limit>, next: Limit) {
        if self.now != Limit::Nothing {
            self.spent_ns[instead.unwrap_or(self.now) as usize] += (now_ns - self.since_ns).max(0);
        }
        (self.since_ns, self.now) = (now_ns, next);
    }

    /// A limit was set, of a sender that is far away: another one than silence ends what was silent.
    pub(crate) fn go_on(&mut self, away_ns: i64) {
        if self.now != Limit::Silence {
            if self.spent_ns[Limit::Silence as usize] > 0 {
                self.end_silence(away_ns);
            }
            self.before = self.now;
        }
    }

    /// A silence of the sender ended. An answer to the last acknowledgement takes `away_ns` at least to pass: so long the limit
    /// before it held on, and only a longer silence is the application's.
    pub(crate) fn end_silence(&mut self, away_ns: i64) {
        let silent = std::mem::take(&mut self.spent_ns[Limit::Silence as usize]);
        let kept = if is_silent(silent, away_ns) { away_ns } else { silent };
        let before = if self.before == Limit::Nothing { Limit::Network } else { self.before };
        self.spent_ns[before as usize] += kept;
        self.spent_ns[Limit::Application as usize] += silent - kept;
    }

    /// Time of the present silence until `now_ns`.
    pub(crate) fn silence_ns(&self, now_ns: i64) -> i64 {
        let since = if self.now == Limit::Silence { now_ns - self.since_ns } else { 0 };
        self.spent_ns[Limit::Silence as usize] + since
    }

    /// The present limit.
    pub(crate) fn now(&self) -> Limit {
        self.now
    }

    /// When it began to hold.
    pub(crate) fn since_ns(&self) -> i64 {
        self.since_ns
    }

    /// Time so far under the receiver's window, the application, recovery and the network.
    pub(crate) fn all(&self) -> [u64; 4] {
        [Limit::Window, Limit::Application, Limit::Recovery, Limit::Network].map(|limit| self.spent(limit))
    }

    /// Time under a limit so far.
    pub(crate) fn spent(&self, limit: Limit) -> u64 {
        self.spent_ns[limit as usize] as u64
    }
}
