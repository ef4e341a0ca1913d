//! Responsiveness under working conditions, in round trips per minute (RPM): draft-ietf-ippm-responsiveness-08.
//!
//! The draft averages two rates: of probes on separate connections ("foreign"), and of requests on the connections that
//! load the path ("loaded"). Each is 60,000 over a mean of round trips in ms, from which the slowest twentieth is
//! trimmed. Our foreign probes are echo requests, which take one round trip, as each of the draft's (TCP, TLS and HTTP)
//! is counted; our loaded round trips are the smoothed RTTs of bulk TCP flows. Neither therefore waits in a sending
//! application's buffer.

use serde::Serialize;

/// Round trips that are kept, of a thousand: the draft's trimmed mean percentage, 95 %.
const KEPT_PER_MILLE: usize = 950;

/// Round trips per minute while all bulk flows are active.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Responsiveness {
    /// The mean of the two below.
    pub rpm: f64,
    /// The rate of echo requests.
    pub foreign_rpm: f64,
    /// The rate of the bulk flows themselves.
    pub loaded_rpm: f64,
}

impl Responsiveness {
    /// Responsiveness from round-trip times in ns: of echo requests, and of bulk flows. `None` if either is missing.
    pub(crate) fn of(mut foreign_ns: Vec<i64>, mut loaded_ns: Vec<i64>) -> Option<Responsiveness> {
        let (foreign_rpm, loaded_rpm) = (per_minute(&mut foreign_ns)?, per_minute(&mut loaded_ns)?);
        Some(Responsiveness { rpm: (foreign_rpm + loaded_rpm) / 2.0, foreign_rpm, loaded_rpm })
    }
}

fn per_minute(rtts_ns: &mut [i64]) -> Option<f64> {
    rtts_ns.sort_unstable();
    let kept = &rtts_ns[..(rtts_ns.len() * KEPT_PER_MILLE).div_ceil(1000)];
    let sum: i128 = kept.iter().map(|&ns| i128::from(ns)).sum();
    (sum > 0).then(|| 60e9 * kept.len() as f64 / sum as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn both_kinds_of_round_trips_count_alike() {
        let found = Responsiveness::of(vec![100 * MS; 40], vec![300 * MS; 7]).unwrap();
        assert_eq!(found, Responsiveness { rpm: 400.0, foreign_rpm: 600.0, loaded_rpm: 200.0 });
    }

    #[test]
    fn the_slowest_twentieth_is_trimmed() {
        let mut rtts = vec![50 * MS; 95];
        rtts.extend([9_000 * MS; 5]);
        assert_eq!(per_minute(&mut rtts), Some(1200.0));
        rtts.push(9_000 * MS);
        assert!(per_minute(&mut rtts).unwrap() < 1200.0, "96 of 101 are kept");
    }

    #[test]
    fn it_takes_round_trips_of_both_kinds() {
        assert_eq!(Responsiveness::of(vec![], vec![MS]), None);
        assert_eq!(Responsiveness::of(vec![MS], vec![]), None);
    }
}
