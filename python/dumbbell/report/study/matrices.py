"""A metric as a matrix: two keys, or one algorithm beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from dumbbell.cc.names import title
from dumbbell.frozen import dataclass
from dumbbell.report.study.axes import Axis
from dumbbell.report.study.curves import curves
from dumbbell.report.study.grid import grids
from dumbbell.report.study.model import Entry, Layout, Panel, StudyPlots


@dataclass(frozen=True)
class Matrix:
    """Rows and columns with an entry each, as far as there is one."""

    panel: Panel
    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: Mapping[tuple[int, int], Entry]
    """Row and column -> entry."""


def of_pairs(plots: StudyPlots, panel: Panel) -> list[Matrix]:
    """A matrix for each combination of the other keys: a value is of the row's algorithm beside the column's."""
    pairs = plots.pairs
    if pairs is None:
        return []
    labels = plots.described.labels
    names = tuple(labels.get(name, labels.get(title(name), title(name))) for name in pairs.names)
    found = []
    for at in product(*(range(len(axis.texts)) for axis in pairs.others)):
        entries = {}
        for (row, one), (column, two) in product(enumerate(pairs.names), repeat=2):
            cell, entry = pairs.places.get((at, one, two), (None, ""))
            of = {"group": entry, "algorithm": one}.get(panel.scope, panel.of[0])
            if cell is not None and (known := panel.entries.get((cell, of))) is not None:
                entries[row, column] = known
        if entries:
            heading = _heading(pairs.others, at)
            found.append(Matrix(panel, heading, "algorithm", "beside", names, names, entries))
    return found


def of_keys(plots: StudyPlots, panel: Panel, layout: Layout) -> list[Matrix]:
    """A matrix for each scope and each combination of the other keys: the horizontal key in columns, in rows the second
    key, or without one the scopes."""
    lines = layout.lines
    names = curves(plots, None)
    found = []
    for grid in grids(plots, panel, layout):
        columns = tuple(grid.x.tick(row) for row in grid.rows) if grid.x else ("",)
        across = grid.x.title if grid.x else ""
        if lines is None:
            entries = {
                (at, row): entry
                for at, column in enumerate(grid.columns)
                for row in grid.rows
                if (entry := grid.entry(row, column))
            }
            rows = tuple(column.label for column in grid.columns)
            found.append(Matrix(panel, grid.title, "", across, rows, columns, entries))
            continue
        rows = tuple(map(lines.tick, range(len(lines.texts))))
        for of in dict.fromkeys(column.of for column in grid.columns):
            entries = {
                (column.line, row): entry
                for column in grid.columns
                if column.of == of and column.line is not None
                for row in grid.rows
                if (entry := grid.entry(row, column))
            }
            whose = names[of][0].label if len(panel.of) > 1 else ""
            heading = ", ".join(filter(None, [whose, grid.title]))
            found.append(Matrix(panel, heading, lines.title, across, rows, columns, entries))
    return found


def _heading(axes: Sequence[Axis], at: Sequence[int]) -> str:
    return ", ".join(axis.word(index) for axis, index in zip(axes, at, strict=True))
