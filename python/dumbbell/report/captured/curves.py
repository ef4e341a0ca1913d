"""Curves of a direction, thinned out."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Line
from dumbbell.report.thin import changes, extremes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def column(rows: pl.DataFrame, name: str) -> Floats:
    """A column's values; null is NaN."""
    return rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def times(rows: pl.DataFrame, name: str = "time_ns") -> Ints:
    """A column of times, ns."""
    return rows[name].cast(pl.Int64).to_numpy()


def line(source: Source, way: Way, time_ns: Any, values: Floats, quantity: int = 0, steps: bool = False) -> Line | None:
    """A curve in the unit of `values`; `None` if it never has one. With `steps` each value holds until the next."""
    if len(values) == 0 or np.isnan(values).all():
        return None
    if steps:
        kept = changes(values)
        time_ns, values = time_ns[kept], values[kept]
    kept, _ = extremes(time_ns, values, source.span_ns, source.points)
    shown = pl.Series(values[kept]).fill_nan(None)
    return Line(shown, way.group, way.flow, quantity=quantity, time_s=pl.Series(time_ns[kept] / 1e9), steps=steps)


def with_silence(starts: Ints, values: Floats, width_ns: int, silent: float = 0.0) -> tuple[Ints, Floats]:
    """Values of intervals that have rows, as steps: between them and behind the last the value is `silent`."""
    if len(starts) == 0:
        return starts, values
    ends = starts + width_ns
    is_last = np.append(ends[:-1] < starts[1:], True)
    at = np.concatenate((starts, ends[is_last]))
    found = np.concatenate((values, np.full(int(is_last.sum()), silent)))
    order = np.argsort(at, kind="stable")
    return at[order], found[order]
