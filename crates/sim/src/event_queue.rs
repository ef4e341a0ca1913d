//! The queue of due events.

use units::Time;

/// The time at which each of a fixed set of sources is due next.
///
/// A source has one time, which may move. If several are due at the same time, the one comes first whose time was set
/// first.
///
/// Links are due far more often than timers, and there are few of them: they have a tournament of their own, in which the
/// way from a source to the first is short.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    links: Tournament,
    timers: Tournament,
    /// The number of links.
    first_timer: u32,
    set: u64,
}

/// A tournament of sources, in which the earlier of two goes on.
///
/// A heap would hold only what is due, but where an entry goes in it is a matter of chance, and a processor that guesses
/// wrongly waits. All ways are equally long here, and most end early: a timer that is not the next of its neighbours
/// changes nothing above them.
#[derive(Clone, Debug)]
struct Tournament {
    /// The nodes 2 i and 2 i + 1, which race against each other, at i: the winner goes on as node i. The sources are the last
    /// half of the nodes, and node 1 is the first of all.
    pairs: Vec<[Entry; 2]>,
    first: Entry,
}

/// Time, the number of the call that set it, and the source, from the high bits down: compared as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    const NEVER: Entry = Entry((Time::NEVER.as_nanos() as u128) << 64);

    fn new(at: Time, number: u64, source: u32) -> Entry {
        // Times are not negative here: a simulation begins at 0.
        Entry((at.as_nanos() as u128) << 64 | u128::from(number << SOURCE_BITS | u64::from(source)))
    }

    #[inline]
    fn at(self) -> Time {
        Time((self.0 >> 64) as i64)
    }

    fn source(self) -> u32 {
        self.0 as u32 & ((1 << SOURCE_BITS) - 1)
    }
}

/// 16 million sources, and 2^40 calls.
const SOURCE_BITS: u32 = 24;

impl EventQueue {
    /// A queue of the sources 0 to `links` - 1, which are links, and of `timers` behind them; none is due.
    pub(crate) fn new(links: usize, timers: usize) -> EventQueue {
        assert!(links + timers < 1 << SOURCE_BITS, "{links} links and {timers} timers as sources of events");
        EventQueue { links: Tournament::new(links), timers: Tournament::new(timers), first_timer: links as u32, set: 0 }
    }

    /// The first source that is due by `until`, which is before [`Time::NEVER`]. It stays due until it is set to another
    /// time.
    #[inline]
    pub(crate) fn first(&self, until: Time) -> Option<(Time, u32)> {
        let first = self.links.first().min(self.timers.first());
        (first.at() <= until).then(|| (first.at(), first.source()))
    }

    /// `source` is due at `at`; [`Time::NEVER`]: not at all. Setting the same time again changes nothing.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Time) {
        if self.at(source) != at {
            self.move_to(source, at);
        }
    }

    fn move_to(&mut self, source: u32, at: Time) {
        self.set += 1;
        let entry = if at == Time::NEVER { Entry::NEVER } else { Entry::new(at, self.set, source) };
        match source.checked_sub(self.first_timer) {
            None => self.links.set(source, entry),
            Some(timer) => self.timers.set(timer, entry),
        }
    }

    /// The time at which `source` is due.
    #[inline]
    pub(crate) fn at(&self, source: u32) -> Time {
        match source.checked_sub(self.first_timer) {
            None => self.links.get(source).at(),
            Some(timer) => self.timers.get(timer).at(),
        }
    }
}

impl Tournament {
    fn new(sources: usize) -> Tournament {
        Tournament { pairs: vec![[Entry::NEVER; 2]; sources], first: Entry::NEVER }
    }

    #[inline]
    fn first(&self) -> Entry {
        self.first
    }

    #[inline]
    fn get(&self, source: u32) -> Entry {
        if self.pairs.len() == 1 {
            return self.first;
        }
        let leaf = self.leaf(source);
        self.pairs[leaf / 2][leaf % 2]
    }

    #[inline]
    fn set(&mut self, source: u32, mut entry: Entry) {
        let mut node = self.leaf(source);
        while node > 1 {
            let pair = &mut self.pairs[node / 2];
            let before = std::mem::replace(&mut pair[node % 2], entry);
            // The winner before wins again.
            if before == entry {
                return;
            }
            entry = pair[0].min(pair[1]);
            node /= 2;
        }
        self.first = entry;
    }

    #[inline]
    fn leaf(&self, source: u32) -> usize {
        self.pairs.len() + source as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(events: &mut EventQueue) -> Vec<(i64, u32)> {
        let pop = || {
            let first = events.first(Time(i64::MAX - 1))?;
            events.set(first.1, Time::NEVER);
            Some((first.0.0, first.1))
        };
        std::iter::from_fn(pop).collect()
    }

    #[test]
    fn sources_come_in_the_order_of_time() {
        let mut events = EventQueue::new(1, 3);
        for (source, at) in [(0, 30), (1, 10), (2, 20), (3, 40)] {
            events.set(source, Time(at));
        }
        events.set(3, Time(5));
        events.set(2, Time::NEVER);
        assert_eq!(all(&mut events), [(5, 3), (10, 1), (30, 0)]);
    }

    #[test]
    fn of_several_at_a_time_the_one_that_was_set_first_comes_first() {
        let mut events = EventQueue::new(4, 5);
        for source in [4, 2, 8, 0, 6] {
            events.set(source, Time(7));
        }
        events.set(4, Time(8));
        events.set(4, Time(7));
        events.set(2, Time(7));
        assert_eq!(all(&mut events).iter().map(|e| e.1).collect::<Vec<_>>(), [2, 8, 0, 6, 4]);
    }

    proptest! {
        #[test]
        fn as_a_sorted_list_would(links in 0..20usize, changes in prop::collection::vec((0..20u32, 0..50i64, any::<bool>()), 0..200)) {
            let mut events = EventQueue::new(links, 20 - links);
            let mut list: Vec<(i64, usize, u32)> = Vec::new();
            for (number, &(source, at, is_due)) in changes.iter().enumerate() {
                let at = if is_due { Time(at) } else { Time::NEVER };
                if events.at(source) != at {
                    list.retain(|entry| entry.2 != source);
                    if is_due {
                        list.push((at.0, number, source));
                    }
                }
                events.set(source, at);
            }
            list.sort_unstable();
            prop_assert_eq!(all(&mut events), list.iter().map(|e| (e.0, e.2)).collect::<Vec<_>>());
        }
    }
}
