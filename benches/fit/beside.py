"""Traffic of others beside a transfer: the estimate of a fit, and what its receiver counted."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from benches.fit.judged import Judged, compared
from benches.fit.paths import Hidden
from dumbbell import Run
from dumbbell.fitting import Fit
from dumbbell.fitting.estimate import unknown

OTHERS: Final = ("others' rate", "others' windows")
_NEAR: Final = 0.05
"""Share of the capacity by which the rate of others may be wrong."""
_MOST: Final = 0.9
"""Share of the windows at least that are right, and whose interval contains the truth."""
_FLOW: Final = "f2"
_FRAME: Final = 1514 / 1472
"""Bytes of a frame for each byte of payload."""


def judged_others(path: Hidden, side: str, path_fit: Fit, run: Run) -> list[Judged]:
    """The mean rate over the windows of a fit, and the share of these windows that are right.

    Without an interval, the share of windows whose interval contains the truth stands in place of the lower end.
    """
    near = _NEAR * path.capacity_bps
    if path_fit.others.rate.value is None:
        none = unknown(path_fit.others.rate.why_not)
        return [compared(path, side, OTHERS[0], 0.0, none, near), compared(path, side, OTHERS[1], 1.0, none, near)]
    start, rate, low, high = np.array(path_fit.others.series).T
    truth = _rates(run, path, side, start, path_fit.others.window_s)
    right = float((np.abs(rate - truth) <= near).mean())
    inside = float(((low <= truth) & (truth <= high)).mean())
    return [
        compared(path, side, OTHERS[0], float(truth.mean()), path_fit.others.rate, near),
        Judged(path, side, OTHERS[1], 1.0, right, inside, 1.0, right >= _MOST, inside >= _MOST, ""),
    ]


def _rates(run: Run, path: Hidden, side: str, start_s: np.ndarray, width_s: float) -> np.ndarray:
    """Rate at which others' frames came to their receiver in each window, bit/s."""
    samples = run.samples.filter(pl.col("flow") == _FLOW)
    if samples.is_empty():
        return np.zeros(len(start_s))
    # The first segment leaves at 0 and takes half of the base RTT, and so does an ACK.
    begin = start_s + path.rtt_ms / 2e3 * (1 if side == "receiver" else -1)
    time_s = samples["time_ns"].to_numpy() / 1e9
    received = samples["received_bytes"].fill_null(0).to_numpy() * _FRAME * 8
    rate: np.ndarray = (np.interp(begin + width_s, time_s, received) - np.interp(begin, time_s, received)) / width_s
    return rate
