"""Times at which a sender looks as if it emptied the path to measure its least RTT: a lane per direction."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.captures.identify.dips import dips
from dumbbell.report.captured.curves import column, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Lane, Panel, State, States, View

_STATES: Final = (
    State("deep", "4 packets, as BBRv1", "#2684bb", "#3d9fe0", 1.0),
    State("half", "half, as BBRv2 and v3", "#b8860b", "#e1bd30", 0.6),
)
_NOTE: Final = (
    "The bytes in flight fell to 4 packets, or to about half, for 0.2 s or a little longer, without a loss, and rose "
    "again at once. PROBE_RTT looks like this; a capture cannot tell whether it is."
)


def _panel(source: Source) -> Panel | None:
    found = [(way, states) for way in source.ways if (states := _states(source, way)) is not None]
    if not found:
        return None
    lanes = tuple(Lane("", way.flow.replace("to-", "to "), way.group) for way, _ in found)
    blocks = tuple(
        States(lane, pl.Series(start), pl.Series(end), pl.Series(code, dtype=pl.UInt8))
        for lane, (_, (start, end, code)) in enumerate(found)
    )
    view = View("", pl.Series([], dtype=pl.Float64), blocks, _NOTE, lanes=lanes)
    return Panel("looks_like_probe_rtt", 1.0, "Looks like PROBE_RTT", "", (view,), states=_STATES)


def _states(source: Source, way: Way) -> tuple[list[float], list[float], list[int]] | None:
    rows = source.intervals[way.flow]
    events = source.events[way.flow].filter(pl.col("cause").is_not_null() & (pl.col("bytes") > 0))
    losses = times(events) / 1e9
    segment = int(way.row["segment_max_bytes"] or 1)
    found = dips(times(rows, "start_ns") / 1e9, column(rows, "in_flight_min_bytes"), segment, losses)
    if not found:
        return None
    return [one.start_s for one in found], [one.end_s for one in found], [int(not one.is_deep) for one in found]


PANEL: Final = Definition(45, _panel)
