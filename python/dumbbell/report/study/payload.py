"""The study's page as data: what its program draws. Values of runs and of flows are singles, in panels' units."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

import numpy as np
import polars as pl

from dumbbell.command import command, quoted
from dumbbell.counts import count
from dumbbell.engines.registry import DEFAULT
from dumbbell.frozen import dataclass
from dumbbell.records.directory import RUNS
from dumbbell.report.model import MOST_APART, Codes, Counts, Values
from dumbbell.report.render.payload import encode
from dumbbell.report.study.axes import Axis, Kind
from dumbbell.report.study.curves import Curve, curves
from dumbbell.report.study.kinds import MOST_PLOTS, ROWS_APART
from dumbbell.report.study.model import Distribution, Panel, StudyPlots

MOST_VALUES: Final = 1_000_000
"""Values of runs on the page, of all metrics together."""
MOST_STEPS: Final = 400_000
"""Steps of distributions on the page."""
LEAST_STEPS: Final = 50


@dataclass(frozen=True)
class StudyAxis:
    """A key that was varied."""

    key: str
    label: str
    title: str
    kind: Kind
    at: tuple[float, ...]
    """The place of each value."""
    texts: tuple[str, ...]
    ticks: tuple[str, ...]
    cells: tuple[int, ...]
    """Index of each cell's value."""


@dataclass(frozen=True)
class RunValues:
    """A metric of single runs."""

    run: Counts
    """Number of each run."""
    of: Codes
    """Index in the panel's `of`."""
    value: Values


@dataclass(frozen=True)
class StudyPanel:
    """A metric of all cells."""

    name: str
    title: str
    unit: str
    direction: Literal["higher", "lower", "neither"]
    """The direction of better values."""
    formula: str
    source: str
    of: tuple[str, ...]
    """The scopes that have values: algorithms, or one empty text for the run itself."""
    points: tuple[tuple[int, int, int, float, float | None, float | None, float, float | None], ...]
    """Cell, index in `of`, n, mean, both ends of its interval, median, standard deviation."""
    values: RunValues | None
    """`None`: the page would be too long."""


@dataclass(frozen=True)
class StudyCurve:
    """The distribution of single flows over all runs of a cell."""

    cell: int
    of: str
    label: str
    """The number of flows with a value, and the number of all flows."""
    share: float
    """The height that the curve reaches: less than 1 if some flows have no value."""
    thinned: bool
    """True if there are evenly spaced quantiles, and not all values."""
    values: Values


@dataclass(frozen=True)
class StudyDistribution:
    """A quantity of single flows."""

    key: str
    title: str
    unit: str
    curves: tuple[StudyCurve, ...]


@dataclass(frozen=True)
class StudyPage:
    """The content of a study's page."""

    confidence: str
    of: tuple[str, ...]
    """The scopes that separate flows: algorithms, or entries of the scenario."""
    axes: tuple[StudyAxis, ...]
    curves: tuple[Mapping[str, tuple[Curve, ...]], ...]
    """Scope -> its curves, with each axis as the second key; the last without a second key."""
    x: int | None
    """Index of the horizontal axis."""
    lines: int | None
    """Index of the axis whose values are curves."""
    verdicts: tuple[str, ...]
    """The verdicts of runs, each with the checks behind it: `suspect (lateness, stall)`."""
    runs: tuple[tuple[tuple[int, str, int, int, int], ...], ...]
    """Number, id, seed, repetition, and index in `verdicts`, of the runs of each cell."""
    command: str
    """The command that repeats one run, before its `--cell` and `--repetition`."""
    records: str | None
    """Beginning of the path of a run's directory before its id, if runs have records: `dumbbell report` writes one's
    report."""
    most_apart: float
    """Plots of a metric have one vertical axis, unless their largest values differ by more than this factor."""
    rows_apart: float | None
    """Bars of each value of the horizontal key have a plot of their own, if the largest values of these plots differ by
    more than this factor. Null: a key was asked for, and stays across."""
    most_plots: int
    """Plots of one metric at most."""
    panels: tuple[StudyPanel, ...]
    distributions: tuple[StudyDistribution, ...]


def payload(plots: StudyPlots) -> tuple[str, tuple[str, ...]]:
    """JSON without `<`, which can be put inside a script element; and sentences on what was thinned or left out."""
    notes: list[str] = []
    values = sum(panel.values.height for panel in plots.panels)
    with_values = values <= MOST_VALUES
    if not with_values:
        notes.append(f"Lists of runs omit their {count(values, 'value')}: dumbbell query has them.")
    steps, said = _steps(plots)
    notes += said
    notes += [
        f"{one.title}: {count(one.without, 'flow')} did not complete; curves end at the share that did."
        for one in plots.distributions
        if one.without
    ]
    layout, known = plots.layout, _verdicts(plots)
    page = StudyPage(
        confidence=plots.percent,
        of=plots.of,
        axes=tuple(map(_axis, plots.axes)),
        curves=tuple(curves(plots, axis) for axis in (*plots.axes, None)),
        x=plots.axes.index(layout.x) if layout.x else None,
        lines=plots.axes.index(layout.lines) if layout.lines else None,
        verdicts=tuple(known),
        runs=_runs(plots, known),
        command=_command(plots),
        records=_records(plots),
        most_apart=MOST_APART,
        rows_apart=ROWS_APART if plots.described.across is None else None,
        most_plots=MOST_PLOTS,
        panels=tuple(_panel(panel, with_values) for panel in plots.panels),
        distributions=tuple(_distribution(one, steps) for one in plots.distributions),
    )
    return encode(page), tuple(notes)


