//! The parameters by name, as `bpf/bbr/parameters.h` has them, and within which limits they mean anything.

use super::parameters::{Parameters, Plateau, Version};
use crate::tunable::{Tunable, flag, number};

/// Of 256; more than the whole is no share.
const SHARE: (i64, i64) = (0, 256);
/// Of 256; a gain of 0 stops the flow.
const GAIN: (i64, i64) = (1, 16 * 256);
const ROUNDS: (i64, i64) = (1, 1000);
/// Up to an hour.
const TIME_US: (i64, i64) = (1, 3_600_000_000);

pub(crate) const TUNABLES: [Tunable<Parameters>; 39] = [
    number!(startup_pacing_gain, GAIN),
    number!(startup_cwnd_gain, GAIN),
    number!(drain_pacing_gain, GAIN),
    number!(drain_cwnd_gain, GAIN),
    number!(up_pacing_gain, GAIN),
    number!(down_pacing_gain, GAIN),
    number!(probe_bw_cwnd_gain, GAIN),
    number!(up_cwnd_gain, GAIN),
    number!(probe_rtt_cwnd_gain, GAIN),
    number!(full_bw_threshold, (256, 16 * 256)),
    number!(full_bw_rounds, ROUNDS),
    Tunable {
        name: "plateau_at_round_start",
        limits: None,
        get: |p| i64::from(p.plateau == Plateau::RoundStart),
        set: |p, value| {
            p.plateau = match (p.version, value) {
                (Version::V2, _) => Plateau::MaxEachRound,
                (Version::V3, 0) => Plateau::EachSample,
                (Version::V3, _) => Plateau::RoundStart,
            }
        },
    },
    number!(startup_loss_events, ROUNDS),
    Tunable {
        name: "drain_max_rounds",
        limits: Some((0, 1000)),
        get: |p| i64::from(p.drain_max_rounds.unwrap_or(0)),
        set: |p, value| p.drain_max_rounds = Some(value as u32).filter(|&rounds| rounds > 0),
    },
    flag!(drain_obeys_inflight_hi),
    number!(loss_threshold, SHARE),
    number!(beta_keep, SHARE),
    number!(headroom, SHARE),
    flag!(cut_on_ack),
    number!(probe_rtt_bdp, GAIN),
    number!(probe_rtt_interval_us, TIME_US),
    number!(probe_rtt_hold_us, TIME_US),
    number!(min_rtt_window_us, TIME_US),
    flag!(trust_delayed_acks),
    number!(probe_wait_us, TIME_US),
    number!(probe_wait_random_us, (0, TIME_US.1)),
    number!(probe_max_rounds, ROUNDS),
    flag!(ecn),
    number!(ecn_max_rtt_us, TIME_US),
    number!(ecn_alpha_gain, SHARE),
    number!(ecn_factor, SHARE),
    number!(ecn_threshold, SHARE),
    number!(ecn_startup_rounds, ROUNDS),
    number!(ecn_reprobe_gain, SHARE),
    flag!(edt_inflight),
    flag!(grow_until_delivered),
    flag!(windowed_extra_acked),
    flag!(undo_state),
    flag!(undo_from_first_loss),
];

impl Parameters {
    /// All of them by the names that they have in C; a flag is 0 or 1, no bound 0.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, i64)> {
        TUNABLES.iter().map(|one| (one.name, (one.get)(self)))
    }
}
