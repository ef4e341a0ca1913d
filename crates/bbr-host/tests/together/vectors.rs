//! The check values of the specification's section 16, and the defaults.

use bbr_host::Core;
use bbr_host::vectors::*;
use cc::bbr::Parameters;
use proptest::prelude::*;

/// 87 packets in 20 ms.
const BW: u64 = 72_981;

#[test]
fn the_defaults_are_those_of_the_specification() {
    for parameters in [Parameters::v2(), Parameters::v3()] {
        let mut core = Core::with_defaults(&parameters);
        for (name, value) in parameters.values() {
            assert_eq!(i64::from(core.get(name)), value, "{name} of {}", parameters.name);
        }
    }
}

#[test]
fn a_delivery_rate_is_rounded_up() {
    assert_eq!(delivery_rate(87, 20_000), BW);
    assert_eq!([delivery_rate(87, 0), delivery_rate(87, -1), delivery_rate(-1, 20_000)], [0, 0, 0]);
}

#[test]
fn a_bdp_is_rounded_up() {
    assert_eq!([256, 320, 512, 128].map(|gain| volume(BW, 20_000, gain)), [88, 109, 175, 44]);
}

#[test]
fn a_pacing_rate_has_a_margin_of_1_percent() {
    let rates = [710, 739, 88, 192, 232, 256, 320].map(|gain| rate(BW, 1448, gain));
    assert_eq!(rates, [17_294_660, 18_001_062, 2_143_563, 4_676_866, 5_651_213, 6_235_821, 7_794_776]);
    assert_eq!(rate(0, 1448, 256), 1);
}

#[test]
fn headroom_is_15_percent_and_a_packet_at_least() {
    assert_eq!(
        [5, 6, 10, 100, 1000, u32::MAX].map(|inflight_hi| headroomed(inflight_hi)),
        [4, 5, 9, 86, 852, u32::MAX]
    );
}

#[test]
fn the_slope_doubles_each_round() {
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(|round| slope(100, round)), [100, 50, 25, 12, 6, 3, 1, 1]);
}

#[test]
fn a_lossy_burst_fits_in_part() {
    let bursts = [(100, 1, 1), (100, 2, 1), (100, 45, 45), (1000, 30, 30), (50, 1, 1)];
    let fits = bursts.map(|(tx_in_flight, lost, segments)| inflight_at_loss(tx_in_flight, lost, segments));
    assert_eq!(fits, [None, Some(100), Some(57), Some(989), Some(50)]);
    assert_eq!(inflight_at_loss(1, 2, 2), Some(u32::MAX));
}

#[test]
fn alpha_follows_the_share_of_marks() {
    let chain = |alpha, share| {
        std::iter::successors(Some(alpha), move |&alpha| Some(average_alpha(alpha, share))).skip(1).take(8)
    };
    assert!(chain(256, 0).eq([240, 225, 210, 196, 183, 171, 160, 150]));
    assert!(chain(0, 256).eq([16, 31, 45, 58, 70, 81, 91, 101]));
}

#[test]
fn a_cut_by_marks_leaves_two_thirds_at_least() {
    assert_eq!([256, 128, 64, 16].map(|alpha| ecn_keep(alpha)), [171, 214, 235, 251]);
}

#[test]
fn five_cuts_by_losses() {
    let chain = std::iter::successors(Some(1000), |&volume| Some(scale(volume, 180)));
    assert!(chain.skip(1).take(5).eq([703, 494, 347, 243, 170]));
}

#[test]
fn trains_are_long_on_short_paths() {
    assert_eq!([100, 1_000, 3_000, 20_000].map(|rtt| train(6_250_000, rtt)), [45, 26, 5, 4]);
    assert_eq!(train(125_000_000, 20_000), 45);
    assert_eq!(train(1, u32::MAX), 2);
}

proptest! {
    #[test]
    fn products_saturate(a: u64, b: u32) {
        prop_assert_eq!(multiply(a, b), a.saturating_mul(u64::from(b)));
        let small = a >> (a % 64);
        prop_assert_eq!(multiply(small, b), small.saturating_mul(u64::from(b)));
    }

    #[test]
    fn logarithms_are_rounded_down(value: u32, shift in 0..32) {
        let value = value >> shift;
        prop_assert_eq!(log2(value), value.checked_ilog2().unwrap_or(0));
    }
}
