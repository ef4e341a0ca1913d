"""Means over runs that differ only in their seeds, with their intervals, at points of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import polars as pl

from dumbbell.errors import InputError
from dumbbell.records import Run
from dumbbell.report.overlay.traces import Quantity, Trace, quantities
from dumbbell.report.study.axes import Axis
from dumbbell.statistics.intervals import CONFIDENCE, student_t

STEPS: Final = 200
"""Points of time."""


def drawn(runs: Sequence[Run], plots: Sequence[str], axes: Sequence[Axis], bands: bool) -> tuple[list[Quantity], float]:
    """The plots of runs, or with `bands` of their means, and the longest duration in seconds. Raises `InputError`."""
    found, duration_s = quantities(runs, plots)
    if not found:
        raise InputError(f"nothing to draw of {', '.join(plots)}", "none of the runs has records of them")
    return (averaged(found, axes, len(runs), duration_s) if bands else found), duration_s


def averaged(quantities: Sequence[Quantity], axes: Sequence[Axis], count: int, duration_s: float) -> list[Quantity]:
    """Each curve as the mean over the runs of one place on `axes`; it belongs to the first of them.

    `count`: of runs. A run counts at the times between its first and its last value: the mean of its values near a
    point of time, or else the value between its neighbours.
    """
    first: dict[tuple[int, ...], int] = {}
    belongs = [first.setdefault(tuple(axis.cells[run] for axis in axes), run) for run in range(count)]
    times = (np.arange(STEPS) + 0.5) * duration_s / STEPS
    found = []
    for quantity in quantities:
        alike: dict[tuple[int, str, str], list[Trace]] = {}
        for trace in quantity.traces:
            alike.setdefault((belongs[trace.run], trace.flow, trace.algorithm), []).append(trace)
        traces = tuple(_mean(run, members, times) for (run, _, _), members in alike.items())
        found.append(replace(quantity, traces=traces))
    return found


def _mean(run: int, members: Sequence[Trace], times: np.ndarray) -> Trace:
    values = np.array([_at(one, times) for one in members])
    known = np.isfinite(values)
    n = known.sum(axis=0)
    mean = np.where(known, values, 0).sum(axis=0) / np.maximum(n, 1)
    spread = np.sqrt(np.where(known, (values - mean) ** 2, 0).sum(axis=0) / np.maximum(n - 1, 1))
    half = np.array([student_t(max(one - 1, 1), CONFIDENCE) for one in n]) * spread / np.sqrt(np.maximum(n, 1))
    bounds = [one.most for one in members if one.most is not None]
    most = np.maximum(mean, max(bounds) if len(bounds) == len(members) else np.inf)
    ends = np.maximum(mean - half, 0), np.minimum(mean + half, most)
    low, high = (np.where(n > 1, end, np.nan) for end in ends)
    series = [pl.Series(one).fill_nan(None) for one in (np.where(n > 0, mean, np.nan), low, high)]
    return replace(members[0], run=run, time_s=pl.Series(times), values=series[0], low=series[1], high=series[2])


def _at(trace: Trace, times: np.ndarray) -> np.ndarray:
    rows = pl.DataFrame({"t": trace.time_s, "v": trace.values.cast(pl.Float64)}).drop_nulls()
    if rows.is_empty():
        return np.full(len(times), np.nan)
    at, values = rows["t"].to_numpy(), rows["v"].to_numpy()
    step = times[1] - times[0]
    bins = np.clip((at / step).astype(int), 0, len(times) - 1)
    counts, sums = (np.bincount(bins, weights, len(times)) for weights in (None, values))
    between = np.interp(times, at, values, left=np.nan, right=np.nan)
    return np.where(counts > 0, sums / np.maximum(counts, 1), between)
