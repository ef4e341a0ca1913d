"""A link whose rate over time a file has, without a transfer."""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.captures.diagnosis import Cause
from dumbbell.fitting.capacity import Capacity
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.losses import Losses
from dumbbell.fitting.policer import Policer
from dumbbell.fitting.transfer import LINK, Transfer

MTU_FRAME: Final = 1514
"""Bytes of a full frame: what an opportunity carries by default, in a scenario, too."""
_VARIES: Final = 0.05
"""Blocks whose rates differ by more than this share of their mean tell a rate that varies."""
_HEADER: Final = 66.0


def fit_link(name: str, source: str, mean: Estimate, series: list[tuple[float, float]], seconds: float) -> Fit:
    """Returns a fit that has a rate over time, in bit/s from each second on, and nothing else."""
    bps = np.array([rate for _, rate in series])
    varies = len(bps) > 1 and float(np.std(bps)) > _VARIES * float(bps.mean())
    why = f"the {source} has what a link carries, and no transfer"
    none = unknown(why)
    carried = mean.value or 0.0
    return Fit(
        name,
        Transfer(
            0, "to-server", LINK, seconds, 0, 0.0, carried, MTU_FRAME, _HEADER, 0, 0, 0.0, (0.0, 0.0),
            Cause.UNKNOWN, {}, source,
        ),
        Capacity(mean, none, varies, series),
        none,
        Policer(none, none),
        Losses(none, none, 1.0, 0),
        none,
        none,
        none,
    )  # fmt: skip
