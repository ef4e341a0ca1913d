"""Two analysed captures side by side: connections that are the same in both, and their figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dumbbell.captures import Capture
from dumbbell.comparison.settings import Setting, differing
from dumbbell.frozen import dataclass

_FIGURES: Final = (
    ("goodput", "Mbit/s", "goodput_bps", 1e6),
    ("payload", "MB", "payload_bytes", 1e6),
    ("RTT min", "ms", "rtt_min_ns", 1e6),
    ("RTT p50", "ms", "rtt_p50_ns", 1e6),
    ("RTT p95", "ms", "rtt_p95_ns", 1e6),
    ("most in flight", "kB", "in_flight_max_bytes", 1e3),
    ("lost behind the capture", "packets", "lost_behind_packets", 1),
    ("lost before the capture", "packets", "lost_before_packets", 1),
    ("needless", "packets", "needless_retransmissions", 1),
    ("timeouts", "packets", "timeouts", 1),
    ("limited by window", "s", "limited_window_ns", 1e9),
    ("limited by application", "s", "limited_application_ns", 1e9),
    ("in recovery", "s", "limited_recovery_ns", 1e9),
)
"""Figure, unit, column of `directions`, and value in that column per unit."""
_Key = tuple[Any, ...]


@dataclass(frozen=True)
class Row:
    """A figure of a direction that both captures have."""

    of: str
    measure: str
    unit: str
    a: float
    b: float


def settings(a: Capture, b: Capture) -> list[Setting]:
    """Compares files, interfaces and intervals."""
    summaries = (a.summary, b.summary)
    return differing(
        *({"files": of["files"], "only": of["only"], "interval_ns": of["interval_ns"]} for of in summaries)
    )


def rows(a: Capture, b: Capture) -> list[Row]:
    """Figures of the directions with data that both have, and null in neither.

    Connections are the same if they have the same client, server and port, and are of the same number among those, in
    the order of their first packets: ports of clients differ from capture to capture.
    """
    in_a, in_b = _directions(a), _directions(b)
    return [
        Row(f"{key[0]} → {key[1]}:{key[2]} #{key[3]} {key[4]}", name, unit, one[column] / per, other[column] / per)
        for key, one in in_a.items()
        if (other := in_b.get(key)) is not None
        for name, unit, column, per in _FIGURES
        if one[column] is not None and other[column] is not None
    ]


def _directions(capture: Capture) -> Mapping[_Key, dict[str, Any]]:
    found = {(row["connection"], str(row["direction"])): row for row in capture.directions.to_dicts()}
    return {
        (*key, direction): row
        for number, key in _numbered(capture)
        for direction in ("to-server", "to-client")
        if (row := found.get((number, direction))) is not None and row["payload_bytes"]
    }


def _numbered(capture: Capture) -> Iterator[tuple[int, _Key]]:
    seen: Counter[_Key] = Counter()
    for row in capture.connections.select("connection", "client", "server", "server_port").to_dicts():
        key = (row["client"], row["server"], row["server_port"])
        seen[key] += 1
        yield row["connection"], (*key, seen[key])
