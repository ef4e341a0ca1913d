"""Bytes in flight of each direction, and the receiver's window."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.curves import column, line, times, with_silence
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.model import Panel, Quantity, View

_QUANTITIES: Final = (
    Quantity("in_flight_bytes", "in flight"),
    Quantity("window_bytes", "receiver's window", "high"),
)
_FAR: Final = 1.5
"""A window that is larger than this multiple of what is in flight is cut off: it would press the rest flat."""


def _panel(source: Source) -> Panel | None:
    width = int(source.capture.summary["interval_ns"])
    found = {way: source.intervals[way.flow] for way in source.ways if way.row["in_flight_max_bytes"]}
    if not found:
        return None
    most = max(float(rows["in_flight_max_bytes"].max() or 0) for rows in found.values())  # type: ignore[arg-type]
    factor, unit = words.size_unit(most)
    lines, widest = [], 0.0
    for way, rows in found.items():
        at, values = with_silence(times(rows, "start_ns"), column(rows, "in_flight_max_bytes"), width)
        lines.append(line(source, way, at, values / factor, 0, steps=True))
        windows = column(rows, "window_min_bytes")
        lines.append(line(source, way, times(rows, "start_ns"), windows / factor, 1, steps=True))
        widest = max([widest, *windows[~np.isnan(windows)]])
    note = (
        f"Largest value in each {words.seconds(width / 1e9)}: outstanding bytes, without those SACKed or deemed lost, "
        "plus those sent again."
    )
    top = _FAR * most if widest > _FAR * most else None
    if top is not None:
        note += f" Cut off: windows of up to {words.size(widest)}."
    shown = None if top is None else top / factor
    view = View("", pl.Series([], dtype=pl.Float64), tuple(one for one in lines if one), note, top=shown)
    return Panel("in_flight_bytes", factor, "Bytes in flight", unit, (view,), quantities=_QUANTITIES)


PANEL: Final = Definition(30, _panel)
