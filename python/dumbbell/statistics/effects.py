"""Effect sizes: differences relative to the spread between runs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import exp, lgamma, sqrt
from statistics import mean, variance


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
