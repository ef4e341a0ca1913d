"""Payload and acknowledged bytes of each direction over time."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.curves import column, line, times, with_silence
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source
from dumbbell.report.model import Panel, Quantity, View

_QUANTITIES: Final = (
    Quantity("throughput_bps", "throughput"),
    Quantity("goodput_bps", "goodput", "low"),
)
_COLUMNS: Final = ("payload_bytes", "acknowledged_bytes")


def _panel(source: Source) -> Panel | None:
    width = int(source.capture.summary["interval_ns"])
    rates = {
        (way, quantity): with_silence(times(rows, "start_ns"), column(rows, name) * 8e9 / width, width)
        for way in source.ways
        for rows in [source.intervals[way.flow]]
        for quantity, name in enumerate(_COLUMNS)
    }
    most = max((values.max() for _, values in rates.values() if len(values)), default=0.0)
    if not most:
        return None
    factor, unit = words.rate_unit(most)
    lines = (line(source, way, at, values / factor, of, steps=True) for (way, of), (at, values) in rates.items())
    note = (
        f"Payload in each {words.seconds(width / 1e9)} as the capture saw it, repeats included, and bytes that were "
        "acknowledged."
    )
    view = View("", pl.Series([], dtype=pl.Float64), tuple(one for one in lines if one), note)
    return Panel("throughput_bps", factor, "Throughput and goodput", unit, (view,), quantities=_QUANTITIES)


PANEL: Final = Definition(10, _panel)
