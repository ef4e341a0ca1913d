//! The BPF programs of window-based algorithms do what the Rust implementations do, integer for integer, for any calls of a
//! stack, in any order, on any path, and for any parameters.

use crate::path::{Bottleneck, MS, Path};
use crate::settings::settings;
use crate::stack::{Model, operation};
use bbr_host::{PROGRAMS, Twin, create, program};
use cc::{CongestionControl, Setting, Socket, State};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PROGRAMS)
}

fn picks() -> impl Strategy<Value = Vec<(u16, u64)>> {
    prop_oneof![Just(Vec::new()), prop::collection::vec(any::<(u16, u64)>(), 1..8)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_calls(
        name in name(),
        offset in prop_oneof![Just(0), Just(u32::MAX - 500), any::<u32>()],
        picks in picks(),
        operations in prop::collection::vec(operation(), 1..400),
    ) {
        let mut model = Model::new(Box::new(Twin::of_program(name, &settings(name, &picks))), offset);
        for operation in &operations {
            model.apply(operation);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn any_path(
        name in name(),
        picks in picks(),
        mbps in 1..200u64,
        rtt_ms in prop_oneof![1..6u64, 5..200u64],
        buffer_percent in 5..500u64,
        loss_per_million in prop_oneof![Just(0), 0..1_000u32, 0..50_000u32],
        seed in any::<u64>(),
        events in prop::collection::vec((50..2_000u64, 0..5u8), 0..6),
    ) {
        let buffer = (mbps * 1000 * rtt_ms / (8 * 1514) * buffer_percent / 100).max(2) as usize;
        let bottleneck = Bottleneck::new(mbps * 1_000_000, rtt_ms * MS, buffer);
        let mut path = Path::with(Box::new(Twin::of_program(name, &settings(name, &picks))), bottleneck);
        path.bottleneck.random = cc::Random::new(seed);
        path.bottleneck.loss = loss_per_million;
        for (after, event) in events {
            path.run(after * MS);
            match event {
                0 => path.bottleneck.rate = (path.bottleneck.rate / 3).max(100_000),
                1 => path.bottleneck.rate *= 2,
                2 if path.sk.packets_out > 0 => path.spurious_recovery(),
                3 => path.time_out(),
                _ => path.undo(),
            }
        }
        path.run(3_000 * MS);
    }
}

#[test]
fn parameters_have_their_effect() {
    let grown = |settings: &[(&str, Setting)]| {
        let mut program = program("htcp", settings);
        let mut sk = Socket { snd_cwnd: 100, snd_ssthresh: 50, is_cwnd_limited: true, ..Socket::new(1448, 1) };
        program.init(&mut sk);
        sk.tcp_mstamp = 3_000_000;
        program.cong_avoid(&mut sk, 0, 100);
        sk.snd_cwnd
    };
    // 3 s after the start alpha is 1 + 20 + 1: a packet for each cwnd / alpha = 4 packets ACKed, rounded down.
    assert_eq!(grown(&[]), 125);
    assert_eq!(grown(&[("delta_low_us", Setting::Number(3_000_000))]), 101);
}

#[test]
fn the_kernels_own_states_are_read_in_our_units() {
    use cc::state::{HtcpState, VegasState, WestwoodState};

    let htcp = HtcpState { beta: 768, bandwidth: 8333, min_rtt: 100_000, max_rtt: 140_000 };
    assert_eq!(bbr_host::published::htcp(96, 25, 35, 8333), State::from(htcp));
    // 12.5 MB/s are 50,000 bytes per jiffy.
    let westwood = WestwoodState { bandwidth: (12_500_000.0 / 1448.0 * 1024.0) as u32, min_rtt: 40_000 };
    let read = WestwoodState::of(&bbr_host::published::westwood(1448, 50_000, 10)).unwrap();
    assert!(read.bandwidth.abs_diff(westwood.bandwidth) <= 1, "{read:?} and {westwood:?}");
    assert_eq!(read.min_rtt, westwood.min_rtt);
    // 20 s stand for no sample.
    let none = WestwoodState { bandwidth: 0, ..WestwoodState::default() };
    assert_eq!(bbr_host::published::westwood(1448, 0, 5000), State::from(none));
    let vegas = VegasState { base_rtt: 30_001, ..VegasState::default() };
    assert_eq!(bbr_host::published::vegas(30_001, 0x7fff_ffff), State::from(vegas));
}

#[test]
fn the_path_of_a_program_is_that_of_its_twin() {
    for name in PROGRAMS {
        let twin = create(name).unwrap();
        let mut path = Path::with(twin, Bottleneck::new(50_000_000, 40 * MS, 165));
        path.run(12_000 * MS);
        assert!(path.received > 30_000, "{name} has received {} packets", path.received);
    }
}
