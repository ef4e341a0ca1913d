"""A scenario's runs under both engines, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

from dumbbell.agree.figures import Figures, What, common
from dumbbell.agree.intervals import Interval, difference, ratio


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
        return difference(self.emulated, self.simulated)

    @cached_property
    def ratio(self) -> Interval | None:
        """Simulated over emulated; `None` where a value is 0."""
        return ratio(self.emulated, self.simulated)


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
