"""The table of a study's cells that `dumbbell run` prints. This module is not a verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dumbbell.studies import Study
    from dumbbell.table import Table

FIGURES: Final = (
    ("goodput", "goodput", "run"),
    ("Jain", "jain_index", "run"),
    ("RTT p50 (ms)", "rtt_p50", "run"),
    ("retransmitted", "retransmitted_segments", "run"),
    ("utilisation", "utilisation", "link"),
    ("drops", "drops", "link"),
    ("queue p50", "queue_p50", "link"),
    ("p95 (ms)", "queue_p95", "link"),
)
"""Column head, metric, scope."""


def table(study: Study) -> Table:
    """A row per cell: its values, usable runs, means and half of their intervals."""
    from dumbbell.cc.names import label
    from dumbbell.report import words
    from dumbbell.scenario.source import show
    from dumbbell.scenario.study import free
    from dumbbell.statistics.verdicts import suspect_runs
    from dumbbell.table import Table

    figures = [_figures(study, name, scope) for _, name, scope in FIGURES]
    doubted = suspect_runs(study)
    keys = free(study.cells.to_dicts(), study.keys)
    rows = []
    for cell in study.summary.select("cell", "runs", "failed", *keys).iter_rows(named=True):
        values = [label(cell[key]) if key.endswith(".cc") and cell[key] else _value(cell[key], show) for key in keys]
        usable = cell["runs"] - cell["failed"]
        runs = f"{usable:,} of {cell['runs']:,}" if cell["failed"] else f"{usable:,}"
        runs += ", all equal" if cell["cell"] in study.copies else ""
        runs += f", {doubted[cell['cell']]:,} suspect" if cell["cell"] in doubted else ""
        rows.append([*values, runs, *(figure.get(cell["cell"], words.UNKNOWN) for figure in figures)])
    columns = [*keys, "runs", *(head for head, _, _ in FIGURES)]
    is_mean = study.summary.filter(study.summary["runs"] - study.summary["failed"] > 1).height > 0
    title = (
        "Mean over runs ± half-width of the 95 % interval" if is_mean else "Figures of one run each, without intervals"
    )
    return Table(title, columns, rows, max(len(keys), 1))


def cells(study: Study) -> list[dict[str, Any]]:
    """The cells as JSON: means, and `metrics`, with n, mean, median, standard deviation, and the ends of the interval;
    `suspect`, the number of suspect runs."""
    from dumbbell.statistics.verdicts import suspect_runs

    doubted = suspect_runs(study)
    found = study.summary.to_dicts()
    metrics: dict[int, dict[str, Any]] = {cell["cell"]: {} for cell in found}
    for _, name, scope in FIGURES:
        for row in _summaries(study, name, scope):
            metrics[row["cell"]][name] = {key: row[key] for key in ("n", "mean", "median", "sd", "low", "high")}
    return [{**cell, "suspect": doubted.get(cell["cell"], 0), "metrics": metrics[cell["cell"]]} for cell in found]


def _summaries(study: Study, name: str, scope: str) -> Iterator[dict[str, Any]]:
    """The rows of a metric. Metrics of links are those of the study's main link."""
    from dumbbell.statistics.cells import summaries
    from dumbbell.statistics.frames import main_link

    rows, main = summaries(study, name, scope).iter_rows(named=True), main_link(study)
    return (row for row in rows if scope != "link" or row["of"] == main)


def _figures(study: Study, name: str, scope: str) -> dict[int, str]:
    """Cell -> `9.17 ± 0.29 Mbit/s`."""
    from dumbbell.report.study.panel import unit_of
    from dumbbell.statistics.metrics import get

    found = {}
    for row in _summaries(study, name, scope):
        factor, unit = unit_of(get(name).unit, abs(row["mean"]))
        ends = None if row["high"] is None else (row["low"] / factor, row["high"] / factor)
        # Other units are in the column's head, or the metric is a count.
        shown = f" {unit}" if unit == "%" or unit.endswith("bit/s") else ""
        found[row["cell"]] = _with_interval(row["mean"] / factor, ends) + shown
    return found


def _with_interval(mean: float, ends: tuple[float, float] | None) -> str:
    """`0.918 ± 0.021`: two digits of the half, and at most four of the mean; three digits of a mean without an
    interval. `0.97 [0.81, 1.00]` of an interval that ends where values are no longer possible."""
    half = 0.0 if ends is None else (ends[1] - ends[0]) / 2
    if not half or ends is None:
        # Counts are whole.
        return f"{mean:,.{0 if mean == int(mean) else _decimals(mean, 3)}f}"
    decimals = min(_decimals(half, 2), _decimals(mean, 4)) if mean else _decimals(half, 2)
    if abs(ends[0] + ends[1] - 2 * mean) > 1e-9 * max(map(abs, ends)):
        return f"{mean:,.{decimals}f} [{ends[0]:,.{decimals}f}, {ends[1]:,.{decimals}f}]"
    return f"{mean:,.{decimals}f} ± {half:,.{decimals}f}"


def _decimals(value: float, digits: int) -> int:
    """Number of decimals that show `digits` significant digits."""
    from math import floor, log10

    return max(digits - 1 - floor(log10(abs(value))), 0)


def _value(value: Any, show: Any) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else str(show(value))
