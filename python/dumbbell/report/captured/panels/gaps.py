"""How long the times between packets with data are: a histogram of each direction, on a logarithmic axis."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report.captured.curves import column
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Across, Line, Panel, View

_LEAST_MS: Final = 5e-4
"""A logarithmic axis has no 0: the first step, of up to 1 us, begins here."""
_ROOM: Final = 1.05


def _panel(source: Source) -> Panel | None:
    drawn = [one for way in source.ways if (one := _line(source, way)) is not None]
    if not drawn:
        return None
    edges = [(float(one.x.min()), float(one.x.max())) for one in drawn if one.x is not None]  # type: ignore[arg-type]
    most = max(float(one.values.max()) for one in drawn)  # type: ignore[arg-type]
    note = "Times from a packet with data to the next one: the share of each step, which is a quarter wide."
    if any(way.row["large_packets"] for way in source.ways):
        note += " Offloads had merged packets: the wire had them closer."
    view = View(
        "", pl.Series([], dtype=pl.Float64), tuple(drawn), note, low=0.0, top=_ROOM * most, key="gaps_percent",
        title="share of gaps", unit="%",
    )  # fmt: skip
    left, right = min(low for low, _ in edges), max(high for _, high in edges)
    across = Across("gap_up_to_ms", 1.0, "gap", "ms", right, left=left)
    return Panel("gaps_percent", 1.0, "How long gaps are", "%", (view,), across=across)


def _line(source: Source, way: Way) -> Line | None:
    """The share of gaps, percent, at the foot of each step; 0 behind the last and where there are none."""
    rows = source.gaps[way.flow]
    if rows.is_empty():
        return None
    low, high = np.maximum(column(rows, "above_ns") / 1e6, _LEAST_MS), column(rows, "up_to_ns") / 1e6
    count = column(rows, "gaps")
    share = 100 * count / count.sum()
    is_last = np.append(high[:-1] < low[1:], True)
    x, values = np.concatenate([low, high[is_last]]), np.concatenate([share, np.zeros(int(is_last.sum()))])
    order = np.argsort(x, kind="stable")
    return Line(pl.Series(values[order]), way.group, way.flow, x=pl.Series(x[order]), steps=True)


PANEL: Final = Definition(61, _panel)
