"""Traffic between hosts over time: a lane for each pair, by how much they send."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report import words
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.hosts import MOST, Pair, pairs
from dumbbell.report.captured.source import Source
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Lane, Panel, State, States, View

_STATES: Final = (
    State("some", "some", "#97c5e1", "#2d5866", 0.4),
    State("tenth", "a tenth of the most", "#2684bb", "#3d9fe0", 0.7),
    State("most", "half of the most, or more", "#1b4f72", "#9ad1f5", 1.0),
)
_SHARES: Final = (0.1, 0.5)
_BLOCKS: Final = 1000
"""Blocks of a lane at most."""


def _panel(source: Source) -> Panel | None:
    shown, count = pairs(source.capture)
    if len(shown) < 2:
        return None
    width = max(int(source.capture.summary["interval_ns"]), round_width_ns(source.span_ns / _BLOCKS))
    sums = _sums(source, shown, width)
    most = max((float(values.max()) for _, values in sums if len(values)), default=0.0)
    marks = tuple(
        _blocks(lane, slots, values / most, width) for lane, (slots, values) in enumerate(sums) if most and len(slots)
    )
    if not marks:
        return None
    lanes = tuple(Lane("", pair.label, None) for pair in shown)
    note = (
        f"Payload in each {words.seconds(width / 1e9)} of the {words.count(len(shown), 'pair')} of hosts with the most"
    )
    note += f", of {count:,}." if count > MOST else "."
    view = View("", pl.Series([], dtype=pl.Float64), marks, note, lanes=lanes)
    return Panel("hosts", 1.0, "Who talks to whom", "", (view,), states=_STATES)


def _sums(source: Source, shown: list[Pair], width_ns: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each pair its slots of time with data, and their payload."""
    names = pl.DataFrame(
        {
            "client": [pair.client for pair in shown],
            "server": [pair.server for pair in shown],
            "pair": list(range(len(shown))),
        }
    ).lazy()
    about = source.capture.scan("connections").select("connection", "client", "server")
    # Joins would multiply rows that a stranger repeats.
    of = about.unique("connection", keep="first", maintain_order=True).join(names, on=["client", "server"])
    rows = (
        source.capture.scan("intervals")
        .select("connection", "payload_bytes", slot=pl.col("start_ns") // width_ns)
        .join(of.select("connection", "pair"), on="connection")
        .group_by("pair", "slot")
        .agg(pl.col("payload_bytes").sum())
        .sort("pair", "slot")
        .collect()
    )
    found = []
    for index in range(len(shown)):
        mine = rows.filter(pl.col("pair") == index)
        found.append((mine["slot"].to_numpy(), mine["payload_bytes"].cast(pl.Float64).to_numpy()))
    return found


def _blocks(lane: int, slots: np.ndarray, shares: np.ndarray, width_ns: int) -> States:
    """Neighbouring slots of one state are one block."""
    code = np.searchsorted(_SHARES, shares, side="right")
    first = np.concatenate(([True], (np.diff(slots) > 1) | (np.diff(code) != 0)))
    last = np.append(first[1:], True)
    start, end = slots[first] * width_ns / 1e9, (slots[last] + 1) * width_ns / 1e9
    return States(lane, pl.Series(start), pl.Series(end), pl.Series(code[first].astype(np.uint8)))


PANEL: Final = Definition(75, _panel)
