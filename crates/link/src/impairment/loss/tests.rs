use plan::Loss;
use proptest::prelude::*;

use super::Losses;
use crate::statistics::{assert_chi_square, assert_mean, batches, lag_product};

const N: usize = 1 << 20;

fn losses(spec: &Loss, n: usize) -> Vec<bool> {
    let mut losses = Losses::new(std::slice::from_ref(spec), 5, "link/loss-before");
    (0..n).map(|_| losses.next()).collect()
}

/// 1 for each lost packet, 0 for others.
fn series(spec: &Loss) -> Vec<f64> {
    losses(spec, N).iter().map(|&lost| f64::from(u8::from(lost))).collect()
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn assert_rate(spec: &Loss, expected: f64) {
    assert_mean(&batches(&series(spec), mean), expected, &format!("rate of {spec:?}"));
}

/// Counts of runs of losses of each length; the last counts what is at least that long.
fn runs(fates: &[bool], longest: usize) -> Vec<f64> {
    let mut counts = vec![0.0; longest];
    for run in fates.split(|&lost| !lost).filter(|run| !run.is_empty()) {
        counts[run.len().min(longest) - 1] += 1.0;
    }
    counts
}

/// Shares of runs of each length if a run goes on with probability `stay`.
fn geometric(stay: f64, longest: i32) -> Vec<f64> {
    (1..=longest).map(|k| stay.powi(k - 1) * if k < longest { 1.0 - stay } else { 1.0 }).collect()
}

#[test]
fn rates_are_the_probabilities() {
    for probability in [0.0001, 0.005, 0.2, 0.5] {
        assert_rate(&Loss::Independent { probability }, probability);
        assert_rate(&Loss::Netem { probability, correlation: 0.0 }, probability);
        assert_rate(&Loss::Burst { probability, packets: 1 }, probability);
    }
    for probability in [0.005, 0.2, 0.5] {
        assert_rate(&Loss::Correlated { probability, correlation: 0.25 }, probability);
        assert_rate(&Loss::Burst { probability, packets: 7 }, probability);
    }
}

#[test]
fn correlated_losses_come_in_geometric_runs() {
    let (probability, correlation) = (0.02, 0.25);
    let fates = losses(&Loss::Correlated { probability, correlation }, N);
    assert_chi_square(&runs(&fates, 5), &geometric(probability + correlation * (1.0 - probability), 5), "runs");
}

#[test]
fn gilbert_elliott_has_its_closed_forms() {
    // Hasslinger, Hohlfeld: "The Gilbert-Elliott model for packet loss in real time services on the Internet", MMB 2008:
    // the share of time in the bad state is p / (p + r); the autocovariance of losses falls by 1 - p - r a packet.
    for (p, r, loss_bad, loss_good) in [(0.01, 0.2, 1.0, 0.0), (0.05, 0.25, 0.6, 0.01), (0.3, 0.9, 0.5, 0.1)] {
        let bad = p / (p + r);
        let rate = bad * loss_bad + (1.0 - bad) * loss_good;
        let spec = Loss::GilbertElliott { p, r, loss_bad, loss_good };
        let series = series(&spec);
        assert_mean(&batches(&series, mean), rate, &format!("rate of {spec:?}"));
        for lag in [1, 2, 5] {
            let expected = (loss_bad - loss_good).powi(2) * bad * (1.0 - bad) * (1.0 - p - r).powi(lag);
            let what = format!("autocovariance of {spec:?} at lag {lag}");
            assert_mean(&batches(&series, |x| lag_product(x, rate, lag as usize)), expected, &what);
        }
    }
}

#[test]
fn the_simple_gilbert_model_has_geometric_bursts() {
    let fates = losses(&Loss::GilbertElliott { p: 0.01, r: 0.4, loss_bad: 1.0, loss_good: 0.0 }, N);
    assert_chi_square(&runs(&fates, 12), &geometric(0.6, 12), "bursts end with probability r");
}

/// Salsano et al. 2012: the stationary probabilities of the four states.
fn stationary(p13: f64, p31: f64, p32: f64, p23: f64, p14: f64) -> [f64; 4] {
    let of_1 = 1.0 / (1.0 + p14 + p13 / p31 + p13 * p32 / (p31 * p23));
    [of_1, of_1 * p13 * p32 / (p31 * p23), of_1 * p13 / p31, of_1 * p14]
}

#[test]
fn the_four_states_have_their_closed_forms() {
    for (p13, p31, p32, p23, p14) in [(0.01, 0.3, 0.1, 0.4, 0.005), (0.1, 0.2, 0.5, 0.7, 0.2)] {
        let spec = Loss::FourState { p13, p31, p32, p23, p14 };
        let shares = stationary(p13, p31, p32, p23, p14);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let rate = shares[2] + shares[3];
        let series = series(&spec);
        assert_mean(&batches(&series, mean), rate, &format!("rate of {spec:?}"));
        // Two losses in a row: only state 3 can follow on a loss, on itself. Two losses with one packet between: 3-3-3,
        // 3-2-3, 3-1-3, 3-1-4, 4-1-3 and 4-1-4.
        let stay = 1.0 - p31 - p32;
        let two = shares[2] * (stay * stay + p32 * p23 + p31 * (p13 + p14)) + shares[3] * (p13 + p14);
        for (lag, both) in [(1, shares[2] * stay), (2, two)] {
            let what = format!("losses {lag} apart of {spec:?}");
            assert_mean(&batches(&series, |x| lag_product(x, 0.0, lag)), both, &what);
        }
    }
}

#[test]
fn bursts_of_the_four_states_are_geometric_and_isolated_losses_single() {
    let (p13, p31, p32, p23, p14) = (0.02, 0.2, 0.3, 0.5, 0.03);
    let shares = stationary(p13, p31, p32, p23, p14);
    let (isolated, in_bursts) = (shares[0] * p14, shares[0] * p13 + shares[1] * p23);
    let mut expected: Vec<f64> =
        geometric(1.0 - p31 - p32, 8).iter().map(|share| share * in_bursts / (isolated + in_bursts)).collect();
    expected[0] += isolated / (isolated + in_bursts);
    let fates = losses(&Loss::FourState { p13, p31, p32, p23, p14 }, N);
    assert_chi_square(&runs(&fates, 8), &expected, "runs");
}

/// The share below `limit` of the numbers x = (1 - c) u + c x' with uniform u, where x' is distributed as x: the fixed
/// point of F(x) = c / (1 - c) times the integral of F from (x - 1 + c) / c to x / c, iterated on a grid.
fn smoothed_share_below(limit: f64, correlation: f64) -> f64 {
    const STEPS: usize = 20_000;
    let step = 1.0 / STEPS as f64;
    let mut share: Vec<f64> = (0..=STEPS).map(|i| i as f64 * step).collect();
    for _ in 0..60 {
        let mut integral = vec![0.0; STEPS + 1];
        (1..=STEPS).for_each(|i| integral[i] = integral[i - 1] + (share[i - 1] + share[i]) / 2.0 * step);
        let up_to = |x: f64| {
            let i = ((x / step) as usize).min(STEPS - 1);
            let part = x / step - i as f64;
            match x {
                x if x <= 0.0 => 0.0,
                x if x >= 1.0 => integral[STEPS] + x - 1.0,
                _ => integral[i] + (integral[i + 1] - integral[i]) * part,
            }
        };
        let mean = |x: f64| up_to(x / correlation) - up_to((x - 1.0 + correlation) / correlation);
        share = (0..=STEPS).map(|i| mean(i as f64 * step) * correlation / (1.0 - correlation)).collect();
    }
    share[(limit / step).round() as usize]
}

#[test]
fn netem_has_the_rate_of_its_documented_average() {
    // The function with correlation 1/2 is Fabius' function, known at some points: "A probabilistic example of a
    // nowhere analytic C-infinity function" (1966).
    for (limit, share) in [(0.125, 1.0 / 288.0), (0.25, 5.0 / 72.0), (0.5, 0.5)] {
        assert!((smoothed_share_below(limit, 0.5) - share).abs() < 1e-6);
    }
    for (probability, correlation) in [(0.1, 0.25), (0.3, 0.25), (0.125, 0.5), (0.7, 0.5), (0.3, 0.8)] {
        let expected = smoothed_share_below(probability, correlation);
        assert_rate(&Loss::Netem { probability, correlation }, expected);
    }
}

#[test]
fn netem_all_but_stops_losing_at_half_a_percent_with_a_quarter_of_correlation() {
    let expected = smoothed_share_below(0.005, 0.25);
    assert!(expected < 1e-6, "one in {}", 1.0 / expected);
    // Poisson: with a mean below 4, 16 or more have a probability below 1e-5. There were 20,000 without correlation.
    let lost = losses(&Loss::Netem { probability: 0.005, correlation: 0.25 }, 4_000_000).iter().filter(|&&l| l).count();
    assert!(lost < 16, "{lost} lost, {} expected", expected * 4e6);
}

#[test]
fn bursts_are_whole_and_begin_at_random() {
    let (probability, packets) = (0.3, 4);
    let fates = losses(&Loss::Burst { probability, packets }, N);
    let last_whole = fates.iter().rposition(|&lost| !lost).unwrap();
    let runs = runs(&fates[..last_whole], 40);
    assert!(runs.iter().enumerate().all(|(i, &count)| count == 0.0 || (i + 1) % 4 == 0), "{runs:?}");
    let begins = probability / (probability + packets as f64 * (1.0 - probability));
    let whole: Vec<f64> = vec![runs[3], runs[7], runs[11..].iter().sum()];
    assert_chi_square(&whole, &geometric(begins, 3), "bursts in a row");
    let gaps = fates.split(|&lost| lost).map(<[bool]>::len).filter(|&gap| gap > 0);
    let mut counts = vec![0.0; 20];
    gaps.for_each(|gap| counts[(gap - 1).min(19)] += 1.0);
    assert_chi_square(&counts, &geometric(1.0 - begins, 20), "gaps");
}

#[test]
fn every_nth_packet() {
    let at = |every, offset| {
        let fates = losses(&Loss::Periodic { every, offset }, 12);
        (0..12).filter(|&i| fates[i]).collect::<Vec<_>>()
    };
    assert_eq!(at(5, 0), [0, 5, 10]);
    assert_eq!(at(5, 4), [4, 9]);
    assert_eq!(at(1, 0), (0..12).collect::<Vec<_>>());
}

#[test]
fn a_trace_is_repeated_with_its_period_or_ends() {
    let at = |lost: &[u64], period| {
        let fates = losses(&Loss::Trace { lost: lost.to_vec(), period }, 12);
        (0..12).filter(|&i| fates[i]).collect::<Vec<_>>()
    };
    assert_eq!(at(&[0, 2, 3], Some(5)), [0, 2, 3, 5, 7, 8, 10]);
    assert_eq!(at(&[0, 2, 3], None), [0, 2, 3]);
    assert_eq!(at(&[4], Some(5)), [4, 9]);
    assert_eq!(at(&[0], Some(1)), (0..12).collect::<Vec<_>>());
    assert!(at(&[], Some(5)).is_empty() && at(&[], None).is_empty());
}

#[test]
fn the_ends_of_the_ranges() {
    let never = [
        Loss::Independent { probability: 0.0 },
        Loss::Correlated { probability: 0.0, correlation: 1.0 },
        Loss::Netem { probability: 0.0, correlation: 0.5 },
        Loss::GilbertElliott { p: 0.0, r: 0.0, loss_bad: 1.0, loss_good: 0.0 },
        Loss::GilbertElliott { p: 1.0, r: 1.0, loss_bad: 0.0, loss_good: 0.0 },
        Loss::FourState { p13: 0.0, p31: 0.0, p32: 0.0, p23: 0.0, p14: 0.0 },
        Loss::Burst { probability: 0.0, packets: 3 },
    ];
    let always = [
        Loss::Independent { probability: 1.0 },
        Loss::Correlated { probability: 1.0, correlation: 0.0 },
        Loss::Netem { probability: 1.0, correlation: 0.0 },
        Loss::Netem { probability: 1.0, correlation: 0.7 },
        Loss::GilbertElliott { p: 0.5, r: 0.5, loss_bad: 1.0, loss_good: 1.0 },
        Loss::FourState { p13: 1.0, p31: 0.0, p32: 0.0, p23: 0.0, p14: 0.0 },
        Loss::Burst { probability: 1.0, packets: 3 },
    ];
    for spec in never {
        assert!(losses(&spec, 10_000).iter().all(|&lost| !lost), "{spec:?}");
    }
    for spec in always {
        assert!(losses(&spec, 10_000).iter().all(|&lost| lost), "{spec:?}");
    }
    let alternating = losses(&Loss::FourState { p13: 0.0, p31: 0.0, p32: 0.0, p23: 0.0, p14: 1.0 }, 100);
    assert!(alternating.iter().enumerate().all(|(i, &lost)| lost == (i % 2 == 0)), "state 4 always leads to 1");
}

#[test]
fn with_correlation_1_all_fates_are_as_the_first() {
    for spec in
        [Loss::Correlated { probability: 0.5, correlation: 1.0 }, Loss::Netem { probability: 0.5, correlation: 1.0 }]
    {
        let firsts: Vec<bool> = (0..20)
            .map(|seed| {
                let mut losses = Losses::new(std::slice::from_ref(&spec), seed, "x");
                let first = losses.next();
                assert!((0..1000).all(|_| losses.next() == first), "{spec:?}");
                first
            })
            .collect();
        assert!(firsts.contains(&true) && firsts.contains(&false), "{spec:?}");
    }
}

fn models() -> impl Strategy<Value = Loss> {
    let p = || 0.0..=1.0;
    prop_oneof![
        p().prop_map(|probability| Loss::Independent { probability }),
        (p(), p()).prop_map(|(probability, correlation)| Loss::Correlated { probability, correlation }),
        (p(), p()).prop_map(|(probability, correlation)| Loss::Netem { probability, correlation }),
        (p(), p(), p(), p()).prop_map(|(p, r, loss_bad, loss_good)| Loss::GilbertElliott { p, r, loss_bad, loss_good }),
        (p(), p(), p(), p(), p()).prop_map(|(p13, of_3, p31, p23, of_1)| Loss::FourState {
            p13,
            p31,
            p32: of_3 * (1.0 - p31),
            p23,
            p14: of_1 * (1.0 - p13),
        }),
        (p(), 1u64..9).prop_map(|(probability, packets)| Loss::Burst { probability, packets }),
        (1u64..9).prop_flat_map(|n| (0..n).prop_map(move |offset| Loss::Periodic { every: n, offset })),
        (prop::collection::btree_set(0u64..50, 0..20), prop::option::of(50u64..60))
            .prop_map(|(lost, period)| Loss::Trace { lost: lost.into_iter().collect(), period }),
    ]
}

proptest! {
    #[test]
    fn the_same_seed_gives_the_same_fates(specs in prop::collection::vec(models(), 0..4), seed: u64) {
        let mut twins = [Losses::new(&specs, seed, "x"), Losses::new(&specs, seed, "x")];
        let [one, other] = twins.each_mut().map(|l| (0..300).map(|_| l.next()).collect::<Vec<_>>());
        prop_assert_eq!(one, other);
    }

    #[test]
    fn processes_do_not_disturb_each_other(specs in prop::collection::vec(models(), 1..4), seed: u64, from in 0usize..200) {
        // All processes together lose the packets that each alone would; taking the last one away leaves the others as
        // they were.
        let (others, last) = specs.split_at(specs.len() - 1);
        let mut all = Losses::new(&specs, seed, "x");
        let mut without = Losses::new(others, seed, "x");
        let mut replaced = Losses::new(&specs, seed, "x");
        let mut alone = Losses::new(&specs, seed, "x");
        alone.processes.drain(..others.len());
        prop_assert_eq!(&alone.processes[0].spec, &last[0]);
        for n in 0..300 {
            if n == from {
                replaced.configure(others);
            }
            let (a, b) = (without.next(), alone.next());
            prop_assert_eq!(all.next(), a || b);
            prop_assert_eq!(replaced.next(), if n < from { a || b } else { a });
        }
    }

    #[test]
    fn the_same_parameters_again_change_nothing(specs in prop::collection::vec(models(), 0..4), seed: u64) {
        let mut left = Losses::new(&specs, seed, "x");
        let mut configured = left.clone();
        for _ in 0..300 {
            configured.configure(&specs);
            prop_assert_eq!(left.next(), configured.next());
        }
    }

    #[test]
    fn a_changed_process_begins_anew_with_the_packets_number(p in 0.0f64..=1.0, seed: u64, from in 0usize..100) {
        let independent = [Loss::Independent { probability: p }];
        let mut straight = Losses::new(&independent, seed, "x");
        let mut changed = Losses::new(&[Loss::Periodic { every: 3, offset: 1 }], seed, "x");
        for _ in 0..from {
            straight.next();
            changed.next();
        }
        changed.configure(&independent);
        prop_assert!((0..100).all(|_| straight.next() == changed.next()));
        changed.configure(&[Loss::Periodic { every: 3, offset: 1 }]);
        prop_assert_eq!([(); 5].map(|()| changed.next()), [false, true, false, false, true]);
    }
}
