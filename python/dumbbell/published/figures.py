"""Our figures for a number, plot or finding of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from math import isclose
from typing import TYPE_CHECKING, Any

from dumbbell.published.model import Cell
from dumbbell.statistics.frames import main_link
from dumbbell.statistics.intervals import CONFIDENCE, Interval, of_mean
from dumbbell.statistics.metrics import get, values

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.studies import Study

Seeded = Mapping[tuple[int, int], float]
"""Cell and seed -> value of that run."""


class Figures:
    """Values of a study's metrics, by cell."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._values = cache(self._read)

    def cells(self, where: Cell) -> list[int]:
        """The cells with these values."""
        rows = enumerate(self.study.manifest["cells"])
        return [i for i, cell in rows if all(key in cell and same(cell[key], value) for key, value in where.items())]

    def along(self, key: str, where: Cell | None = None) -> list[Any]:
        """The key's values in these cells, in the study's order."""
        cells = self.study.manifest["cells"]
        found: list[Any] = []
        for i in self.cells(where or {}):
            if key in cells[i] and cells[i][key] not in found:
                found.append(cells[i][key])
        return found

    def algorithms(self, where: Cell) -> list[str]:
        """The congestion controls of all flows of these cells, in alphabetical order."""
        if not self.study.has_runs:
            return []
        flows = self.study.flows
        return sorted(flows.filter(flows["cell"].is_in(self.cells(where)))["cc"].drop_nulls().unique())

    def samples(self, metric: str, of: str | None = None, where: Cell | None = None) -> Seeded:
        """A value for each usable run that has one."""
        rows = self._values(metric, of)
        wanted = set(self.cells(where or {}))
        return {(cell, seed): value for cell, seed, value in rows if cell in wanted}

    def interval(
        self, metric: str, of: str | None = None, where: Cell | None = None, confidence: float = CONFIDENCE
    ) -> Interval | None:
        """The interval of the mean over runs; `None` if there is no value."""
        found = list(self.samples(metric, of, where).values())
        return of_mean(found, confidence) if found else None

    def _read(self, metric: str, of: str | None) -> list[tuple[int, int, float]]:
        if not self.study.has_runs:
            return []
        rows = list(self._rows(metric, of).select("cell", "seed", "value").iter_rows())
        return rows + [(cell, seed, value) for cell, _, value in rows for seed in self._seeds_of_copies.get(cell, ())]

    @cached_property
    def _seeds_of_copies(self) -> Mapping[int, Sequence[int]]:
        """Cell whose repetitions are all equal -> the seeds of its runs but the first, which statistics leave out.

        A set-up without anything random is known exactly once it was repeated, and a single run may be chance.
        """
        seeds = dict(self.study.runs.select("run", "seed").iter_rows())
        return {cell: [seeds[run] for run in runs] for cell, runs in self.study.copies.items()}

    def _rows(self, metric: str, of: str | None) -> pl.DataFrame:
        """Values in the first scope that knows `of`; without `of`, those of all flows together, or of the
        bottleneck."""
        known = get(metric)
        if of is None:
            scope = "run" if "run" in known.scopes else known.scopes[0]
            rows = values(self.study, metric, scope)
            return rows.filter(of=main_link(self.study)) if scope == "link" else rows
        for scope in known.scopes:
            rows = values(self.study, metric, scope)
            if scope != "run" and (rows["of"] == of).any():
                return rows.filter(of=of)
        return rows.clear()


def same(first: Any, other: Any) -> bool:
    """True if two values of a swept key are equal: 1 is 1.0, and "1"."""
    if isinstance(first, bool) or isinstance(other, bool):
        return first is other
    if isinstance(first, int | float) and isinstance(other, int | float):
        return isclose(first, other)
    return bool(first == other) or (isinstance(first, str) != isinstance(other, str) and str(first) == str(other))
