//! What limits a sender, over time.

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
}

/// Time spent under each limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limited {
    spent_ns: [i64; 5],
    since_ns: i64,
    now: Limit,
}

impl Limited {
    /// Until `now_ns` the old limit held, or `instead` of it; from then on `next` holds.
    pub(crate) fn change(&mut self, now_ns: i64, instead: Option<Limit>, next: Limit) {
        if self.now != Limit::Nothing {
            self.spent_ns[instead.unwrap_or(self.now) as usize] += (now_ns - self.since_ns).max(0);
        }
        (self.since_ns, self.now) = (now_ns, next);
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
