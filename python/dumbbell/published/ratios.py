"""Ratios of two algorithms' figures, neither of which is exact."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from statistics import mean

from dumbbell.published.figures import Seeded
from dumbbell.statistics.intervals import CONFIDENCE, Interval, paired_ratio, welch_difference


def ratio(above: Seeded, below: Seeded, confidence: float = CONFIDENCE) -> Interval | None:
    """Ratio of geometric means, with an interval in logarithms, so that both spreads count and the interval is never
    negative.

    Runs with the same seed are paired, if these are most of the runs; otherwise the interval is Welch's, of all runs.

    If a value is 0 or negative there is no interval, and the ratio is that of the means; `None` if that is none, or if
    there are no values.
    """
    if not above or not below:
        return None
    x, y = list(below.values()), list(above.values())
    if min(*x, *y) <= 0:
        return Interval(mean(y) / mean(x), None, None, min(len(x), len(y))) if mean(x) > 0 else None
    return paired_ratio(*found, confidence) if (found := _pairs(below, above)) else _welch(x, y, confidence)


def _pairs(below: Seeded, above: Seeded) -> tuple[list[float], list[float]] | None:
    """Ratio from pairs of seeds that both have; `None` where they are few, or a seed has several runs."""
    x, y = ({seed: value for (_, seed), value in one.items()} for one in (below, above))
    if len(x) < len(below) or len(y) < len(above):
        return None
    seeds = [seed for seed in x if seed in y]
    if 2 * len(seeds) <= max(len(x), len(y)):
        return None
    return [x[seed] for seed in seeds], [y[seed] for seed in seeds]


def _welch(x: Sequence[float], y: Sequence[float], confidence: float) -> Interval:
    found = welch_difference([log(one) for one in x], [log(one) for one in y], confidence)
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Interval(exp(found.value), low, high, found.n)
