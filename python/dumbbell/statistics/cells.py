"""Averages over a cell's runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl

from dumbbell.errors import InputError
from dumbbell.statistics.bootstrap import bootstrap
from dumbbell.statistics.frames import Frames
from dumbbell.statistics.intervals import CONFIDENCE, cut
from dumbbell.statistics.metrics import Metric, get, values

Method = Literal["t", "bootstrap"]


def summaries(
    frames: Frames,
    metric: Metric | str,
    scope: str | None = None,
    confidence: float = CONFIDENCE,
    method: Method = "t",
) -> pl.DataFrame:
    """A row per cell and thing: `cell`, the varied keys, `of`, `n`, `mean`, `median`, `sd`, `low`, `high`.

    `low` and `high` bound the interval of the mean; null where n is 1, as `sd` is. A cell without a value has no row.

    Raises:
        InputError: there is no such metric, or it has no such scope, or the confidence is none.
    """
    check_confidence(confidence)
    metric = get(metric) if isinstance(metric, str) else metric
    found = summarize(values(frames, metric, scope), confidence, method, metric.bounds, metric.ceilings(frames))
    return frames.cells.join(found, on="cell", how="inner", maintain_order="left_right")


def summarize(
    rows: pl.DataFrame,
    confidence: float = CONFIDENCE,
    method: Method = "t",
    bounds: tuple[float | None, float | None] = (None, None),
    ceilings: Mapping[int, float] | None = None,
) -> pl.DataFrame:
    """The same summaries for `values`, without the keys. Intervals end at `bounds`, the metric's possible values, and
    at the cell's own ceiling."""
    value = pl.col("value")
    found = (
        rows.group_by("cell", "of", maintain_order=True)
        .agg(n=pl.len(), mean=value.mean(), median=value.median(), sd=value.std(), all=value)
        .sort("cell", maintain_order=True)
    )
    low, high = _t(found, confidence) if method == "t" else _drawn(found, confidence)
    found = found.drop("all").with_columns(low=low, high=high)
    least, most = bounds
    ends = [
        cut(low, high, mean, (least, (ceilings or {}).get(cell, most)))
        for cell, low, high, mean in found.select("cell", "low", "high", "mean").iter_rows()
    ]
    lows, highs = ([one[side] for one in ends] for side in (0, 1))
    return found.with_columns(low=pl.Series(lows, dtype=pl.Float64), high=pl.Series(highs, dtype=pl.Float64))


def check_confidence(confidence: float) -> None:
    """Raise `InputError` for an unsupported confidence."""
    if not 0 < confidence < 1:
        hint = "write 0.95 for 95 %"
        raise InputError(f"confidence {confidence:g}", "expected a number between 0 and 1", hint)


def _t(frame: pl.DataFrame, confidence: float) -> tuple[pl.Series, pl.Series]:
    """Intervals of all groups at once, equal to `intervals.of_mean` for each."""
    # scipy.stats would be slow to import: see there.
    from scipy.special import stdtrit

    n = frame["n"].to_numpy().astype(float)
    t = stdtrit(np.maximum(n - 1, 1), (1 + confidence) / 2)
    half = frame["sd"] * pl.Series(t / np.sqrt(n))
    return frame["mean"] - half, frame["mean"] + half


def _drawn(frame: pl.DataFrame, confidence: float) -> tuple[pl.Series, pl.Series]:
    intervals = [bootstrap(row, confidence) for row in frame["all"].to_list()]
    bounds = ([one.low for one in intervals], [one.high for one in intervals])
    return pl.Series(bounds[0], dtype=pl.Float64), pl.Series(bounds[1], dtype=pl.Float64)
