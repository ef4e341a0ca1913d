"""Decides when runs are enough: repeat until the interval of the mean is narrow, relative to the mean.

    t(1 - alpha / 2, n - 1) * s / sqrt(n) <= r * |mean|

A. M. Law: Simulation Modeling and Analysis, section 9.4.1. Stopping at the first narrow interval makes it contain the
mean a little less often than its confidence says, because a small spread also occurs by chance; hence at least `LEAST`
runs before the first check.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev
from typing import Final

from dumbbell.statistics.intervals import CONFIDENCE, Interval, fitting, of_mean

LEAST: Final = 5


def relative_half_width(interval: Interval) -> float | None:
    """Half of the interval's length as a share of the value; `None` for one run, and for a mean of 0 with a spread."""
    half = interval.half_width
    if half is None or (interval.value == 0 and half > 0):
        return None
    return half / abs(interval.value) if half else 0.0


def is_enough(values: Sequence[float], relative: float, confidence: float = CONFIDENCE, least: int = LEAST) -> bool:
    """True if the interval of the mean is within `relative` of it, such as 0.05, with at least `least` runs."""
    if len(values) < least:
        return False
    width = relative_half_width(of_mean(values, confidence))
    return width is not None and width <= relative


def still_needed(
    values: Sequence[float], relative: float, confidence: float = CONFIDENCE, least: int = LEAST
) -> int | None:
    """The number of further runs that would suffice if mean and spread stay the same; 0 if there are enough.

    `None` if that is unknown: for fewer than two values, for a mean of 0, and if a thousand runs would not suffice.
    """
    if is_enough(values, relative, confidence, least):
        return 0
    if len(values) < 2:
        return None
    needed = fitting(stdev(values), relative * abs(mean(values)), confidence)
    return None if needed is None else max(max(needed, least) - len(values), 1)
