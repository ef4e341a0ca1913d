"""Tables as CSV, with every average in full, and what tables are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from dumbbell.counts import by_number
from dumbbell.report import words
from dumbbell.report.study.effects import effects_on
from dumbbell.report.study.grid import Grid, grids
from dumbbell.report.study.kinds import is_of_pairs, kind_of, name_of, shown, tabled
from dumbbell.report.study.matrices import Matrix, of_pairs
from dumbbell.report.study.model import Entry, Panel, StudyPlots
from dumbbell.statistics.contrasts import Contrast
from dumbbell.statistics.intervals import Interval


def csv(plots: StudyPlots) -> dict[str, bytes]:
    """File name -> content: a row per cell and what the metric is of, in the metric's base unit."""
    files: dict[str, list[dict[str, object]]] = {}
    for name, panel in tabled(plots):
        if kind_of(plots, panel) == "effects":
            files[f"{name}.csv"] = list(_effects(plots, panel))
            continue
        files[f"{name}.csv"] = [row for grid in grids(plots, panel) for row in _rows(grid)]
    if is_of_pairs(plots):
        for panel in shown(plots):
            found = [row for one in of_pairs(plots, panel) for row in _beside(plots, one)]
            files[f"{name_of(plots, panel)}.csv"] = found
    return {name: pl.DataFrame(rows, infer_schema_length=None).write_csv().encode() for name, rows in files.items()}


def _effects(plots: StudyPlots, panel: Panel) -> Iterator[dict[str, object]]:
    """A row for each effect; those of one key have its share of the variation."""
    for found in effects_on(plots, panel):
        of: dict[str, object] = {panel.scope: found.of} if found.of else {}
        for term in found.terms:
            share = _bounds("share", term.share)
            for one in term.effects:
                known = {"n": one.size.n, "confidence": plots.confidence}
                at = {"keys": term.name, "values": one.levels, "unit": panel.metric.unit}
                yield {**of, **at, **_bounds("effect", one.size), **share, **known}


def _beside(plots: StudyPlots, matrix: Matrix) -> Iterator[dict[str, object]]:
    """A row for each entry of a matrix of algorithms."""
    for (row, column), entry in sorted(matrix.entries.items()):
        known = {"n": entry.n, "mean": entry.mean, "median": entry.median, "sd": entry.sd}
        known |= {"low": entry.low, "high": entry.high, "confidence": plots.confidence}
        at = {"at": matrix.title} if matrix.title else {}
        yield {
            **at,
            "algorithm": matrix.rows[row],
            "beside": matrix.columns[column],
            "unit": matrix.panel.metric.unit,
            **known,
        }


def _rows(grid: Grid) -> Iterator[dict[str, object]]:
    axes = grid.plots.axes
    for x in grid.rows:
        for column in grid.columns:
            entry = grid.entry(x, column)
            if entry is None:
                continue
            place: dict[str, object] = {axis.key: axis.texts[axis.cells[entry.cell]] for axis in axes}
            of: dict[str, object] = {grid.panel.scope: column.of} if column.of else {}
            known = {"n": entry.n, "mean": entry.mean, "median": entry.median, "sd": entry.sd}
            known |= {"low": entry.low, "high": entry.high, "confidence": grid.plots.confidence}
            known |= {"suspect_runs": grid.plots.suspect.get(entry.cell, 0)}
            yield {**place, **of, "unit": grid.panel.metric.unit, **known, **_change(grid.change(x, column))}


def _change(change: Contrast | None) -> dict[str, object]:
    found = None if change is None else change.relative
    difference = None if change is None else change.difference
    return {
        "reference_mean": change and change.reference,
        **_bounds("difference", difference),
        **_bounds("relative_change", found),
        "paired_or_welch": change and change.method,
        "pairs": change.difference.n if change and change.method == "paired" else None,
        "hedges_g": change and change.hedges_g,
        "cliffs_delta": change and change.cliffs_delta,
    }


def _bounds(name: str, interval: Interval | None) -> dict[str, object]:
    return {
        name: interval and interval.value,
        f"{name}_low": interval and interval.low,
        f"{name}_high": interval and interval.high,
    }


def caption(grid: Grid, unclear: str = "ns") -> str:
    """The caption of a table: metric, unit, number of runs, interval, and the reference of the changes.

    `unclear`: the mark of changes that may be none.
    """
    plots, panel = grid.plots, grid.panel
    unit = f" ({panel.unit})" if panel.unit and panel.unit not in panel.title else ""
    title = f" at {grid.title}" if grid.title else ""
    against = grid.reference_words()
    changes = f"; changes are {against}" if against else ""
    compared = [change for row in grid.rows for column in grid.columns if (change := grid.change(row, column))]
    if any(not change.is_clear for change in compared):
        changes += f" ({unclear}: the {plots.percent} interval of the difference holds 0)"
    said = ", ".join(filter(None, [timing(plots), how(plots), counted(entries_of(grid))]))
    return f"{panel.title}{unit}{title}: {said}{doubt(plots)}{changes}"


def entries_of(grid: Grid) -> list[Entry]:
    """The entries that a grid has."""
    return [entry for row in grid.rows for column in grid.columns if (entry := grid.entry(row, column))]


def counted(entries: Iterable[Entry]) -> str:
    """`n = 5`, the number of runs of each entry; `n = 3 to 5` if entries differ."""
    runs = sorted({entry.n for entry in entries})
    return f"n = {runs[0]}" if len(runs) == 1 else f"n = {runs[0]} to {runs[-1]}"


def how(plots: StudyPlots) -> str:
    """Says what an entry of a table is."""
    method = "Student's t" if plots.method == "t" else "bootstrap"
    return f"mean and {plots.percent} interval ({method})"


def timing(plots: StudyPlots) -> str:
    """`simulated` or `in virtual time`; empty for a study in real time."""
    return words.timing(str(plots.manifest.get("engine", "")))


def doubt(plots: StudyPlots) -> str:
    """`, 11 of 12 runs are suspect`; empty if none is."""
    found = plots.verdicts
    if not found.suspect:
        return ""
    return f", {found.suspect:,} of {words.count(found.usable, 'run')} {by_number(found.suspect, 'is', 'are')} suspect"
