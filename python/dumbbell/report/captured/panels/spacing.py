"""Time between packets with data of each direction, on a logarithmic axis."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.curves import column, line, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.model import Panel, Quantity, View

_QUANTITIES: Final = (
    Quantity("gap_mean_ms", "mean"),
    Quantity("gap_max_ms", "longest", "high"),
    Quantity("gap_min_ms", "least", "low"),
)
_COLUMNS: Final = ("gap_mean_ns", "gap_max_ns", "gap_min_ns")
_LEAST_MS: Final = 1e-4
"""A logarithmic axis has no 0: packets of one time are drawn as 100 ns apart."""


def _panel(source: Source) -> Panel | None:
    lines = []
    for way in source.ways:
        rows = source.intervals[way.flow]
        for quantity, name in enumerate(_COLUMNS):
            values = np.maximum(column(rows, name) / 1e6, _LEAST_MS)
            lines.append(line(source, way, times(rows, "start_ns"), values, quantity))
    drawn = tuple(one for one in lines if one is not None)
    if not drawn:
        return None
    width = words.seconds(source.capture.summary["interval_ns"] / 1e9)
    note = f"Time from a packet with data to the next one, in each {width}."
    if any(way.row["large_packets"] for way in source.ways):
        note += " Offloads had merged packets: the wire had them closer."
    view = View("", pl.Series([], dtype=pl.Float64), drawn, note)
    return Panel("gap_ms", 1.0, "Spacing", "ms", (view,), quantities=_QUANTITIES, is_log=True)


PANEL: Final = Definition(60, _panel)
