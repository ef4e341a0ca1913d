"""Round-trip times of each direction, seen from the capture."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report.captured.curves import column, line, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.model import Panel, View

_NOTE: Final = (
    "From a segment's only transmission to the ACK or SACK that covers it: from the capture to the receiver and back. "
    "The least and the largest of each 10 ms."
)


def _panel(source: Source) -> Panel | None:
    lines = []
    for way in source.ways:
        rows = source.rtt[way.flow]
        if (drawn := line(source, way, times(rows), column(rows, "rtt_ns") / 1e6)) is not None:
            lines.append(drawn)
    if not lines:
        return None
    view = View("", pl.Series([], dtype=pl.Float64), tuple(lines), _NOTE)
    return Panel("rtt_ms", 1.0, "RTT", "ms", (view,))


PANEL: Final = Definition(20, _panel)
