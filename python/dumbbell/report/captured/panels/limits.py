"""Limits of each sender over time: a lane per direction."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.curves import column, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Lane, Panel, State, States, View

LIMITS: Final = (
    State("window", "receiver's window", "#b8860b", "#e1bd30", 1.0),
    State("application", "application", "#97c5e1", "#2d5866", 0.4),
    State("recovery", "recovery from losses", "#b13750", "#ee7b5e", 0.7),
    State("network", "network", "#2684bb", "#13aca4", 0.85),
)
"""The limits in the order of their columns `limited_..._ns`."""
_BLOCKS: Final = 2000
"""Blocks of a lane at most."""


def _panel(source: Source) -> Panel | None:
    ways = [way for way in source.ways if way.row["acknowledged_bytes"]]
    marks = [states for lane, way in enumerate(ways) if (states := _states(source, way, lane)) is not None]
    if not marks:
        return None
    lanes = tuple(Lane("", way.flow.replace("to-", "to "), way.group) for way in ways)
    width = words.seconds(source.capture.summary["interval_ns"] / 1e9)
    note = f"The sender's main limit in each {width}, as far as the capture shows."
    view = View("", pl.Series([], dtype=pl.Float64), tuple(marks), note, lanes=lanes)
    return Panel("limited_by", 1.0, "Limited by", "", (view,), states=LIMITS)


def _states(source: Source, way: Way, lane: int) -> States | None:
    rows = source.intervals[way.flow]
    if rows.is_empty():
        return None
    width = int(source.capture.summary["interval_ns"])
    at = times(rows, "start_ns")
    spent = np.stack([column(rows, f"limited_{limit.key}_ns") for limit in LIMITS], axis=1)
    coarse = max(width, round_width_ns(source.span_ns / _BLOCKS))
    if coarse > width:
        slots, where = np.unique(at // coarse, return_inverse=True)
        sums = np.zeros((len(slots), len(LIMITS)))
        np.add.at(sums, where, spent)
        at, spent, width = slots * coarse, sums, coarse
    # A row tells of all the time since the row before.
    end = at + width
    start = np.concatenate(([at[0]], end[:-1]))
    code = spent.argmax(axis=1)
    first = np.concatenate(([True], code[1:] != code[:-1]))
    last = np.append(first[1:], True)
    return States(
        lane, pl.Series(start[first] / 1e9), pl.Series(end[last] / 1e9), pl.Series(code[first].astype(np.uint8))
    )


PANEL: Final = Definition(40, _panel)
