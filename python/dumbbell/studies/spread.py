"""Student-t interval of a mean, and how many runs it takes to make it narrow.

    mean(x) -+ t(1 - alpha / 2, n - 1) * s(x) / sqrt(n)

A. M. Law: Simulation Modeling and Analysis, sections 9.4.1 and 9.4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import mean, stdev


def half_width(n: int, spread: float, confidence: float) -> float:
    """Of the interval of `n` values with this standard deviation, at least two."""
    # Not scipy.stats, whose import takes longer than the command may need to say its first word.
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + confidence) / 2)) * spread / sqrt(n)


def interval(values: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Of the mean; `None` of fewer than two values, which tell nothing about the spread."""
    if len(values) < 2:
        return None
    half = half_width(len(values), stdev(values), confidence)
    return mean(values) - half, mean(values) + half


def still_needed(values: Sequence[float], relative: float, confidence: float) -> int | None:
    """Runs more until half of the width is this share of the mean; 0: it is. `None`: nobody can tell."""
    if len(values) < 2 or mean(values) == 0:
        return None
    spread, wanted = stdev(values), relative * abs(mean(values))
    counts = range(len(values), 1000)
    return next((n - len(values) for n in counts if half_width(n, spread, confidence) <= wanted), None)
