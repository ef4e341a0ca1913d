"""Round-trip times of echo requests, and when one was lost: the latency that other traffic finds on the path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.decimate import POINTS_PER_LINE, POINTS_PER_PANEL, extremes
from dumbbell.report.definition import OfTables
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Mark, Panel, Quantity, Reference, Ticks, View
from dumbbell.report.source import Source
from dumbbell.report.spread import MOST_CURVES

_MOST_LEVELS: Final = 4


def _panel(source: Source) -> Panel | None:
    """A curve per flow that pings, or one per kind if there are too many; `None` if none does."""
    if not source.run.has("pings"):
        return None
    rows = source.run.scan("pings").sort("time_ns").with_columns(pl.col("flow").cast(pl.String)).collect()
    answered = rows.drop_nulls("rtt_ns").select("time_ns", "flow", v=pl.col("rtt_ns") / 1e6)
    if answered.is_empty():
        return None
    lost = rows.filter("lost")
    ticks = [Ticks(lost["time_ns"] / 1e9, edge="drop")] if lost.height else []
    said = f"Ticks: {lost.height} of {rows.height} requests lost." if lost.height else "No request was lost."
    levels = [Reference(rtt * 1e3, f"base {words.seconds(rtt)}") for rtt in source.known.base_rtts_s[:_MOST_LEVELS]]
    near, far = split(levels, float(answered["v"].max() or 0))  # type: ignore[arg-type]
    curves = _of_kinds if answered["flow"].n_unique() > MOST_CURVES else _of_flows
    times, marks, note, quantities = curves(source, answered)
    view = View("", times, (*marks, *ticks), f"{note} {said}{far}", near)
    return Panel("ping_rtt_ms", 1.0, "Ping RTT", "ms", (view,), from_zero=True, quantities=quantities)


_Curves = tuple[pl.Series, Sequence[Mark], str, tuple[Quantity, ...]]


def _of_flows(source: Source, answered: pl.DataFrame) -> _Curves:
    ping = set(answered["flow"])
    shown = [(i, flow) for i, group in enumerate(source.groups) for flow in group.flows if flow in ping]
    points = max(2, min(POINTS_PER_LINE, POINTS_PER_PANEL // len(shown)))
    marks: list[Mark] = []
    width_ns = None
    for group, flow in shown:
        thin = extremes(answered.lazy().filter(pl.col("flow") == flow), "time_ns", "v", source.span_ns, points)
        marks.append(Line(thin.values, group, flow, time_s=thin.time_ns / 1e9))
        width_ns = thin.width_ns or width_ns
    note = f"Round-trip time of {words.count(answered.height, 'echo request')}, when each was sent"
    note += f"; min and max of each {words.seconds(width_ns / 1e9)}." if width_ns else "."
    return pl.Series([], dtype=pl.Float64), marks, note, ()


def _of_kinds(source: Source, answered: pl.DataFrame) -> _Curves:
    many = source.many
    sent = answered.select(pl.col("flow").cast(pl.Categorical), "v", many.slot("time_ns"))
    found = many.spread(iter([sent]))
    if found is None:
        return pl.Series([], dtype=pl.Float64), (), "All were sent after the run's end.", ()
    note = found.note("Round-trip time of echo requests sent", "requests")
    return found.time_ns / 1e9, found.marks(source.groups, 1.0), note, found.quantities("ping_rtt_ms")


PANEL: Final = OfTables(55, "Ping RTT", _panel)
