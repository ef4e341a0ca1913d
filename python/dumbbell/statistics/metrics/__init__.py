"""The list of all metrics of a study's runs, for tables, reports, `[[expect]]` and the documentation.

`docs/reference/study-metrics.md` is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import polars as pl

from dumbbell.errors import InputError
from dumbbell.hints import nearest
from dumbbell.statistics.frames import Frames, usable
from dumbbell.statistics.metrics import between, declared, flows, links
from dumbbell.statistics.metrics.model import SCOPES, Direction, Metric, Scope

__all__ = ["METRICS", "SCOPES", "Direction", "Metric", "Scope", "get", "scope_of", "values"]

METRICS: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for metric in (*flows.METRICS, *declared.FLOWS, *declared.LINKS, *links.METRICS, *between.METRICS)
}


def get(name: str) -> Metric:
    """The metric of this name. Raises `InputError` if there is none."""
    if name not in METRICS:
        raise InputError(f"no metric {name!r}", f"the metrics are {', '.join(METRICS)}", nearest(name, METRICS))
    return METRICS[name]


def scope_of(metric: Metric, scope: str | None) -> Scope:
    """The given scope, or the metric's first. Raises `InputError` if the metric lacks it."""
    if scope is None:
        return metric.scopes[0]
    for known in metric.scopes:
        if known == scope:
            return known
    raise InputError(f"{metric.name} has no values by {scope!r}", f"it has them by {', '.join(metric.scopes)}")


def values(frames: Frames, metric: Metric | str, scope: str | None = None) -> pl.DataFrame:
    """A row per run and subject (link, flow, group or algorithm): `run`, `run_id`, `cell`, `repetition`, `seed`, `of`,
    `value`; never null, never NaN.

    Only runs that succeeded and are not invalid count. `of` is an algorithm, a group, a flow or a link, and empty for
    the run.

    Raises:
        InputError: there is no such metric, or it has no such scope.
    """
    metric = get(metric) if isinstance(metric, str) else metric
    found = metric.compute(frames, scope_of(metric, scope))
    rows = usable(frames).join(found, on="run", how="inner", maintain_order="left_right")
    return rows.filter(pl.col("value").is_not_null() & pl.col("value").is_finite())
