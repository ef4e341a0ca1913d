//! The C core does what the Rust implementation does, integer for integer, for any calls of a stack, in any order, and
//! for any parameters.

use crate::path::{Bottleneck, MS, Path, Policer};
use crate::stack::{Model, operation};
use bbr_host::Twin;
use cc::Random;
use cc::bbr::{Parameters, Plateau, Version};
use proptest::prelude::*;

/// The deployed versions and the draft, and each with a few parameters of other values.
fn parameters() -> impl Strategy<Value = Parameters> {
    let base = prop_oneof![Just(Parameters::v2()), Just(Parameters::v3()), Just(Parameters::v3_draft())];
    let edits = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec((0..30u8, any::<u16>()), 1..8)];
    (base, edits).prop_map(|(mut parameters, edits)| {
        edits.iter().for_each(|&(which, value)| edit(&mut parameters, which, u32::from(value)));
        parameters
    })
}

fn edit(p: &mut Parameters, which: u8, value: u32) {
    let gain = 64 + value % 960;
    let is_set = value % 2 == 1;
    match which {
        0 => p.startup_pacing_gain = gain,
        1 => p.startup_cwnd_gain = gain,
        2 => p.drain_pacing_gain = gain.min(256),
        3 => p.drain_cwnd_gain = gain,
        4 => p.up_pacing_gain = gain,
        5 => p.down_pacing_gain = gain.min(256),
        6 => p.probe_bw_cwnd_gain = gain,
        7 => p.up_cwnd_gain = gain,
        8 => p.probe_rtt_cwnd_gain = gain,
        9 => p.full_bw_threshold = gain,
        10 => p.full_bw_rounds = value % 6,
        11 if p.version == Version::V3 => {
            p.plateau = if is_set { Plateau::RoundStart } else { Plateau::EachSample };
        }
        12 => p.startup_loss_events = value % 10,
        13 => p.drain_max_rounds = Some(value % 5).filter(|&rounds| rounds > 0),
        14 => p.drain_obeys_inflight_hi = is_set,
        15 => p.loss_threshold = value % 256,
        16 => p.beta_keep = value % 257,
        17 => p.headroom = value % 257,
        18 => p.cut_on_ack = is_set,
        19 => p.probe_rtt_bdp = value % 257,
        20 => p.probe_rtt_interval_us = 100_000 + u64::from(value) * 100,
        21 => p.probe_max_rounds = value % 100,
        22 => p.ecn = is_set,
        23 => p.ecn_max_rtt_us = value,
        24 => p.edt_inflight = is_set,
        25 => p.windowed_extra_acked = is_set,
        26 => (p.undo_state, p.undo_from_first_loss) = (is_set, value % 4 > 1),
        28 => p.ecn_startup_rounds = value % 4,
        27 => (p.ecn_reprobe_gain, p.grow_until_delivered) = (value % 257, is_set),
        _ => p.trust_delayed_acks = is_set,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn any_calls(
        parameters in parameters(),
        offset in prop_oneof![Just(0), Just(u32::MAX - 500), any::<u32>()],
        operations in prop::collection::vec(operation(), 1..400),
    ) {
        let mut model = Model::new(Box::new(Twin::new(&parameters)), offset);
        for operation in &operations {
            model.apply(operation);
        }
    }
}

/// A path, and what happens on it.
#[derive(Clone, Debug)]
struct Scene {
    mbps: u64,
    rtt_ms: u64,
    /// Percent of the BDP.
    buffer: u64,
    /// Per million.
    loss: u32,
    is_marking: bool,
    policer_mbps: Option<u64>,
    ack_lump_ms: u64,
    app_rate: u64,
    silence: Option<(u64, u64)>,
    seed: u64,
    /// Every so many ms one of these: rate change, spurious recovery, timeout, undo.
    events: Vec<(u64, u8)>,
}

fn scene() -> impl Strategy<Value = Scene> {
    let path = (1..200u64, prop_oneof![1..6u64, 5..200u64], 5..500u64);
    let loss = prop_oneof![2 => Just(0), 1 => 0..1_000u32, 1 => 0..50_000u32];
    let policer = prop_oneof![4 => Just(None), 1 => (1..50u64).prop_map(Some)];
    let app = (prop_oneof![2 => Just(0), 1 => 1..5_000u64], prop::option::of((1_000..4_000u64, 1..7_000u64)));
    let events = prop::collection::vec((50..2_000u64, 0..5u8), 0..6);
    (path, loss, any::<bool>(), policer, prop_oneof![2 => Just(0), 1 => 1..20u64], app, any::<u64>(), events).prop_map(
        |((mbps, rtt_ms, buffer), loss, is_marking, policer_mbps, ack_lump_ms, (app_rate, silence), seed, events)| {
            Scene { mbps, rtt_ms, buffer, loss, is_marking, policer_mbps, ack_lump_ms, app_rate, silence, seed, events }
        },
    )
}

fn play(parameters: &Parameters, scene: &Scene) {
    let bdp = (scene.mbps * 1000 * scene.rtt_ms / (8 * 1514)).max(1);
    let buffer = (bdp * scene.buffer / 100).max(2) as usize;
    let bottleneck = Bottleneck::new(scene.mbps * 1_000_000, scene.rtt_ms * MS, buffer);
    let mut path = Path::with(Box::new(Twin::new(parameters)), bottleneck);
    path.bottleneck.random = Random::new(scene.seed);
    path.sk.random = Random::new(!scene.seed);
    (path.sk.ecn_flags.ok, path.sk.ecn_flags.low) = (scene.is_marking, scene.is_marking);
    path.bottleneck.mark_above = if scene.is_marking { (buffer / 4).max(1) } else { 0 };
    path.bottleneck.loss = scene.loss;
    path.bottleneck.policer = scene.policer_mbps.map(|mbps| Policer::new(mbps * 1_000_000, 50));
    path.ack_lump = scene.ack_lump_ms * MS;
    path.app_silence = scene.silence.map(|(from, span)| (from * MS, (from + span) * MS));
    path.limit_app(scene.app_rate);
    for &(after, event) in &scene.events {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_path(parameters in parameters(), scene in scene()) {
        play(&parameters, &scene);
    }
}

#[test]
fn what_differs_is_found() {
    // Two flows that aren't twins: the comparison itself works.
    let mut path = Path::with(
        Box::new(Twin::of(&Parameters::v3(), &Parameters { up_cwnd_gain: 575, ..Parameters::v3() })),
        Bottleneck::new(50_000_000, 40 * MS, 1_000),
    );
    let run = std::panic::AssertUnwindSafe(|| path.run(5_000 * MS));
    assert!(std::panic::catch_unwind(run).is_err());
}
