//! How long a sender waits for segments that come late before it deems them lost (RFC 8985 section 6.2 step 4).

/// Recoveries without a needless retransmission, after which it waits as at first.
const PERSIST: u32 = 16;
const MOST_STEPS: u32 = 255;

/// Grows with needless retransmissions, once a round.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Quarters of the least RTT beyond the first one.
    more: u32,
    persist: u32,
    /// The end of what had been sent when it grew last.
    grown_at: Option<i64>,
    is_told: bool,
    /// Reports of duplicates so far.
    duplicates: u64,
}

impl Patience {
    /// A report of a duplicate came (RFC 2883). As in Linux it counts only if packets have come late, and if no more
    /// duplicates than `sent_again` were reported: else the network made them.
    pub(crate) fn duplicate(&mut self, sent_again: u64, is_reordered: bool) {
        self.duplicates += 1;
        self.is_told |= is_reordered && self.duplicates <= sent_again;
    }

    /// After each acknowledgement.
    pub(crate) fn adapt(&mut self, una: i64, nxt: i64) {
        if !std::mem::take(&mut self.is_told) {
            return;
        }
        if self.grown_at.is_none_or(|at| una >= at) {
            self.more = (self.more + 1).min(MOST_STEPS - 1);
            (self.grown_at, self.persist) = (Some(nxt), PERSIST);
        }
    }

    /// A recovery ended.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.more = 0;
        }
    }

    /// The time in ns that a segment may be late.
    pub(crate) fn ns(&self, least_rtt_ns: i64, srtt_ns: i64) -> i64 {
        (least_rtt_ns / 4).saturating_mul(i64::from(1 + self.more)).min(srtt_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_once_a_round_and_goes_back_after_recoveries() {
        let mut patience = Patience::default();
        assert_eq!(patience.ns(40, 100), 10);
        for una in [0, 10, 20] {
            patience.duplicate(9, true);
            patience.adapt(una, 50);
        }
        assert_eq!(patience.ns(40, 100), 20);
        patience.duplicate(9, true);
        patience.adapt(50, 90);
        assert_eq!((patience.ns(40, 100), patience.ns(40, 25)), (30, 25));
        (1..PERSIST).for_each(|_| patience.recovered());
        assert_eq!(patience.ns(40, 100), 30);
        patience.recovered();
        assert_eq!(patience.ns(40, 100), 10);
    }

    #[test]
    fn copies_of_the_network_count_for_nothing() {
        let mut patience = Patience::default();
        patience.duplicate(0, true);
        patience.duplicate(2, false);
        patience.adapt(0, 50);
        assert_eq!(patience.ns(40, 100), 10);
    }
}
