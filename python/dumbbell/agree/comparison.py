"""A scenario's runs under two engines, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from statistics import mean
from typing import Final

from dumbbell.agree.figures import Figures, What, common
from dumbbell.frozen import dataclass
from dumbbell.statistics.intervals import Interval, paired_difference, paired_ratio

CONFIDENCE: Final = 0.90
"""Confidence of all intervals here. The question whether a 90 % interval lies within bounds is a test of equivalence at
the level of 5 %."""

Engines = tuple[str, str]
"""The names of the two that are compared. Differences are the second minus the first."""


@dataclass(frozen=True)
class Row:
    """One quantity under both engines."""

    what: What
    first: tuple[float, ...]
    """Values of the first engine by repetition."""
    second: tuple[float, ...]
    """Values of the second engine, of the same seeds."""

    @property
    def first_mean(self) -> float:
        """Mean of the repetitions."""
        return mean(self.first)

    @property
    def second_mean(self) -> float:
        """Mean of the repetitions."""
        return mean(self.second)

    @cached_property
    def difference(self) -> Interval:
        """The second minus the first."""
        return paired_difference(self.first, self.second, CONFIDENCE)

    @cached_property
    def ratio(self) -> Interval | None:
        """The second over the first; `None` where a value is 0."""
        return paired_ratio(self.first, self.second, CONFIDENCE)


@dataclass(frozen=True)
class Comparison:
    """All quantities of a scenario that the records of both engines give."""

    engines: Engines
    rows: tuple[Row, ...]
    repetitions: int
    """Pairs of usable runs."""

    def get(self, measure: str, scope: str = "run", of: str = "") -> Row | None:
        """The row of one quantity."""
        return next((row for row in self.of(measure, scope) if row.what.of == of), None)

    def of(self, measure: str, scope: str) -> list[Row]:
        """The rows of one quantity for all flows, or for all links."""
        return [row for row in self.rows if (row.what.measure, row.what.scope) == (measure, scope)]


def compare(engines: Engines, pairs: Sequence[tuple[Figures, Figures]]) -> Comparison:
    """Compare repetitions: each is a run of the first engine and one of the second with the same seed."""
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows = tuple(
        Row(what, tuple(run[what] for run in first), tuple(run[what] for run in second))
        for what in common([*first, *second])
    )
    return Comparison(engines, rows, len(pairs))