def _axis(axis: Axis) -> StudyAxis:
    ticks = tuple(axis.tick(index) for index in range(len(axis.texts)))
    return StudyAxis(axis.key, axis.label, axis.title, axis.kind, axis.at, axis.names, ticks, axis.cells)


def _verdicts(plots: StudyPlots) -> dict[str, int]:
    """Verdict with its checks -> index."""
    found = plots.usable.select(_VERDICT).unique(maintain_order=True).to_series()
    return {verdict: index for index, verdict in enumerate(found)}


_VERDICT: Final = pl.concat_str(
    pl.col("verdict").fill_null("not judged"), pl.format(" ({})", "reasons").fill_null("")
).alias("verdict")


def _runs(plots: StudyPlots, known: dict[str, int]) -> tuple[tuple[tuple[int, str, int, int, int], ...], ...]:
    """Number, id, seed, repetition and verdict of each cell's usable runs."""
    found: list[list[tuple[int, str, int, int, int]]] = [[] for _ in range(plots.cells)]
    rows = plots.usable.select("cell", "run", "run_id", "seed", "repetition", _VERDICT).iter_rows()
    for cell, number, run_id, seed, repetition, verdict in rows:
        # The page puts it behind `_records` in a command to be copied, and a stranger's may hold anything.
        found[cell].append((number, quoted(str(run_id)), seed, repetition, known[verdict]))
    return tuple(map(tuple, found))


def _command(plots: StudyPlots) -> str:
    """The command that repeats one run with all its records, before its `--cell` and `--repetition`."""
    engine = str(plots.manifest.get("engine", DEFAULT))
    return command("run", f"{plots.directory}/scenario.toml", "--engine", engine)


def _records(plots: StudyPlots) -> str | None:
    """The beginning of the path of a run's directory, quoted for a shell; `None` without runs on disk."""
    runs = Path(plots.directory) / RUNS
    return quoted(f"{plots.directory}/{RUNS}/{plots.name}-") if runs.is_dir() else None


def _panel(panel: Panel, with_values: bool) -> StudyPanel:
    index = {of: i for i, of in enumerate(panel.of)}
    scaled = panel.points.with_columns(pl.col("mean", "median", "sd", "low", "high") / panel.factor)
    rows = scaled.select("cell", "of", "n", "mean", "low", "high", "median", "sd").iter_rows()
    metric = panel.metric
    return StudyPanel(
        metric.name,
        panel.title,
        panel.unit,
        metric.direction,
        metric.formula,
        metric.source,
        panel.of,
        tuple(
            (cell, index[of], n, _short(mean) or 0.0, _short(low), _short(high), _short(median) or 0.0, _short(sd))
            for cell, of, n, mean, low, high, median, sd in rows
        ),
        _values(panel, index) if with_values else None,
    )


def _short(value: float | None) -> float | None:
    """A number with the digits of single precision."""
    return None if value is None else float(f"{value:.7g}")


def _values(panel: Panel, index: dict[str, int]) -> RunValues:
    rows = panel.values
    of = rows["of"].replace_strict(index, return_dtype=pl.UInt8)
    return RunValues(rows["run"], of, rows["value"] / panel.factor)


def _steps(plots: StudyPlots) -> tuple[int, tuple[str, ...]]:
    """Most steps of one distribution, and what to say of it."""
    lengths = [len(found) for one in plots.distributions for found in one.values.values()]
    if sum(lengths) <= MOST_STEPS:
        return max(lengths, default=0), ()
    steps = max(LEAST_STEPS, MOST_STEPS // len(lengths))
    return steps, (f"Distributions of more than {steps:,} flows are drawn from {steps:,} evenly spaced quantiles.",)


def _distribution(distribution: Distribution, steps: int) -> StudyDistribution:
    curves = []
    for (cell, of), values in distribution.values.items():
        scaled = values.to_numpy() / distribution.factor
        thinned = len(scaled) > steps
        if thinned:
            scaled = np.quantile(scaled, np.linspace(0, 1, steps))
        share = len(values) / distribution.counts[cell, of]
        curves.append(StudyCurve(cell, of, distribution.label(cell, of), share, thinned, pl.Series(scaled)))
    return StudyDistribution(distribution.key, distribution.title, distribution.unit, tuple(curves))
