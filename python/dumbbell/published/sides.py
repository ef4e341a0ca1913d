"""Published numbers and ours, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log

from dumbbell.frozen import dataclass
from dumbbell.published.figures import Figures
from dumbbell.published.model import Published
from dumbbell.published.ratios import ratio
from dumbbell.statistics.intervals import Interval


@dataclass(frozen=True)
class Side:
    """A published number and ours."""

    published: Published
    value: float
    """The published number; with `relative_to`, its ratio to the other algorithm's."""
    ours: Interval | None
    """Our number; `None`: not run, or without a value."""

    @property
    def ratio(self) -> Interval | None:
        """Ratio of ours to theirs, which is taken as exact."""
        return None if self.ours is None or self.value == 0 else scaled(self.ours, 1 / self.value)


def sides(published: Sequence[Published], figures: Figures | None, confidence: float) -> list[Side]:
    """One pair for each published number, in order."""
    return [_side(one, published, figures, confidence) for one in published]


@dataclass(frozen=True)
class Nearness:
    """The factor between our numbers and the printed numbers of a part, in either direction."""

    factor: float | None
    """The geometric mean; `None` if no number has a factor."""
    counted: int
    """Numbers that have a factor."""
    of: int
    """Printed numbers, without those of a reference to itself."""
    without: tuple[Side, ...]
    """Numbers that were run and have no factor, because the printed number or ours is 0 or less."""


def nearness(sides: Sequence[Side]) -> Nearness:
    """The nearness of a part."""
    asked = [side for side in sides if not _is_reference(side.published)]
    logs = [abs(log(side.ratio.value)) for side in asked if side.ratio is not None and side.ratio.value > 0]
    without = tuple(side for side in asked if side.ours is not None and (side.value <= 0 or side.ours.value <= 0))
    return Nearness(exp(sum(logs) / len(logs)) if logs else None, len(logs), len(asked), without)


def _is_reference(published: Published) -> bool:
    """True if this is the ratio of the reference to itself, which is always 1."""
    return published.relative_to is not None and published.of == published.relative_to


def _side(published: Published, all_: Sequence[Published], figures: Figures | None, confidence: float) -> Side:
    if published.relative_to is None:
        ours = figures.interval(published.metric, published.of, published.where, confidence) if figures else None
        return Side(published, published.value, ours)
    reference = replace(published, of=published.relative_to)
    theirs = next(
        other.value
        for other in all_
        if (other.where, other.metric, other.of) == (reference.where, reference.metric, reference.of)
    )
    if figures is None:
        return Side(published, published.value / theirs, None)
    # If each algorithm has a separate cell, runs with the same seed are paired.
    above, below = (
        figures.samples(published.metric, of, published.where) for of in (published.of, published.relative_to)
    )
    return Side(published, published.value / theirs, ratio(above, below, confidence))


def scaled(interval: Interval, factor: float) -> Interval:
    """The interval times a positive factor."""
    low, high = (None if bound is None else bound * factor for bound in (interval.low, interval.high))
    return Interval(interval.value * factor, low, high, interval.n)


def shifted(interval: Interval, by: float) -> Interval:
    """The interval plus a number."""
    low, high = (None if bound is None else bound + by for bound in (interval.low, interval.high))
    return Interval(interval.value + by, low, high, interval.n)
