//! Counts of what a host's TCP threw away, or had to do, for want of memory.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};

/// The counters of the calling thread's network namespace.
const COUNTERS: &str = "/proc/thread-self/net/netstat";
const GROUP: &str = "TcpExt:";

/// Linux's names (net/ipv4/proc.c): how often a receiver threw segments away, and how often TCP came under memory pressure.
/// `PruneCalled` is not among them: it also counts where packing segments closer was enough.
const SHORTAGES: [&str; 6] =
    ["OfoPruned", "RcvPruned", "TCPBacklogDrop", "TCPMemoryPressures", "TCPOFODrop", "TCPRcvQDrop"];

/// Counts since a host was made, by Linux's name. What is 0 is left out.
pub type Shortages = BTreeMap<String, u64>;

/// Subtract what had been counted by `earlier`. Both are by host.
pub fn subtract(now: &mut BTreeMap<String, Shortages>, earlier: &BTreeMap<String, Shortages>) {
    for (host, counts) in now.iter_mut() {
        let before = |name: &String| earlier.get(host).and_then(|counts| counts.get(name)).unwrap_or(&0);
        counts.iter_mut().for_each(|(name, count)| *count -= before(name));
        counts.retain(|_, count| *count > 0);
    }
    now.retain(|_, counts| !counts.is_empty());
}

/// Reads the counts of the calling thread's network namespace.
pub(crate) fn read() -> Result<Shortages> {
    let text = fs::read_to_string(COUNTERS).with_context(|| format!("reading {COUNTERS}"))?;
    parse(&text)
}

/// A group has a line of names, and one of counts below it.
fn parse(text: &str) -> Result<Shortages> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(GROUP));
    let (names, counts) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let all: BTreeMap<&str, &str> = names.split_whitespace().zip(counts.split_whitespace()).collect();
    let mut found = Shortages::new();
    for name in SHORTAGES {
        let count = all.get(name).with_context(|| format!("{COUNTERS} lacks {name}"))?;
        let count: u64 = count.parse().with_context(|| format!("{name} in {COUNTERS} is {count}"))?;
        if count > 0 {
            found.insert(name.to_owned(), count);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shortages_are_counted() {
        let text = "TcpExt: SyncookiesSent PruneCalled RcvPruned OfoPruned TCPBacklogDrop TCPMemoryPressures TCPRcvQDrop TCPOFODrop\n\
                    TcpExt: 7 1788 0 3 0 0 0 1743\n\
                    IpExt: InNoRoutes OfoPruned\nIpExt: 1 9\n";
        let expected = [("OfoPruned".to_owned(), 3), ("TCPOFODrop".to_owned(), 1743)];
        assert_eq!(parse(text).unwrap(), Shortages::from(expected));
    }

    #[test]
    fn a_counter_that_is_missing_is_no_zero() {
        for text in ["", "TcpExt: OfoPruned\nTcpExt: 3\n", "TcpExt: OfoPruned\nTcpExt: -\n"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_was_counted_before_is_not_of_this_time() {
        let counts = |host: &str, counts: &[(&str, u64)]| {
            (host.to_owned(), counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect())
        };
        let earlier = BTreeMap::from([counts("h1", &[("OfoPruned", 3)]), counts("h2", &[("OfoPruned", 3)])]);
        let mut now = BTreeMap::from([
            counts("h1", &[("OfoPruned", 3)]),
            counts("h2", &[("OfoPruned", 5), ("TCPOFODrop", 7)]),
            counts("h3", &[("TCPOFODrop", 1)]),
        ]);
        subtract(&mut now, &earlier);
        let expected = [counts("h2", &[("OfoPruned", 2), ("TCPOFODrop", 7)]), counts("h3", &[("TCPOFODrop", 1)])];
        assert_eq!(now, BTreeMap::from(expected));
    }
}
