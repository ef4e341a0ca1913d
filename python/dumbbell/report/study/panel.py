"""A metric of all cells, in a unit that suits its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from dumbbell.report import words
from dumbbell.report.study.model import Panel
from dumbbell.statistics.cells import Method, summarize
from dumbbell.statistics.metrics import Metric, Scope


def panel(
    metric: Metric,
    scope: Scope,
    title: str,
    order: Sequence[str],
    rows: pl.DataFrame,
    confidence: float,
    method: Method,
    ceilings: Mapping[int, float] | None = None,
) -> Panel:
    """The panel of a metric's `values`, at least one. `order`: of what they are of."""
    there = set(rows["of"])
    of = tuple(name for name in order if name in there) or tuple(sorted(there))
    points = summarize(rows, confidence, method, metric.bounds, ceilings)
    factor, unit = unit_of(metric.unit, float(points["mean"].abs().max() or 0))  # type: ignore[arg-type]
    return Panel(metric, scope, title, unit, factor, of, points, rows)


def unit_of(unit: str, largest: float) -> tuple[float, str]:
    """Divisor and name that suit values up to `largest`; shares in percent."""
    match unit:
        case "bit/s":
            return words.rate_unit(largest)
        case "B":
            return words.size_unit(largest)
        case "s" if 0 < largest < 1:
            return 1e-3, "ms"
        case "ms" if largest >= 10_000:
            return 1e3, "s"
        case "share":
            return 0.01, "%"
    return 1.0, unit
