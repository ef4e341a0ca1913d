"""Bytes relative to a rate: what a sender is ahead of it, or behind."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from dumbbell.report.model import Bars, Line, Mark, View


def relative(view: View, rate_bps: float) -> View:
    """The view with values less what `rate_bps` sends from the first value on; values are bytes of the view's unit.

    The page does the same with any rate (`web/report/relative.ts`).
    """
    timed = (mark.time_s for mark in view.marks if isinstance(mark, Line))
    start = min((float(at[0]) for at in timed if at is not None and len(at)), default=0.0)

    def less(values: pl.Series, time_s: pl.Series) -> pl.Series:
        return values.cast(pl.Float64) - (time_s.cast(pl.Float64) - start) * (rate_bps / 8)

    def shifted(mark: Mark) -> Mark:
        match mark:
            case Line(time_s=pl.Series() as at):
                return replace(mark, values=less(mark.values, at))
            case Bars():
                return replace(mark, low=less(mark.low, mark.time_s), high=less(mark.high, mark.time_s))
            case _:
                return mark

    name = f"{view.name}, less {rate_bps / 1e6:.3g} Mbit/s"
    marks = tuple(shifted(mark) for mark in view.marks)
    return replace(view, name=name, marks=marks, top=None, low=None, mean_bps=None, is_relative=True)
