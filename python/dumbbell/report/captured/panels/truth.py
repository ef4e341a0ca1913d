"""For a run: whether what is said of each packet is what its own records say, a lane of ticks for yes and for no."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell import parquet
from dumbbell.captures.truth import TRUTH
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Lane, Panel, Ticks, View

_TICKS: Final = 2000
"""Places of ticks on the time axis; ticks that fall on one place are counted."""
_KINDS: Final = ((True, "as-it-was", "as it was"), (False, "otherwise", "otherwise"))
_NOTE: Final = (
    "Class and cause of each packet that is not new data in order, beside what the run's own records say of it. The "
    "table below has both."
)


def _panel(source: Source) -> Panel | None:
    place = source.capture.directory / TRUTH
    if not place.is_file():
        return None
    rows = parquet.read(place).with_columns(right=pl.col("class_right") & pl.col("cause_right"))
    width = round_width_ns(source.span_ns / _TICKS)
    lanes: list[Lane] = []
    ticks: list[Ticks] = []
    for way in source.ways:
        if way.direction != "to-server":
            continue
        mine = rows.filter(pl.col("connection") == way.connection)
        for right, key, word in _KINDS:
            of = mine.filter(pl.col("right") == right)
            if of.is_empty():
                continue
            slot = (pl.col("time_ns") // width).alias("slot")
            slots = of.group_by(slot).agg(pl.col("time_ns").min(), count=pl.len()).sort("time_ns")
            count = None if slots.height == of.height else slots["count"].cast(pl.UInt32)
            ticks.append(Ticks(slots["time_ns"] / 1e9, count, len(lanes)))
            lanes.append(Lane(key, way.flow.replace("to-", "to "), way.group, word, right))
    if not ticks:
        return None
    view = View("", pl.Series([], dtype=pl.Float64), tuple(ticks), _NOTE, lanes=tuple(lanes))
    return Panel("truth", 1.0, "Classes against the truth", "", (view,))


PANEL: Final = Definition(72, _panel)
