"""The curves of one flow: what is measured of it, thinned out."""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report.model import Line, Points, Quantity
from dumbbell.report.thin import changes, extremes

_MARKS: Final = 2000


@dataclass(frozen=True)
class Measure:
    """A column, or what follows from several, in the unit of its panel."""

    quantity: Quantity
    value: pl.Expr
    steps: bool = True
    """True if a value holds until the next row; else a straight line leads there."""
    gaps: bool = False
    """Null is no value, and not an unknown one: there is no bound then."""
    sampled: Literal["sum", "mean", "one"] | None = None
    """Samples tell it, too: over the sockets of a flow their sum or mean, or nothing unless there is only one."""
    alone: str = ""
    """A sentence for a panel that has nothing else."""

    @property
    def is_points(self) -> bool:
        """Returns true if the curve is a point for each row that has a value."""
        return self.quantity.look in ("lost", "resent")

    @property
    def column(self) -> str:
        """The first column that it is made of."""
        return self.value.meta.root_names()[0]


@dataclass(frozen=True)
class Curve:
    """A mark in the panel's basic unit, and the length of the intervals that it keeps the extremes of."""

    line: Line | Points
    width_ns: int | None


def curve(
    rows: pl.DataFrame, measure: Measure, index: int, flow: str, group: int, span_ns: int, points: int
) -> Curve | None:
    """The curve of `measure`, thinned to `points`; `None` if it never has a value.

    Args:
        rows: in the order of `time_ns`, with all columns that `measure` needs.
        measure: what to draw.
        index: its place among the panel's quantities.
        flow: the flow's name.
        group: index of its group.
        span_ns: length of the time axis.
        points: how many are allowed.
    """
    series = rows.select("time_ns", v=measure.value.cast(pl.Float64))
    if not measure.gaps:
        series = series.drop_nulls()
    time, values = series["time_ns"].to_numpy(), series["v"].fill_null(float("nan")).to_numpy()
    if len(values) == 0 or np.isnan(values).all():
        return None
    if measure.steps and not measure.is_points:
        kept = changes(values)
        time, values = time[kept], values[kept]
    kept, width = extremes(time, values, span_ns, min(points, _MARKS) if measure.is_points else points)
    at, drawn = pl.Series(time[kept] / 1e9), pl.Series(values[kept]).fill_nan(None)
    look = measure.quantity.look
    if look in ("lost", "resent"):
        return Curve(Points(drawn, group, at, flow, index, look=look), width)
    return Curve(Line(drawn, group, flow, quantity=index, time_s=at, steps=measure.steps), width)
