"""Differences between two sets of runs: two algorithms, two cells, two studies."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from math import exp, lgamma, sqrt
from statistics import mean, variance
from typing import Literal

from dumbbell.frozen import dataclass
from dumbbell.statistics.intervals import CONFIDENCE, Interval, paired_difference, welch_difference

Samples = Mapping[int, float]
"""Seed -> value of that run."""


@dataclass(frozen=True)
class Contrast:
    """The change from a reference to another set of runs."""

    reference: float
    """Mean of the reference. If there are pairs, all fields use the paired runs alone."""
    mean: float
    difference: Interval
    """Mean - reference."""
    method: Literal["paired", "Welch"]
    """The method of the interval: pairs of runs with the same seed (`difference.n` is their number), or independent
    samples."""
    hedges_g: float | None
    cliffs_delta: float

    @property
    def relative(self) -> Interval | None:
        """The difference as a share of the reference's mean, which is taken as exact; `None` if that is 0."""
        if self.reference == 0:
            return None
        value, low, high = (
            None if bound is None else bound / abs(self.reference)
            for bound in (self.difference.value, self.difference.low, self.difference.high)
        )
        assert value is not None
        return Interval(value, low, high, self.difference.n)

    @property
    def by(self) -> str:
        """`4 pairs`, or `Welch`."""
        return f"{self.difference.n} pair{'s' * (self.difference.n != 1)}" if self.method == "paired" else self.method

    @property
    def is_clear(self) -> bool:
        """True if the interval excludes 0."""
        return self.difference.beyond(0, 0)


def contrast(reference: Samples, other: Samples, confidence: float = CONFIDENCE) -> Contrast:
    """Compare pair by pair if most seeds of either side have a run on both, otherwise by Welch.

    Each side has at least one value. Runs without a partner are left out of pairs: pairing gains more than a few runs
    would.
    """
    common = [seed for seed in reference if seed in other]
    paired = 2 * len(common) > max(len(reference), len(other))
    if paired:
        x, y = [reference[seed] for seed in common], [other[seed] for seed in common]
        difference = paired_difference(x, y, confidence)
    else:
        x, y = list(reference.values()), list(other.values())
        difference = welch_difference(x, y, confidence)
    return Contrast(
        mean(x), mean(y), difference, "paired" if paired else "Welch", hedges_g(x, y), cliffs_delta(x, y)
    )  # fmt: skip


def hedges_g(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Hedges' g: the difference of the means, y - x, in pooled standard deviations, corrected for the bias of small
    samples.

        g = J(f) * (mean(y) - mean(x)) / s,    s^2 = ((n - 1) s(x)^2 + (m - 1) s(y)^2) / f,    f = n + m - 2
        J(f) = gamma(f / 2) / (sqrt(f / 2) * gamma((f - 1) / 2))

    L. V. Hedges, J. Educational Statistics 6:107, 1981. `None` if nothing spreads, or for fewer than two values.
    """
    if min(len(x), len(y)) < 2:
        return None
    freedom = len(x) + len(y) - 2
    pooled = ((len(x) - 1) * variance(x) + (len(y) - 1) * variance(y)) / freedom
    if pooled == 0:
        return None
    unbiased = exp(lgamma(freedom / 2) - lgamma((freedom - 1) / 2)) / sqrt(freedom / 2)
    return unbiased * (mean(y) - mean(x)) / sqrt(pooled)


def cliffs_delta(x: Sequence[float], y: Sequence[float]) -> float:
    """Cliff's delta: how much more often a value of y is larger than one of x than smaller, from -1 (never) to 1
    (always).

        delta = (#(y > x) - #(y < x)) / (n * m)    over all pairs

    It needs no scale and no normal distribution. N. Cliff, Psychological Bulletin 114:494, 1993. Each sample needs at
    least one value.
    """
    ordered = sorted(x)
    more = sum(bisect_left(ordered, value) for value in y)
    less = sum(len(ordered) - bisect_right(ordered, value) for value in y)
    return (more - less) / (len(x) * len(y))
