"""Thin out long series for display without losing a peak: the smallest and the largest value of each short interval."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ceil, floor, log10
from typing import Final

import polars as pl

from dumbbell.frozen import dataclass

POINTS_PER_LINE: Final = 4000
"""Twice the pixels of a wide screen: a first zoom still finds detail."""
POINTS_PER_PANEL: Final = 200_000
"""A page of all panels with 1,000 flows stays well below 10 MB, and a browser draws it at once."""


def round_width_ns(at_least_ns: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, 50, ... ns that is no smaller than `at_least_ns`."""
    power = 10 ** floor(log10(max(1.0, at_least_ns)))
    return next(int(step * power) for step in (1, 2, 5, 10) if step * power >= at_least_ns)


@dataclass(frozen=True)
class Thinned:
    """A series with exact times, and the interval of which it keeps extremes (`None`: it is complete)."""

    time_ns: pl.Series
    values: pl.Series
    width_ns: int | None


def extremes(frame: pl.LazyFrame, time: str, value: str, span_ns: int, points: int = POINTS_PER_LINE) -> Thinned:
    """Keep the smallest and the largest `value` of each interval, each at its own time. Short series stay whole."""
    series = (
        frame.select(pl.col(time).alias("t"), pl.col(value).alias("v"))
        .drop_nulls()
        .sort("t", maintain_order=True)
        .collect()
    )
    if series.height <= points:
        return Thinned(series["t"], series["v"], None)
    width = round_width_ns(2 * span_ns / points)
    kept = (
        series.lazy()
        .group_by(pl.col("t") // width)
        .agg(
            pl.struct(
                pl.col("t", "v").get(pl.col("v").arg_min()),
            ).alias("low"),
            pl.struct(
                pl.col("t", "v").get(pl.col("v").arg_max()),
            ).alias("high"),
        )
        .select(pl.concat_list("low", "high").explode().alias("point"))
        .unnest("point")
        .unique()
        .sort("t", "v")
        .collect()
    )
    return Thinned(kept["t"], kept["v"], width)


@dataclass(frozen=True)
class Aligned:
    """Many flows over common times. `frame` has `time_ns` and a column per flow."""

    frame: pl.DataFrame
    width_ns: int | None

    @cached_property
    def columns(self) -> frozenset[str]:
        """The frame's columns: polars makes a new list each time, which is slow for thousands of flows."""
        return frozenset(self.frame.columns)

    def line(self, flow: str) -> pl.Series:
        """Values of `flow`; all null if it has none."""
        if flow in self.columns:
            return self.frame[flow]
        return pl.Series([None] * self.frame.height, dtype=pl.Float64)


def align(samples: pl.DataFrame, value: str, flows: Sequence[str], interval_ns: int, span_ns: int) -> Aligned:
    """Bring the samples of all flows, taken microseconds apart in each round, to common times.

    A round of samples keeps its time (that of its first sample). If there are too many rounds to draw, or a late round
    runs into the next, intervals replace the rounds. Each interval holds two points, the extremes in order of
    appearance.

    Args:
        samples: columns `time_ns`, `flow` (text) and `value`, at most one row per flow and time.
        value: the column to bring to common times.
        flows: how many curves share the plot decides how many points each may have.
        interval_ns: the sampling interval that was asked for.
        span_ns: length of the time axis.
    """
    rows = samples.select("time_ns", "flow", pl.col(value).cast(pl.Float64).alias("v")).drop_nulls().sort("time_ns")
    points = _points(flows)
    rounds = rows.with_columns(
        slot=(pl.col("time_ns").diff().fill_null(0) > interval_ns // 8).cum_sum(),
    )
    n_rounds = rounds["slot"].n_unique()
    if n_rounds <= points and not rounds.select("flow", "slot").is_duplicated().any():
        times = rounds.group_by("slot").agg(pl.col("time_ns").min())
        return Aligned(_pivot(rounds).join(times, on="slot").sort("slot").drop("slot"), None)
    width = max(round_width_ns(2 * span_ns / points), interval_ns)
    return Aligned(_buckets(rows, width, ceil(span_ns / width)), width)


def envelope(rows: pl.DataFrame, flows: Sequence[str], span_ns: int) -> Aligned:
    """The extremes of all flows in common intervals, in order of appearance, however dense each is.

    Args:
        rows: columns `time_ns`, `flow` (text) and `v`.
        flows: how many curves share the plot decides how many points each may have.
        span_ns: length of the time axis.
    """
    width = round_width_ns(2 * span_ns / _points(flows))
    return Aligned(_buckets(rows.sort("time_ns"), width, ceil(span_ns / width)), width)


def _points(flows: Sequence[str]) -> int:
    """The number of points for each of that many curves."""
    return max(100, min(POINTS_PER_LINE, POINTS_PER_PANEL // max(1, len(flows))))


def _buckets(rows: pl.DataFrame, width: int, count: int) -> pl.DataFrame:
    slot, v = pl.col("time_ns") // width, pl.col("v")
    ends = rows.group_by("flow", slot.alias("slot")).agg(low=v.min(), high=v.max(), rising=v.arg_min() <= v.arg_max())
    low, high, rising = pl.col("low"), pl.col("high"), pl.col("rising")
    points = pl.concat(
        [
            ends.select("flow", slot=pl.col("slot") * 2, v=pl.when(rising).then(low).otherwise(high)),
            ends.select("flow", slot=pl.col("slot") * 2 + 1, v=pl.when(rising).then(high).otherwise(low)),
        ]
    )
    grid = pl.DataFrame({"slot": pl.int_range(2 * max(count, 1), eager=True, dtype=pl.Int64)})
    frame = grid.join(_pivot(points), on="slot", how="left").sort("slot")
    # A sample that came late leaves one interval empty; that is no gap.
    filled = frame.with_columns(pl.exclude("slot").forward_fill(limit=2))
    return filled.select(pl.exclude("slot"), time_ns=(pl.col("slot") * 2 + 1) * width // 4)


def _pivot(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.pivot(on="flow", index="slot", values="v", aggregate_function="first")
