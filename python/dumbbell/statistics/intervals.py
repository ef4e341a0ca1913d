"""Student-t intervals of a mean, and of a difference or a ratio of two samples.

The n values x are independent because each run has a different seed:

    mean(x) -+ t(1 - alpha / 2, n - 1) * s(x) / sqrt(n)

with Student's t and the standard deviation s (A. M. Law: Simulation Modeling and Analysis, section 9.4.1).

*Paired*: repetition i of two cells, or under two engines, has the same seed, so both links lose the same packets,
counted from the first: the two measurements of a pair share much of their chance, which cancels in their difference
(common random numbers; Law, sections 10.2.1 and 11.2). The interval above applies to

    d_i = y_i - x_i               for a difference
    d_i = ln y_i - ln x_i         for a ratio of geometric means

The interval holds without correlation, too; it is then wider than Welch's because of the lost degrees of freedom.

*Welch*: for independent samples (B. L. Welch, Biometrika 34:28, 1947)

    mean(y) - mean(x) -+ t(1 - alpha / 2, f) * sqrt(v),   v = a + b,  a = s(x)^2 / n,  b = s(y)^2 / m,
    f = v^2 / (a^2 / (n - 1) + b^2 / (m - 1))

The question whether a 90 % interval lies within bounds is a test of equivalence at the level of 5 % (two one-sided
tests; D. J. Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15:657, 1987).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, sqrt
from statistics import mean, stdev, variance
from typing import Final

from dumbbell.frozen import dataclass

CONFIDENCE: Final = 0.95
"""The default confidence."""
CONFIDENCES: Final = (0.90, 0.95, 0.99)
"""Confidences that tables and reports offer."""
MOST_REPETITIONS: Final = 1000
"""The most runs that a search for a number of runs considers."""


@dataclass(frozen=True)
class Interval:
    """An estimate from `n` values or pairs, and an interval that contains the true value as often as its confidence
    says."""

    value: float
    low: float | None
    """Lower end; `None` for one value, which says nothing about the spread."""
    high: float | None
    n: int

    def cut(self, bounds: tuple[float | None, float | None]) -> Interval:
        """The part of the interval in which values are possible.

        The true mean is possible, so the cut interval contains it exactly as often as the whole one.
        """
        return Interval(self.value, *cut(self.low, self.high, self.value, bounds), self.n)

    def within(self, low: float, high: float) -> bool:
        """True if the whole interval lies between bounds."""
        return self.low is not None and self.high is not None and low <= self.low and self.high <= high

    def beyond(self, low: float, high: float) -> bool:
        """True if the whole interval lies outside the bounds."""
        return self.low is not None and self.high is not None and (self.high < low or high < self.low)

    @property
    def half_width(self) -> float | None:
        """Half of the interval's length."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def cut(
    low: float | None, high: float | None, mean: float, bounds: tuple[float | None, float | None]
) -> tuple[float | None, float | None]:
    """Both ends within `bounds`, each on its side of the mean. An end or a bound may be missing."""
    least, most = bounds
    if low is not None and least is not None:
        low = min(max(low, least), mean) if mean >= least else low
    if high is not None and most is not None:
        high = max(min(high, most), mean) if mean <= most else high
    return low, high


def of_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Interval of the mean of at least one value."""
    n, centre = len(values), mean(values)
    if n < 2:
        return Interval(centre, None, None, n)
    half = student_t(n - 1, confidence) * stdev(values) / sqrt(n)
    return Interval(centre, centre - half, centre + half, n)


def paired_difference(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Interval of the difference of the means, y - x, from at least one pair."""
    return of_mean(_differences(x, y), confidence)


def paired_ratio(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Interval of the ratio of the geometric means, y / x, from pairs. `None` if a value is not positive."""
    if min(*x, *y) <= 0:
        return None
    found = of_mean(_logs(x, y), confidence)
    low, high = (None if bound is None else exp(bound) for bound in (found.low, found.high))
    return Interval(exp(found.value), low, high, found.n)


def welch_difference(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Interval of the difference of the means, y - x, of independent samples. `n` is the smaller size. Each sample
    needs at least one value."""
    n, m, centre = len(x), len(y), mean(y) - mean(x)
    if min(n, m) < 2:
        return Interval(centre, None, None, min(n, m))
    a, b = variance(x) / n, variance(y) / m
    if a + b == 0:
        return Interval(centre, centre, centre, min(n, m))
    freedom = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
    half = student_t(freedom, confidence) * sqrt(a + b)
    return Interval(centre, centre - half, centre + half, min(n, m))


def repetitions_needed(
    x: Sequence[float], y: Sequence[float], low: float, high: float, confidence: float = CONFIDENCE
) -> int | None:
    """The number of pairs that would put the interval of the ratio between bounds if mean and spread stay the same.

    `None` if no number would, or the spread is unknown: for fewer than two pairs, or a value that is not positive.
    """
    if len(x) < 2 or min(*x, *y) <= 0:
        return None
    logs = _logs(x, y)
    centre = mean(logs)
    return fitting(stdev(logs), min(centre - log(low), log(high) - centre), confidence)


def differences_needed(
    x: Sequence[float], y: Sequence[float], most: float, confidence: float = CONFIDENCE
) -> int | None:
    """The number of pairs that would put the interval of the difference within -+ `most`; otherwise as
    `repetitions_needed`."""
    if len(x) < 2:
        return None
    found = _differences(x, y)
    return fitting(stdev(found), most - abs(mean(found)), confidence)


def fitting(spread: float, half_width: float, confidence: float) -> int | None:
    """The least number of values with this standard deviation whose interval has at most this half-width."""
    counts = range(2, MOST_REPETITIONS + 1)
    return next((n for n in counts if student_t(n - 1, confidence) * spread / sqrt(n) <= half_width), None)


def student_t(freedom: float, confidence: float) -> float:
    """Student's t that bounds a two-sided interval."""
    # scipy.stats is not used: its import takes longer than the command may need to print its first word.
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _differences(x: Sequence[float], y: Sequence[float]) -> list[float]:
    return [b - a for a, b in zip(x, y, strict=True)]


def _logs(x: Sequence[float], y: Sequence[float]) -> list[float]:
    return [log(b) - log(a) for a, b in zip(x, y, strict=True)]
