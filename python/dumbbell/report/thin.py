"""Thin out one series for display: what holds is kept once, peaks are kept at their own times."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dumbbell.frozen import dataclass
from dumbbell.report.decimate import round_width_ns

POINTS_PER_CURVE: Final = 20_000
"""Points of ACKs in a curve: a flow at 10 Mbit/s stays whole for half a minute, to the last ACK."""
POINTS_PER_PAGE: Final = 240_000
"""Points of ACKs in all curves: less than 3 MB of the page."""
CURVES_PER_FLOW: Final = 8
"""The number of a flow's curves that change with almost every ACK."""

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Any = npt.NDArray[Any]


def points_per_curve(n_flows: int) -> int:
    """The number of points of ACKs for each curve if that many flows share the page."""
    share = POINTS_PER_PAGE // (CURVES_PER_FLOW * max(1, n_flows))
    return max(1000, min(POINTS_PER_CURVE, share))


def changes(values: _Floats) -> _Ints:
    """The indices at which a series changes its value, and the index of its last point. NaN is a value, too."""
    if len(values) == 0:
        return np.zeros(0, dtype=np.int64)
    before, after = values[:-1], values[1:]
    differs = (before != after) & ~(np.isnan(before) & np.isnan(after))
    last = len(values) - 1
    kept = np.concatenate(([0], np.flatnonzero(differs) + 1))
    return kept if kept[-1] == last else np.append(kept, last)


def extremes(time_ns: _Ints, values: _Floats, span_ns: int, points: int) -> tuple[_Ints, int | None]:
    """Indices of the smallest and the largest value of each interval, and of gaps; how long the intervals are.

    Args:
        time_ns: ascending.
        values: NaN is a gap, of which the first point of each interval is kept.
        span_ns: length of the time axis.
        points: a series no longer than that stays whole, and its interval is `None`.
    """
    if len(values) <= points:
        return np.arange(len(values)), None
    width = round_width_ns(2 * span_ns / points)
    slot = time_ns // width
    starts = np.concatenate(([0], np.flatnonzero(np.diff(slot)) + 1))
    counts = np.diff(np.append(starts, len(slot)))
    of = np.repeat(np.arange(len(starts)), counts)
    kept = [_first(np.isnan(values), of)]
    for reduce in (np.fmin, np.fmax):
        kept.append(_first(values == np.repeat(reduce.reduceat(values, starts), counts), of))
    return np.unique(np.concatenate(kept)), width


@dataclass(frozen=True)
class Means:
    """A dense series as a line and what it left out: the mean and the extremes of each interval of `width_s`."""

    time_s: _Floats
    values: _Floats
    low: _Floats
    high: _Floats
    width_s: float


def means(time_s: _Floats, values: _Floats, span_s: float, most: int, holds: bool = False) -> Means | None:
    """A series whose points would lie over each other, as a line of `most` points; `None`: it has less than twice as
    many, and is a line itself.

    Args:
        time_s: ascending.
        values: NaN is a gap.
        span_s: length of the axis.
        most: points.
        holds: a value holds until the next one; otherwise intervals without a value have no point.
    """
    known = ~np.isnan(values)
    time_s, values = time_s[known], values[known]
    if len(values) < 2 * most or span_s <= 0:
        return None
    width_s = round_width_ns(1e9 * span_s / most) / 1e9
    if holds:
        edges = np.arange(np.ceil(time_s[0] / width_s), np.floor(time_s[-1] / width_s) + 1) * width_s
        held = values[np.searchsorted(time_s, edges, "right") - 1]
        order = np.argsort(np.concatenate((edges, time_s)), kind="stable")
        time_s, values = np.concatenate((edges, time_s))[order], np.concatenate((held, values))[order]
    # An edge belongs to the interval that it begins, in spite of rounding.
    slot = np.floor(time_s / width_s + 1e-9).astype(np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(slot)) + 1))
    counts = np.diff(np.append(starts, len(slot)))
    low, high = (reduce.reduceat(values, starts) for reduce in (np.minimum, np.maximum))
    return Means(
        np.asarray((slot[starts] + 0.5) * width_s), np.add.reduceat(values, starts) / counts, low, high, width_s
    )


def _first(wanted: _Any, of: _Any) -> _Ints:
    """The first wanted index in each interval."""
    at = np.flatnonzero(wanted)
    return at[np.concatenate(([True], np.diff(of[at]) > 0))] if len(at) else at
