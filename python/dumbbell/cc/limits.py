"""Within what the parameters of the bundled congestion controls mean anything.

Their types allow more: a window gain of 0 stops a flow, and a share cannot be more than the whole.
"""

from __future__ import annotations

from typing import Final

_SHARE: Final = (0, 256)
_GAIN: Final = (1, 16 * 256)
_ROUNDS: Final = (1, 1000)
_TIME_US: Final = (1, 3_600_000_000)

_BBR: Final = {
    **dict.fromkeys(
        (
            *("startup_pacing_gain", "startup_cwnd_gain", "drain_pacing_gain", "drain_cwnd_gain", "up_pacing_gain"),
            *("down_pacing_gain", "probe_bw_cwnd_gain", "up_cwnd_gain", "probe_rtt_cwnd_gain", "probe_rtt_bdp"),
        ),
        _GAIN,
    ),
    **dict.fromkeys(
        (
            *("loss_threshold", "beta_keep", "headroom"),
            *("ecn_alpha_gain", "ecn_factor", "ecn_threshold", "ecn_reprobe_gain"),
        ),
        _SHARE,
    ),
    **dict.fromkeys(("full_bw_rounds", "startup_loss_events", "probe_max_rounds", "ecn_startup_rounds"), _ROUNDS),
    **dict.fromkeys(
        ("probe_rtt_interval_us", "probe_rtt_hold_us", "min_rtt_window_us", "probe_wait_us", "ecn_max_rtt_us"), _TIME_US
    ),
    "full_bw_threshold": (256, 16 * 256),
    "drain_max_rounds": (0, 1000),
    "probe_wait_random_us": (0, 3_600_000_000),
}

LIMITS: Final[dict[str, dict[str, tuple[int, int]]]] = {
    "bbr2": _BBR,
    "bbr3": _BBR,
    "bpf_cubic": {"beta": (1, 1024)},
    "bpf_dctcp": {"shift_g": (0, 10), "alpha_on_init": (0, 1024)},
}
"""Label -> parameter -> the least and the most, both allowed."""
