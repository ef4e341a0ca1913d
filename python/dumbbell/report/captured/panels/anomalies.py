"""Repeats, reordering and losses of the capture: for each direction a lane of ticks for each kind."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.causes import CAUSES, key
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Lane, Panel, Ticks, View

_TICKS: Final = 2000
"""Places of ticks on the time axis; ticks that fall on one place are counted."""
_MOST_LANES: Final = 40


def _panel(source: Source) -> Panel | None:
    width = round_width_ns(source.span_ns / _TICKS)
    lanes: list[Lane] = []
    ticks: list[Ticks] = []
    left_out = 0
    for way in source.ways:
        mine = source.events[way.flow].with_columns(kind=key()).drop_nulls("kind")
        for kind in CAUSES:
            rows = mine.filter(pl.col("kind") == kind.key)
            if rows.is_empty():
                continue
            if len(lanes) == _MOST_LANES:
                left_out += rows.height
                continue
            at = (
                rows.group_by(pl.col("time_ns") // width, maintain_order=True)
                .agg(time=pl.col("time_ns").first(), count=pl.len())
                .sort("time")
            )
            count = None if at.height == rows.height else at["count"].cast(pl.UInt32)
            ticks.append(Ticks(at["time"] / 1e9, count, len(lanes)))
            lanes.append(Lane(kind.key, way.flow.replace("to-", "to "), way.group, kind.word, kind.key == "needless"))
    if not ticks:
        return None
    note = "Everything except new in-order data, by inferred cause. Needless: a DSACK, a timestamp or an ACK says so."
    if left_out:
        note += f" {words.count(left_out, 'more event')} of smaller connections: see the table of events."
    view = View("", pl.Series([], dtype=pl.Float64), tuple(ticks), note, lanes=tuple(lanes))
    return Panel("events", 1.0, "Anomalies", "", (view,))


PANEL: Final = Definition(70, _panel)
