"""A ladder of packets: each crosses from one end to the other. Of stretches whose packets are known one by one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.captures.detail import ASKED
from dumbbell.counts import count
from dumbbell.report.captured.definition import Definition
from dumbbell.report.captured.slopes import measured
from dumbbell.report.captured.source import Source, Way
from dumbbell.report.model import Line, Panel, Points, Reference, View

_MOST: Final = 3000
"""Packets of a connection that are drawn, if its stretch was asked for."""
_FEW: Final = 400
"""Packets that are drawn of the first losses, or else of the start, if none was."""
_CLIENT, _SERVER = 1.0, 0.0


def _panel(source: Source) -> Panel | None:
    if source.detail is None or source.detail.segments.is_empty():
        return None
    numbers = dict.fromkeys(way.connection for way in source.ways)
    views = tuple(view for number in numbers for view in _views(source, number))
    if not views:
        return None
    # Over the whole time the packets of a part are a stroke: a picture shows them if a reader asked for the part.
    is_asked = any(part.why == ASKED for part in source.parts)
    return Panel(
        "ladder", 1.0, "Ladder", "", views, from_zero=True, choice="Connection whose packets cross", decimals=0,
        pictured=int(is_asked),
    )  # fmt: skip


def _views(source: Source, number: int) -> list[View]:
    """The packets of a connection, between its ends, and between two captures if there are two."""
    assert source.detail is not None
    rows = source.detail.segments.filter(pl.col("connection") == number)
    if rows.is_empty():
        return []
    parts = [part for part in source.parts if part.connection == number]
    asked = any(part.why == ASKED for part in parts)
    if not asked and (losses := [part for part in parts if part.why == "losses"]):
        first = min(losses, key=lambda part: part.from_ns)
        rows = rows.filter(pl.col("time_ns").is_between(first.from_ns, first.to_ns))
        if rows.is_empty():
            return []
    most = _MOST if asked else _FEW
    left_out = max(0, rows.height - most)
    rows = rows.head(most)
    ways = {way.direction: way for way in source.ways if way.connection == number}
    half_client, half_server = _halves(source, number)
    marks: list[Line | Points] = []
    for direction in ("to-server", "to-client"):
        mine = rows.filter(pl.col("direction").cast(pl.String) == direction)
        if mine.is_empty():
            continue
        way = ways.get(direction) or next(iter(ways.values()))
        marks += _crossings(mine, direction, way, half_client / 1e9, half_server / 1e9)
    start, end = rows["time_ns"][0] / 1e9, rows["time_ns"][-1] / 1e9
    note = (
        f"Packets from {start:.3f} to {end:.3f} s: zoom in. The ends are half of the least RTT on either side of the "
        f"capture away, {half_client / 1e6:.3g} ms to the client and {half_server / 1e6:.3g} ms to the server; a "
        "packet that was lost behind the capture is drawn as if it came. Crosses were sent again."
    )
    if left_out:
        note += (
            f" Not drawn: {count(left_out, 'more packet')}. Choose a shorter part with --connection, --from and --to."
        )
    label = next(iter(ways.values()))
    references = (Reference(_CLIENT, "client"), Reference(_SERVER, "server"))
    name = f"{number} {source.groups[label.group].label.split(' ', 1)[-1]}"
    view = View(name, pl.Series([], dtype=pl.Float64), tuple(marks), note, references, low=0.0, top=1.0)
    slopes = measured(source, number, ways, rows["time_ns"][0], rows["time_ns"][-1], most)
    return [view] if slopes is None else [slopes, view]


def _halves(source: Source, number: int) -> tuple[float, float]:
    """Half of the least round trip from the capture to client and server, ns; 0 where nothing tells it."""
    found: dict[str, dict[str, Any]] = {}
    for row in source.capture.rows("directions", [number]).to_dicts():
        found[str(row["direction"])] = row
    there, back = found.get("to-server"), found.get("to-client")

    def least(*cells: tuple[dict[str, Any] | None, str]) -> float:
        known = [row[name] for row, name in cells if row is not None and row[name] is not None]
        return min(known) / 2 if known else 0.0

    client = least((there, "rtt_back_min_ns"), (back, "rtt_min_ns"))
    server = least((there, "rtt_min_ns"), (back, "rtt_back_min_ns"))
    return client, server


def _crossings(rows: pl.DataFrame, direction: str, way: Way, client_s: float, server_s: float) -> list[Line | Points]:
    """A line with a gap behind each packet, and crosses on those that were sent again."""
    at = rows["time_ns"].to_numpy() / 1e9
    if direction == "to-server":
        first, last, low, high = at - client_s, at + server_s, _CLIENT, _SERVER
    else:
        first, last, low, high = at - server_s, at + client_s, _SERVER, _CLIENT
    time = np.stack([first, last, last], axis=1).ravel()
    place = np.tile(np.array([low, high, np.nan]), len(at))
    found: list[Line | Points] = [
        Line(pl.Series(place).fill_nan(None), way.group, way.flow, name="packet", time_s=pl.Series(time))
    ]
    again = rows["class"].is_not_null().to_numpy() & (rows["bytes"] > 0).to_numpy()
    if again.any():
        middle: npt.NDArray[np.float64] = np.full(int(again.sum()), _at_capture(client_s, server_s))
        found.append(Points(pl.Series(middle), way.group, pl.Series(at[again]), way.flow, look="resent"))
    return found


def _at_capture(client_s: float, server_s: float) -> float:
    """The capture's place between both ends."""
    whole = client_s + server_s
    return 0.5 if whole <= 0 else server_s / whole


PANEL: Final = Definition(80, _panel)
