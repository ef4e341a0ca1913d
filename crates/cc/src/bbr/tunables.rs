//! The parameters and their names in `bpf/bbr/parameters.toml`.

use super::parameters::{Parameters, Plateau, Version};
use crate::tunable::{Tunable, defaults, flag, number};

pub(super) const TUNABLES: [Tunable<Parameters>; 39] = [
    number!(startup_pacing_gain),
    number!(startup_cwnd_gain),
    number!(drain_pacing_gain),
    number!(drain_cwnd_gain),
    number!(up_pacing_gain),
    number!(down_pacing_gain),
    number!(probe_bw_cwnd_gain),
    number!(up_cwnd_gain),
    number!(probe_rtt_cwnd_gain),
    number!(full_bw_threshold),
    number!(full_bw_rounds),
    Tunable {
        name: "plateau_at_round_start",
        get: |p| i64::from(p.plateau == Plateau::RoundStart),
        set: |p, value| {
            p.plateau = match (p.version, value) {
                (Version::V2, _) => Plateau::MaxEachRound,
                (Version::V3, 0) => Plateau::EachSample,
                (Version::V3, _) => Plateau::RoundStart,
            }
        },
    },
    number!(startup_loss_events),
    Tunable {
        name: "drain_max_rounds",
        get: |p| i64::from(p.drain_max_rounds.unwrap_or(0)),
        set: |p, value| p.drain_max_rounds = Some(value as u32).filter(|&rounds| rounds > 0),
    },
    flag!(drain_obeys_inflight_hi),
    number!(loss_threshold),
    number!(beta_keep),
    number!(headroom),
    flag!(cut_on_ack),
    number!(probe_rtt_bdp),
    number!(probe_rtt_interval_us),
    number!(probe_rtt_hold_us),
    number!(min_rtt_window_us),
    flag!(trust_delayed_acks),
    number!(probe_wait_us),
    number!(probe_wait_random_us),
    number!(probe_max_rounds),
    flag!(ecn),
    number!(ecn_max_rtt_us),
    number!(ecn_alpha_gain),
    number!(ecn_factor),
    number!(ecn_threshold),
    number!(ecn_startup_rounds),
    number!(ecn_reprobe_gain),
    flag!(edt_inflight),
    flag!(grow_until_delivered),
    flag!(windowed_extra_acked),
    flag!(undo_state),
    flag!(undo_from_first_loss),
];

impl Parameters {
    /// The parameters with the defaults that the manifest of `self` declares.
    pub(super) fn declared(self) -> Parameters {
        let declared = crate::parameters(self.name).unwrap_or_default();
        defaults(&TUNABLES, self, declared)
    }

    /// All parameters by the names that they have in C; a flag is 0 or 1, no bound 0.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, i64)> {
        TUNABLES.iter().map(|one| (one.name, (one.get)(self)))
    }
}
