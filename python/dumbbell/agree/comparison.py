"""A scenario's runs under both engines, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Final

from dumbbell.agree.figures import Figures, What, common
from dumbbell.statistics.intervals import Interval, paired_difference, paired_ratio

CONFIDENCE: Final = 0.90
"""Confidence of all intervals here. The question whether a 90 % interval lies within bounds is a test of equivalence at
the level of 5 %."""


@dataclass(frozen=True)
class Row:
    """One quantity under both engines."""

    what: What
    emulated: tuple[float, ...]
    """Values by repetition."""
    simulated: tuple[float, ...]
    """Values of the same seeds."""

    @property
    def emulated_mean(self) -> float:
        """Mean of the repetitions."""
        return mean(self.emulated)

    @property
    def simulated_mean(self) -> float:
        """Mean of the repetitions."""
        return mean(self.simulated)

    @cached_property
    def difference(self) -> Interval:
        """Simulated minus emulated."""
        return paired_difference(self.emulated, self.simulated, CONFIDENCE)

    @cached_property
    def ratio(self) -> Interval | None:
        """Simulated over emulated; `None` where a value is 0."""
        return paired_ratio(self.emulated, self.simulated, CONFIDENCE)


@dataclass(frozen=True)
class Comparison:
    """All quantities of a scenario that the records of both engines give."""

    rows: tuple[Row, ...]
    repetitions: int
    """Pairs of usable runs."""

    def get(self, measure: str, scope: str = "run", of: str = "") -> Row | None:
        """The row of one quantity."""
        return next((row for row in self.of(measure, scope) if row.what.of == of), None)

    def of(self, measure: str, scope: str) -> list[Row]:
        """The rows of one quantity for all flows, or for all links."""
        return [row for row in self.rows if (row.what.measure, row.what.scope) == (measure, scope)]


def compare(pairs: Sequence[tuple[Figures, Figures]]) -> Comparison:
    """Compare repetitions: each is an emulated run and a simulated run with the same seed."""
    emulated, simulated = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows = tuple(
        Row(what, tuple(run[what] for run in emulated), tuple(run[what] for run in simulated))
        for what in common([*emulated, *simulated])
    )
    return Comparison(rows, len(pairs))
