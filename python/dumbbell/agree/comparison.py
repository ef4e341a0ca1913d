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
"""Of all intervals here: that one of 90 % lies within bounds is a test of equivalence at the level of 5 %."""


@dataclass(frozen=True)
class Row:
    """One quantity under both engines."""

    what: What
    emulated: tuple[float, ...]
    """By repetition."""
    simulated: tuple[float, ...]
    """Of the same seeds."""

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
    """All quantities of a scenario that both engines' records give."""

    rows: tuple[Row, ...]
    repetitions: int
    """Pairs of runs that can be used."""

    def get(self, measure: str, scope: str = "run", of: str = "") -> Row | None:
        """One of them."""
        return next((row for row in self.of(measure, scope) if row.what.of == of), None)

    def of(self, measure: str, scope: str) -> list[Row]:
        """The same quantity of all flows, or of all links."""
        return [row for row in self.rows if (row.what.measure, row.what.scope) == (measure, scope)]


def compare(pairs: Sequence[tuple[Figures, Figures]]) -> Comparison:
    """Compare repetitions: each a run of the emulation, and one of the simulation with the same seed."""
    emulated, simulated = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows = tuple(
        Row(what, tuple(run[what] for run in emulated), tuple(run[what] for run in simulated))
        for what in common([*emulated, *simulated])
    )
    return Comparison(rows, len(pairs))
