"""Comparisons of runs, and of two studies; and single plots of a run's records, to be laid over each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from mimetypes import guess_type
from pathlib import Path
from threading import Lock
from typing import Annotated, Final

import polars as pl
from fastapi import APIRouter, Query
from fastapi.responses import Response

from dumbbell.agree.figures import Figures, What, figures
from dumbbell.comparison import settings
from dumbbell.comparison.studies import DEFAULT, Comparison, Row, compare
from dumbbell.errors import DumbbellError, InputError
from dumbbell.pipeline.results import Run
from dumbbell.report import overlay, series
from dumbbell.report.decimate import extremes
from dumbbell.report.groups import HUES
from dumbbell.report.model import Line, Ticks, View
from dumbbell.report.study import confidence
from dumbbell.report.study.panel import unit_of
from dumbbell.server import run_places, studies
from dumbbell.server.run_messages import (
    Compare,
    ComparedRow,
    ComparedRun,
    ComparedRuns,
    ComparedStudies,
    Curve,
    Figure,
    Series,
    Setting,
)
from dumbbell.statistics.metrics import METRICS, get
from dumbbell.studies import Study

PLOTS: Final = {
    "goodput": ("Goodput", "Mbit/s", 1e6),
    "rtt": ("RTT", "ms", 1.0),
    "cwnd": ("Congestion window", "packets", 1.0),
    "in-flight": ("Bytes in flight", "kB", 1e3),
    "queue": ("Queue", "kB", 1e3),
}
"""Plots that can be laid over each other: title of the report's panel, unit, and what the unit is in the panel's."""
MOST_LINKS: Final = 12
"""Links whose queues are drawn, at most."""
MOST_DROPS: Final = 2000
PERCENT: Final = 95
_DRAWING: Final = Lock()
"""Styles of matplotlib hold for the whole process."""


def router(root: Path) -> APIRouter:
    """The routes of comparisons in the workspace `root`."""
    made = APIRouter(prefix="/api")

    @made.post("/compare")
    def compared(asked: Compare) -> ComparedRuns | ComparedStudies:
        """Returns differences: settings first, then figures."""
        if asked.studies:
            return _studies(root, asked.studies)
        return _runs([run_places.find(root, run) for run in asked.runs])

    @made.get("/runs/{run}/series")
    def plot(
        run: str,
        plot: str = "goodput",
        points: int = 800,
        begin: Annotated[float, Query(alias="from", ge=0, allow_inf_nan=False)] = 0.0,
        end: Annotated[float | None, Query(alias="to", gt=0, allow_inf_nan=False)] = None,
        every: bool = False,
    ) -> Series:
        """A plot of a run's records between two times, in seconds, thinned out: the less time, the finer.

        `every`: of each link that has a queue, in place of the one with most traffic.
        """
        if plot not in PLOTS:
            raise InputError(f"no plot {plot!r}", f"the plots are {', '.join(PLOTS)}", "choose one of them")
        return _series(
            Run(run_places.find(root, run), incomplete=True), plot, min(max(points, 10), 4000), begin, end, every
        )

    @made.get("/overlay.{format}")
    def overlaid(format: str, run: Annotated[list[str], Query()], plots: str = "") -> Response:
        """Runs over each other or side by side in one figure, as the command draws them, or its data."""
        runs = [Run(run_places.find(root, one)) for one in run]
        with _DRAWING:
            content = overlay.content(runs, format, overlay.plots_of(plots))
        return Response(content, media_type=guess_type(f"overlay.{format}")[0], headers=run_places.SANDBOXED)

    return made


def _runs(paths: Sequence[Path]) -> ComparedRuns:
    if len(paths) < 2:
        raise InputError("nothing to compare", "a comparison needs two runs", "choose another one")
    runs: list[Run] = []
    each: list[Figures] = []
    errors: list[DumbbellError] = []
    for path in paths:
        try:
            run = Run(path)
            each.append(figures(run))
            runs.append(run)
        except DumbbellError as error:
            errors.append(error)
    if len(runs) < 2:
        raise errors[0]
    every = dict.fromkeys(what for one in each for what in one)
    return ComparedRuns(
        runs=[
            ComparedRun(
                id=run.directory.name,
                name=run.name,
                verdict=run.verdict,
                started_at=str(run.manifest.get("started_at", "")),
                engine=run.engine,
            )
            for run in runs
        ],
        settings=[Setting(key=key, values=values) for key, values in settings.of_many(runs)],
        figures=[_figure(what, each) for what in every],
        problems=[error.line for error in errors],
    )


def _figure(what: What, each: Sequence[Mapping[What, float]]) -> Figure:
    return Figure(of=what.of, measure=what.measure, unit=what.unit, values=[one.get(what) for one in each])


def _studies(root: Path, names: Sequence[str]) -> ComparedStudies:
    if len(names) != 2:
        raise InputError(f"{len(names)} studies", "two are compared at a time", "choose two")
    a, b = (Study(studies.find(root, name)) for name in names)
    found = compare(a, b, [get(name).name for name in DEFAULT], confidence(PERCENT))
    return ComparedStudies(
        studies=list(names),
        verdicts=[str(found.verdicts_a), str(found.verdicts_b)],
        settings=[Setting(key=one.key, values=[one.a, one.b]) for one in settings.of_studies(a, b)],
        keys=list(found.keys),
        rows=_rows(found),
        only=[len(found.only_a), len(found.only_b)],
    )


def _rows(comparison: Comparison) -> list[ComparedRow]:
    largest = {name: 0.0 for name in METRICS}
    for row in comparison.rows:
        largest[row.metric.name] = max(largest[row.metric.name], abs(row.contrast.mean), abs(row.contrast.reference))
    return [_row(row, *unit_of(row.metric.unit, largest[row.metric.name])) for row in comparison.rows]


def _row(row: Row, factor: float, unit: str) -> ComparedRow:
    found = row.contrast
    low, high = found.difference.low, found.difference.high
    return ComparedRow(
        metric=row.metric.title,
        unit=unit,
        place=list(row.place),
        of=row.of,
        a=found.reference / factor,
        b=found.mean / factor,
        n_a=row.n_a,
        n_b=row.n_b,
        difference=found.difference.value / factor,
        low=None if low is None else low / factor,
        high=None if high is None else high / factor,
        relative=None if found.relative is None else found.relative.value,
        is_clear=low is not None and found.is_clear,
    )


def _series(run: Run, plot: str, points: int, begin: float, end: float | None, every: bool = False) -> Series:
    title, unit, size = PLOTS[plot]
    drawn = series.build(run, (title,))
    end = drawn.duration_s if end is None else min(end, drawn.duration_s)
    curves: list[Curve] = []
    shown = [(panel, view) for panel in drawn.panels for view in panel.views[: MOST_LINKS if every else 1]]
    for panel, view in shown:
        for mark in view.marks:
            if isinstance(mark, Line) and not mark.is_level and mark.quantity == 0:
                times = view.time_s if mark.time_s is None else mark.time_s
                rows = pl.LazyFrame({"t": (times * 1e9).cast(pl.Int64), "v": mark.values})
                rows = rows.filter(pl.col("t").is_between(int(begin * 1e9), int(end * 1e9)))
                thin = extremes(rows, "t", "v", max(1, int((end - begin) * 1e9)), points)
                group = drawn.groups[mark.group] if mark.group is not None else None
                light, dark = (group.light, group.dark) if group else HUES[0]
                curves.append(
                    Curve(
                        label=group.label if group else (view.name or mark.name or title),
                        flow=mark.flow,
                        group=mark.group,
                        light=light,
                        dark=dark,
                        dash=list(group.dash) if group else [],
                        t=[round(at / 1e9, 6) for at in thin.time_ns],
                        y=[float(f"{value * panel.per_unit / size:.6g}") for value in thin.values],
                        drops=_drops(view, begin, end),
                    )
                )
    return Series(plot=plot, title=title, unit=unit, plots={key: one[0] for key, one in PLOTS.items()}, curves=curves)


def _drops(view: View, begin: float, end: float) -> list[float]:
    """Times of the link's drops, of many some."""
    ticks = [mark for mark in view.marks if isinstance(mark, Ticks) and mark.edge == "drop"]
    times = [round(at, 3) for mark in ticks for at in mark.time_s.to_list() if begin <= at <= end]
    return times[:: len(times) // MOST_DROPS + 1]
