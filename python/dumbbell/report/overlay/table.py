"""The curves of an overlay as one table in long form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from dumbbell.records import Run
from dumbbell.report.overlay.differences import differences
from dumbbell.report.overlay.repetitions import drawn
from dumbbell.report.study.axes import Axis


def table(runs: Sequence[Run], plots: Sequence[str], bands: bool, axes: Sequence[Axis] | None = None) -> pl.DataFrame:
    """A row for each point: `run`, a column for each key in which runs differ, `flow`, `panel`, `time_s` and `value`.

    `panel` names the unit of `value`, as `goodput_bps`. With `bands` a row is a mean over the runs that differ only in
    their seeds, `run` is the first of them, and `low` and `high` are the ends of its interval. Raises `InputError`.
    """
    axes = differences(runs, but_seeds=bands) if axes is None else axes
    found, _ = drawn(runs, plots, axes, bands)
    parts = []
    for quantity in found:
        for trace in quantity.traces:
            of = {"run": Path(runs[trace.run].directory).name}
            of |= {axis.key: axis.texts[axis.cells[trace.run]] for axis in axes}
            of |= {"flow": trace.flow, "panel": quantity.panel.key}
            ends = {"low": trace.low, "high": trace.high} if bands else {}
            values = {"value": trace.values, **ends}
            rows = pl.DataFrame({"time_s": trace.time_s.round(9), **values}).drop_nulls("value")
            parts.append(rows.select(*(pl.lit(value).alias(name) for name, value in of.items()), "time_s", *values))
    return pl.concat(parts, how="vertical_relaxed")
