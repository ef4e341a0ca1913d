//! What is due, and when.

use units::Time;

/// When each of a fixed set of sources is due next: a 4-ary heap that knows where each source is.
///
/// A source has one time, which may move. Of several that are due at the same time, the one comes first whose time was
/// set first: the order never depends on how the heap lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events {
    heap: Vec<Entry>,
    /// Where a source is in the heap; [`ABSENT`]: it is not.
    places: Vec<u32>,
    set: u64,
}

/// Time, the number of the call that set it, and the source, from the high bits down: compared as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(at: Time, number: u64, source: u32) -> Entry {
        // Times are not negative here: a simulation begins at 0.
        Entry((at.as_nanos() as u128) << 64 | u128::from(number) << SOURCE_BITS | u128::from(source))
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

const ABSENT: u32 = u32::MAX;

impl Events {
    /// Of `sources` sources, none of which is due.
    pub(crate) fn new(sources: usize) -> Events {
        assert!(sources < 1 << SOURCE_BITS, "too many sources of events");
        Events { heap: Vec::with_capacity(sources.min(1024)), places: vec![ABSENT; sources], set: 0 }
    }

    /// The first source that is due by `until`. It stays due until it is set to another time.
    #[inline]
    pub(crate) fn first(&self, until: Time) -> Option<(Time, u32)> {
        let first = *self.heap.first()?;
        (first.at() <= until).then(|| (first.at(), first.source()))
    }

    /// `source` is due at `at`; [`Time::NEVER`]: not at all. Setting the same time again changes nothing.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Time) {
        let place = self.places[source as usize];
        if at == Time::NEVER {
            if place != ABSENT {
                self.remove(place as usize);
            }
            return;
        }
        if place != ABSENT && self.heap[place as usize].at() == at {
            return;
        }
        self.set += 1;
        let entry = Entry::new(at, self.set, source);
        if place == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        } else {
            self.settle(place as usize, entry);
        }
    }

    /// When `source` is due.
    pub(crate) fn at(&self, source: u32) -> Time {
        match self.places[source as usize] {
            ABSENT => Time::NEVER,
            place => self.heap[place as usize].at(),
        }
    }

    fn remove(&mut self, place: usize) {
        self.places[self.heap[place].source() as usize] = ABSENT;
        if let Some(last) = self.heap.pop()
            && place < self.heap.len()
        {
            self.settle(place, last);
        }
    }

    fn settle(&mut self, place: usize, entry: Entry) {
        if place > 0 && entry < self.heap[(place - 1) / 4] {
            self.rise(place, entry);
        } else {
            self.sink(place, entry);
        }
    }

    fn rise(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / 4;
            if self.heap[parent] < entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sink(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = 4 * place + 1;
            let Some(children) = self.heap.get(first..(first + 4).min(self.heap.len())) else { break };
            let Some((child, &least)) = children.iter().enumerate().min_by_key(|child| child.1) else { break };
            if entry < least {
                break;
            }
            self.put(place, least);
            place = first + child;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.places[entry.source() as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(events: &mut Events) -> Vec<(i64, u32)> {
        let pop = || {
            let first = events.first(Time(i64::MAX - 1))?;
            events.set(first.1, Time::NEVER);
            Some((first.0.0, first.1))
        };
        std::iter::from_fn(pop).collect()
    }

    #[test]
    fn sources_come_in_the_order_of_time() {
        let mut events = Events::new(4);
        for (source, at) in [(0, 30), (1, 10), (2, 20), (3, 40)] {
            events.set(source, Time(at));
        }
        events.set(3, Time(5));
        events.set(2, Time::NEVER);
        assert_eq!(all(&mut events), [(5, 3), (10, 1), (30, 0)]);
    }

    #[test]
    fn of_several_at_a_time_the_one_that_was_set_first_comes_first() {
        let mut events = Events::new(9);
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
        fn as_a_sorted_list_would(changes in prop::collection::vec((0..20u32, 0..50i64, any::<bool>()), 0..200)) {
            let mut events = Events::new(20);
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
