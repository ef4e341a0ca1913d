"""Panels of requests and how long each waited for its answer, from a table with a row for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.decimate import POINTS_PER_LINE, POINTS_PER_PANEL, extremes
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Mark, Panel, Quantity, Reference, Ticks, View
from dumbbell.report.source import Source
from dumbbell.report.spread import MOST_CURVES

_MOST_LEVELS: Final = 4


@dataclass(frozen=True)
class Waits:
    """A table of requests, and the words for it."""

    table: str
    column: str
    """Nanoseconds that each waited for its answer; null without one."""
    missing: pl.Expr
    """True of requests that a tick marks, as no answer came."""
    key: str
    title: str
    what: str
    """`Round-trip time`."""
    noun: str
    """`echo request`."""
    due: str
    """`when each was sent`."""
    gone: str
    """`lost`."""


def draw(source: Source, waits: Waits) -> Panel | None:
    """A curve per flow that has rows, or one per kind if there are too many; `None` if none has."""
    if not source.run.has(waits.table):
        return None
    rows = source.run.scan(waits.table).sort("time_ns").with_columns(pl.col("flow").cast(pl.String)).collect()
    answered = rows.drop_nulls(waits.column).select("time_ns", "flow", v=pl.col(waits.column) / 1e6)
    if answered.is_empty():
        return None
    lost = rows.filter(waits.missing)
    ticks = [Ticks(lost["time_ns"] / 1e9, edge="drop")] if lost.height else []
    gone = waits.gone
    said = f"Ticks: {lost.height} of {rows.height} requests {gone}." if lost.height else f"No request was {gone}."
    levels = [Reference(rtt * 1e3, f"base {words.seconds(rtt)}") for rtt in source.known.base_rtts_s[:_MOST_LEVELS]]
    near, far = split(levels, float(answered["v"].max() or 0))  # type: ignore[arg-type]
    curves = _of_kinds if answered["flow"].n_unique() > MOST_CURVES else _of_flows
    times, marks, note, quantities = curves(source, answered, waits)
    view = View("", times, (*marks, *ticks), f"{note} {said}{far}", near)
    return Panel(waits.key, 1.0, waits.title, "ms", (view,), from_zero=True, quantities=quantities)


_Curves = tuple[pl.Series, Sequence[Mark], str, tuple[Quantity, ...]]


def _of_flows(source: Source, answered: pl.DataFrame, waits: Waits) -> _Curves:
    ping = set(answered["flow"])
    shown = [(i, flow) for i, group in enumerate(source.groups) for flow in group.flows if flow in ping]
    points = max(2, min(POINTS_PER_LINE, POINTS_PER_PANEL // len(shown)))
    marks: list[Mark] = []
    width_ns = None
    for group, flow in shown:
        thin = extremes(answered.lazy().filter(pl.col("flow") == flow), "time_ns", "v", source.span_ns, points)
        marks.append(Line(thin.values, group, flow, time_s=thin.time_ns / 1e9))
        width_ns = thin.width_ns or width_ns
    note = f"{waits.what} of {words.count(answered.height, waits.noun)}, {waits.due}"
    note += f"; min and max of each {words.seconds(width_ns / 1e9)}." if width_ns else "."
    return pl.Series([], dtype=pl.Float64), marks, note, ()


def _of_kinds(source: Source, answered: pl.DataFrame, waits: Waits) -> _Curves:
    many = source.many
    sent = answered.select(pl.col("flow").cast(pl.Categorical), "v", many.slot("time_ns"))
    found = many.spread(iter([sent]))
    if found is None:
        return pl.Series([], dtype=pl.Float64), (), f"All were {waits.due.split()[-1]} after the run's end.", ()
    note = found.note(f"{waits.what} of {waits.noun}s {waits.due.split()[-1]}", "requests")
    return found.time_ns / 1e9, found.marks(source.groups, 1.0), note, found.quantities(waits.key)
