"""The parts of a study's page, figures and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report.study.axes import LEFT_OUT, Axis
from dumbbell.scenario.study import Plot
from dumbbell.statistics.cells import Method
from dumbbell.statistics.contrasts import Samples
from dumbbell.statistics.metrics import Metric, Scope
from dumbbell.statistics.verdicts import Verdicts


@dataclass(frozen=True)
class Entry:
    """A point of a curve, a cell of a table."""

    cell: int
    n: int
    mean: float
    median: float
    sd: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Panel:
    """A metric of all cells."""

    metric: Metric
    scope: Scope
    title: str
    unit: str
    factor: float
    """Divide by it to have values in the unit."""
    of: tuple[str, ...]
    """The scopes that have values; one empty text for the run itself."""
    points: pl.DataFrame
    """`summaries`: a row per cell and `of`."""
    values: pl.DataFrame
    """A row per run and `of`."""

    def samples(self, cell: int, of: str) -> Samples:
        """Seed -> value."""
        return self._samples[cell, of]

    @cached_property
    def entries(self) -> dict[tuple[int, str], Entry]:
        """The entry of each cell and scope."""
        fields = ("cell", "n", "mean", "median", "sd", "low", "high")
        rows = self.points.select("of", *fields).iter_rows()
        return {(cell, of): Entry(cell, *rest) for of, cell, *rest in rows}

    @cached_property
    def _samples(self) -> dict[tuple[int, str], Samples]:
        grouped = self.values.group_by("cell", "of", maintain_order=True).agg("seed", "value")
        return {(cell, of): dict(zip(seeds, found, strict=True)) for cell, of, seeds, found in grouped.iter_rows()}


@dataclass(frozen=True)
class Distribution:
    """A quantity of single flows."""

    key: str
    title: str
    unit: str
    factor: float
    values: Mapping[tuple[int, str], pl.Series]
    """Cell and `of` -> all values, ascending."""
    counts: Mapping[tuple[int, str], int]
    """The number of flows for the same keys, including flows that never got far enough to have a value."""

    @property
    def without(self) -> int:
        """Flows that have no value."""
        return sum(self.counts.values()) - sum(map(len, self.values.values()))

    def label(self, cell: int, of: str) -> str:
        """`n = 5 of 12`: flows that have a value."""
        n, count = len(self.values[cell, of]), self.counts[cell, of]
        return f"n = {n:,}" + (f" of {count:,}" if count > n else "")


@dataclass(frozen=True)
class Layout:
    """The default place of each varied key in a plot; the reader can choose another."""

    x: Axis | None
    lines: Axis | None
    """A curve for each value."""
    others: tuple[Axis, ...]
    """A plot, or a table, for each combination of values."""

    @property
    def alone(self) -> Layout:
        """The same without a horizontal axis of keys: each of its values has a plot."""
        return self if self.x is None else Layout(None, self.lines, (self.x, *self.others))


@dataclass(frozen=True)
class Pairs:
    """A study in which two entries of `flows` have an algorithm each, and one may be beside any other."""

    names: tuple[str, ...]
    """The algorithms, in order of occurrence."""
    others: tuple[Axis, ...]
    """The keys that vary besides: each combination of their values has a matrix."""
    places: Mapping[tuple[tuple[int, ...], str, str], tuple[int, str]]
    """Values of the other keys, an algorithm, and the one beside it -> cell, and entry of the first."""
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class StudyPlots:
    """All plots of a study."""

    name: str
    directory: str
    manifest: Mapping[str, Any]
    scenario: str
    confidence: float
    method: Method
    reference: str | None
    axes: tuple[Axis, ...]
    layout: Layout
    of: tuple[str, ...]
    """The scopes that separate flows, in order of occurrence: each has a colour."""
    cells: int
    runs: pl.DataFrame
    """All runs, with `error`, and with `verdict` where they are judged."""
    usable: pl.DataFrame
    verdicts: Verdicts
    suspect: Mapping[int, int]
    """Cell -> number of suspect runs, for cells with any."""
    panels: tuple[Panel, ...]
    distributions: tuple[Distribution, ...]
    notes: tuple[str, ...] = ()
    """Which runs are equal, in sentences."""
    pairs: Pairs | None = None
    """The algorithms that share a network in pairs; `None`: the study is not one of pairs."""
    described: Plot = field(default_factory=Plot)
    """Choices of the reader."""

    def panel(self, metric: str, scope: str) -> Panel | None:
        """The panel of this metric and scope."""
        return next((one for one in self.panels if (one.metric.name, one.scope) == (metric, scope)), None)

    @cached_property
    def places(self) -> dict[tuple[int, ...], int]:
        """Index of the value of each axis -> cell."""
        rows = zip(*(axis.cells for axis in self.axes), strict=True) if self.axes else [()]
        return {indices: cell for cell, indices in enumerate(rows) if LEFT_OUT not in indices}

    @cached_property
    def counts(self) -> dict[int, int]:
        """Cell -> number of usable runs."""
        return dict(self.usable.group_by("cell").len().iter_rows())

    @property
    def percent(self) -> str:
        """`95 %`."""
        return f"{100 * self.confidence:g} %"
