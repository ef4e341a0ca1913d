"""A window over time, taken apart into the cycles between losses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

import dumbbell

FALL = 0.85
"""Below this share of its peak the window was reduced by a loss: Reno leaves 0.5 of it, CUBIC 0.7."""
GROWTH = 2
"""The next cycle has begun when the window is this many packets above its lowest value."""


@dataclass(frozen=True)
class Cycle:
    """One cycle of the window, from one reduction to the next."""

    period: float
    """s"""
    mean: float
    """The mean of the window, packets."""
    peak: float
    """The window at the end, packets."""


@dataclass(frozen=True)
class Curve:
    """A flow's congestion window over time."""

    seconds: npt.NDArray[np.float64]
    window: npt.NDArray[np.float64]
    slow_start: float
    """The first slow-start threshold: where the window was when slow start ended, or what a loss left of it."""
    goodput_bps: float

    def reductions(self) -> Iterator[int]:
        """The indices of the window's peaks, where it begins to fall."""
        top, low = 0, None
        for index, window in enumerate(self.window):
            if low is not None:
                low = min(low, window)
                if window >= low + GROWTH:
                    top, low = index, None
            elif window < FALL * self.window[top]:
                yield top
                low = window
            elif window >= self.window[top]:
                top = index

    def cycles(self) -> list[Cycle]:
        """The whole ones without the first: how long the repair of slow start's losses takes is the stack's matter."""
        whole = []
        for begin, end in list(pairwise(self.reductions()))[1:]:
            mean = float(self.window[begin + 1 : end + 1].mean())
            whole.append(Cycle(float(self.seconds[end] - self.seconds[begin]), mean, float(self.window[end])))
        return whole


def of(run: dumbbell.Run) -> Curve:
    """The curve of a run's only flow."""
    rows = run.samples.filter(pl.col("cwnd_packets").is_not_null()).sort("time_ns")
    thresholds = rows["ssthresh_packets"].drop_nulls()
    (flow,) = run.summary["flows"]
    return Curve(
        rows["time_ns"].to_numpy() / 1e9,
        rows["cwnd_packets"].to_numpy().astype(np.float64),
        float(thresholds[0]) if len(thresholds) else np.inf,
        flow["goodput_bps"],
    )


def scenario(cc: str, rate: str, rtt: str, buffer: str, seconds: float) -> str:
    """One flow of `cc` alone on a path with a drop-tail buffer."""
    return f"""
name = "frame"
duration = "{seconds:g} s"

[topology]
kind = "path"
rtt = "{rtt}"
bottleneck = {{ rate = "{rate}", buffer = "{buffer}" }}

[[flows]]
from = "h1"
to = "h2"
cc = "{cc}"
"""


PATHS = {
    "reno": ("10 Mbit/s", "40 ms", "1 bdp"),
    # The cubic part of CUBIC shows only where it is faster than Reno: the window small, the round trip long.
    "cubic": ("10 Mbit/s", "100 ms", "0.5 bdp"),
}
"""Rate, round trip and buffer on which an algorithm shows what it is."""
