//! The size of a train of segments that the stack will send, as BBR expects it (spec section 5).

use crate::Socket;

/// The largest train that is expected, bytes: 64 KB less one and the headers (`MAX_TCP_HEADER` = 320).
const MAX_TRAIN: u64 = 65_536 - 1 - 320;
/// Each 512 us of min_rtt halve the 64 KB that are allowed on top (spec section 3, "TSO: RTT shift").
const RTT_SHIFT: u32 = 9;
/// Below 1.2 Mbit/s, a train of BBRv1 and v2 may be a single segment, bytes per second.
const LOW_RATE: u64 = 150_000;

/// Packets in a train: about 1 ms of data, and on short paths up to 64 KB. `min_rtt_us`: `u32::MAX` for no such bonus.
pub(super) fn tso_goal(sk: &Socket, min_rtt_us: u32, floor: u32) -> u32 {
    let of_rate = sk.sk_pacing_rate.checked_shr(sk.sk_pacing_shift).unwrap_or(0);
    let of_rtt = 65_536u64.checked_shr(min_rtt_us >> RTT_SHIFT).unwrap_or(0);
    let bytes = of_rate.saturating_add(of_rtt).min(MAX_TRAIN);
    ((bytes / u64::from(sk.mss_cache.max(1))) as u32).max(floor)
}

/// The fewest segments of a train in BBRv1 and v2: 1 where 2 would be a burst.
pub(super) fn floor_by_rate(sk: &Socket) -> u32 {
    if sk.sk_pacing_rate < LOW_RATE { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_are_long_on_short_paths() {
        // Spec section 16.
        let goal = |rate, min_rtt| tso_goal(&Socket { sk_pacing_rate: rate, ..Socket::new(1448, 1) }, min_rtt, 2);
        assert_eq!([100, 1_000, 3_000, 20_000].map(|rtt| goal(6_250_000, rtt)), [45, 26, 5, 4]);
        assert_eq!(goal(125_000_000, 20_000), 45);
        assert_eq!(goal(1, u32::MAX), 2);
    }

    #[test]
    fn a_train_may_be_one_segment_below_1_2_mbit_per_s_only() {
        let floor = |rate| floor_by_rate(&Socket { sk_pacing_rate: rate, ..Socket::new(1448, 1) });
        assert_eq!([149_999, 150_000].map(floor), [1, 2]);
    }
}
