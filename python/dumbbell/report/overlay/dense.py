"""Curves with more points than a plot has room for: their range in each step of time, and a line through it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import polars as pl

from dumbbell.report.overlay.traces import Trace

_DENSE: Final = 6
"""Points per step from which on a curve would be a filled area, if it goes up and down between them."""
_TURNS: Final = 1
"""Turns per step from which on it is one: a curve that grows is no area, however many points it has."""


def in_steps(trace: Trace, step_s: float) -> Trace:
    """The mean of the points in each step, between the least and the largest; the trace itself if it is not dense."""
    rows = pl.DataFrame({"time": trace.time_s, "value": trace.values.cast(pl.Float64)}).drop_nulls()
    steps = rows.select((pl.col("time") / step_s).floor().n_unique()).item()
    if trace.low is not None or rows.height < _DENSE * max(steps, 1):
        return trace
    growth = pl.col("value").diff().sign()
    turns = rows.select((growth * growth.shift(-1) < 0).sum()).item()
    if turns < _TURNS * steps:
        return trace
    value, time = pl.col("value"), (pl.col("time") / step_s).floor().alias("step")
    found = rows.group_by(time, maintain_order=True).agg(
        value.mean().alias("mean"), value.min().alias("low"), value.max().alias("high")
    )
    return replace(
        trace, time_s=(found["step"] + 0.5) * step_s, values=found["mean"], low=found["low"], high=found["high"]
    )
