"""Round-trip times of each direction, seen from the capture: samples, the least of each round, and the handshake's."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.report.captured.curves import column, line, times
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.rounds import least_of_rounds
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Line, Panel, Quantity, View

_QUANTITIES: Final = (
    Quantity("rtt_ms", "samples", "pale"),
    Quantity("rtt_round_min_ms", "least of a round"),
    Quantity("rtt_handshake_ms", "SYN", "low"),
)
_THINNED: Final = (
    "Samples: the least and the largest of each 10 ms. A round ends when what was sent after its start is "
    "acknowledged. SYN: the handshake's."
)
_VIEWS: Final = (
    (
        "data", "to the receiver and back",
        "From a segment's only transmission to the ACK or SACK that covers it: from the capture to the receiver and "
        "back.",
    ),
    (
        "timestamp", "to the receiver, by timestamps",
        "From data to the first ACK that echoes its TSval: from the capture to the receiver and back, with the "
        "receiver's wait.",
    ),
    (
        "back", "to the sender and back",
        "From an ACK to the first data that echoes its TSval: from the capture to the sender and back, with the "
        "sender's wait for application, window or pacing.",
    ),
)  # fmt: skip
"""Kinds of the table `rtt`, each with the view's name and what it is."""


def _panel(source: Source) -> Panel | None:
    views = tuple(view for kind, name, note in _VIEWS if (view := _view(source, kind, name, note)) is not None)
    if not views:
        return None
    return Panel("rtt_ms", 1.0, "RTT", "ms", views, quantities=_QUANTITIES, choice="Part of the round trip")


def _view(source: Source, kind: str, name: str, note: str) -> View | None:
    lines: list[Line | None] = []
    for way in source.ways:
        rows = source.rtt[way.flow].filter(pl.col("kind").cast(pl.String) == kind)
        at, values = times(rows), column(rows, "rtt_ns")
        if not len(at):
            continue
        lines.append(line(source, way, at, values / 1e6))
        starts, least = least_of_rounds(at, values)
        lines.append(line(source, way, starts, least / 1e6, 1, steps=True))
        lines.append(_handshake(source, way, to_receiver=kind != "back"))
    drawn = tuple(one for one in lines if one is not None)
    return View(name, pl.Series([], dtype=pl.Float64), drawn, f"{note} {_THINNED}") if drawn else None


def _handshake(source: Source, way: Way, *, to_receiver: bool) -> Line | None:
    """The same part of the handshake's round trip, as a level from the direction's first packet to its last."""
    about = source.about[way.connection]
    to_server = (way.direction == "to-server") == to_receiver
    rtt_ns = about["handshake_server_ns" if to_server else "handshake_client_ns"]
    if rtt_ns is None:
        return None
    ends = np.array([way.row["start_ns"], way.row["end_ns"]], dtype=np.int64)
    return line(source, way, ends, np.full(2, rtt_ns / 1e6), 2)


PANEL: Final = Definition(20, _panel)
