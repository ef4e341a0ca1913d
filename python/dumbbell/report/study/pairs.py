"""Studies of pairs: two entries of `flows`, each with an algorithm, so that one algorithm is beside another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import polars as pl

from dumbbell.report.study.arrangement import EVERY
from dumbbell.report.study.axes import LEFT_OUT, Axis
from dumbbell.report.study.model import Pairs, Panel
from dumbbell.report.study.panel import panel
from dumbbell.scenario.study import Plot
from dumbbell.statistics.cells import Method
from dumbbell.statistics.frames import Frames, main_link
from dumbbell.statistics.metrics import METRICS, Scope, get, scope_of, values
from dumbbell.statistics.metrics.between import entries_of

SHOWN: Final[tuple[tuple[str, Scope], ...]] = (
    ("goodput_share", "group"),
    ("jain_index", "run"),
    ("harm_beside", "group"),
    ("goodput", "group"),
    ("harm_goodput", "algorithm"),
    ("harm_rtt", "algorithm"),
    ("goodput", "run"),
    ("utilisation", "link"),
    ("rtt_p50", "group"),
    ("rtt_p95", "group"),
    ("queue_p50", "link"),
    ("queue_p95", "link"),
    ("retransmitted_segments", "group"),
    ("retransmitted_share", "group"),
    ("loss_share", "link"),
    ("convergence_time", "run"),
    ("fct_mean", "group"),
    ("power", "run"),
)
"""The metrics of matrices, in this order: without a value, or with 0 everywhere, they are left out."""

Place = tuple[tuple[int, ...], str, str]


def pairs(
    study: Frames, axes: Sequence[Axis], of: Sequence[str], confidence: float, method: Method, described: Plot
) -> Pairs | None:
    """The pairs of a study in which every usable cell has two entries with an algorithm each; else `None`."""
    both = entries_of(study)
    if both is None or both.select("first_cc", "second_cc").unique().height < 2:
        return None
    if both.filter(pl.col("first_cc") != pl.col("second_cc")).is_empty():
        return None
    rows = [row for row in both.iter_rows(named=True) if all(axis.cells[row["cell"]] != LEFT_OUT for axis in axes)]
    others = tuple(axis for axis in axes if _is_free(axis, rows))
    places: dict[Place, tuple[int, str]] = {}
    mirrored: dict[Place, tuple[int, str]] = {}
    for row in rows:
        at = tuple(axis.cells[row["cell"]] for axis in others)
        one, two = row["first_cc"], row["second_cc"]
        places.setdefault((at, one, two), (row["cell"], row["first"]))
        mirrored.setdefault((at, two, one), (row["cell"], row["second"]))
    there = {name for _, one, two in places for name in (one, two)}
    names = tuple(name for name in of if name in there)
    if set(names) != there:
        return None
    # Without a run in the other order, the second entry's value is that of its algorithm.
    return Pairs(names, others, mirrored | places, tuple(_panels(study, confidence, method, described)))


def _is_free(axis: Axis, rows: Sequence[Mapping[str, object]]) -> bool:
    """True if the axis has several values for some pair: it varies more than the algorithms."""
    found: dict[tuple[object, object], set[int]] = {}
    for row in rows:
        found.setdefault((row["first_cc"], row["second_cc"]), set()).add(axis.cells[int(str(row["cell"]))])
    return any(len(indices) > 1 for indices in found.values())


def _wanted(described: Plot) -> tuple[tuple[str, Scope], ...]:
    if described.metric == EVERY:
        return SHOWN
    metric = get(described.metric)
    if described.by is not None:
        return ((metric.name, scope_of(metric, described.by)),)
    known = [(name, scope) for name, scope in SHOWN if name == metric.name]
    return (known[0] if known else (metric.name, "group" if "group" in metric.scopes else metric.scopes[0]),)


def _panels(study: Frames, confidence: float, method: Method, described: Plot) -> list[Panel]:
    found = []
    for name, scope in _wanted(described):
        metric = METRICS[name]
        if scope not in metric.scopes:
            continue
        rows = values(study, metric, scope)
        if scope == "link":
            rows = rows.filter(of=main_link(study))
        if not rows.is_empty() and rows["value"].abs().max() != 0:
            title = f"{metric.title}, all flows" if (name, scope) == ("goodput", "run") else metric.title
            found.append(panel(metric, scope, title, (), rows, confidence, method, metric.ceilings(study)))
    return found
