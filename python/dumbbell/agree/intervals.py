"""Intervals of a ratio and of a difference of paired measurements.

Repetition i of a scenario has the same seed under both engines, so both links lose the same packets, counted from the
first: the two measurements of a pair have most of their chance in common, and it cancels in their difference (common
random numbers; A. M. Law: Simulation Modeling and Analysis, sections 10.2.1 and 11.2). Hence paired intervals: of

    d_i = y_i - x_i               for a difference
    d_i = ln y_i - ln x_i         for a ratio, which is that of the geometric means

    mean(d) -+ t(1 - alpha / 2, n - 1) * s(d) / sqrt(n)

with Student's t and the standard deviation s of the n differences. If nothing is in common, they still hold, and are
wider than Welch's by what the lost degrees of freedom cost. That a 90 % interval lies within bounds is the test of
equivalence at the level of 5 % (two one-sided tests; D. J. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15:657,
1987).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import mean, stdev
from typing import Final

CONFIDENCE: Final = 0.90
MOST_REPETITIONS: Final = 1000
"""Nobody runs a cell more often."""


@dataclass(frozen=True)
class Interval:
    """An estimate from `n` pairs, and the interval that holds the true value in nine of ten studies."""

    value: float
    low: float | None
    """`None`: one pair tells nothing about the spread."""
    high: float | None
    n: int

    def within(self, low: float, high: float) -> bool:
        """Whether all of it lies between bounds."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high

    def beyond(self, low: float, high: float) -> bool:
        """Whether none of it does."""
        return self.low is not None and self.high is not None and (self.high < low or high < self.low)

    @property
    def half_width(self) -> float | None:
        """Half of its length."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def difference(x: Sequence[float], y: Sequence[float]) -> Interval:
    """Of the means: y - x, pair by pair. At least one pair."""
    return _interval([b - a for a, b in zip(x, y, strict=True)])


def ratio(x: Sequence[float], y: Sequence[float]) -> Interval | None:
    """Of the geometric means: y / x, pair by pair. `None` if a value is not positive."""
    if min(*x, *y) <= 0:
        return None
    found = _interval(_logs(x, y))
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Interval(exp(found.value), low, high, found.n)


def repetitions_needed(x: Sequence[float], y: Sequence[float], low: float, high: float) -> int | None:
    """How many pairs would put the interval of the ratio between bounds, if mean and spread stay what they are.

    `None` where no number would, or the spread is unknown: of fewer than two pairs, or a value that is not positive.
    """
    if len(x) < 2 or min(*x, *y) <= 0:
        return None
    logs = _logs(x, y)
    centre, spread = mean(logs), stdev(logs)
    room = min(centre - log(low), log(high) - centre)
    fitting = (n for n in range(2, MOST_REPETITIONS + 1) if _t(n) * spread / sqrt(n) <= room)
    return next(fitting, None)


def _logs(x: Sequence[float], y: Sequence[float]) -> list[float]:
    return [log(b) - log(a) for a, b in zip(x, y, strict=True)]


def _interval(differences: Sequence[float]) -> Interval:
    n, centre = len(differences), mean(differences)
    if n < 2:
        return Interval(centre, None, None, n)
    half = _t(n) * stdev(differences) / sqrt(n)
    return Interval(centre, centre - half, centre + half, n)


def _t(n: int) -> float:
    """Student's t that bounds the interval of `n` differences."""
    # Not scipy.stats, whose import takes longer than the command may need to say its first word.
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2))
